// mod_auth_mellon, configured from an exchange of metadata.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import type { Gatehouse } from '../gatehouse.ts';
import type { Downstream } from '../peer.ts';
import { run } from '../programs.ts';
import { type ApacheModule, applicationOf, needModule, newSites, type Site, startApache } from './apache.ts';

export const MFA = 'https://refeds.org/profile/mfa';
/** Its tool lists the redirect binding only. It accepts calls by SOAP too, which a sign-out without a browser needs. */
const BY_REDIRECT = /<SingleLogoutService Binding="[^"]*HTTP-Redirect" Location="([^"]*)"\/>/;
const BY_SOAP = '<SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:SOAP" Location="$1"/>';
const PACKAGE = 'libapache2-mod-auth-mellon';

export async function startMellon(gatehouse: Gatehouse, group?: string): Promise<Downstream> {
  const version = await needModule({ package: PACKAGE, module: 'auth_mellon' });
  const sites = await newSites();
  const idpMetadata = await (await fetch(`${gatehouse.issuer}/saml/metadata`)).text();
  for (const site of sites) await prepare(gatehouse, site, idpMetadata);
  const module: ApacheModule = {
    package: PACKAGE,
    module: 'auth_mellon',
    site: ({ folder, name, isDemanding }) => `<Location />
Require valid-user
AuthType Mellon
MellonEnable auth
MellonVariable ${name}
MellonEndpointPath /mellon
MellonSecureCookie Off
MellonUser mail
MellonSetEnvNoPrefix APP_USER mail
MellonSetEnvNoPrefix APP_GROUPS groups
MellonMergeEnvVars On
${group === undefined ? '' : `MellonRequire groups ${group}`}
MellonSPPrivateKeyFile ${folder}/sp.key
MellonSPCertFile ${folder}/sp.cert
MellonSPMetadataFile ${folder}/sp.xml
MellonIdPMetadataFile ${folder}/idp.xml
${isDemanding ? `MellonAuthnContextClassRef ${MFA}` : ''}
</Location>`,
    user: '%{reqenv:APP_USER}',
    // It compares the AuthnContextClassRef with its own demand, and does not pass it on.
    level: '',
    groups: '%{reqenv:APP_GROUPS}',
    signOutPath: ({ origin }) => `/mellon/logout?ReturnTo=${encodeURIComponent(`${origin}/mellon/none`)}`,
  };
  const apache = await startApache(module, sites);
  return {
    name: 'mod_auth_mellon',
    version,
    kind: 'saml',
    plain: applicationOf(module, sites[0]),
    demanding: applicationOf(module, sites[1]),
    stop: () => apache.stop(),
  };
}

/** Makes its keys and metadata with its own tool, and registers it. */
async function prepare({ services }: Gatehouse, { origin, folder, name }: Site, idpMetadata: string): Promise<void> {
  const entityId = `${origin}/mellon/metadata`;
  await run('mellon_create_metadata', [entityId, `${origin}/mellon`], { cwd: folder });
  for (const file of readdirSync(folder)) {
    const content = readFileSync(path.join(folder, file), 'utf8').replace(BY_REDIRECT, `$&${BY_SOAP}`);
    writeFileSync(path.join(folder, `sp${path.extname(file)}`), content);
  }
  writeFileSync(path.join(folder, 'idp.xml'), idpMetadata);
  const xml = readFileSync(path.join(folder, 'sp.xml'), 'utf8');
  const entry = serviceProvider.parse({ name, metadata: xml, attributes: { mail: 'email', groups: 'groups' } });
  await services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, xml) });
}
