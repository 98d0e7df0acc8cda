// The answer of the access check on its page: verdict with buttons, checks, preview, and the page that asks before a fix.

import type { Action, Block, ConsolePage, Field } from '../../admin/console/blocks.ts';
import type { Application } from '../../applications/application.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AccessReport } from './access-check.ts';
import { type Check, nameOf } from './check.ts';

import type { AccessFix } from './fix-offers.ts';
import type { Cause } from './fixes.ts';

/** What a fix is about, for the form of its button. */
interface Subject {
  action: string;
  /** Id of the user, and client_id or entity ID of the application. */
  user: string;
  app: string;
}

/** The answer, and a button for each cause. The first button is the primary one. */
export function verdictBlock(
  { canSignIn, checks, causes }: AccessReport & { causes: readonly Cause[] },
  account: Account,
  application: Application,
  subject: Subject,
): Block {
  const later = checks.filter(({ state }) => state === 'later').map(({ explanation }) => explanation);
  let hasPrimary = false;
  const lookOf = (isFailed: boolean): 'primary' | 'secondary' => {
    const isFirst = isFailed && !hasPrimary;
    hasPrimary ||= isFirst;
    return isFirst ? 'primary' : 'secondary';
  };
  return {
    kind: 'verdict',
    isGood: canSignIn,
    title: canSignIn
      ? t('console.access-check.can', { who: nameOf(account), app: application.name })
      : t('console.access-check.can-not', { who: nameOf(account), app: application.name }),
    text: canSignIn
      ? later.length > 0
        ? sentences(later)
        : causes.length === 0
          ? t('console.access-check.all-passed')
          : t('console.access-check.nothing-blocks')
      : '',
    causes: causes.map(({ check, fixes, links, note }) => ({
      text: check.explanation,
      note,
      actions: [
        ...fixes.map(
          ({ id, label }): Action => ({
            label,
            post: subject.action,
            fields: { fix: id, user: subject.user, app: subject.app },
            look: lookOf(check.state === 'failed'),
          }),
        ),
        ...links.map((link): Action => ({ ...link, look: 'secondary' })),
      ],
    })),
  };
}

/** What the page says when a fix is sent whose cause has ended since. @param id of the fix */
export function endedText(id: string, account: Account, { name }: Application): Text {
  const who = nameOf(account);
  switch (id) {
    case 'unlock':
      return t('console.access-check.ended.unlock', { who });
    case 'enable':
      return t('console.access-check.ended.enable', { who });
    case 'enable-application':
      return t('console.access-check.ended.enable-application', { app: name });
    case 'allow-factor':
      return t('console.access-check.ended.allow-factor', { who });
    default:
      return t('console.access-check.ended.other');
  }
}

export function checksBlock(checks: readonly Check[]): Block {
  return {
    kind: 'rules',
    title: t('console.access-check.checks'),
    rules: checks.map(({ label, state, explanation }) => ({ label, state, ...(explanation && { explanation }) })),
  };
}

/** One fix on a page of its own: where it asks first, after a fault, and after the sign-in that it needs. */
export function fixPage(
  { action, here }: { action: string; here: string },
  { id, label, consequence, asksFirst }: AccessFix,
  { user, app }: Pick<Subject, 'user' | 'app'>,
): ConsolePage {
  const hidden = (name: string, value: string): Field => ({ name, label: '', type: 'hidden', value });
  return {
    title: asksFirst ? t('console.access-check.question', { action: label }) : label,
    back: { href: here, label: t('console.access-check.title') },
    blocks: [
      {
        kind: 'form',
        lead: consequence,
        action,
        fields: [hidden('fix', id), hidden('user', user), hidden('app', app), hidden('confirmed', 'yes')],
        button: label,
        cancel: here,
      },
    ],
  };
}
