// What the mail about a new API key adds: a new password does not end the key.
import { words } from './wording.ts';

/** The button and the advice. */
export function apiKeyAdvice(issuer: string) {
  return {
    action: { label: words('mail.api-key.action'), url: `${issuer}/admin/api-keys` },
    after: [words('mail.api-key.after')],
  };
}
