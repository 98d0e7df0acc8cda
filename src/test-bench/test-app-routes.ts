// /admin/test/{callback,refresh,sign-out,signed-out}: the built-in test application (OpenID Connect). It runs real requests
// against this server and shows what it sends and receives.

import Router from '@koa/router';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import type { Block, ConsolePage } from '../admin/console/blocks.ts';
import type { Frame } from '../admin/console/frame.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { parseForm, parseQuery } from '../base/http/input.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { TestTicket } from '../protocols/oidc/store/test-tickets.ts';
import { TEST_HOME as HOME, json, testNotBegun } from './page-parts.ts';
import type { TestBenchServices } from './services.ts';
import { TEST_CLIENT_ID, testAppUris } from './test-registrations.ts';

/** The tokens that an application would store: encrypted in the page, for this administrator and this test. */
interface StoredTokens {
  idToken: string;
  refreshToken: string;
}

const WRITE = 'gatehouse.applications:write' as const;
const sealedForm = z.object({ state: z.string().max(200), sealed: z.string().max(100_000) });
const endQuery = z.object({ state: z.string().max(200).default('') });
const tokens = z.object({ id_token: z.string(), access_token: z.string(), refresh_token: z.string().default('') });

type Tokens = z.output<typeof tokens>;

/** What happened at the token endpoint. */
interface Exchange {
  lead: PageText;
  messages: Block[];
  facts?: { label: PageText; value: PageText }[];
}

/** The pages of the test application. */
export function testAppRoutes(services: TestBenchServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  refreshRoute(router, services);
  logoutRoutes(router, services);
  return router;
}

type AuthorizationResponse = Record<string, unknown> & { code: string };

/** Redeems the code at the token endpoint, as the test application, and shows the response. */
export async function showTokens(
  services: TestBenchServices,
  ctx: Context,
  ticket: TestTicket,
  answer: AuthorizationResponse,
): Promise<void> {
  const form = {
    grant_type: 'authorization_code',
    code: answer.code,
    redirect_uri: ticket.redirectUri,
    client_id: TEST_CLIENT_ID,
    code_verifier: ticket.verifier,
  };
  const { status, body } = await services.internalRequest('/token', form);
  if (status !== 200) return showError(services.frame, ctx, body);
  const response = tokens.parse(body);
  if (decodeJwt(response.id_token).nonce !== ticket.nonce) throw testNotBegun();
  await show(services, ctx, ticket, response, {
    lead: t('console.test-bench.works.exchange'),
    messages: [
      json(t('console.test-bench.authorization-request'), JSON.parse(ticket.sent)),
      json(t('console.test-bench.authorization-response'), answer),
      ...tokenMessages(form, body),
    ],
  });
}

function refreshRoute(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame, internalRequest } = services;

  router.post('/refresh', ...frame.change(WRITE), async (ctx) => {
    const { ticket, stored } = await storedTokens(services, ctx);
    const { refreshToken } = stored;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: TEST_CLIENT_ID };
    const { status, body } = await internalRequest('/token', form);
    if (status !== 200) return showError(frame, ctx, body);
    const renewed = tokens.parse(body);
    await show(services, ctx, ticket, renewed, {
      lead: t('console.test-bench.refresh.works'),
      messages: [
        ...tokenMessages(form, body),
        json(t('console.test-bench.previous-id-token'), decodeJwt(stored.idToken)),
      ],
      facts: [
        {
          label: t('console.test-bench.refresh-token'),
          value:
            renewed.refresh_token === refreshToken
              ? t('console.test-bench.refresh-token.unchanged')
              : t('console.test-bench.refresh-token.new'),
        },
      ],
    });
  });
}

/** Sends the administrator to the end-session endpoint, and receives them back. */
function logoutRoutes(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame } = services;
  const { issuer } = services.config;

  router.post('/sign-out', ...frame.change(WRITE), async (ctx) => {
    const { ticket, stored } = await storedTokens(services, ctx);
    const request = { ...logoutRequest(issuer, ticket), id_token_hint: stored.idToken };
    seeOther(ctx, `${issuer}/end-session?${new URLSearchParams(request)}`);
  });

  router.get('/signed-out', ...frame.page(WRITE), (ctx) => {
    const { state } = parseQuery(ctx, endQuery.loose());
    const ticket = ticketOf(services, ctx, state);
    frame.show(ctx, {
      title: t('console.test-bench.sign-out.works'),
      lead: t('console.test-bench.sign-out.returned'),
      back: { href: HOME, label: t('console.test-bench.title') },
      blocks: [
        json(t('console.test-bench.sign-out.request'), {
          ...logoutRequest(issuer, ticket),
          id_token_hint: 'the ID token of the test',
        }),
        json(t('console.test-bench.sign-out.response'), {
          post_logout_redirect_uri: testAppUris(issuer).postLogoutRedirectUri,
          state,
        }),
      ],
    });
  });
}

/** The ticket of this administrator in this browser. Throws the page "not begun here". */
function ticketOf({ frame, tickets }: TestBenchServices, ctx: Context, state: string): TestTicket {
  const ticket = tickets.find(ctx, state);
  if (ticket?.userId !== frame.account(ctx).id) throw testNotBegun();
  return ticket;
}

/** The tokens from the previous page: only for the administrator and the browser that began the test. */
async function storedTokens(
  services: TestBenchServices,
  ctx: Context,
): Promise<{ ticket: TestTicket; stored: StoredTokens }> {
  const { state, sealed } = await parseForm(ctx, sealedForm.loose());
  const ticket = ticketOf(services, ctx, state);
  try {
    return { ticket, stored: JSON.parse(services.vault.open(sealed, contextOf(ticket)).toString()) };
  } catch {
    throw testNotBegun();
  }
}

/** The parameters of RP-Initiated Logout, without the ID token. */
function logoutRequest(issuer: string, { state }: TestTicket) {
  const { postLogoutRedirectUri } = testAppUris(issuer);
  return { client_id: TEST_CLIENT_ID, post_logout_redirect_uri: postLogoutRedirectUri, state };
}

async function show(
  { frame, config: { issuer }, vault, internalRequest }: TestBenchServices,
  ctx: Context,
  ticket: TestTicket,
  response: Tokens,
  exchange: Exchange,
): Promise<void> {
  const { id_token: idToken, access_token, refresh_token: refreshToken } = response;
  const { body: userinfo } = await internalRequest('/userinfo', { access_token });
  const sealed = vault.seal(JSON.stringify({ idToken, refreshToken } satisfies StoredTokens), contextOf(ticket));
  const request = { ...logoutRequest(issuer, ticket), id_token_hint: 'the ID token above' };
  frame.show(ctx, tokenPage(ticket, response, { ...exchange, userinfo, sealed, logoutRequest: request }));
}

function showError(frame: Frame, ctx: Context, body: Record<string, unknown>): void {
  frame.show(
    ctx,
    {
      title: t('console.test-bench.token-error'),
      lead: t('console.test-bench.token-error.lead'),
      back: { href: HOME, label: t('console.test-bench.title') },
      blocks: [json(t('console.test-bench.error'), { error: body.error, error_description: body.error_description })],
    },
    400,
  );
}

const contextOf = ({ state, userId }: TestTicket) => `console test app ${userId} ${state}`;

/** All messages of the test, and the forms for a refresh and a logout. */
function tokenPage(
  { state, applicationId }: TestTicket,
  { id_token: idToken, access_token: accessToken, refresh_token: refreshToken }: Tokens,
  {
    lead,
    messages,
    facts = [],
    userinfo,
    sealed,
    logoutRequest,
  }: Exchange & { userinfo: object; sealed: string; logoutRequest: object },
): ConsolePage {
  const fields = [
    { name: 'state', label: '', type: 'hidden' as const, value: state },
    { name: 'sealed', label: '', type: 'hidden' as const, value: sealed },
  ];
  return {
    title: t('console.test-bench.test-application'),
    lead,
    back: { href: HOME, label: t('console.test-bench.title') },
    actions: [{ label: t('console.test-bench.again'), href: `${HOME}/${applicationId}` }],
    blocks: [
      ...(facts.length > 0 ? [{ kind: 'facts' as const, rows: facts }] : []),
      ...messages,
      json(t('console.test-bench.id-token'), decodeJwt(idToken)),
      json(t('console.test-bench.id-token-header'), decodeProtectedHeader(idToken)),
      json(t('console.test-bench.access-token'), tokenContent(accessToken)),
      json('UserInfo', userinfo),
      refreshToken
        ? {
            kind: 'form',
            title: t('console.test-bench.refresh'),
            action: `${HOME}/refresh`,
            fields,
            button: t('console.test-bench.refresh'),
          }
        : { kind: 'text', text: t('console.test-bench.no-refresh-token') },
      json(t('console.test-bench.sign-out.request'), logoutRequest),
      {
        kind: 'form',
        title: t('console.test-bench.sign-out'),
        lead: t('console.test-bench.sign-out.lead'),
        action: `${HOME}/sign-out`,
        fields,
        button: t('console.test-bench.sign-out.button'),
        look: 'danger',
      },
    ],
  };
}

/** The payload of a JWT; of an opaque token only the length. */
function tokenContent(token: string): unknown {
  return token.split('.').length === 3 ? decodeJwt(token) : { opaque: true, characters: token.length };
}

/** The request to the token endpoint and its response; valid tokens are shortened. */
function tokenMessages(request: Record<string, string>, response: Record<string, unknown>): Block[] {
  const { refresh_token, ...parameters } = request;
  const isToken = (name: string) => name.endsWith('_token');
  const shortened = Object.entries(response).map(([name, value]) => [
    name,
    isToken(name) ? `${String(value).slice(0, 8)}…` : value,
  ]);
  return [
    json(t('console.test-bench.token-request'), {
      ...parameters,
      ...(refresh_token && { refresh_token: `${refresh_token.slice(0, 8)}…` }),
    }),
    json(t('console.test-bench.token-response'), Object.fromEntries(shortened)),
  ];
}
