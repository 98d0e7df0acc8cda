// /admin/test/sp/…: the service provider in the box. Real messages by the real bindings, each shown as it was sent and as it
// came, with what a service provider checks of it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import { readBody } from '../../http/body.ts';
import type { Context, Extras, Middleware, State } from '../../http/context.ts';
import { parseForm } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import type { TestTicket, TestTickets } from '../../oidc/test-tickets.ts';
import { randomToken } from '../../platform/random.ts';
import type { Vault } from '../../platform/vault.ts';
import { asPage } from '../../saml/page-error.ts';
import { type HeldSession, heldSession, type Received, type TestSp } from '../test-sp.ts';
import type { Block } from './blocks.ts';
import type { Frame } from './frame.ts';
import { indented, samlBlocks } from './saml-shown.ts';
import { notBegun, TEST_HOME } from './test-parts.ts';

export interface TestSpRoutesNeeds {
  frame: Frame;
  issuer: string;
  vault: Vault;
  tickets: TestTickets;
  sp: TestSp;
  /** Refuses an address that sends too much. */
  throttled: Middleware;
}

const WRITE = 'gatehouse.applications:write' as const;
const heldForm = z.object({ state: z.string().max(200), held: z.string().max(10_000) });

export function createTestSpRoutes({ frame, issuer, vault, tickets, sp, throttled }: TestSpRoutesNeeds) {
  const router = new Router<State, Extras>({ prefix: `${TEST_HOME}/sp` });

  // The session is proven by the ticket and the page guard, what is posted by its signature: there is no token of ours in it.
  router.post('/acs', ...frame.page(WRITE), async (ctx) => {
    const body = await readBody(ctx.req, limits.saml.bodyBytes);
    const { received, ticket } = await asked(ctx, async (requestId) => sp.response(body, requestId));
    const { held } = received;
    show(ctx, ticket, received, [
      ...samlBlocks(received.xml, 'did', [
        checks('What the service provider checks of the Response', received),
        ...(ticket.sent ? [xml('AuthnRequest', ticket.sent)] : []),
      ]),
      ...(held ? [signOutForm(ticket, held)] : []),
    ]);
  });

  router.post('/sign-out', ...frame.change(WRITE), async (ctx) => {
    const { state, held } = await parseForm(ctx, heldForm.loose());
    const ticket = mine(ctx, state);
    const { id, xml, url } = await sp.logoutRequest(opened(held, ticket), state);
    tickets.give(ctx, { ...ticket, nonce: id, sent: xml });
    ctx.status = 303;
    ctx.redirect(url);
  });

  // A LogoutRequest of ours ends no session here, and comes when the administrator's is over: it needs none.
  router.get('/slo', throttled, async (ctx, next) => {
    if (!('SAMLRequest' in ctx.query)) return next();
    try {
      const url = await sp.answerLogout(ctx.querystring);
      ctx.status = 303;
      ctx.redirect(url);
    } catch (error) {
      throw asPage(error, 'the test service provider');
    }
  });

  router.get('/slo', ...frame.page(WRITE), async (ctx) => {
    const { received, ticket } = await asked(ctx, (requestId) => sp.logoutResponse(ctx.querystring, requestId));
    const isGood = received.checks.every(({ passed }) => passed);
    const lead = isGood
      ? 'The sign-out works. Your session ended, you were sent back to the test service provider, and have signed in anew since.'
      : 'The sign-out was answered, but not as a service provider expects.';
    show(ctx, ticket, received, [
      { kind: 'text', tone: 'lead', text: lead },
      checks('What the service provider checks of the LogoutResponse', received),
      xml('LogoutRequest', ticket.sent),
      xml('LogoutResponse', received.xml),
    ]);
  });

  function mine(ctx: Context, state: string | undefined): TestTicket {
    const ticket = state === undefined ? undefined : tickets.find(ctx, state);
    if (ticket?.userId !== frame.account(ctx).id || ticket.clientId !== sp.entityId) throw notBegun();
    return ticket;
  }

  /** The answer to what this administrator asked in this browser, by its RelayState. */
  async function asked<Answer extends Received>(
    ctx: Context,
    read: (requestIdOf: (relayState: string | undefined) => string | undefined) => Promise<Answer>,
  ): Promise<{ received: Answer; ticket: TestTicket }> {
    const requestIdOf = (relayState: string | undefined) => mine(ctx, relayState).nonce || undefined;
    try {
      const received = await read(requestIdOf);
      return { received, ticket: mine(ctx, received.relayState) };
    } catch (error) {
      throw asPage(error, 'the test service provider');
    }
  }

  function signOutForm(ticket: TestTicket, held: HeldSession): Block {
    return {
      kind: 'form',
      title: 'Sign-out',
      lead: 'The real one: it ends your own session in this browser, the console’s too, and every application that you opened with it is told. Sign in again to see the answer.',
      action: `${TEST_HOME}/sp/sign-out`,
      fields: [
        { name: 'state', label: '', type: 'hidden', value: ticket.state },
        { name: 'held', label: '', type: 'hidden', value: vault.seal(JSON.stringify(held), contextOf(ticket)) },
      ],
      ...{ button: 'Send a LogoutRequest', look: 'danger' },
    };
  }

  function opened(held: string, ticket: TestTicket): HeldSession {
    try {
      return heldSession.parse(JSON.parse(vault.open(held, contextOf(ticket)).toString()));
    } catch {
      throw notBegun();
    }
  }

  function show(ctx: Context, ticket: TestTicket, received: Received, blocks: Block[]): void {
    const failed = received.checks.filter(({ passed }) => !passed).length;
    frame.show(ctx, {
      title: 'Test service provider',
      tags: failed === 0 ? [{ text: 'all checks passed', tone: 'good' }] : [{ text: 'a check failed', tone: 'bad' }],
      back: { href: TEST_HOME, label: 'Test applications' },
      actions: [{ label: 'Once more', href: `${TEST_HOME}/${ticket.applicationId}` }],
      blocks,
    });
  }

  return {
    router,
    entityId: sp.entityId,
    declaration: sp.declaration,

    /** Begins a sign-in as a service provider does, or from our side; the address to go to. */
    async begin(
      ctx: Context,
      application: Application,
      wishes: { forceAuthn: boolean; isUnsolicited: boolean; acr?: string },
    ): Promise<string> {
      const state = randomToken();
      const ticket = {
        ...{ applicationId: application.id, clientId: sp.entityId, redirectUri: '', state, verifier: '' },
        userId: frame.account(ctx).id,
      };
      if (wishes.isUnsolicited) {
        tickets.give(ctx, { ...ticket, nonce: '', sent: '' });
        return `${issuer}/saml/sso/start?${new URLSearchParams({ sp: sp.entityId, RelayState: state })}`;
      }
      const { id, xml, url } = await sp.authnRequest(wishes, state);
      tickets.give(ctx, { ...ticket, nonce: id, sent: xml });
      return url;
    },
  };
}

const contextOf = ({ state, userId }: TestTicket) => `console test sp ${userId} ${state}`;

const xml = (name: string, text: string): Block => ({ kind: 'code', title: name, label: name, text: indented(text) });

function checks(title: string, { checks }: Received): Block {
  const rules = checks.map(({ label, passed, received, expected }) => ({
    label,
    state: passed ? ('passed' as const) : ('failed' as const),
    ...(passed ? { explanation: received } : { received, registered: expected }),
  }));
  return { kind: 'rules', title, rules, against: 'Expected' };
}
