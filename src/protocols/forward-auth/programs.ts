// Programs at a website: the credential of this server that a request carries in `Authorization`, where the website lets programs in. A
// credential that is not ours belongs to the website itself, and goes on to it.

import { type AccessSubject, accessDecision } from '../../applications/access-decision.ts';
import { type PathRule, type ProxiedSettings, WEBSITE_SCOPE } from '../../applications/fields/proxied-application.ts';
import { inGroup } from '../../applications/groups-to-choose.ts';
import type { Context } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { sha256 } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import { type Acr, acrLevel } from '../../people/mfa/acr.ts';
import type { People } from '../../people/people.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import type { ClientApplication, ClientSource } from '../oidc/store/clients.ts';
import { brokenRule } from './path-rules.ts';
import type { SignInProof, Visitor } from './user-headers.ts';

/** A program, with how whoever it acts for has signed in. */
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
}

/** What a request is for. */
interface Asked {
  ctx: Context;
  origin: string;
  application: ClientApplication;
  website: ProxiedSettings;
}

/** `Authorization` of a request, in the schemes that the website accepts. */
export type Credential = { scheme: 'bearer'; token: string | undefined };

/**
 * Reads `Authorization` (RFC 6750 2.1); undefined where it is not for this server. Throws bad_request (400) for two of them, because the
 * proxy and this server might each read another one.
 */
export function credentialOf(ctx: Context, { access_tokens: tokens }: ProxiedSettings): Credential | undefined {
  if (tokens === 'none') return undefined;
  const sent = ctx.req.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization');
  if (sent.length > 1) throw badRequest('bad_request', { detail: { forwardAuth: 'Authorization, sent twice' } });
  const [, scheme = '', rest = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?: +(.*))?$/.exec(ctx.get('Authorization')) ?? [];
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  return { scheme: 'bearer', token: /^[A-Za-z0-9._~+/-]{1,16384}=*$/.test(rest) ? rest : undefined };
}

/** The challenge of an answer 401 to a program, which can come with each of these. */
export function challengeOf(origin: string, parameters: Record<string, string> = {}): string {
  const rest = Object.entries(parameters).map(([name, value]) => `, ${name}="${value}"`);
  return `Bearer realm="${origin}"${rest.join('')}`;
}

/** After a rejection for too many, an address is not counted again before it may go on. */
const MAX_REMEMBERED = 10_000;

export function createPrograms(
  services: Core &
    People & {
      apiTokens: ApiTokens;
      clients: ClientSource;
      /** Whether the directories of the account still have it. */
      checkDirectories(accountId: string): Promise<boolean>;
    },
) {
  const { accounts, apiTokens, checkDirectories, clients, db, now, rateLimits } = services;
  const waitUntil = new Map<string, number>();

  /** The program whose credential this is, or the rejection of the credential. Neither says anything about the website yet. */
  async function identify({ ctx, origin, website }: Asked, { token: value }: Credential): Promise<Program | Rejection> {
    const invalid = () => wrong(ctx, challengeOf(origin, { error: 'invalid_token' }));
    if (value === undefined) return invalid();
    // Nothing tells a made-up token without a look at the database.
    const waitSeconds = waits(ctx);
    if (waitSeconds > 0) return { status: 429, error: 'too_many_requests', retryAfterSeconds: waitSeconds };
    const token = await apiTokens.findAny(value);
    if (token?.audience !== origin) return invalid();
    const { clientId, accountId, signIn, group } = token;
    const isInScope = token.scopes.includes(WEBSITE_SCOPE);
    if (!isInScope || (accountId === undefined && website.access_tokens !== 'all'))
      return {
        status: 403,
        error: 'insufficient_scope',
        challenge: challengeOf(origin, { error: 'insufficient_scope', scope: WEBSITE_SCOPE }),
      };
    const proof = { id: `token ${sha256(value)}`, clientId };
    if (accountId === undefined) {
      const client = await clients.applicationOf(clientId);
      return { visitor: { client: { clientId, name: client?.name ?? clientId } }, proof: { ...proof, amr: [] } };
    }
    const found = (await checkDirectories(accountId)) ? await accounts.find(accountId) : undefined;
    const account = found && group !== undefined ? await inGroup(found, group, db) : found;
    if (!account?.isActive) return invalid();
    return { visitor: { account }, proof: { ...proof, ...signIn } };
  }

  /** Seconds until this address may send another wrong credential. */
  function waits({ state: { request } }: Context): number {
    return Math.ceil(Math.max(0, (waitUntil.get(request.address) ?? 0) - now().getTime()) / 1000);
  }

  /** Counts a wrong credential, by address alone: no one locks the account of another. */
  async function wrong(ctx: Context, challenge: string): Promise<Rejection> {
    const { address } = ctx.state.request;
    let retryAfterSeconds = waits(ctx);
    if (retryAfterSeconds === 0) {
      const counted = await rateLimits.consume('programs:address', { address });
      if (counted.allowed) return { status: 401, error: 'invalid_token', challenge };
      retryAfterSeconds = counted.retryAfterSeconds;
      if (waitUntil.size >= MAX_REMEMBERED) waitUntil.clear();
      waitUntil.set(address, now().getTime() + retryAfterSeconds * 1000);
    }
    return { status: 429, error: 'too_many_requests', retryAfterSeconds };
  }

  /**
   * Why the website is closed to a program; undefined: it is open. A user needs what the access rule demands of a sign-in. A client that
   * acts for itself has no role, no group and no second factor; that it may request tokens for the website is its access rule.
   */
  function closed(
    { ctx, origin, application }: Asked,
    { visitor, proof }: Program,
    { rules, level }: { rules: readonly (PathRule | undefined)[]; level: Acr | undefined },
  ): Rejection | undefined {
    const { address } = ctx.state.request;
    const denied: Rejection = { status: 403, error: 'access_denied' };
    const isOpen =
      'account' in visitor
        ? accessDecision(application, visitor.account, address).allowed
        : accessDecision({ ...application, access: 'everyone' }, NOBODY, address).allowed;
    // At which connection a user has signed in, the credential does not say.
    if (!isOpen || ('account' in visitor && application.signInRule)) return denied;
    if (brokenRule(rules, 'account' in visitor ? visitor.account : NOBODY)) return denied;
    const { sessionHours } = application;
    const isLate =
      sessionHours !== undefined &&
      proof.authTime !== undefined &&
      proof.authTime.getTime() + sessionHours * 3_600_000 <= now().getTime();
    const isWeak = level !== undefined && acrLevel(proof.acr) < acrLevel(level);
    if (!isLate && !isWeak) return undefined;
    if (proof.authTime === undefined) return denied;
    // RFC 9470 3.
    const needs = {
      ...(isWeak && { acr_values: level }),
      ...(isLate && { max_age: String(sessionHours * 3600) }),
    };
    const challenge = challengeOf(origin, { error: 'insufficient_user_authentication', ...needs });
    return { status: 401, error: 'insufficient_user_authentication', challenge };
  }

  return { identify, closed };
}

const NOBODY: AccessSubject = { isActive: true, roles: [], groups: [] };
