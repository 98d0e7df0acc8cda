// The engine's interaction policy with the checks of this server, for both protocols: when the user has to act
// before an authorization request is answered. Order: login, select_account, access, terms, group, consent.

import { accessDecision, accessDecisionRule } from '../../../applications/access-decision.ts';
import { claimSources } from '../../../applications/fields/claim-settings.ts';
import { acceptsSignIn } from '../../../applications/rules/sign-in-rule.ts';
import { isOnThisComputer } from '../../../applications/uris.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import { termsDue } from '../../../people/accounts/terms.ts';
import { acrClaim, demandsMailedCode, essentialAcrs, PASSWORD_ACR, voluntaryAcrs } from '../../../people/mfa/acr.ts';
import { chooseGroup, withChosenGroup } from '../claims/chosen-group.ts';
import { accountOf } from '../claims/find-account.ts';
import { sectorOfClient } from '../claims/pairwise-subjects.ts';
import { unreachableApi } from '../claims/resource-servers.ts';
import { hashOfClient } from '../client-documents.ts';
import type { OidcServices } from '../oidc-services.ts';
import { upstreamLogin } from '../patches/provider/session-auth-time.ts';
import { isUnregistered } from '../registration.ts';
import { isEmpty, requestedBy } from '../store/grants.ts';
import { appContext } from './app-context.ts';
import { engineSeconds, errors, interactionPolicy, type KoaContextWithOIDC } from './library.ts';

const addressOf = (ctx: KoaContextWithOIDC) => appContext(ctx).state.request.address;

const { Check, Prompt, base } = interactionPolicy;
const { REQUEST_PROMPT, NO_NEED_TO_PROMPT } = Check;

/** The `sub` of an account for the client of the request. */
const subjectOf = ({ subjects }: OidcServices, { oidc: { client } }: KoaContextWithOIDC, accountId: string): string =>
  subjects.of(client && sectorOfClient(client), accountId);

/** oidc-provider's `interactions.policy`. */
export function createPrompts(services: OidcServices) {
  const policy = base();
  const login = policy.get('login');
  const consent = policy.get('consent');
  if (!login || !consent) throw new Error('the engine has no login or consent prompt');

  login.checks.add(accountUnavailableCheck());
  login.checks.remove('essential_acr');
  login.checks.remove('essential_acrs');
  login.checks.add(acrCheck(services));
  login.checks.add(sessionAgeCheck(services));
  login.checks.add(samlPasswordCheck(services));
  login.checks.add(samlSubjectCheck(services));
  login.checks.add(connectionCheck(services));
  login.checks.remove('id_token_hint');
  login.checks.remove('claims_id_token_sub_value');
  login.checks.add(oidcSubjectCheck(services));
  for (const check of login.checks) check.error ??= 'login_required';
  policy.add(new Prompt({ name: 'select_account', requestable: true }, loginHintCheck(services)), 1);
  policy.add(accessPrompt(services), 2);
  policy.add(termsPrompt(services), 3);
  policy.add(groupChoicePrompt(services), 4);
  consent.checks.remove('native_client_prompt');
  consent.checks.add(nativeClientCheck(services));
  consent.checks.add(somethingToGrantCheck(), 0);
  consent.details = (ctx) => ({
    requested: requestedBy(ctx),
    always: alwaysReleased(ctx, services),
    client: clientAsked(ctx, services),
  });
  return policy;
}

/** A session whose account was deleted or disabled needs a new sign-in. */
function accountUnavailableCheck() {
  return new Check('account_gone', 'the account of this session is not available', ({ oidc }) =>
    oidc.session?.accountId && !oidc.account ? REQUEST_PROMPT : NO_NEED_TO_PROMPT,
  );
}

/**
 * The session must belong to the user that the request names: by id_token_hint (OIDC Core 3.1.2.1) or by the value of the claim `sub`
 * (5.5.1). The engine would accept a sign-in with any other account, or show the form again.
 */
function oidcSubjectCheck(services: OidcServices) {
  return new Check(
    'requested_subject',
    'the request names another user',
    async (ctx) => {
      const { session, result } = ctx.oidc;
      const requested = await requestedSubjects(ctx);
      if (requested.length === 0) return NO_NEED_TO_PROMPT;
      const subject = session?.accountId && subjectOf(services, ctx, session.accountId);
      if (requested.every((one) => one === subject)) return NO_NEED_TO_PROMPT;
      if (result?.login) throw new errors.LoginRequired('another user signed in than the one that the request names');
      return REQUEST_PROMPT;
    },
    (ctx) => filledInUser(services, ctx),
  );
}

/** For the form: the user of an ID token of this server. A bare `sub` is no reason to tell the username. */
async function filledInUser(
  { accounts }: OidcServices,
  { oidc: { entities, params } }: KoaContextWithOIDC,
): Promise<Record<string, string>> {
  const sub = typeof params?.id_token_hint === 'string' ? entities.IdTokenHint?.payload.sub : undefined;
  const username = typeof sub === 'string' ? (await accounts.find(sub))?.username : undefined;
  return username === undefined ? {} : { username };
}

async function requestedSubjects({ oidc }: KoaContextWithOIDC): Promise<unknown[]> {
  const { params, client, provider, entities, claims } = oidc;
  const hint = params?.id_token_hint;
  if (typeof hint !== 'string' || !client) return subjectClaims(claims);
  const { payload } = entities.IdTokenHint ?? (await provider.IdToken.validate(hint, client));
  return [payload.sub, ...subjectClaims(claims)];
}

/** The values of `sub` for the ID token and for UserInfo; several are no subject that a session could have. */
function subjectClaims(claims: KoaContextWithOIDC['oidc']['claims']): unknown[] {
  return [claims?.id_token?.sub, claims?.userinfo?.sub].flatMap((claim) =>
    claim && 'value' in claim ? [claim.value] : [],
  );
}

/** Of a username or an email address. */
const MAX_LOGIN = 254;

/**
 * `login_hint` (OIDC Core 3.1.2.1) names another user than that of the session: the user chooses. It is compared with the session alone, so
 * that nobody learns which accounts exist.
 */
function loginHintCheck(services: OidcServices) {
  return new Check('login_hint', 'the request suggests another user', 'account_selection_required', async (ctx) => {
    const { account, params, result } = ctx.oidc;
    const hint = typeof params?.login_hint === 'string' ? params.login_hint.trim().toLowerCase() : '';
    // A longer one names no account.
    if (!account || hint === '' || hint.length > MAX_LOGIN || result?.login || result?.select_account)
      return NO_NEED_TO_PROMPT;
    // The Subject of a SAML request is checked as such.
    if (params?.response_mode === 'saml') return NO_NEED_TO_PROMPT;
    const { id, username, email } = accountOf(account);
    const names = [id, subjectOf(services, ctx, id), username, email ?? ''].map((name) => name.toLowerCase());
    return names.includes(hint) ? NO_NEED_TO_PROMPT : REQUEST_PROMPT;
  });
}

/** The request, or the application, requires a stronger sign-in of the user of the session (step-up, RFC 9470; sign-in/sign-in-policy.ts). */
function acrCheck({ clients, saml, sessionNeed, upstream }: OidcServices) {
  return new Check('acr', 'a stronger sign-in is required', async (ctx) => {
    const { account, client, params, result, session } = ctx.oidc;
    const essentialAcr = essentialAcrValues(ctx);
    if (!session?.accountId || !account) return NO_NEED_TO_PROMPT;
    const amr = session.amr ?? [];
    const { lacking } = await saml.requirements(ctx, ctx.oidc.params);
    const need = await sessionNeed(appContext(ctx), accountOf(account), {
      amr,
      essentialAcr,
      requestedAcr: [...voluntaryAcrs(params?.acr_values), ...(lacking(amr)?.acrs ?? [])],
      demandsMailedCode: demandsMailedCode({ ...params }),
      application: client && (await clients.applicationOf(client.clientId))?.mfa,
      answered: result?.stepUp ? 'step-up' : result?.login && 'sign-in',
      canReachUpstream: (acrs) => upstream.canSatisfyAcr(session.uid, acrs),
    });
    if (need === 'unreachable') {
      throw new errors.UnmetAuthenticationRequirements(
        'this account cannot reach the requested authentication context',
      );
    }
    if (need === 'rejected') throw new errors.AccessDenied('the application requires a stronger sign-in');
    return need === 'step-up' ? REQUEST_PROMPT : NO_NEED_TO_PROMPT;
  });
}

/** As the request says: the engine replaces the claim with `acr_values`, which are voluntary. */
function essentialAcrValues({ oidc }: KoaContextWithOIDC): string[] {
  const claim = acrClaim({ ...oidc.params });
  if (claim?.essential && claim.values !== undefined && !Array.isArray(claim.values)) {
    throw new errors.InvalidRequest('invalid claims.id_token.acr.values type');
  }
  return essentialAcrs(claim);
}

/** The application's `session_hours`: after them it needs a new sign-in, however long the session lasts for others. */
function sessionAgeCheck({ clients }: OidcServices) {
  return new Check('session_age', 'the sign-in is too old for the application', async ({ oidc }) => {
    const { client, session, result } = oidc;
    const hours = client && (await clients.applicationOf(client.clientId))?.sessionHours;
    if (hours === undefined || !session?.accountId || result?.login) return NO_NEED_TO_PROMPT;
    return engineSeconds() - (session.loginTs ?? 0) > hours * 3600 ? REQUEST_PROMPT : NO_NEED_TO_PROMPT;
  });
}

/**
 * The application's `connections` and `local_sign_in`, also in a session that was started at another application. If the
 * connection of a session with `fed` is unknown, every such application rejects it.
 */
function connectionCheck({ clients, upstream }: OidcServices) {
  return new Check('connection', 'the application requires another sign-in method', async ({ oidc }) => {
    const rule = oidc.client && (await clients.applicationOf(oidc.client.clientId))?.signInRule;
    const { session, result } = oidc;
    if (!rule || !session?.accountId) return NO_NEED_TO_PROMPT;
    const upstreamSession = upstreamLogin()?.upstream;
    const isLocalNow = result?.login !== undefined && upstreamSession === undefined && !session.amr?.includes('fed');
    // A directory sign-in also has amr `pwd`; only the stored session names its connection.
    const connectionOfSession = () =>
      upstreamSession ? upstream.connectionOf(upstreamSession) : upstream.ofSession(session.uid);
    const connection = isLocalNow ? undefined : await connectionOfSession();
    const isKnown = connection !== undefined || !session.amr?.includes('fed');
    if (isKnown && acceptsSignIn(rule, connection)) return NO_NEED_TO_PROMPT;
    // The sign-in pages offer only accepted methods. If another one was used, the result is an error instead of a loop.
    if (result?.login) throw new errors.AccessDenied('the application requires another sign-in method');
    return REQUEST_PROMPT;
  });
}

/** A SAML AuthnRequest that requires the password, in a session that was started with a passkey or at an upstream. */
function samlPasswordCheck({ clients, credentials, saml, upstream }: OidcServices) {
  return new Check('password', 'a sign-in with the password was requested', async (ctx) => {
    const { client, session, result } = ctx.oidc;
    if (!session?.accountId || result?.login || result?.stepUp) return NO_NEED_TO_PROMPT;
    const { lacking } = await saml.requirements(ctx, ctx.oidc.params);
    if (!lacking(session.amr ?? [])?.password) return NO_NEED_TO_PROMPT;
    const rule = client && (await clients.applicationOf(client.clientId))?.signInRule;
    const canProve =
      (await credentials.status(session.accountId)) !== undefined ||
      (await upstream.hasDirectory(session.accountId, rule)) ||
      (await upstream.canSatisfyAcr(session.uid, [PASSWORD_ACR]));
    return canProve ? REQUEST_PROMPT : NO_NEED_TO_PROMPT;
  });
}

/** The Subject of a SAML AuthnRequest is another user than that of the session. */
function samlSubjectCheck({ saml }: OidcServices) {
  return new Check('subject', 'the request names another user', async (ctx) => {
    const { account, result } = ctx.oidc;
    if (!account || result?.login) return NO_NEED_TO_PROMPT;
    const { isSubject } = await saml.requirements(ctx, ctx.oidc.params);
    return (await isSubject(accountOf(account))) ? NO_NEED_TO_PROMPT : REQUEST_PROMPT;
  });
}

/**
 * The access rule of the application, for both protocols, and of each requested API: the user gets a page, the application the error
 * access_denied.
 */
function accessPrompt(services: OidcServices) {
  const { clients, db } = services;

  /** The rule that closes the application, or an API that is requested, to the user; undefined: both are open. */
  async function closingRule(ctx: KoaContextWithOIDC): Promise<BrokenRule | undefined> {
    const { client, account, resourceServers } = ctx.oidc;
    const application = client && (await clients.applicationOf(client.clientId));
    if (!application || !account) return undefined;
    const person = accountOf(account);
    if (!accessDecision(application, person, addressOf(ctx)).allowed)
      return accessDecisionRule(application, person, addressOf(ctx));
    const choice = await chooseGroup(ctx, application, person, db);
    if ('rule' in choice) return choice.rule;
    // Before the user has chosen a group, every group counts.
    const member = 'choices' in choice ? person : choice.account;
    if (!accessDecision(application, member, addressOf(ctx)).allowed)
      return accessDecisionRule(application, member, addressOf(ctx));
    return unreachableApi(services, Object.keys(resourceServers ?? {}), member);
  }

  return new Prompt(
    { name: 'access', requestable: false },
    new Check(
      'access',
      'this account may not open the application',
      'access_denied',
      async (ctx) => ((await closingRule(ctx)) ? REQUEST_PROMPT : NO_NEED_TO_PROMPT),
      // The details for the page, which records the rejection.
      async (ctx) => ({ ...(await closingRule(ctx)) }),
    ),
  );
}

/** The version of the terms that the settings ask for, also in a session from before it. */
function termsPrompt({ settings }: OidcServices) {
  return new Prompt(
    { name: 'terms', requestable: false },
    new Check('terms', 'the user has to accept the terms', 'interaction_required', ({ oidc: { account } }) =>
      account && termsDue(settings.latest(), accountOf(account)) ? REQUEST_PROMPT : NO_NEED_TO_PROMPT,
    ),
  );
}

/** `ask_group`: the user chooses the group to continue as. Writes the group of the request into `claims`, which its code keeps. */
function groupChoicePrompt({ clients, db }: OidcServices) {
  const choiceOf = async (ctx: KoaContextWithOIDC) => {
    const { client, account } = ctx.oidc;
    const application = client && (await clients.applicationOf(client.clientId));
    return application && account ? chooseGroup(ctx, application, accountOf(account), db) : undefined;
  };
  return new Prompt(
    { name: 'group', requestable: false },
    new Check(
      'group',
      'the user has to choose a group',
      'interaction_required',
      async (ctx) => {
        const choice = await choiceOf(ctx);
        if (choice && 'choices' in choice) return REQUEST_PROMPT;
        const id = choice && 'account' in choice ? choice.account.group?.id : undefined;
        Object.assign(ctx.oidc, { claims: withChosenGroup(ctx.oidc.claims, id) });
        return NO_NEED_TO_PROMPT;
      },
      async (ctx) => {
        const choice = await choiceOf(ctx);
        return choice && 'choices' in choice ? { choices: choice.choices.map(({ id, name }) => ({ id, name })) } : {};
      },
    ),
  );
}

/** The consent page is never empty: a user who may have none of the requested scopes of an API is an error of the request. */
function somethingToGrantCheck() {
  return new Check('nothing_to_grant', 'the user may have none of the requested scopes', (ctx) => {
    if (ctx.oidc.params?.response_type !== 'none' && isEmpty(requestedBy(ctx)))
      throw new errors.AccessDenied('the user may have none of the requested scopes');
    return NO_NEED_TO_PROMPT;
  });
}

/** The client of a document as the person is asked about it: it may change before the answer. */
function clientAsked({ oidc }: KoaContextWithOIDC, { clients }: OidcServices): string | undefined {
  const application = oidc.client && clients.cachedApplicationOf(oidc.client.clientId);
  return application?.source === 'document' ? hashOfClient(application) : undefined;
}

/** The claims of the application's registration that belong to no scope, and are in each token. */
function alwaysReleased({ oidc }: KoaContextWithOIDC, { clients }: OidcServices): string[] {
  const claims = oidc.client && clients.cachedApplicationOf(oidc.client.clientId)?.metadata.claims;
  return claimSources(claims).flatMap(({ claim, scope }) => (scope === undefined ? claim : []));
}

/**
 * Any program on the device can pose as a native client (RFC 8252 8.6), so consent is prompted for at each request,
 * except for first-party applications (`consent: implicit`). One that nobody registered is judged by where it returns to, whatever it says.
 */
function nativeClientCheck({ clients }: OidcServices) {
  return new Check(
    'native_client_prompt',
    'native clients require End-User interaction',
    'interaction_required',
    async (ctx) => {
      const { client, params, result } = ctx.oidc;
      if (!client || params?.response_type === 'none' || result?.consent) return NO_NEED_TO_PROMPT;
      const application = await clients.applicationOf(client.clientId);
      const uri = String(params?.redirect_uri ?? '');
      const isNative =
        application && isUnregistered(application)
          ? !URL.canParse(uri) || isOnThisComputer(uri)
          : client.applicationType === 'native';
      return !isNative || application?.consent === 'implicit' ? NO_NEED_TO_PROMPT : REQUEST_PROMPT;
    },
  );
}
