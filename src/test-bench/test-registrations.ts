// /admin/test: the registrations of the built-in test application and test service provider. They are ordinary applications
// that only administrators may open.

import Router from '@koa/router';
import type { Block, ConsolePage } from '../admin/console/blocks.ts';
import type { Application } from '../applications/application.ts';
import type { Extras, State } from '../base/http/context.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import { TEST_HOME as HOME } from './page-parts.ts';
import type { TestBenchServices } from './services.ts';

export const TEST_CLIENT_ID = 'gatehouse-test-app';

/** Where the test application receives its responses. */
export function testAppUris(issuer: string) {
  return { redirectUri: `${issuer}${HOME}/callback`, postLogoutRedirectUri: `${issuer}${HOME}/signed-out` };
}

const WRITE = 'gatehouse.applications:write' as const;

/** The page /admin/test and its action. */
export function testRegistrationRoutes(services: TestBenchServices): Router<State, Extras> {
  const { frame } = services;
  const router = new Router<State, Extras>({ prefix: HOME });

  router.get('/', ...frame.page(WRITE), async (ctx) => {
    frame.show(ctx, registrationPage(await findRegistrations(services)));
  });

  router.post('/', ...frame.change(WRITE), async (ctx) => {
    // What is registered is always the same, so it takes no right to manage the role that it names.
    await register(services, { ...frame.actor(ctx), grantedRights: 'everything' });
    frame.redirect(ctx, HOME, t('console.test-bench.added'));
  });

  return router;
}

interface Registrations {
  rp: Application | undefined;
  sp: Application | undefined;
  /** Whether the service provider is registered with the key of this server. */
  hasKey: boolean;
}

function registrationPage({ rp, sp, hasKey }: Registrations): ConsolePage {
  const tile = ({ id }: Application, title: string, text: PageText) => ({ title, text, href: `${HOME}/${id}` });
  const tiles = [
    ...(rp ? [tile(rp, 'OpenID Connect', t('console.test-bench.tile.oidc'))] : []),
    ...(sp ? [tile(sp, 'SAML', t('console.test-bench.tile.saml'))] : []),
  ];
  const lead = t('console.test-bench.lead');
  const missing: Block = {
    kind: 'form',
    lead: hasKey ? t('console.test-bench.add.lead') : t('console.test-bench.other-key'),
    action: HOME,
    fields: [],
    button: hasKey ? t('console.test-bench.add') : t('console.test-bench.use-key'),
    look: 'primary',
  };
  return {
    title: t('console.test-bench.title'),
    lead,
    back: { href: '/admin/applications', label: t('console.test-bench.applications') },
    blocks: [
      ...(tiles.length > 0 ? [{ kind: 'tiles' as const, items: tiles }] : []),
      ...(rp && sp && hasKey ? [] : [missing]),
    ],
  };
}

async function findRegistrations(services: TestBenchServices): Promise<Registrations> {
  const { testSp } = services;
  const { find: findApplication } = services.applications;
  const [rp, sp] = await Promise.all([findApplication(TEST_CLIENT_ID), findApplication(testSp.entityId)]);
  if (sp?.protocol !== 'saml') return { rp, sp, hasKey: true };
  const own = (await testSp.declaration()).certificates.map(({ pem }) => pem.trim());
  return { rp, sp, hasKey: sp.metadata.certificates?.some(({ pem }) => own.includes(pem)) ?? false };
}

/** Registers what is missing. */
async function register(services: TestBenchServices, by: Actor): Promise<void> {
  const { testSp } = services;
  const { issuer } = services.config;
  const { applications } = services.admin;
  const { rp, sp, hasKey } = await findRegistrations(services);
  const access = { roles: ['admin'] };
  if (!rp) {
    const { redirectUri, postLogoutRedirectUri } = testAppUris(issuer);
    const declaration = {
      client_id: TEST_CLIENT_ID,
      client_name: 'Test application',
      consent: 'implicit',
      access,
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [postLogoutRedirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    };
    await applications.create('oidc', declaration, by);
  }
  if (!sp) await applications.create('saml', { ...(await testSp.declaration()), access }, by);
  else if (!hasKey) await applications.update(sp.id, await testSp.declaration(), by);
}
