// When a person has to be asked: the engine's interaction policy with our additions, for both protocols.
// Order: who are you (login), which account (select_account), may you (access), may the application (consent).

import type { ApplicationFacts, ClientSource } from './clients.ts';
import { errors, interactionPolicy, type KoaContextWithOIDC } from './library.ts';

const { Check, Prompt, base } = interactionPolicy;
const ASK = Check.REQUEST_PROMPT;
const GO_ON = Check.NO_NEED_TO_PROMPT;

export interface PromptNeeds {
  clients: ClientSource;
  /** Whether the application's access rule lets this account in. */
  accessAllowed(applicationId: string, accountId: string): Promise<boolean>;
  /** Whether `reached` is at least as strong as one of the `requested` authentication contexts. */
  satisfies(requested: string[], reached: string | undefined): boolean;
  /** The context that an application's own rule demands. */
  contextOf(rule: NonNullable<ApplicationFacts['mfa']>): string;
  /** Whether this account has the factors for one of the `requested` contexts. */
  canReach(accountId: string, requested: string[]): Promise<boolean>;
  /** What a SAML request wants of this sign-in; nothing for OpenID Connect. */
  samlWishes(ctx: KoaContextWithOIDC): Promise<{ acrs: string[]; needsPassword: boolean }>;
  hasPassword(accountId: string): Promise<boolean>;
  /** What the client of the request knows an account by (pairwise subjects). */
  subjectOf(ctx: KoaContextWithOIDC, accountId: string): Promise<string>;
}

/** oidc-provider's `interactions.policy`. */
export function createPrompts(needs: PromptNeeds) {
  const policy = base();
  const login = policy.get('login');
  const consent = policy.get('consent');
  if (!login || !consent) throw new Error('the engine has no login or consent prompt');

  login.checks.add(accountGone());
  login.checks.remove('essential_acr');
  login.checks.remove('essential_acrs');
  login.checks.add(essentialContext(needs));
  login.checks.add(wantedContext(needs));
  login.checks.add(demandedContext(needs));
  login.checks.add(wantedPassword(needs));
  login.checks.remove('id_token_hint');
  login.checks.add(hintedPerson(needs));
  for (const check of login.checks) check.error ??= 'login_required';
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 1);
  policy.add(access(needs), 2);
  consent.checks.remove('native_client_prompt');
  consent.checks.add(nativeClient(needs));
  return policy;
}

/** A session whose account was deleted or disabled signs in anew. */
function accountGone() {
  return new Check('account_gone', 'the account of this session is not available', ({ oidc }) =>
    oidc.session?.accountId && !oidc.account ? ASK : GO_ON,
  );
}

/**
 * Somebody else than the person of the ID token signs in anew (OIDC Core 3.1.2.1: no positive answer for another one).
 * The engine reads the hint before the sign-in only, and would take whoever came out of it.
 */
function hintedPerson({ subjectOf }: PromptNeeds) {
  return new Check('id_token_hint', 'id_token_hint and authenticated subject do not match', async (ctx) => {
    const { params, client, session, provider, entities } = ctx.oidc;
    const text = params?.id_token_hint;
    if (typeof text !== 'string' || !client) return GO_ON;
    const { payload } = entities.IdTokenHint ?? (await provider.IdToken.validate(text, client));
    const subject = session?.accountId && (await subjectOf(ctx, session.accountId));
    return subject === payload.sub ? GO_ON : ASK;
  });
}

/** `acr` as an essential claim (OIDC Core 5.5.1.1): without it the request fails, so an unreachable one says so. */
function essentialContext({ satisfies, canReach }: PromptNeeds) {
  const requestedBy = (ctx: KoaContextWithOIDC) => {
    const acr = ctx.oidc.claims?.id_token?.acr as
      | { essential?: boolean; value?: string; values?: string[] }
      | undefined;
    if (!acr?.essential) return [];
    if (acr.values !== undefined && !Array.isArray(acr.values)) {
      throw new errors.InvalidRequest('invalid claims.id_token.acr.values type');
    }
    return acr.values ?? (acr.value === undefined ? [] : [acr.value]);
  };
  return new Check('essential_acr', 'the requested authentication context could not be obtained', async (ctx) => {
    const requested = requestedBy(ctx);
    if (requested.length === 0 || satisfies(requested, ctx.oidc.acr)) return GO_ON;
    const accountId = ctx.oidc.session?.accountId;
    if (accountId && !(await canReach(accountId, requested))) {
      throw new errors.UnmetAuthenticationRequirements(
        'this account cannot reach the requested authentication context',
      );
    }
    return ASK;
  });
}

/**
 * `acr_values` (voluntary, OIDC Core 3.1.2.1; step-up, RFC 9470) and SAML's RequestedAuthnContext: asked for when the
 * account can reach it; otherwise the answer tells what was reached, and SAML answers NoAuthnContext.
 */
function wantedContext({ satisfies, canReach, samlWishes }: PromptNeeds) {
  return new Check('acr', 'a stronger sign-in was requested', async (ctx) => {
    const { session, params, result } = ctx.oidc;
    const accountId = session?.accountId;
    if (!accountId || result?.login) return GO_ON;
    const requested = [...String(params?.acr_values ?? '').split(' '), ...(await samlWishes(ctx)).acrs].filter(Boolean);
    if (requested.length === 0 || satisfies(requested, ctx.oidc.acr)) return GO_ON;
    return (await canReach(accountId, requested)) ? ASK : GO_ON;
  });
}

/**
 * The application's own rule (`mfa: required`), which neither the settings nor the request can lower. The reason is that
 * of a step-up: only the missing factor is asked for.
 */
function demandedContext({ clients, contextOf, satisfies }: PromptNeeds) {
  return new Check('acr', 'the application demands a stronger sign-in', async ({ oidc }) => {
    const rule = oidc.client && (await clients.facts(oidc.client.clientId))?.mfa;
    if (!rule || !oidc.session?.accountId || satisfies([contextOf(rule)], oidc.acr)) return GO_ON;
    // The sign-in pages do not finish before the rule is met; should they ever, that is the end of it.
    if (oidc.result?.login) throw new errors.AccessDenied('the application demands a stronger sign-in');
    return ASK;
  });
}

/** A session that began with a passkey, and a SAML request for exactly the password: it is asked for in addition. */
function wantedPassword({ samlWishes, hasPassword }: PromptNeeds) {
  return new Check('password', 'a sign-in with the password was requested', async (ctx) => {
    const { session, result } = ctx.oidc;
    if (!session?.accountId || result?.login || session.amr?.includes('pwd')) return GO_ON;
    return (await samlWishes(ctx)).needsPassword && (await hasPassword(session.accountId)) ? ASK : GO_ON;
  });
}

/** The application's access rule, alike for both protocols; the page tells the person, the error the application. */
function access({ clients, accessAllowed }: PromptNeeds) {
  return new Prompt(
    { name: 'access', requestable: false },
    new Check('access', 'this account may not open the application', 'access_denied', async ({ oidc }) => {
      if (!oidc.client || !oidc.account) return GO_ON;
      const facts = await clients.facts(oidc.client.clientId);
      if (!facts || facts.access === 'everyone') return GO_ON;
      return (await accessAllowed(facts.id, oidc.account.accountId)) ? GO_ON : ASK;
    }),
  );
}

/** Anyone can pose as a native client on the same device (RFC 8252 8.6), so it asks each time unless it is ours. */
function nativeClient({ clients }: PromptNeeds) {
  return new Check(
    'native_client_prompt',
    'native clients require End-User interaction',
    'interaction_required',
    async (ctx) => {
      const { client, params, result } = ctx.oidc;
      if (client?.applicationType !== 'native' || params?.response_type === 'none' || result?.consent) return GO_ON;
      return (await clients.facts(client.clientId))?.consent === 'implicit' ? GO_ON : ASK;
    },
  );
}
