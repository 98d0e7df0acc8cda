// The answer of the access check on its page: verdict with buttons, checks, preview, and the page that asks before a fix.
import type { Account } from '../../accounts/account.ts';
import type { Action, Block, ConsolePage, Field } from '../../admin/console/blocks.ts';
import type { Application } from '../../applications/application.ts';
import type { AccessReport } from './access-check.ts';
import { type Check, nameOf } from './checks.ts';
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
    title: `${nameOf(account)} ${canSignIn ? 'can' : 'can’t'} sign in to ${application.name}`,
    text: canSignIn
      ? later.join(' ') || (causes.length === 0 ? 'Every check passed.' : 'Nothing in Gatehouse blocks it.')
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
export function endedText(id: string, account: Account, { name }: Application): string {
  const who = nameOf(account);
  const texts: Record<string, string> = {
    unlock: `${who} isn’t locked anymore.`,
    enable: `The account of ${who} is already enabled.`,
    'enable-application': `${name} is already enabled.`,
    'allow-factor': `${who} can already set up a second step.`,
  };
  return `${texts[id] ?? 'This problem is already solved.'} Nothing was changed.`;
}

export function checksBlock(checks: readonly Check[]): Block {
  return {
    kind: 'rules',
    title: 'Checks',
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
    title: asksFirst ? `${label}?` : label,
    back: { href: here, label: 'Access check' },
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
