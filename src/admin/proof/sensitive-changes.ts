// The changes of an administrator that need a fresh sign-in. Each action says which one it makes, and this file alone decides,
// so that console and API apply the same rule. Applications, the command line and the configuration file act without a user.
import type { Actor, Proof } from '../../audit/audit.ts';
import { AppError } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import { MAILED_CODE_CLAIMS, MFA_ACR } from '../../mfa/acr.ts';
import { plural } from '../../platform/plural.ts';

/** What the confirmation page says; `…` is the name of what changes. */
const sensitiveChanges = {
  'user.create-with-roles': 'add the user … with roles',
  'user.change-login': 'change the username, email address or attributes of …',
  'user.change-roles': 'change the roles of …',
  'user.set-password': 'set a password for …',
  'user.force-password-change': 'require a password change from …',
  'user.reset-factors': 'reset two-step verification for …',
  'user.allow-factor': 'allow two-step verification for …',
  'session.end': 'end a session of …',
  'user.end-sessions': 'end every session of …',
  'user.enable': 'enable the account of …',
  'user.disable': 'disable the account of …',
  'user.delete': 'delete the user …',
  'users.enable': 'enable …',
  'users.disable': 'disable …',
  'users.change-roles': 'change the roles of …',
  'users.force-password-change': 'require a password change from …',
  'users.end-sessions': 'end every session of …',
  'users.delete': 'delete …',
  'users.import-with-roles': 'import users with roles',
  'role.create': 'create the role …',
  'role.change': 'change the name or the permissions of the role …',
  'role.delete': 'delete the role …',
  'application.register': 'add the application …',
  'application.change': 'change the application …',
  'application.enable': 'enable the application …',
  'application.disable': 'disable the application …',
  'application.end-sessions': 'end every session at …',
  'application.delete': 'delete the application …',
  'application.add-secret': 'create a client secret for …',
  'application.remove-secret': 'revoke a client secret of …',
  'resource.create': 'add the API …',
  'resource.change': 'change the API …',
  'resource.delete': 'delete the API …',
  'connection.create': 'add the connection …',
  'connection.change': 'change the connection …',
  'connection.enable': 'enable the connection …',
  'connection.disable': 'disable the connection …',
  'connection.delete': 'delete the connection …',
  'connection.add-secret': 'add a secret to the connection …',
  'connection.remove-secret': 'remove a secret of the connection …',
  'connection.end-sessions': 'end every session of the connection …',
  'api-key.create': 'create the API key …',
  'api-key.revoke': 'revoke the API key …',
  'keys.rotate': 'rotate the signing keys',
  'settings.change': 'change the settings',
} as const satisfies Record<string, string>;

export type SensitiveChange = keyof typeof sensitiveChanges;

const MAILED_CODE = `Sign in again. The request for it has the parameter claims=${MAILED_CODE_CLAIMS}.`;
const WITHOUT_KEY = 'Use the console, or an access token.';

/** The change needs a fresh sign-in. In the API it is a challenge of RFC 9470; the console shows the confirmation page. */
export class StepUpNeeded extends AppError {
  override name = 'StepUpNeeded';
  /** What the user is about to do, such as `delete the user bob`. */
  readonly change: string;

  constructor(change: string, { acr, mailedCode }: Pick<Proof, 'acr' | 'mailedCode'>, isApiKey = false) {
    const minutes = limits.recentAuthentication.seconds / 60;
    super('proof_needed', {
      message: isApiKey
        ? `To ${change}, you need a fresh sign-in, which an API key can’t prove.`
        : `To ${change}, you need a sign-in from the last ${plural(minutes, 'minute')} with ${mailedCode ? 'a code by email' : 'your strongest factor'}.`,
      advice: isApiKey ? WITHOUT_KEY : mailedCode ? MAILED_CODE : 'Sign in again.',
      headers: { 'WWW-Authenticate': stepUpChallenge({ acr, maxAge: limits.recentAuthentication.seconds }) },
    });
    this.change = change;
  }
}

/** The challenge of RFC 9470 section 3. @param maxAge in seconds; absent where only the acr is too low */
export function stepUpChallenge({ acr, maxAge }: { acr: string; maxAge?: number }): string {
  const parameters = [
    'error="insufficient_user_authentication"',
    `error_description="${maxAge === undefined ? 'A stronger' : 'A fresh'} sign-in is needed"`,
    `acr_values="${acr}"`,
    ...(maxAge === undefined ? [] : [`max_age="${maxAge}"`]),
  ];
  return `Bearer ${parameters.join(', ')}`;
}

/**
 * Throws StepUpNeeded (401) unless the user who acts signed in within `limits.recentAuthentication`, with the strongest factor
 * of the account. @param name of what changes
 */
export function assertFreshProof(by: Actor, change: SensitiveChange, name = ''): void {
  if (by.actorId === undefined) return;
  if (by.proof?.isFresh) return;
  throw new StepUpNeeded(
    sensitiveChanges[change].replace('…', () => name),
    by.proof ?? { acr: MFA_ACR },
    by.apiKey !== undefined,
  );
}
