// Who disabled an account and when, as far as the audit log says it.

import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';

/** `by`: a user by name, or the name of a directory; undefined for the command line and the configuration file. */
export interface DisabledBy {
  by: string | undefined;
  at: Date;
}

/** Undefined for an active account, and where the event is no longer stored. */
export async function disabledBy(
  { accounts, audit }: { accounts: Accounts; audit: Audit },
  { id, isEnabled }: Account,
): Promise<DisabledBy | undefined> {
  if (isEnabled) return undefined;
  const [event] = await audit.list({ subjectId: id, types: ['account.disabled'], limit: 1 });
  if (!event) return undefined;
  const actor = event.actorId === null ? undefined : await accounts.find(event.actorId);
  const { scim } = event.data as { scim?: { name: string } };
  return { by: actor ? nameAndUsername(actor) : scim?.name, at: event.at };
}

/** In a sentence. */
export function disabledSentence({ by, at }: DisabledBy): Text {
  return by
    ? t('console.users.disabled.sentence', { user: by, at })
    : t('console.users.disabled.sentence-without-user', { at });
}
