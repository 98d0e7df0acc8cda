// What fixes a rejected sign-in at an upstream, where a fix is safe: it trusts nothing that the administrators have not declared.
import type { ConnectionAdmin } from '../../admin/connections/actions.ts';
import type { Connection } from '../../connections/connection.ts';
import type { Rejection } from '../../rejections/rejections.ts';
import type { RuleId } from '../../rejections/rules.ts';
import { t } from '../../texts/text.ts';
import type { ApplicableFix } from './fix.ts';

export interface UpstreamFixDependencies {
  connectionAdmin: Pick<ConnectionAdmin, 'setEnabled' | 'readDocuments'>;
}

export function upstreamFixesOf(
  rule: RuleId,
  { reason }: Pick<Rejection, 'reason'>,
  connection: Connection,
  { connectionAdmin }: UpstreamFixDependencies,
): ApplicableFix[] {
  const { id, name, enabled, kind, source } = connection;
  const needs = 'gatehouse.connections:write';
  if (rule === 'connection' && !enabled && source !== 'file')
    return [
      {
        id: 'enable',
        label: t('console.rejections.enable', { name }),
        needs,
        apply: (by) => connectionAdmin.setEnabled(id, true, by),
      },
    ];
  // Keys or endpoints may be new. A document that is read again never changes the issuer.
  const mayBeOld = rule === 'signed' || reason === 'upstream_unavailable';
  if (mayBeOld && (kind === 'oidc' || kind === 'saml')) {
    const label = t('console.rejections.update-documents');
    return [{ id: 'documents', label, needs, apply: (by) => connectionAdmin.readDocuments(id, by) }];
  }
  return [];
}
