// Programs at a website: the credential of this server that a request carries in `Authorization`, where the website lets programs in. A
// credential that is not ours belongs to the website itself, and goes on to it.

import { type AccessSubject, accessDecision, accessDecisionRule } from '../../applications/access-decision.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { type PathRule, type ProxiedSettings, WEBSITE_SCOPE } from '../../applications/fields/proxied-application.ts';
import { inGroup } from '../../applications/groups-to-choose.ts';
import type { Context } from '../../base/http/context.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import type { BrokenRule } from '../../core/rejections/rules.ts';
import type { Account } from '../../people/accounts/account.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { type Acr, acrLevel, acrOfRule } from '../../people/mfa/acr.ts';
import type { People } from '../../people/people.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import type { ClientApplication, ClientSource } from '../oidc/store/clients.ts';
import { MalformedQuestion, type Question } from './asked-request.ts';
import { brokenRule, rejectionBy } from './path-rules.ts';
import type { SignInProof, Visitor } from './user-headers.ts';

/** A program that sent a valid credential: the user or client it acts for, and the sign-in behind the credential. */
export interface Program {
  visitor: Visitor;
  proof: SignInProof;
}

/** Why a request is rejected: the status, the error of the answer, and the challenge (RFC 9110 11.6.1). */
export interface Rejection {
  status: 401 | 403 | 429;
  error: string;
  challenge?: string;
  retryAfterSeconds?: number;
  /** Absent where a limit rejects it before it is looked at. */
  broken?: BrokenRule & { account?: Account };
}

/** What a request is for. */
interface Asked {
  ctx: Context;
  origin: string;
  application: ClientApplication;
  website: ProxiedSettings;
}

/** The rules of a page, and the level of the sign-in that they or the application require. */
export interface Needs {
  rules: readonly (PathRule | undefined)[];
  level: Acr | undefined;
}

/** `Authorization` of a request, in the schemes that the website accepts. */
export type Credential =
  | { scheme: 'bearer'; token: string | undefined }
  | { scheme: 'basic'; login: { username: string; password: string } | undefined };

/**
 * Reads `Authorization` (RFC 6750 2.1, RFC 7617 2); undefined where it is not for this server. Throws MalformedQuestion (400) for two of them,
 * because the proxy and this server might each read another one.
 */
export function credentialOf(
  { req }: Question,
  { access_tokens: tokens, app_passwords }: ProxiedSettings,
): Credential | undefined {
  if (tokens === 'none' && !app_passwords) return undefined;
  const sent = req.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization');
  if (sent.length > 1) throw new MalformedQuestion('Authorization, sent twice');
  const credential = parseAuthorization(req.headers.authorization ?? '');
  if (credential?.scheme === 'bearer') return tokens === 'none' ? undefined : credential;
  return app_passwords ? credential : undefined;
}

/** The credential in `Authorization`, whose value is undefined where it is malformed; undefined for other schemes. */
export function parseAuthorization(header: string): Credential | undefined {
  const [, scheme = '', rest = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?: +(.*))?$/s.exec(header) ?? [];
  if (scheme.toLowerCase() === 'bearer')
    return { scheme: 'bearer', token: /^[A-Za-z0-9._~+/-]{1,16384}=*$/.test(rest) ? rest : undefined };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  if (!/^[A-Za-z0-9+/]{1,2048}={0,2}$/.test(rest)) return { scheme: 'basic', login: undefined };
  const text = Buffer.from(rest, 'base64').toString();
  const colon = text.indexOf(':');
  const login = colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  return { scheme: 'basic', login };
}

/** The challenge of an answer 401 to a program (RFC 6750 3). */
export function challengeOf(origin: string, parameters: Record<string, string> = {}): string {
  const rest = Object.entries(parameters).map(([name, value]) => `, ${name}="${value}"`);
  return `Bearer realm="${origin}"${rest.join('')}`;
}

/** The challenge for app passwords (RFC 7617 2). */
const basicChallenge = (origin: string) => `Basic realm="${origin}", charset="UTF-8"`;

/** The challenge of an answer without a credential. A browser would ask its user for a password that it cannot use. */
export function firstChallenge({ ctx, asked: { origin }, website }: ChallengedVisit): string {
  const isBrowser = ctx.get('Sec-Fetch-Mode') !== '' || ctx.get('Sec-WebSocket-Key') !== '';
  if (!website.app_passwords || isBrowser) return challengeOf(origin);
  return website.access_tokens === 'none'
    ? basicChallenge(origin)
    : `${basicChallenge(origin)}, ${challengeOf(origin)}`;
}

interface ChallengedVisit {
  ctx: Context;
  asked: { origin: string };
  website: ProxiedSettings;
}

/** Valid tokens that a process remembers. */
const MAX_KNOWN = 10_000;

export function createPrograms(
  services: Core &
    People &
    ApplicationServices & {
      apiTokens: ApiTokens;
      clients: ClientSource;
      /** Whether the directories of the account still have it. */
      checkDirectories(accountId: string): Promise<boolean>;
    },
) {
  const { accounts, apiTokens, appPasswords, checkDirectories, clients, db, noteSeen, now, rateLimits } = services;
  const wrongCredentials = rateLimits.remembered('programs:address');
  // The hashes of tokens that were valid: wrong ones of others at the same address do not delay them.
  const known = new Set<string>();

  /** The program whose credential this is, or the rejection of the credential. Neither says anything about the website yet. */
  async function identify(about: Asked, credential: Credential): Promise<Program | Rejection> {
    return credential.scheme === 'basic'
      ? identifyPerson(about, credential.login)
      : identifyByToken(about, credential.token);
  }

  async function identifyByToken(about: Asked, value: string | undefined): Promise<Program | Rejection> {
    const { ctx, origin, website } = about;
    const invalid = () => wrong(ctx, challengeOf(origin, { error: 'invalid_token' }));
    if (value === undefined) return invalid();
    // A JWT proves itself by its signature; nothing tells another token that was made up without a look at the database.
    const waitSeconds = wrongCredentials.waitSeconds({ address: ctx.state.request.address });
    const hash = sha256(value);
    if (waitSeconds > 0 && !known.has(hash) && !(await apiTokens.isSigned(value)))
      return { status: 429, error: 'too_many_requests', retryAfterSeconds: waitSeconds };
    const token = await apiTokens.findAny(value);
    known.delete(hash);
    if (token?.audience !== origin) return invalid();
    noteKnown(hash);
    const { clientId, accountId, signIn, group } = token;
    const takesClients = website.access_tokens === 'all';
    if (!token.scopes.includes(WEBSITE_SCOPE) || (accountId === undefined && !takesClients)) {
      const received = `${accountId === undefined ? 'of the client itself' : 'of a user'}, scope ${token.scopes.join(' ')}`;
      const expected = `${takesClients ? '' : 'of a user, '}scope ${WEBSITE_SCOPE}`;
      return {
        status: 403,
        error: 'insufficient_scope',
        challenge: challengeOf(origin, { error: 'insufficient_scope', scope: WEBSITE_SCOPE }),
        broken: { rule: 'credential', received, expected },
      };
    }
    const proof = { id: `token ${hash}`, clientId };
    if (accountId === undefined) {
      const client = await clients.applicationOf(clientId);
      return { visitor: { client: { clientId, name: client?.name ?? clientId } }, proof: { ...proof, amr: [] } };
    }
    const user = await userOf(accountId);
    const account = user && group !== undefined ? await inGroup(user, group, db) : user;
    if (!account?.isActive) return invalid();
    noteSeen(account);
    return { visitor: { account }, proof: { ...proof, ...signIn } };
  }

  function noteKnown(hash: string): void {
    const [oldest] = known;
    if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
    known.add(hash);
  }

  const userOf = async (id: string) => ((await checkDirectories(id)) ? accounts.find(id) : undefined);

  /** Every fault gets the same answer. */
  async function identifyPerson(
    { ctx, origin, application }: Asked,
    login: { username: string; password: string } | undefined,
  ): Promise<Program | Rejection> {
    const password = login && (await appPasswords.find(login.password, origin));
    const account = password && (await userOf(password.userId));
    const isOwn = account?.isActive && nameKey(account.username) === nameKey(login?.username ?? '');
    if (!isOwn || password?.applicationId !== application.id) return wrong(ctx, basicChallenge(origin));
    if (!appPasswords.isEnoughFor(account)) {
      const broken = { rule: 'level', received: 'app password', expected: acrOfRule('mfa'), account } as const;
      return { status: 403, error: 'access_denied', broken };
    }
    noteSeen(account);
    appPasswords.recordUse(password, origin, { request: ctx.state.request });
    return { visitor: { account }, proof: { id: `app password ${password.id}`, amr: [] } };
  }

  /** Counts a wrong credential, by address alone: no one locks the account of another. */
  async function wrong(ctx: Context, challenge: string): Promise<Rejection> {
    const { allowed, retryAfterSeconds } = await wrongCredentials.consume({ address: ctx.state.request.address });
    const received = challenge.startsWith('Basic') ? 'app password' : 'access token';
    const broken = { rule: 'credential', received, expected: 'a valid one' } as const;
    if (allowed) return { status: 401, error: 'invalid_credential', challenge, broken };
    return { status: 429, error: 'too_many_requests', retryAfterSeconds };
  }

  /**
   * Why the website is closed to a program; undefined: it is open. A user needs what the access rule demands of a sign-in. A client that
   * acts for itself has no role, no group and no second factor; that it may request tokens for the website is its access rule.
   */
  function closed(
    { ctx, origin, application }: Asked,
    { visitor, proof }: Program,
    { rules, level }: Needs,
  ): Rejection | undefined {
    const { address } = ctx.state.request;
    const account = 'account' in visitor ? visitor.account : undefined;
    const subject = account ?? { ...NOBODY, username: proof.clientId ?? '' };
    const denied = (broken: BrokenRule): Rejection => ({
      status: 403,
      error: 'access_denied',
      broken: { ...broken, ...(account && { account }) },
    });
    const entered = account ? application : { ...application, access: 'everyone' as const };
    if (!accessDecision(entered, subject, address).allowed)
      return denied(accessDecisionRule(entered, subject, address));
    // At which connection a user has signed in, the credential does not say.
    if (account && application.signInRule) return denied({ rule: 'connection', received: 'none' });
    const broken = brokenRule(rules, subject);
    if (broken) return denied(rejectionBy(broken, subject));
    const needs = stepUp(application, proof, level);
    if (!needs) return undefined;
    const lacking = denied({
      rule: 'level',
      received: [proof.acr ?? 'no sign-in', proof.authTime?.toISOString()].filter(Boolean).join(' '),
      expected: Object.values(needs).join(' '),
    });
    if (proof.authTime === undefined) return lacking;
    const error = 'insufficient_user_authentication';
    return { ...lacking, status: 401, error, challenge: challengeOf(origin, { error, ...needs }) };
  }

  /** What another sign-in has to have, as parameters of a challenge (RFC 9470 3); undefined: the one behind the credential is enough. */
  function stepUp({ sessionHours }: ClientApplication, { acr, authTime }: SignInProof, level: Acr | undefined) {
    const isWeak = level !== undefined && acrLevel(acr) < acrLevel(level);
    const isLate =
      sessionHours !== undefined &&
      authTime !== undefined &&
      authTime.getTime() + sessionHours * 3_600_000 <= now().getTime();
    if (!isWeak && !isLate) return undefined;
    return { ...(isWeak && { acr_values: level }), ...(isLate && { max_age: String(sessionHours * 3600) }) };
  }

  return { identify, closed };
}

const NOBODY: AccessSubject = { isActive: true, roles: [], groups: [] };
