// One group for a sign-in, as customers of a hosted application need it: the request names it (`group`), or the user chooses (`ask_group`).
// The engine stores the parameter `claims` with codes, device codes and tokens, so the id of the group is a member of it, as
// `claims_locales` is (scopes.ts). This server writes the member at each authorization; what a client sends under its name is dropped.
import { accessDecision } from '../../../applications/access-decision.ts';
import { type AccountInGroup, groupsToChoose, inGroup, isVisible } from '../../../applications/groups-to-choose.ts';
import type { Tx } from '../../../base/storage/database.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import type { Account, AccountGroup } from '../../../people/accounts/account.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import type { ClientApplication } from '../store/clients.ts';
import { withClaimsMember } from './scopes.ts';

const MEMBER = 'chosen_group';

/** The answer to the step "Continue as". */
export interface ChosenGroup {
  id: string;
  /** Who chose it: after it, another account may sign in. */
  accountId: string;
}

/** What a request comes to for this account: the account, for one group or for all; a choice to make; or a rejection. */
export type GroupChoice = { account: AccountInGroup } | { choices: AccountGroup[] } | { rule: BrokenRule };

/** The id of the group that a code or token was issued for. */
export function chosenGroupOf(source: object | undefined): string | undefined {
  const { claims } = (source ?? {}) as { claims?: Record<string, unknown> };
  const id = claims?.[MEMBER];
  return typeof id === 'string' ? id : undefined;
}

/** `claims` of a code or token for this group; undefined: for no single one. */
export const withChosenGroup = (claims: object, id: string | undefined): object => withClaimsMember(claims, MEMBER, id);

/**
 * The account for the group that the request names or the user chose. A named group that does not exist, that the account is not in, that
 * the application may not see or that does not open it is one rejection: the answer does not tell which.
 */
export async function chooseGroup(
  { oidc: { params, result } }: KoaContextWithOIDC,
  application: ClientApplication,
  account: Account,
  tx: Tx,
): Promise<GroupChoice> {
  if (application.protocol === 'saml') return { account };
  const wanted = params?.group;
  if (typeof wanted === 'string' && wanted !== '') {
    const seen = account.groups.filter((group) => isVisible(group, application));
    const named = seen.find(({ id }) => id === wanted) ?? seen.find(({ name }) => name === wanted);
    const member = named && (await inGroup(account, named.id, tx));
    return member && accessDecision(application, member).allowed ? { account: member } : rejected(wanted);
  }
  if (application.metadata.ask_group !== true) return { account };
  const choices = await groupsToChoose(application, account, tx);
  const [first] = choices;
  if (!first) return rejected(`${account.username} is in none`);
  const answer = result?.group as ChosenGroup | undefined;
  const isAnswered = answer?.accountId === account.id;
  // A user who left the chosen group since is asked again, not signed in for the only group that remains.
  const chosen = isAnswered ? choices.find(({ id }) => id === answer.id) : choices.length === 1 ? first : undefined;
  if (!chosen) return { choices };
  const member = await inGroup(account, chosen.id, tx);
  return member ? { account: member } : { choices };
}

const rejected = (received: string): GroupChoice => ({
  rule: { rule: 'group', received, expected: 'a group of the user that opens the application' },
});
