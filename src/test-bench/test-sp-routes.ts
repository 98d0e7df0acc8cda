// /admin/test/sp: the built-in test service provider. Real messages by the real bindings, each displayed as it was sent and
// received, with the checks of a service provider.

import Router from '@koa/router';
import { z } from 'zod';
import type { Block } from '../admin/console/blocks.ts';
import type { Frame } from '../admin/console/frame.ts';
import type { Application } from '../applications/application.ts';
import { readForm } from '../base/http/body.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { parseForm } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import { randomToken } from '../base/platform/random.ts';
import type { Vault } from '../base/platform/vault.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { TestTicket } from '../protocols/oidc/store/test-tickets.ts';
import { providerErrorPage } from '../protocols/saml/messages/error-page.ts';
import { samlRateLimit } from '../protocols/saml/messages/received.ts';
import { TEST_HOME, testNotBegun } from './page-parts.ts';
import { indented, samlResponseBlocks } from './saml-response-summary.ts';
import type { TestBenchServices } from './services.ts';
import type { ReceivedMessage } from './test-sp.ts';
import { type SpSession, spSession } from './test-sp-checks.ts';

const WRITE = 'gatehouse.applications:write' as const;
const sealedForm = z.object({ state: z.string().max(200), sealed: z.string().max(10_000) });

/** The ACS, SLO endpoint and pages of the test service provider. */
export function testSpRoutes(services: TestBenchServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: `${TEST_HOME}/sp` });
  acsRoute(router, services);
  sloRoutes(router, services);
  return router;
}

/** What a test sign-in asks for. */
export interface SamlTestOptions {
  forceAuthn: boolean;
  /** IdP-initiated: the Response answers no request. */
  isUnsolicited: boolean;
  acr?: string;
}

/** Begins a sign-in with an AuthnRequest, or IdP-initiated. Returns the URL to go to. */
export async function beginAtTestSp(
  { frame, config: { issuer }, tickets, testSp: sp }: TestBenchServices,
  ctx: Context,
  application: Application,
  options: SamlTestOptions,
): Promise<string> {
  const state = randomToken();
  const ticket = {
    applicationId: application.id,
    clientId: sp.entityId,
    redirectUri: '',
    state,
    verifier: '',
    userId: frame.account(ctx).id,
  };
  if (options.isUnsolicited) {
    tickets.give(ctx, { ...ticket, nonce: '', sent: '' });
    return `${issuer}/saml/sso/start?${new URLSearchParams({ sp: sp.entityId, RelayState: state })}`;
  }
  const { id, xml, url } = await sp.authnRequest(options, state);
  tickets.give(ctx, { ...ticket, nonce: id, sent: xml });
  return url;
}

/** The assertion consumer service. */
function acsRoute(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame, vault, testSp: sp } = services;

  // No CSRF token: the form comes from the Response. The ticket ties it to this administrator, the signature to this server.
  router.post('/acs', ...frame.page(WRITE), async (ctx) => {
    const body = await readForm(ctx.req, limits.saml.bodyBytes);
    const { received, ticket } = await answerTo(services, ctx, async (requestId) => sp.response(body, requestId));
    const { session } = received;
    show(frame, ctx, ticket, received, [
      ...samlResponseBlocks(received.xml, true, [
        checks(t('console.test-bench.checks.response'), received),
        ...(ticket.sent ? [xml('AuthnRequest', ticket.sent)] : []),
      ]),
      ...(session ? [logoutForm(vault, ticket, session)] : []),
    ]);
  });
}

/** Single logout: the request that is sent, its response, and the requests of this server. */
function sloRoutes(router: Router<State, Extras>, services: TestBenchServices): void {
  const { frame, vault, tickets, testSp: sp } = services;

  router.post('/sign-out', ...frame.change(WRITE), async (ctx) => {
    const { state, sealed } = await parseForm(ctx, sealedForm.loose());
    const ticket = ticketOf(services, ctx, state);
    const { id, xml, url } = await sp.logoutRequest(openSession(vault, sealed, ticket), state);
    tickets.give(ctx, { ...ticket, nonce: id, sent: xml });
    seeOther(ctx, url);
  });

  // Without a session: a LogoutRequest of this server comes when the administrator's session has ended.
  router.get('/slo', samlRateLimit(services), async (ctx, next) => {
    if (!('SAMLRequest' in ctx.query)) return next();
    try {
      const url = await sp.answerLogout(ctx.querystring);
      seeOther(ctx, url);
    } catch (error) {
      throw providerErrorPage(error);
    }
  });

  router.get('/slo', ...frame.page(WRITE), async (ctx) => {
    const { received, ticket } = await answerTo(services, ctx, (requestId) =>
      sp.logoutResponse(ctx.querystring, requestId),
    );
    const isGood = received.checks.every(({ passed }) => passed);
    const lead = isGood ? t('console.test-bench.sign-out.sp-returned') : t('console.test-bench.sign-out.sp-unexpected');
    show(frame, ctx, ticket, received, [
      { kind: 'text', text: lead },
      checks(t('console.test-bench.checks.logout-response'), received),
      xml('LogoutRequest', ticket.sent),
      xml('LogoutResponse', received.xml),
    ]);
  });
}

/** The ticket of this administrator for a RelayState. Throws the page "not begun here". */
function ticketOf(
  { frame, tickets, testSp: sp }: TestBenchServices,
  ctx: Context,
  state: string | undefined,
): TestTicket {
  const ticket = state === undefined ? undefined : tickets.find(ctx, state);
  if (ticket?.userId !== frame.account(ctx).id || ticket.clientId !== sp.entityId) throw testNotBegun();
  return ticket;
}

/**
 * The answer to a request of this administrator in this browser. `read` decodes it, asks `requestIdOf` which request its RelayState belongs to, and
 * checks that it answers that one.
 */
async function answerTo<Answer extends ReceivedMessage>(
  services: TestBenchServices,
  ctx: Context,
  read: (requestIdOf: (relayState: string | undefined) => string | undefined) => Promise<Answer>,
): Promise<{ received: Answer; ticket: TestTicket }> {
  const requestIdOf = (relayState: string | undefined) => ticketOf(services, ctx, relayState).nonce || undefined;
  try {
    const received = await read(requestIdOf);
    return { received, ticket: ticketOf(services, ctx, received.relayState) };
  } catch (error) {
    throw providerErrorPage(error);
  }
}

function logoutForm(vault: Vault, ticket: TestTicket, session: SpSession): Block {
  return {
    kind: 'form',
    title: t('console.test-bench.sign-out'),
    lead: t('console.test-bench.sign-out.lead'),
    action: `${TEST_HOME}/sp/sign-out`,
    fields: [
      { name: 'state', label: '', type: 'hidden', value: ticket.state },
      { name: 'sealed', label: '', type: 'hidden', value: vault.seal(JSON.stringify(session), contextOf(ticket)) },
    ],
    button: t('console.test-bench.sign-out.send'),
    look: 'danger',
  };
}

function openSession(vault: Vault, sealed: string, ticket: TestTicket): SpSession {
  try {
    return spSession.parse(JSON.parse(vault.open(sealed, contextOf(ticket)).toString()));
  } catch {
    throw testNotBegun();
  }
}

function show(frame: Frame, ctx: Context, ticket: TestTicket, received: ReceivedMessage, blocks: Block[]): void {
  const failed = received.checks.filter(({ passed }) => !passed).length;
  frame.show(ctx, {
    title: t('console.test-bench.test-sp'),
    tags:
      failed === 0
        ? [{ text: t('console.test-bench.checks.passed'), tone: 'good' }]
        : [{ text: t('console.test-bench.checks.failed'), tone: 'bad' }],
    back: { href: TEST_HOME, label: t('console.test-bench.title') },
    actions: [{ label: t('console.test-bench.again'), href: `${TEST_HOME}/${ticket.applicationId}` }],
    blocks,
  });
}

const contextOf = ({ state, userId }: TestTicket) => `console test sp ${userId} ${state}`;

const xml = (name: PageText, text: string): Block => ({ kind: 'code', title: name, label: name, text: indented(text) });

function checks(title: PageText, { checks }: ReceivedMessage): Block {
  const rules = checks.map(({ label, passed, received, expected }) => ({
    label,
    state: passed ? ('passed' as const) : ('failed' as const),
    ...(passed ? { explanation: received } : { received, registered: expected }),
  }));
  return { kind: 'rules', title, rules, expectedLabel: t('console.test-bench.expected') };
}
