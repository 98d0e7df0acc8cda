// The checks of the access check in words, in the order of a sign-in. Each says what another part of the server decides
// (facts.ts); the access rule itself is applications/access-decision.ts. Pure.
import { disabledSentence } from '../../admin/users/disabled-by.ts';
import { type AccessDenial, grantingRoles } from '../../applications/access-decision.ts';
import { MFA_ACR, PHISHING_RESISTANT_ACR } from '../../mfa/acr.ts';
import { plural } from '../../platform/plural.ts';
import type { AccessFacts } from './facts.ts';

export type CheckId =
  | AccessDenial
  | 'grant'
  | 'method'
  | 'password'
  | 'lockout'
  | 'codes'
  | 'factor'
  | 'email'
  | 'network'
  | 'metadata'
  | 'secret';

export interface Check {
  id: CheckId;
  label: string;
  /** `later`: the person does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply. */
  state: 'passed' | 'failed' | 'warning' | 'later' | 'skipped';
  /** A sentence; empty where the label says everything. */
  explanation: string;
}

type Result = Pick<Check, 'state' | 'explanation'>;

const passed = (explanation = ''): Result => ({ state: 'passed', explanation });
const failed = (explanation: string): Result => ({ state: 'failed', explanation });
const later = (explanation: string): Result => ({ state: 'later', explanation });
const warning = (explanation: string): Result => ({ state: 'warning', explanation });
const skipped = (explanation: string): Result => ({ state: 'skipped', explanation });

/** Every check; those that cannot apply to the application's protocol are left out. */
export function checksOf(facts: AccessFacts): Check[] {
  const isOidc = facts.application.protocol === 'oidc';
  return [
    ...facts.conditions.map(({ denial, isMet }) => ({ id: denial, ...ofRule(denial, isMet, facts) })),
    ...(isOidc ? [{ id: 'grant' as const, label: 'Application signs people in', ...grant(facts) }] : []),
    { id: 'method', label: 'There’s a way to sign in', ...method(facts) },
    { id: 'password', label: 'Password works', ...password(facts) },
    { id: 'lockout', label: 'Account isn’t locked', ...lockout(facts) },
    { id: 'factor', label: 'Two-step verification', ...factor(facts) },
    ...(facts.codeWaitSeconds > 0 ? [{ id: 'codes' as const, label: 'Codes are accepted', ...codes(facts) }] : []),
    ...(facts.emailProduct
      ? [{ id: 'email' as const, label: 'User has an email address', ...email(facts, facts.emailProduct) }]
      : []),
    { id: 'network', label: 'Network isn’t blocked', ...network(facts) },
    ...(facts.secrets === 'unused'
      ? []
      : [{ id: 'secret' as const, label: 'Client secret is valid', ...secret(facts) }]),
    ...(facts.metadataEndsAt
      ? [{ id: 'metadata' as const, label: 'Metadata is valid', ...metadata(facts, facts.metadataEndsAt) }]
      : []),
  ];
}

/** The name of a person in a sentence. */
export const nameOf = ({ name, username }: { name: string | null; username: string }) => name ?? username;

function ofRule(
  denial: AccessDenial,
  isMet: boolean,
  { account, application, disabled }: AccessFacts,
): Omit<Check, 'id'> {
  const who = nameOf(account);
  if (denial === 'application_disabled')
    return {
      label: 'Application is enabled',
      ...(isMet ? passed() : failed(`${application.name} is disabled, so people can’t sign in to it.`)),
    };
  if (denial === 'account_disabled')
    return {
      label: 'Account is active',
      ...(isMet
        ? passed()
        : failed(`The account of ${who} is disabled.${disabled ? ` ${disabledSentence(disabled)}` : ''}`)),
    };
  const label = 'User has a required role';
  const { access } = application;
  if (access === 'everyone') return { label, ...skipped(`${application.name} is open to everyone.`) };
  if (isMet)
    return { label, ...passed(`${who} has access through the role ${grantingRoles(access, account).join(', ')}.`) };
  const has = account.roles.length > 0 ? `${who} has: ${account.roles.join(', ')}.` : `${who} has no roles.`;
  if (access.roles.length === 0)
    return { label, ...failed(`The access rule of ${application.name} names no role, so nobody has access.`) };
  return { label, ...failed(`${application.name} requires the role ${joined(access.roles, 'or')}. ${has}`) };
}

function email({ account }: AccessFacts, product: string): Result {
  return account.email
    ? passed()
    : warning(`${nameOf(account)} has no email address, and ${product} rejects users without one.`);
}

const INTERACTIVE: readonly string[] = ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'];

function grant({ application }: AccessFacts): Result {
  if (application.protocol === 'saml') return passed();
  const isInteractive = application.metadata.grant_types.some((one) => INTERACTIVE.includes(one));
  if (isInteractive) return passed();
  return failed(`${application.name} is registered as a service: it has no grant with which people sign in.`);
}

/** Whether a password or passkey of this server is accepted. */
export function isLocalAccepted({ required, rule }: Pick<AccessFacts, 'required' | 'rule'>): boolean {
  return required === undefined && rule?.isLocalAllowed !== false;
}

function method(facts: AccessFacts): Result {
  const { account, application, required, linked, offered } = facts;
  const who = nameOf(account);
  if (required) {
    const only = `${who} signs in with ${required.name} only, because of the domain of the email address`;
    if (required.isAccepted) return passed(`${only}.`);
    return failed(`${only}. ${application.name} doesn’t accept ${required.name}.`);
  }
  const ways = [...(isLocalAccepted(facts) ? localWays(facts) : []), ...linked];
  if (ways.length > 0) return passed(`${who} can use ${joined(ways, 'or')}.`);
  if (offered.length > 0) {
    const first = `${who} isn’t linked to ${joined(offered, 'or')} yet. The first sign-in there can link the account.`;
    return isLocalAccepted(facts) ? later(first) : later(`${noLocal(facts)} ${first}`);
  }
  if (!isLocalAccepted(facts)) return failed(noLocal(facts));
  return failed(`${who} has no password, no passkey and no linked identity provider.`);
}

const noLocal = ({ application }: AccessFacts) =>
  `${application.name} doesn’t accept passwords and passkeys of this server.`;

function localWays({ password: stored, factors }: AccessFacts): string[] {
  return [...(stored ? ['a password'] : []), ...(factors.passkeys > 0 ? ['a passkey'] : [])];
}

function password(facts: AccessFacts): Result {
  const { account, password: stored, requirements, wrongPasswords } = facts;
  if (!isLocalAccepted(facts)) return skipped('No password of this server is used.');
  if (!stored) return skipped(`${nameOf(account)} has no password.`);
  if (wrongPasswords > 0) {
    const count =
      wrongPasswords === 1 ? 'The last password was wrong' : `The last ${wrongPasswords} passwords were wrong`;
    return warning(`${count}. A new password helps if ${nameOf(account)} forgot it.`);
  }
  if (requirements.mustChangePassword) return later(`${nameOf(account)} chooses a new password at the next sign-in.`);
  return passed(`Last changed on ${dateText(stored.changedAt)}.`);
}

function lockout({ locks, account }: AccessFacts): Result {
  if (locks.length === 0) return passed();
  const by = { username: `the username ${account.username}`, email: `the email ${account.email}`, all: 'all names' };
  const under = locks.some((one) => one.by !== 'all') ? locks.filter((one) => one.by !== 'all') : locks;
  const wait = waitText(Math.max(...locks.map(({ seconds }) => seconds)));
  const names = joined(
    under.map((one) => by[one.by]),
    'and',
  );
  return failed(`Too many wrong passwords under ${names}. A new browser waits ${wait}.`);
}

function codes({ codeWaitSeconds, account }: AccessFacts): Result {
  return failed(
    `${nameOf(account)} entered too many wrong codes and waits ${waitText(codeWaitSeconds)}. The wait ends by itself.`,
  );
}

const FACTOR_NAMES: Record<string, string> = {
  totp: 'an authenticator app',
  passkey: 'a passkey',
  email: 'a code by email',
  sms: 'a code by SMS',
  'recovery-code': 'a recovery code',
};

function factor({ account, application, requirements, afterFactor, required }: AccessFacts): Result {
  const who = nameOf(account);
  const { missing, level, lacked } = requirements;
  const names = factorNames(requirements);
  const unless = required ? `, unless ${required.name} proves it` : '';
  const noFirst = `${who} has no second step yet, and an administrator has to allow setting one up.`;
  const tooWeak = (acr: string) =>
    warning(`${application.name} requests ${levelText(acr)}, which ${who} can’t prove. The application decides.`);
  if (missing === 'second-factor') {
    if (afterFactor?.missing === 'enrolment')
      return later(
        `${who} confirms the sign-in with ${names}${unless}, then has to add ${factorNames(afterFactor)}: ` +
          `${demandedBy(application)} ${levelText(afterFactor.level)}.`,
      );
    if (afterFactor?.missing === 'approval') return failed(noFirst);
    if (afterFactor?.lacked) return tooWeak(afterFactor.lacked);
    return passed(`${who} confirms the sign-in with ${names}${unless}.`);
  }
  if (missing === 'enrolment') return later(`${who} sets up ${names} at the next sign-in${unless}.`);
  if (missing === 'approval') return failed(noFirst);
  if (lacked) return tooWeak(lacked);
  if (level === MFA_ACR || level === PHISHING_RESISTANT_ACR) return passed();
  return skipped(`${application.name} doesn’t require a second step of ${who}.`);
}

const factorNames = ({ methods }: AccessFacts['requirements']) =>
  joined(
    methods.map((one) => FACTOR_NAMES[one] ?? one),
    'or',
  );

const demandedBy = ({ name, metadata }: AccessFacts['application']) =>
  metadata.mfa === undefined ? 'the sign-in needs' : `${name} requires`;

const levelText = (level: string) =>
  level === PHISHING_RESISTANT_ACR ? 'a phishing-resistant sign-in' : 'two-step verification';

function network({ network: used, account }: AccessFacts): Result {
  if (!used) return skipped(`No network of ${nameOf(account)} is known yet.`);
  const { address, isDenied, waitSeconds } = used;
  if (isDenied) return failed(`${address}, the last address of ${nameOf(account)}, is in a blocked network.`);
  if (waitSeconds > 0)
    return failed(
      `Too many attempts came from ${address}. It waits ${waitText(waitSeconds)}, and the wait ends by itself.`,
    );
  return passed(`Last used from ${address}.`);
}

function secret({ application, secrets }: AccessFacts): Result {
  if (secrets === 'valid') return passed();
  return failed(`No client secret of ${application.name} is valid, so the sign-in fails at its last step.`);
}

function metadata({ application, now }: AccessFacts, endsAt: Date): Result {
  if (endsAt > now) return passed(`It is used until ${dateText(endsAt)}.`);
  return failed(`The metadata of ${application.name} expired, and is no longer used since ${dateText(endsAt)}.`);
}

/** `28 seconds`, `1 minute`, `12 minutes`. */
function waitText(seconds: number): string {
  if (seconds < 60) return plural(Math.max(1, Math.ceil(seconds)), 'second');
  const minutes = Math.max(1, Math.ceil(seconds / 60));
  return minutes === 1 ? '1 minute' : `${plural(minutes, 'minute')}`;
}

const dates = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
const dateText = (date: Date) => dates.format(date);

/** `a, b or c`. */
function joined(words: readonly string[], conjunction: 'and' | 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}
