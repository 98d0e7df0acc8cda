// The changes of an administrator that need a fresh sign-in. Each action says which one it makes, and this file alone decides,
// so that console and API apply the same rule. Applications, the command line and the configuration file act without a user.

import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { type NamesBelow, type PageText, type Text, t } from '../../base/texts/text.ts';
import type { Actor, Proof } from '../../core/audit/audit.ts';
import { MAILED_CODE_CLAIMS, MFA_ACR } from '../../people/mfa/acr.ts';

/** Of each, the confirmation page says what it is. */
export type SensitiveChange = NamesBelow<'console.proof.change'>;

const MAILED_CODE = `Sign in again. The request for it has the parameter claims=${MAILED_CODE_CLAIMS}.`;
const WITHOUT_KEY = 'Use the console, or an access token.';

/** The change needs a fresh sign-in. In the API it is a challenge of RFC 9470; the console shows the confirmation page. */
export class StepUpNeeded extends AppError {
  override name = 'StepUpNeeded';
  /** What the user is about to do, such as `delete the user bob`. */
  readonly change: Text;
  /** The same as a title: `Delete the user bob`. */
  readonly title: Text;

  constructor(
    { change: kind, name }: { change: SensitiveChange; name: PageText },
    { acr, mailedCode, minutes }: Omit<Proof, 'isFresh' | 'isRecent' | 'authTime'>,
    isApiKey = false,
  ) {
    const change = changeText(kind, name, 'sentence');
    const count = minutes;
    super('proof_needed', {
      message: isApiKey
        ? t('console.proof.error.api-key', { change })
        : t(`console.proof.error.${mailedCode ? 'mailed-code' : 'factor'}`, { change, count }),
      advice: isApiKey ? WITHOUT_KEY : mailedCode ? MAILED_CODE : t('console.proof.error.sign-in'),
      headers: { 'WWW-Authenticate': stepUpChallenge({ acr, maxAge: minutes * 60 }) },
    });
    this.change = change;
    this.title = changeText(kind, name, 'title');
  }
}

function changeText(change: SensitiveChange, name: PageText, form: 'title' | 'sentence'): Text {
  return t(`console.proof.change.${change}`, { name, form });
}

/** The challenge of RFC 9470 section 3. @param maxAge in seconds; absent where only the acr is too low */
export function stepUpChallenge({ acr, maxAge }: { acr: string; maxAge?: number }): string {
  const parameters = present([
    'error="insufficient_user_authentication"',
    `error_description="${maxAge === undefined ? 'A stronger' : 'A fresh'} sign-in is needed"`,
    `acr_values="${acr}"`,
    maxAge !== undefined && `max_age="${maxAge}"`,
  ]);
  return `Bearer ${parameters.join(', ')}`;
}

/**
 * Throws StepUpNeeded (401) unless the user who acts signed in within `recent_authentication_minutes`, with the strongest factor
 * of the account. @param name of what changes
 */
export function assertFreshProof(by: Actor, change: SensitiveChange, name: PageText = ''): void {
  if (by.actorId === undefined) return;
  if (by.proof?.isFresh) return;
  throw new StepUpNeeded(
    { change, name },
    by.proof ?? { acr: MFA_ACR, minutes: limits.recentAuthentication.seconds / 60 },
    by.apiKey !== undefined,
  );
}
