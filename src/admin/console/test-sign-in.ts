// /admin/test/…: runs the real sign-in of an application, with its real rules and pages, and shows what the application
// would have received. The answer comes here: the application hears nothing of it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { conflict } from '../../http/errors.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import { limits } from '../../limits.ts';
import { acrValues } from '../../mfa/acr.ts';
import type { ReceivedHere } from '../../oidc/received.ts';
import { TEST_MODE } from '../../oidc/test-mode.ts';
import type { TestTickets } from '../../oidc/test-tickets.ts';
import { randomToken, sha256 } from '../../platform/random.ts';
import type { ApplicationAdmin } from '../applications.ts';
import type { Block, Field } from './blocks.ts';
import type { Frame } from './frame.ts';
import { samlBlocks } from './saml-shown.ts';
import { type createTestApp, TEST_CLIENT_ID } from './test-app.ts';
import { json, notBegun } from './test-parts.ts';
import type { createTestSpRoutes } from './test-sp.ts';

export interface TestSignInNeeds {
  frame: Frame;
  issuer: string;
  applications: Pick<ApplicationAdmin, 'get'>;
  tickets: TestTickets;
  received: ReceivedHere;
  /** The application in the box, which redeems its codes itself. */
  testApp: Pick<ReturnType<typeof createTestApp>, 'received'>;
  /** The service provider in the box, which sends its requests itself. */
  testSp: Pick<ReturnType<typeof createTestSpRoutes>, 'begin' | 'entityId'>;
  /** Begins a SAML sign-in whose answer is shown at /admin/test/saml; the address to go to. */
  beginSaml(
    ctx: Context,
    entityId: string,
    wishes: { forceAuthn: boolean; isUnsolicited: boolean; acr?: string },
  ): Promise<string>;
  /** The answer that this browser has got. */
  samlAnswer(ctx: Context, request: string): Promise<string | undefined>;
}

const WRITE = 'gatehouse.applications:write' as const;
const PROOFS = [
  { value: '', label: 'as the application would get it' },
  ...acrValues.map((value, index) => ({
    value,
    label: ['the password', 'a second factor (step-up)', 'a passkey'][index] ?? value,
  })),
];
const SCOPE = 'openid profile email roles';
const testForm = z.object({
  scope: z.string().max(500).default(SCOPE),
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

export function testSignInRoutes(needs: TestSignInNeeds): Router<State, Extras> {
  const { frame, issuer, applications, tickets, received, testApp, testSp } = needs;
  const router = new Router<State, Extras>({ prefix: '/admin/test' });

  router.get('/callback', ...frame.page(WRITE), async (ctx) => {
    const answer = parseQuery(ctx, callback.loose());
    const ticket = tickets.find(ctx, answer.state);
    if (ticket?.userId !== frame.account(ctx).id) throw notBegun();
    const { code } = answer;
    if (code && ticket.clientId === TEST_CLIENT_ID) return testApp.received(ctx, ticket, { ...answer, code });
    const { application } = await applications.get(ticket.applicationId);
    const told = code ? await received.redeem({ ...ticket, code }).catch(() => undefined) : undefined;
    if (told) {
      return show(ctx, application, 'The sign-in works. The application would have received this.', [
        json('ID token', told.idToken),
        json('UserInfo', told.userinfo),
        json('Header of the ID token', told.header),
      ]);
    }
    if (!answer.error) throw notBegun();
    show(ctx, application, 'The sign-in was refused. The application would have been told this.', [
      json('Error', { error: answer.error, error_description: answer.error_description }),
    ]);
  });

  router.get('/saml', ...frame.page(WRITE), async (ctx) => {
    const { request } = parseQuery(ctx, z.object({ request: z.string().min(1).max(64) }));
    const xml = await needs.samlAnswer(ctx, request);
    if (!xml) throw notBegun();
    frame.show(ctx, {
      title: 'The SAML answer',
      back: { href: '/admin/applications', label: 'Applications' },
      blocks: samlBlocks(xml),
    });
  });

  router.get('/:id', ...frame.page(WRITE), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '');
    frame.show(ctx, {
      title: `Test sign-in to ${application.name}`,
      back: { href: `/admin/applications/${application.id}`, label: application.name },
      blocks: [
        {
          kind: 'form',
          lead: isInTheBox(application)
            ? 'You are sent through the real sign-in. Every message that the test application sends and gets is shown.'
            : 'You are sent through the real sign-in, with the rules of this application. What it would receive is shown here; the application hears nothing of it.',
          action: `/admin/test/${application.id}`,
          fields: fieldsFor(application),
          button: 'Test sign-in',
          cancel: `/admin/applications/${application.id}`,
        },
      ],
    });
  });

  router.post('/:id', ...frame.change(WRITE), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '');
    const wanted = await parseForm(ctx, testForm.loose());
    ctx.status = 303;
    ctx.redirect(
      application.protocol === 'oidc' ? beginOidc(ctx, application, wanted) : await beginSaml(ctx, application, wanted),
    );
  });

  function beginOidc(
    ctx: Context,
    application: Application & { protocol: 'oidc' },
    wanted: z.output<typeof testForm>,
  ): string {
    const { metadata, clientId } = application;
    const [redirectUri] = metadata.redirect_uris;
    if (!redirectUri) throw conflict('conflict', { message: 'People do not sign in to this application.' });
    if (metadata.require_pushed_authorization_requests || metadata.require_signed_request_object) {
      throw conflict('conflict', {
        message: 'This application has to push or sign its requests, which only it can do.',
      });
    }
    const ticket = {
      applicationId: application.id,
      clientId,
      redirectUri,
      state: randomToken(),
      nonce: randomToken(),
      verifier: randomToken(limits.pkceVerifier.bytes),
      userId: frame.account(ctx).id,
    };
    const parameters = {
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      // The application in the box has its redirect URI here, so it is sent what every application is sent.
      ...(clientId !== TEST_CLIENT_ID && { response_mode: TEST_MODE }),
      scope: wanted.scope,
      state: ticket.state,
      nonce: ticket.nonce,
      code_challenge: sha256(ticket.verifier),
      code_challenge_method: 'S256',
      ...(wanted.acr && { acr_values: wanted.acr }),
      ...(wanted.again && { prompt: 'login' }),
    };
    tickets.give(ctx, { ...ticket, sent: JSON.stringify(parameters) });
    return `${issuer}/authorize?${new URLSearchParams(parameters)}`;
  }

  function beginSaml(ctx: Context, application: Application, wanted: z.output<typeof testForm>): Promise<string> {
    const wishes = {
      forceAuthn: wanted.again === 'on',
      isUnsolicited: wanted.unsolicited === 'on',
      ...(wanted.acr && { acr: wanted.acr }),
    };
    return application.clientId === testSp.entityId
      ? testSp.begin(ctx, application, wishes)
      : needs.beginSaml(ctx, application.clientId, wishes);
  }

  function isInTheBox({ clientId }: Application): boolean {
    return clientId === TEST_CLIENT_ID || clientId === testSp.entityId;
  }

  function show(ctx: Context, application: Application, lead: string, blocks: Block[]): void {
    frame.show(ctx, {
      title: `Test of ${application.name}`,
      back: { href: `/admin/applications/${application.id}`, label: application.name },
      actions: [{ label: 'Once more', href: `/admin/test/${application.id}`, look: 'primary' }],
      blocks: [{ kind: 'text', tone: 'lead', text: lead }, ...blocks],
    });
  }

  return router;
}

function fieldsFor({ protocol, clientId }: Application): Field[] {
  const proof: Field = { name: 'acr', label: 'Proven by', type: 'select', value: '', options: PROOFS };
  return protocol === 'oidc'
    ? [
        { name: 'scope', label: 'Scopes', value: clientId === TEST_CLIENT_ID ? `${SCOPE} offline_access` : SCOPE },
        proof,
        { name: 'again', label: 'Sign in again (prompt=login)', type: 'checkbox' },
      ]
    : [
        proof,
        { name: 'again', label: 'Sign in again (ForceAuthn)', type: 'checkbox' },
        { name: 'unsolicited', label: 'Opened from here (IdP-initiated)', type: 'checkbox' },
      ];
}
