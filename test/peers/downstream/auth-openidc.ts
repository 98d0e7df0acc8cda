// mod_auth_openidc, notified of logouts by back channel.
import { aClient } from '../../support/factories.ts';
import type { Gatehouse } from '../gatehouse.ts';
import type { Downstream } from '../peer.ts';
import { type ApacheModule, applicationOf, needModule, newSites, type Site, startApache } from './apache.ts';

const PACKAGE = 'libapache2-mod-auth-openidc';
const DONE = '/done.html';

export async function startAuthOpenidc(gatehouse: Gatehouse, group?: string): Promise<Downstream> {
  const version = await needModule({ package: PACKAGE, module: 'auth_openidc' });
  const sites = await newSites();
  const clients = new Map<Site, string>();
  for (const site of sites) clients.set(site, await directivesOf(gatehouse, site));
  const module: ApacheModule = {
    package: PACKAGE,
    module: 'auth_openidc',
    global: 'OIDCCacheType shm',
    site: (site) => `${clients.get(site)}
<Location />
AuthType openid-connect
Require ${group === undefined ? 'valid-user' : `claim groups:${group}`}
</Location>
<Location ${DONE}>
AuthType None
Require all granted
</Location>`,
    user: '%{reqenv:OIDC_CLAIM_email}',
    level: '%{reqenv:OIDC_CLAIM_acr}',
    groups: '%{reqenv:OIDC_CLAIM_groups}',
    signOutPath: ({ origin }) => `/oidc?logout=${encodeURIComponent(origin + DONE)}`,
  };
  const apache = await startApache(module, sites);
  return {
    name: 'mod_auth_openidc',
    version,
    kind: 'oidc',
    plain: applicationOf(module, sites[0]),
    demanding: applicationOf(module, sites[1]),
    stop: () => apache.stop(),
  };
}

async function directivesOf({ services, issuer }: Gatehouse, { origin, name, isDemanding }: Site): Promise<string> {
  const { clientId, clientSecret } = await aClient(services, {
    client_name: name,
    redirect_uris: [`${origin}/oidc`],
    post_logout_redirect_uris: [`${origin}${DONE}`],
    backchannel_logout_uri: `${origin}/oidc?logout=backchannel`,
    backchannel_logout_session_required: true,
  });
  return `OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${clientSecret}
OIDCRedirectURI ${origin}/oidc
OIDCCryptoPassphrase a-passphrase-of-this-test
OIDCScope "openid profile email groups"
OIDCPKCEMethod S256
OIDCCookie ${name}_session
OIDCStateMaxNumberOfCookies 7 true
OIDCPassIDTokenAs claims
${isDemanding ? 'OIDCAuthRequestParams acr_values=urn%3Agatehouse%3Aacr%3Amfa' : ''}`;
}
