// A second Gatehouse as an OpenID Connect provider or as a SAML identity provider, at another host, because ports share cookies.
import { readFileSync } from 'node:fs';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { aClient, aUser } from '../../support/factories.ts';
import { type Gatehouse, startGatehouse } from '../gatehouse.ts';
import { person, STAFF, type Upstream } from '../peer.ts';
import { withTotp } from '../second-factor.ts';
import { open, travel } from '../travel.ts';

const MFA = { oidc: 'urn:gatehouse:acr:mfa', saml: 'https://refeds.org/profile/mfa' };

export async function startSecondGatehouse(
  gatehouse: Gatehouse,
  connectionId: string,
  kind: 'oidc' | 'saml',
): Promise<Upstream> {
  const upstream = await startGatehouse('127.0.0.1');
  const { services, issuer } = upstream;
  const { account } = await aUser(services, person);
  await services.roles.create({ name: STAFF });
  await services.roles.assign(account.id, STAFF);
  const connection =
    kind === 'oidc' ? await asClient(upstream, gatehouse, connectionId) : await asServiceProvider(upstream, gatehouse);
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  return {
    name: `Gatehouse (${kind})`,
    version,
    kind,
    connection: {
      kind,
      name: 'Second',
      groups_claim: 'roles',
      role_mappings: { [STAFF]: STAFF },
      ...connection,
      acr_values: { mfa: [MFA[kind]] },
      trusted_acr: { mfa: [MFA[kind]] },
    },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { username: person.username, password: person.password })),
    signOut: async (browser) => {
      const asked = await open(browser, `${issuer}/logout`);
      return travel(browser, await browser.submit(asked, { logout: 'yes' }));
    },
    withSecondFactor: (work) => withTotp(upstream, account.id, work),
    async rollOver(published) {
      const use = kind === 'oidc' ? 'oidc' : 'saml';
      await services.keyring.rotate({ use });
      await published();
      await services.keyring.rotate({ use, force: true, ...(use === 'saml' && { activate: true }) });
    },
    stop: () => upstream.stop(),
  };
}

async function asClient({ services, issuer }: Gatehouse, gatehouse: Gatehouse, id: string) {
  const at = (name: string) => `${gatehouse.issuer}/upstream/${id}/${name}`;
  const { clientId: client_id, clientSecret: client_secret } = await aClient(services, {
    redirect_uris: [at('callback')],
    post_logout_redirect_uris: [at('signed-out')],
    backchannel_logout_uri: at('backchannel-logout'),
    backchannel_logout_session_required: true,
    scope: 'openid profile email roles',
  });
  return { issuer, client_id, client_secret, scopes: ['openid', 'profile', 'email', 'roles'] };
}

async function asServiceProvider({ services, issuer }: Gatehouse, gatehouse: Gatehouse) {
  const xml = await (await fetch(`${gatehouse.issuer}/saml/sp/metadata`)).text();
  const attributes = { mail: 'email', roles: 'roles' };
  const entry = serviceProvider.parse({ name: 'First', metadata: xml, attributes });
  const entityId = `${gatehouse.issuer}/saml/sp/metadata`;
  await services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, xml) });
  return { metadata_url: `${issuer}/saml/metadata`, trusted_email: 'verified' };
}
