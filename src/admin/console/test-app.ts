// /admin/test: an application and a service provider in the box, so that every step of a sign-in can be seen without
// another server. They are ordinary registrations that only administrators may open; what they receive is shown here.
import Router from '@koa/router';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { By } from '../../audit/audit.ts';
import type { AskOurselves } from '../../http/ask-ourselves.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import type { TestTicket, TestTickets } from '../../oidc/test-tickets.ts';
import type { Vault } from '../../platform/vault.ts';
import type { ApplicationAdmin } from '../applications.ts';
import type { Block } from './blocks.ts';
import type { Frame } from './frame.ts';
import { TEST_HOME as HOME, json, notBegun } from './test-parts.ts';
import type { createTestSpRoutes } from './test-sp.ts';

export const TEST_CLIENT_ID = 'gatehouse-test-app';

export interface TestAppNeeds {
  frame: Frame;
  issuer: string;
  vault: Vault;
  tickets: TestTickets;
  applications: Pick<ApplicationAdmin, 'createOidc' | 'createSaml' | 'update'>;
  findApplication(clientId: string): Promise<Application | undefined>;
  ask: AskOurselves;
  /** The service provider, which is registered along with it. */
  testSp: Pick<ReturnType<typeof createTestSpRoutes>, 'declaration' | 'entityId'>;
}

/** What the application would keep: it stays in the page, sealed for this administrator and this test. */
interface Held {
  idToken: string;
  refreshToken: string;
}

const WRITE = 'gatehouse.applications:write' as const;
const heldForm = z.object({ state: z.string().max(200), held: z.string().max(100_000) });
const endQuery = z.object({ state: z.string().max(200).default('') });
const tokens = z.object({ id_token: z.string(), access_token: z.string(), refresh_token: z.string().default('') });

export function createTestApp(needs: TestAppNeeds) {
  const { frame, issuer, vault, tickets, applications, findApplication, ask, testSp } = needs;
  const router = new Router<State, Extras>({ prefix: HOME });
  const redirectUri = `${issuer}${HOME}/callback`;
  const afterSignOut = `${issuer}${HOME}/signed-out`;
  const { entityId } = testSp;

  router.get('/', ...frame.page(WRITE), async (ctx) => {
    const { rp, sp, hasKey } = await registered();
    const tile = ({ id }: Application, title: string, text: string) => ({ title, text, href: `${HOME}/${id}` });
    const tiles = [
      ...(rp ? [tile(rp, 'OpenID Connect', 'Sign-in, step-up, prompt=login, refresh and sign-out.')] : []),
      ...(sp ? [tile(sp, 'SAML', 'Sign-in, step-up, ForceAuthn, IdP-initiated and sign-out.')] : []),
    ];
    const lead = 'An application and a service provider of this server itself: what they receive is shown here.';
    const missing: Block = {
      kind: 'form',
      lead: hasKey
        ? 'They are registered like any other, for people with the role admin, and can be deleted.'
        : 'The service provider is registered with another key than the one here: it came from another server, perhaps.',
      action: HOME,
      fields: [],
      button: hasKey ? 'Register them' : 'Register its key',
      look: 'primary',
    };
    frame.show(ctx, {
      title: 'Test applications',
      back: { href: '/admin/applications', label: 'Applications' },
      blocks: [
        { kind: 'text', tone: 'lead', text: lead },
        ...(tiles.length > 0 ? [{ kind: 'tiles' as const, items: tiles }] : []),
        ...(rp && sp && hasKey ? [] : [missing]),
      ],
    });
  });

  router.post('/', ...frame.change(WRITE), async (ctx) => {
    await register(frame.by(ctx));
    frame.back(ctx, HOME, 'The test applications are registered.');
  });

  router.post('/refresh', ...frame.change(WRITE), async (ctx) => {
    const { ticket, held } = await heldIn(ctx);
    const { refreshToken } = held;
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: TEST_CLIENT_ID };
    const { status, body } = await ask('/token', form);
    if (status !== 200) return refused(ctx, body);
    const now = tokens.parse(body);
    await show(ctx, ticket, now, {
      lead: 'The refresh works. These tokens replace those from before.',
      messages: [...exchange(form, body), json('ID token from before', decodeJwt(held.idToken))],
      more: [{ label: 'Refresh token', value: now.refresh_token === refreshToken ? 'kept' : 'new' }],
    });
  });

  router.post('/sign-out', ...frame.change(WRITE), async (ctx) => {
    const { ticket, held } = await heldIn(ctx);
    const request = { ...signOutRequest(ticket), id_token_hint: held.idToken };
    ctx.status = 303;
    ctx.redirect(`${issuer}/end-session?${new URLSearchParams(request)}`);
  });

  router.get('/signed-out', ...frame.page(WRITE), (ctx) => {
    const { state } = parseQuery(ctx, endQuery.loose());
    const ticket = tickets.find(ctx, state);
    if (ticket?.userId !== frame.account(ctx).id) throw notBegun();
    frame.show(ctx, {
      title: 'The sign-out works',
      back: { href: HOME, label: 'Test applications' },
      blocks: [
        {
          kind: 'text',
          tone: 'lead',
          text: 'Your session ended, you were sent back to the test application, and have signed in anew since.',
        },
        json('Sign-out request', { ...signOutRequest(ticket), id_token_hint: 'the ID token of the test' }),
        json('Sign-out response', { post_logout_redirect_uri: afterSignOut, state }),
      ],
    });
  });

  async function registered() {
    const [rp, sp] = await Promise.all([findApplication(TEST_CLIENT_ID), findApplication(entityId)]);
    if (sp?.protocol !== 'saml') return { rp, sp, hasKey: true };
    const own = (await testSp.declaration()).certificates.map(({ pem }) => pem.trim());
    return { rp, sp, hasKey: sp.metadata.certificates?.some(({ pem }) => own.includes(pem)) ?? false };
  }

  async function register(by: By): Promise<void> {
    const { rp, sp, hasKey } = await registered();
    const access = { roles: ['admin'] };
    if (!rp) {
      const declaration = {
        ...{ client_id: TEST_CLIENT_ID, client_name: 'Test application', consent: 'implicit', access },
        ...{ redirect_uris: [redirectUri], post_logout_redirect_uris: [afterSignOut] },
        ...{ token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] },
      };
      await applications.createOidc(declaration, by);
    }
    if (!sp) await applications.createSaml({ ...(await testSp.declaration()), access }, by);
    else if (!hasKey) await applications.update(sp.id, await testSp.declaration(), by);
  }

  /** What the page before has kept: only for who began the test, in the browser in which they did. */
  async function heldIn(ctx: Context): Promise<{ ticket: TestTicket; held: Held }> {
    const { state, held } = await parseForm(ctx, heldForm.loose());
    const ticket = tickets.find(ctx, state);
    if (ticket?.userId !== frame.account(ctx).id) throw notBegun();
    try {
      return { ticket, held: JSON.parse(vault.open(held, contextOf(ticket)).toString()) };
    } catch {
      throw notBegun();
    }
  }

  function signOutRequest({ state }: TestTicket) {
    return { client_id: TEST_CLIENT_ID, post_logout_redirect_uri: afterSignOut, state };
  }

  async function show(
    ctx: Context,
    ticket: TestTicket,
    got: z.output<typeof tokens>,
    { lead, messages, more = [] }: { lead: string; messages: Block[]; more?: { label: string; value: string }[] },
  ): Promise<void> {
    const { id_token: idToken, access_token: accessToken, refresh_token: refreshToken } = got;
    const { body: userinfo } = await ask('/userinfo', { access_token: accessToken });
    const held = vault.seal(JSON.stringify({ idToken, refreshToken } satisfies Held), contextOf(ticket));
    const fields = [
      { name: 'state', label: '', type: 'hidden' as const, value: ticket.state },
      { name: 'held', label: '', type: 'hidden' as const, value: held },
    ];
    frame.show(ctx, {
      title: 'Test application',
      back: { href: HOME, label: 'Test applications' },
      actions: [{ label: 'Once more', href: `${HOME}/${ticket.applicationId}` }],
      blocks: [
        { kind: 'text', tone: 'lead', text: lead },
        ...(more.length > 0 ? [{ kind: 'facts' as const, rows: more }] : []),
        ...messages,
        json('ID token', decodeJwt(idToken)),
        json('Header of the ID token', decodeProtectedHeader(idToken)),
        json('Access token', shown(accessToken)),
        json('UserInfo', userinfo),
        ...(refreshToken
          ? [{ ...{ kind: 'form' as const, title: 'Refresh', action: `${HOME}/refresh`, fields, button: 'Refresh' } }]
          : [{ kind: 'text' as const, text: 'There is no refresh token: the scope offline_access was not given.' }]),
        json('Sign-out request', { ...signOutRequest(ticket), id_token_hint: 'the ID token above' }),
        {
          kind: 'form',
          title: 'Sign-out',
          lead: 'The real one: it ends your own session in this browser, the console’s too, and every application that you opened with it is told. Sign in again to see the answer.',
          ...{ action: `${HOME}/sign-out`, fields, button: 'Sign out', look: 'danger' },
        },
      ],
    });
  }

  function refused(ctx: Context, body: Record<string, unknown>): void {
    frame.show(
      ctx,
      {
        title: 'The token endpoint refused',
        back: { href: HOME, label: 'Test applications' },
        blocks: [
          { kind: 'text', tone: 'lead', text: 'The application was told this.' },
          json('Error', { error: body.error, error_description: body.error_description }),
        ],
      },
      400,
    );
  }

  return {
    router,

    /** Redeems the code at the token endpoint, as the application that it is for, and shows what came. */
    async received(
      ctx: Context,
      ticket: TestTicket,
      answer: Record<string, unknown> & { code: string },
    ): Promise<void> {
      const form = {
        ...{ grant_type: 'authorization_code', code: answer.code, redirect_uri: ticket.redirectUri },
        ...{ client_id: TEST_CLIENT_ID, code_verifier: ticket.verifier },
      };
      const { status, body } = await ask('/token', form);
      if (status !== 200) return refused(ctx, body);
      const got = tokens.parse(body);
      if (decodeJwt(got.id_token).nonce !== ticket.nonce) throw notBegun();
      await show(ctx, ticket, got, {
        lead: 'The sign-in works. This is what the application sent and received.',
        messages: [
          json('Authorization request', JSON.parse(ticket.sent)),
          json('Authorization response', answer),
          ...exchange(form, body),
        ],
      });
    },
  };
}

const contextOf = ({ state, userId }: TestTicket) => `console test app ${userId} ${state}`;

/** A JWT decoded; of an opaque one there is nothing to see. */
function shown(token: string): unknown {
  return token.split('.').length === 3 ? decodeJwt(token) : { opaque: true, characters: token.length };
}

/** What went to the token endpoint and came back; tokens that still work stay out of the page. */
function exchange(request: Record<string, string>, response: Record<string, unknown>): Block[] {
  const { refresh_token, ...asked } = request;
  const isToken = (name: string) => name.endsWith('_token');
  const told = Object.entries(response).map(([name, value]) => [
    name,
    isToken(name) ? `${String(value).slice(0, 8)}…` : value,
  ]);
  return [
    json('Token request', { ...asked, ...(refresh_token && { refresh_token: `${refresh_token.slice(0, 8)}…` }) }),
    json('Token response', Object.fromEntries(told)),
  ];
}
