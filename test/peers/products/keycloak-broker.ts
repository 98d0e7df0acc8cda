// Keycloak as a broker: an application of Keycloak whose users sign in here, over OpenID Connect and over SAML. No preset has it, because
// an administrator chooses its alias; the application is registered as one of one's own.
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { aClient } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { open, travel } from '../travel.ts';
import { type AdminApi, adminApi, keycloakServer } from '../upstream/keycloak.ts';
import { aPerson, described, eventually, type Product, signOutHere } from './product.ts';

const ALIAS = 'gatehouse';
/** The application of Keycloak: nobody listens there. */
const CALLBACK = 'http://127.0.0.1:9/cb';

export async function startKeycloakBroker(gatehouse: Gatehouse, kind: 'oidc' | 'saml'): Promise<Product> {
  const { origin, version } = await keycloakServer();
  const name = `broker-${kind}-${Date.now()}`;
  const realm = `${origin}/realms/${name}`;
  const api = await adminApi(origin, name);
  await api('POST', '', { realm: name, enabled: true });
  await api('POST', '/clients', {
    clientId: 'app',
    publicClient: true,
    redirectUris: [CALLBACK],
    attributes: { 'post.logout.redirect.uris': '+' },
  });
  await (kind === 'oidc' ? asClient(api, gatehouse, realm) : asServiceProvider(api, gatehouse, realm));
  const start = `${realm}/protocol/openid-connect/auth?${new URLSearchParams({
    client_id: 'app',
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid',
    kc_idp_hint: ALIAS,
  })}`;

  /** Signs in over the broker; the tokens are those of Keycloak. */
  async function login(
    user: Awaited<ReturnType<typeof aPerson>>,
  ): Promise<{ browser: HttpClient; tokens: Record<string, string> }> {
    const browser = httpClient();
    const form = await open(browser, start);
    if (!form.url.startsWith(gatehouse.issuer)) throw new Error(`not sent to sign in: ${described(form)}`);
    const { username, password } = user;
    const isBack = (url: string) => url.startsWith(CALLBACK);
    let page = await browser.follow(await browser.submit(form, { username, password }), isBack);
    // The Response of SAML is a form, which sends itself.
    const posted = page.forms.find(({ fields }) => 'SAMLResponse' in fields);
    if (posted) page = await browser.follow(await browser.post(posted.action, { form: posted.fields }), isBack);
    const code = new URL(page.location ?? page.url).searchParams.get('code');
    if (!code) throw new Error(`no code of Keycloak: ${described(page)}`);
    return { browser, tokens: await token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }) };
  }
  async function token(form: Record<string, string>): Promise<Record<string, string>> {
    const body = new URLSearchParams({ client_id: 'app', ...form });
    const response = await fetch(`${realm}/protocol/openid-connect/token`, { method: 'POST', body });
    return (await response.json()) as Record<string, string>;
  }
  const hasSession = async ({ refresh_token = '' }: Record<string, string>) =>
    'access_token' in (await token({ grant_type: 'refresh_token', refresh_token }));
  const anyone = () => aPerson(gatehouse, { givenName: 'Ann', familyName: 'Example' });

  return {
    version: `${version} (${kind})`,
    stop: async () => {},
    trials: {
      'sign-in, with the names that Keycloak demands': async () => {
        const user = await anyone();
        const { tokens } = await login(user);
        const claims = JSON.parse(Buffer.from(String(tokens.id_token).split('.')[1] ?? '', 'base64url').toString());
        if (claims.family_name !== 'Example' || claims.email !== user.account.email)
          throw new Error(`its claims are ${JSON.stringify(claims)}`);
        return `as ${claims.preferred_username}`;
      },
      'sign-out here ends its session': async () => {
        const { browser, tokens } = await login(await anyone());
        await signOutHere(gatehouse, browser);
        await eventually('the session of Keycloak has ended', async () => !(await hasSession(tokens)));
        return 'ends the session of Keycloak';
      },
      'its sign-out ends the session here': async () => {
        const user = await anyone();
        const { browser, tokens } = await login(user);
        const query = { id_token_hint: tokens.id_token ?? '', client_id: 'app', post_logout_redirect_uri: CALLBACK };
        const left = await browser.get(`${realm}/protocol/openid-connect/logout?${new URLSearchParams(query)}`);
        // The page of the application, to which Keycloak goes at last, does not exist.
        const asked = await travel(browser, left).catch(() => undefined);
        const isAsked = asked?.forms.some(({ fields }) => 'logout' in fields);
        if (asked && isAsked) await browser.submit(asked, { logout: 'yes' });
        const sessions = await gatehouse.services.sessions.list(user.account.id);
        if (sessions.length > 0) throw new Error(`the session here goes on: ${described(asked ?? left)}`);
        return isAsked ? 'ends the session here, after a question' : 'ends the session here';
      },
    },
  };
}

async function asClient(api: AdminApi, { services, issuer }: Gatehouse, realm: string): Promise<void> {
  const { clientId, clientSecret } = await aClient(services, {
    client_name: 'Keycloak',
    consent: 'implicit',
    redirect_uris: [`${realm}/broker/${ALIAS}/endpoint`],
    post_logout_redirect_uris: [`${realm}/broker/${ALIAS}/endpoint/logout_response`],
    backchannel_logout_uri: `${realm}/protocol/openid-connect/logout/backchannel-logout`,
  });
  const fromUrl = `${issuer}/.well-known/openid-configuration`;
  const imported = await api<Record<string, string>>('POST', '/identity-provider/import-config', {
    providerId: 'oidc',
    fromUrl,
  });
  const config = {
    ...imported,
    clientId,
    clientSecret,
    clientAuthMethod: 'client_secret_basic',
    pkceEnabled: 'true',
    pkceMethod: 'S256',
  };
  // With `backchannelSupported`, Keycloak itself calls the logout address, without the browser whose session should end.
  await api('POST', '/identity-provider/instances', {
    alias: ALIAS,
    providerId: 'oidc',
    enabled: true,
    trustEmail: true,
    config: {
      ...config,
      defaultScope: 'openid profile email roles',
      backchannelSupported: 'false',
      sendIdTokenOnLogout: 'true',
    },
  });
}

async function asServiceProvider(api: AdminApi, { services, issuer }: Gatehouse, realm: string): Promise<void> {
  const fromUrl = `${issuer}/saml/metadata`;
  const config = await api<Record<string, string>>('POST', '/identity-provider/import-config', {
    providerId: 'saml',
    fromUrl,
  });
  await api('POST', '/identity-provider/instances', {
    alias: ALIAS,
    providerId: 'saml',
    enabled: true,
    trustEmail: true,
    config: { ...config, wantAuthnRequestsSigned: 'true', wantAssertionsSigned: 'true', entityId: realm },
  });
  for (const [attribute, property] of [
    ['email', 'email'],
    ['givenName', 'firstName'],
    ['surname', 'lastName'],
  ])
    await api('POST', `/identity-provider/instances/${ALIAS}/mappers`, {
      name: property,
      identityProviderAlias: ALIAS,
      identityProviderMapper: 'saml-user-attribute-idp-mapper',
      config: { 'attribute.name': attribute, 'user.attribute': property, syncMode: 'INHERIT' },
    });
  const metadata = await (await fetch(`${realm}/broker/${ALIAS}/endpoint/descriptor`)).text();
  const attributes = { email: 'email', givenName: 'given_name', surname: 'family_name' };
  const entry = serviceProvider.parse({ name: 'Keycloak', metadata, attributes });
  await services.applications.createSaml({ ...entry, entityId: realm, settings: settingsOf(entry, metadata) });
}
