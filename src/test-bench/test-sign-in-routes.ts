// /admin/test/:id: runs the real sign-in to an application, with its real rules and pages, and shows what the application
// would have received. The response comes here and never reaches the application.

import Router from '@koa/router';
import { z } from 'zod';
import type { AdminServices } from '../admin/admin-services.ts';
import {
  type DemandResult,
  demandResults,
  missingScopes,
  readsRolesOrGroups,
  receivedOf,
  roleInProduct,
  rolesReadBy,
  rolesThatCount,
} from '../admin/applications/presets/demands.ts';
import { productOf } from '../admin/applications/presets/presets.ts';
import type { ProductPreset } from '../admin/applications/presets/products.ts';
import type { Block, Cell, Field, FormSection, TextBlock } from '../admin/console/blocks.ts';
import type { Frame } from '../admin/console/frame.ts';
import { accessDecision } from '../applications/access-decision.ts';
import type { Application, OidcApplication } from '../applications/application.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { conflict, notFound } from '../base/http/errors.ts';
import { parseForm, parseQuery } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import { randomToken, sha256 } from '../base/platform/random.ts';
import { undefinedUnlessUnavailable } from '../base/storage/unavailable.ts';
import { oneOf, type PageText, t } from '../base/texts/text.ts';
import type { Account } from '../people/accounts/account.ts';
import { acrLevel, acrValues, MFA_ACR, PHISHING_RESISTANT_ACR } from '../people/mfa/acr.ts';
import { TEST_MODE } from '../protocols/oidc/engine/test-response-mode.ts';
import type { RequestedAuthnContext } from '../protocols/saml/messages/authn-request.ts';
import { newMessageId } from '../protocols/saml/messages/encode.ts';
import { chooseNameIdFormat } from '../protocols/saml/messages/name-id.ts';
import { authorizationParameters } from '../protocols/saml/sso/authorization-parameter-checks.ts';
import type { PendingAuthnRequest } from '../protocols/saml/sso/pending-authn-requests.ts';
import { defaultAcs } from '../protocols/saml/sso/request-checks.ts';
import { contextClasses } from '../protocols/saml/xml/names.ts';
import { json, testNotBegun } from './page-parts.ts';
import { audienceOf, samlResponseBlocks } from './saml-response-summary.ts';
import type { TestBenchServices } from './services.ts';
import { showTokens } from './test-app-routes.ts';
import { TEST_CLIENT_ID } from './test-registrations.ts';
import { beginAtTestSp, type SamlTestOptions } from './test-sp-routes.ts';

const WRITE = 'gatehouse.applications:write' as const;
const ACR_OPTIONS = [
  { value: '', label: t('console.test-bench.acr.default') },
  ...acrValues.map((value, index) => ({
    value,
    label:
      [t('console.test-bench.acr.password'), t('console.test-bench.acr.two-step'), t('console.test-bench.acr.passkey')][
        index
      ] ?? value,
  })),
];
const testForm = z.object({
  scope: z.string().max(500).optional(),
  acr: z.enum(['', ...acrValues]).default(''),
  again: z.literal('on').optional(),
  unsolicited: z.literal('on').optional(),
});
const callback = z.object({
  state: z.string().max(200).default(''),
  code: z.string().max(512).optional(),
  error: z.string().max(100).optional(),
  error_description: z.string().max(2000).optional(),
});

type TestOptions = z.output<typeof testForm>;

/** The pages /admin/test/:id, /admin/test/callback and /admin/test/saml. */
export function testSignInRoutes(services: TestBenchServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/test' });
  // `/callback` and `/saml` first: they would match `/:id`.
  responseRoutes(router, services);
  beginRoutes(router, services);
  return router;
}

/** What the application would have received, and the error that it would have received. */
function responseRoutes(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame, tickets } = services;
  const { applications } = services.admin;
  const { claimsPreview } = services.oidc;

  router.get('/callback', ...frame.page(WRITE), async (ctx) => {
    const answer = parseQuery(ctx, callback.loose());
    const ticket = tickets.find(ctx, answer.state);
    if (ticket?.userId !== frame.account(ctx).id) throw testNotBegun();
    const { code } = answer;
    if (code && ticket.clientId === TEST_CLIENT_ID) return showTokens(services, ctx, ticket, { ...answer, code });
    const { application } = await applications.get(ticket.applicationId, frame.actor(ctx), WRITE);
    const redeemed = code
      ? await claimsPreview.redeem({ ...ticket, code }).catch(undefinedUnlessUnavailable)
      : undefined;
    if (redeemed) {
      const { lead, blocks } = claimsSummary(application, { ...redeemed.idToken, ...redeemed.userinfo });
      return show(frame, ctx, application, lead, [
        ...blocks,
        json(t('console.test-bench.id-token'), redeemed.idToken, { isClosed: true }),
        json('UserInfo', redeemed.userinfo, { isClosed: true }),
        json(t('console.test-bench.id-token-header'), redeemed.header, { isClosed: true }),
      ]);
    }
    if (!answer.error) throw testNotBegun();
    const query = new URLSearchParams({ user: frame.account(ctx).username, app: application.clientId });
    const denied: Block = {
      kind: 'text',
      tone: 'notice',
      text: t('console.test-bench.denied', { app: application.name }),
      link: { label: t('console.navigation.access-check'), href: `/admin/access-check?${query}` },
    };
    show(frame, ctx, application, t('console.test-bench.rejected.error'), [
      ...(answer.error === 'access_denied' ? [denied] : []),
      json(t('console.test-bench.error'), { error: answer.error, error_description: answer.error_description }),
    ]);
  });

  router.get('/saml', ...frame.page(WRITE), async (ctx) => {
    const { request } = parseQuery(ctx, z.object({ request: z.string().min(1).max(64) }));
    const xml = await testResponse(services, ctx, request);
    if (!xml) throw testNotBegun();
    const audience = audienceOf(xml);
    const application = audience === undefined ? undefined : await services.applications.find(audience);
    const demands = application ? samlDemandsBlocks(application, frame.account(ctx)) : [];
    frame.show(ctx, {
      title: application
        ? t('console.test-bench.saml-response-of', { app: application.name })
        : t('console.test-bench.saml-response'),
      back: { href: '/admin/applications', label: t('console.test-bench.applications') },
      blocks: [...demands, ...samlResponseBlocks(xml)],
    });
  });
}

/** What the product lacks in this Response about the administrator. An encrypted one names its audience to the product only. */
function samlDemandsBlocks(application: Application, account: Account): Block[] {
  const product = productOf(application);
  if (!product) return [];
  const results = demandResults(product, receivedOf(account, application, product));
  return demandsBlocks(application, product, results);
}

/** The form of a test sign-in, and its begin. */
function beginRoutes(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame, testSp } = services;
  const { applications } = services.admin;

  router.get('/:id', ...frame.page(WRITE), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const account = frame.account(ctx);
    const { allowed } = accessDecision(application, account, ctx.state.request.address);
    const product = productOf(application);
    const demands = product ? demandResults(product, receivedOf(account, application, product)) : [];
    const closed: Block = {
      kind: 'text',
      tone: 'warning',
      text: t('console.test-bench.closed', { app: application.name }),
      link: { label: t('console.people.title'), href: `/admin/applications/${application.id}/people` },
    };
    frame.show(ctx, {
      title: t('console.test-bench.form.title', { application: application.name }),
      back: { href: `/admin/applications/${application.id}`, label: application.name },
      blocks: [
        ...(allowed ? [] : [closed]),
        ...demandsBlocks(application, product, demands),
        {
          kind: 'form',
          lead: isBuiltIn(application, testSp)
            ? t('console.test-bench.form.lead-built-in')
            : t('console.test-bench.form.lead'),
          action: `/admin/test/${application.id}`,
          ...optionsOf(application, isBuiltIn(application, testSp)),
          button: t('console.test-bench.form.button'),
          cancel: `/admin/applications/${application.id}`,
        },
      ],
    });
  });

  router.post('/:id', ...frame.change(WRITE), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const options = await parseForm(ctx, testForm.loose());
    seeOther(
      ctx,
      application.protocol === 'oidc'
        ? beginOidc(services, ctx, application, options)
        : await beginSaml(services, ctx, application, options),
    );
  });
}

/** Returns the URL of the authorization request. */
function beginOidc(
  { frame, config: { issuer }, tickets }: TestBenchServices,
  ctx: Context,
  application: OidcApplication,
  options: TestOptions,
): string {
  const { ticket, parameters } = authorizationRequest(application, options);
  tickets.give(ctx, { ...ticket, userId: frame.account(ctx).id, sent: JSON.stringify(parameters) });
  return `${issuer}/authorize?${new URLSearchParams(parameters)}`;
}

/** Returns the URL that the sign-in begins at. */
function beginSaml(
  services: TestBenchServices,
  ctx: Context,
  application: Application,
  options: TestOptions,
): Promise<string> {
  const samlOptions = {
    forceAuthn: options.again === 'on',
    isUnsolicited: options.unsolicited === 'on',
    ...(options.acr && { acr: options.acr }),
  };
  return application.clientId === services.testSp.entityId
    ? beginAtTestSp(services, ctx, application, samlOptions)
    : beginTestSignIn(services, ctx, application.clientId, samlOptions);
}

function isBuiltIn({ clientId }: Application, testSp: TestBenchServices['testSp']): boolean {
  return clientId === TEST_CLIENT_ID || clientId === testSp.entityId;
}

function show(frame: Frame, ctx: Context, application: Application, lead: PageText, blocks: Block[]): void {
  frame.show(ctx, {
    title: t('console.test-bench.result.title', { application: application.name }),
    lead,
    back: { href: `/admin/applications/${application.id}`, label: application.name },
    actions: [{ label: t('console.test-bench.again'), href: `/admin/test/${application.id}`, look: 'primary' }],
    blocks,
  });
}

/** The parameters of an authorization request, and what has to be remembered of it. Throws conflict. */
function authorizationRequest(application: OidcApplication, { scope = scopeOf(application), acr, again }: TestOptions) {
  const { id, metadata, clientId } = application;
  const [redirectUri] = metadata.redirect_uris;
  if (!redirectUri) throw conflict('conflict', { message: t('console.test-bench.no-sign-in') });
  if (metadata.require_pushed_authorization_requests || metadata.require_signed_request_object) {
    throw conflict('conflict', { message: t('console.test-bench.must-push') });
  }
  const [state, nonce, verifier] = [randomToken(), randomToken(), randomToken(limits.pkceVerifier.bytes)];
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    // The built-in application has its redirect URI here, so it gets the standard response mode.
    ...(clientId !== TEST_CLIENT_ID && { response_mode: TEST_MODE }),
    scope,
    state,
    nonce,
    code_challenge: sha256(verifier),
    code_challenge_method: 'S256',
    ...(acr && { acr_values: acr }),
    ...(again && { prompt: 'login' }),
  };
  return { parameters, ticket: { applicationId: id, clientId, redirectUri, state, nonce, verifier } };
}

/** In sight for a test application, which is there to try them; else closed. */
function optionsOf(application: Application, isInSight: boolean): { fields: Field[]; sections?: FormSection[] } {
  const fields = fieldsFor(application);
  return isInSight
    ? { fields }
    : {
        fields: [],
        sections: [
          {
            title: t('console.test-bench.options'),
            isAdvanced: true,
            summary: t('console.test-bench.options.usual'),
            fields,
          },
        ],
      };
}

/** What the application asks for: what it is registered for, or what the guide of its product says. */
function scopeOf(application: OidcApplication): string {
  const { metadata } = application;
  if (metadata.scope !== undefined) return [...new Set(['openid', ...metadata.scope.split(' ')])].join(' ');
  const product = productOf(application);
  const names = product ? rolesReadBy(product).length > 0 && `${readsRolesOrGroups(product)}s` : 'roles groups';
  const renews = metadata.grant_types.includes('refresh_token') && 'offline_access';
  return ['openid profile email', names, renews].filter(Boolean).join(' ');
}

function fieldsFor(application: Application): Field[] {
  const acr: Field = {
    name: 'acr',
    label: t('console.test-bench.field.acr'),
    type: 'select',
    value: '',
    options: ACR_OPTIONS,
  };
  return application.protocol === 'oidc'
    ? [
        {
          name: 'scope',
          label: t('console.test-bench.field.scopes'),
          hint: t('console.test-bench.field.scopes.hint'),
          value: scopeOf(application),
        },
        acr,
        { name: 'again', label: t('console.test-bench.field.again-oidc'), type: 'checkbox' },
      ]
    : [
        acr,
        { name: 'again', label: t('console.test-bench.field.again-saml'), type: 'checkbox' },
        { name: 'unsolicited', label: t('console.test-bench.field.unsolicited'), type: 'checkbox' },
      ];
}

/**
 * @param claims of the ID token and UserInfo
 * @returns the sentence of the page, and its blocks
 */
function claimsSummary(
  application: Application,
  claims: Readonly<Record<string, unknown>>,
): { lead: PageText; blocks: Block[] } {
  const product = productOf(application);
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined);
  const namesIn = (claim: string) => (Array.isArray(claims[claim]) ? (claims[claim] as unknown[]).map(String) : []);
  const [roles, groups] = [namesIn('roles'), namesIn('groups')];
  const known = product?.groups ? groups : roles;
  const emailVerified = claims.email_verified === true;
  const email = text('email') ?? null;
  const person = { email, emailVerified, roles: known, missingScopes: missingScopes(application, product) };
  const results = product ? demandResults(product, person) : [];
  const isEmailMissing = results.some(({ demand, state }) => demand === 'address' && state !== 'met');
  const roleDescription = (product && roleInProduct(product, known)?.description) ?? product?.withoutRoles;
  const none: Cell = { text: t('console.test-bench.none'), tone: isEmailMissing ? 'bad' : 'plain' };
  const rows: { label: PageText; value: Cell }[] = [
    { label: t('console.test-bench.username'), value: text('preferred_username') ?? t('console.test-bench.none') },
    { label: t('console.test-bench.name'), value: text('name') ?? t('console.test-bench.none') },
    { label: t('console.test-bench.email'), value: text('email') ?? none },
    {
      label: t('console.test-bench.roles'),
      value: roles.length > 0 ? roles.join(', ') : t('console.test-bench.no-roles'),
    },
    ...(groups.length > 0 ? [{ label: t('console.navigation.groups'), value: groups.join(', ') }] : []),
    ...(product && roleDescription
      ? [{ label: t('console.test-bench.role-in', { product: product.title }), value: roleDescription }]
      : []),
  ];
  const facts: Block = { kind: 'facts', title: t('console.test-bench.about-you'), rows };
  return { lead: demandsLead(product, results), blocks: [...demandsBlocks(application, product, results), facts] };
}

/** What the product would make of the sign-in. */
function demandsLead(product: ProductPreset | undefined, results: readonly DemandResult[]): PageText {
  const isRejected = results.some(({ state }) => state === 'rejected');
  if (!product || !isRejected) return t('console.test-bench.works.would-receive');
  return t('console.test-bench.would-reject', { product: product.title });
}

/** A warning for each demand of the product that the person does not meet. */
function demandsBlocks(
  { metadata }: Application,
  product: ProductPreset | undefined,
  results: readonly DemandResult[],
): Block[] {
  if (!product) return [];
  const values = {
    product: product.title,
    roles: oneOf(rolesThatCount(product, metadata)),
    of: readsRolesOrGroups(product),
  };
  return results.flatMap(({ demand, state, scope }): Block[] => {
    if (state === 'met') return [];
    if (scope) return [warning(t('console.test-bench.scope-missing', { ...values, scope, end: state }))];
    const link = { label: t('page.your-account'), href: '/account/email' };
    if (demand === 'address') return [{ ...warning(t('console.test-bench.email-missing', values)), link }];
    if (demand === 'verified') return [{ ...warning(t('console.test-bench.email-unverified', values)), link }];
    if (state === 'other-roles') return [warning(t('console.test-bench.other-roles', values))];
    return [
      warning(t('console.test-bench.role-missing', { ...values, end: state === 'rejected' ? 'rejected' : 'none' })),
    ];
  });
}

const warning = (text: PageText): TextBlock => ({ kind: 'text', tone: 'warning', text });

// A test sign-in to a SAML application: an AuthnRequest of the console itself, whose Response is displayed and never posted.

/**
 * Begins a sign-in whose Response is displayed at /admin/test/saml: stores the request as a pending AuthnRequest that is marked as a
 * test. Returns the URL to go to; throws not_found.
 */
async function beginTestSignIn(
  { config: { issuer }, saml: { tests } }: AdminServices,
  ctx: Context,
  entityId: string,
  { forceAuthn, isUnsolicited, acr }: SamlTestOptions,
): Promise<string> {
  const sp = await tests.serviceProviders.find(entityId);
  const acs = sp && defaultAcs(sp.acs);
  if (!sp || !acs) throw notFound({ message: t('console.test-bench.no-acs') });
  const request: PendingAuthnRequest = {
    entityId,
    requestId: isUnsolicited ? undefined : newMessageId(),
    acsUrl: acs.url,
    relayState: undefined,
    nameIdFormat: chooseNameIdFormat(undefined, sp),
    mayCreateNameId: true,
    requestedContext: minimumOf(acr),
    forceAuthn,
    isPassive: false,
    subject: undefined,
    loginHint: undefined,
    isTest: true,
  };
  const id = await tests.pendingAuthnRequests.save(sp.applicationId, request, tests.browser.remember(ctx));
  return `${issuer}/authorize?${new URLSearchParams(authorizationParameters(request, id))}`;
}

/** The XML of the Response to this request, in the browser that began it. */
async function testResponse(
  { saml: { tests } }: AdminServices,
  ctx: Context,
  requestId: string,
): Promise<string | undefined> {
  const sealed = await tests.pendingAuthnRequests.testResponse(requestId, tests.browser.of(ctx));
  return sealed && tests.openTestResponse(sealed, requestId);
}

/** The context of a test that demands more than a password. */
function minimumOf(acr: string | undefined): RequestedAuthnContext | undefined {
  const level = acrLevel(acr);
  if (level < acrLevel(MFA_ACR)) return undefined;
  const name = level < acrLevel(PHISHING_RESISTANT_ACR) ? contextClasses.mfa : contextClasses.passkey;
  return { comparison: 'minimum', classes: [name], declarations: [] };
}
