// What fixes a rejected sign-in at an upstream, where a fix is safe: it trusts nothing that the administrators have not declared.
import type { Account } from '../../accounts/account.ts';
import type { ConnectionAdmin } from '../../admin/connections/actions.ts';
import { nameAndUsername } from '../../admin/console/names.ts';
import type { UserAdmin } from '../../admin/users/actions.ts';
import type { Connection } from '../../connections/connection.ts';
import type { Rejection } from '../../rejections/rejections.ts';
import type { RuleId } from '../../rejections/rules.ts';
import { t } from '../../texts/text.ts';
import type { ApplicableFix } from './fix.ts';

export interface UpstreamFixDependencies {
  connectionAdmin: Pick<ConnectionAdmin, 'setEnabled'>;
  userAdmin: Pick<UserAdmin, 'update'>;
}

export function upstreamFixesOf(
  rule: RuleId,
  { received }: Pick<Rejection, 'received'>,
  { connection, account }: { connection: Connection; account: Account | undefined },
  { connectionAdmin, userAdmin }: UpstreamFixDependencies,
): ApplicableFix[] {
  const { id, name, enabled, source } = connection;
  const needs = 'gatehouse.connections:write';
  if (rule === 'connection' && !enabled && source !== 'file')
    return [
      {
        id: 'enable',
        label: t('console.rejections.enable', { name }),
        effect: t('console.rejections.effect.enable', { name }),
        needs,
        apply: (by) => connectionAdmin.setEnabled(id, true, by),
      },
    ];
  const { subject } = received;
  if (rule === 'address' && account && account.source !== 'file' && subject !== undefined) {
    const user = nameAndUsername(account);
    return [
      {
        id: 'relink',
        label: t('console.rejections.relink', { user }),
        effect: t('console.rejections.effect.relink', { user }),
        warning: t('console.rejections.relink-warning', { user, name }),
        needs: 'gatehouse.users:write',
        apply: (by) => userAdmin.update(account.id, { ssoId: subject, ssoConnection: id }, by),
      },
    ];
  }
  // Whether newer documents would verify an answer, only the next sign-in tells: the answer is not stored.
  return [];
}
