// mod_shib with shibd (Shibboleth SP 3), configured from an exchange of metadata.
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { selfSignedCertificate } from '../../../src/core/keys/certificate.ts';
import type { Gatehouse } from '../gatehouse.ts';
import type { Downstream } from '../peer.ts';
import { needFile, type Program, startProgram } from '../programs.ts';
import { type ApacheModule, applicationOf, needModule, newSites, type Site, startApache } from './apache.ts';
import { MFA } from './mellon.ts';

const PACKAGE = 'libapache2-mod-shib';
const HANDLER = '/Shibboleth.sso';
const ETC = '/etc/shibboleth';

export async function startShib(gatehouse: Gatehouse, group?: string): Promise<Downstream> {
  const version = await needModule({ package: PACKAGE, module: 'shib' });
  const shibd = needFile('/usr/sbin/shibd', 'apt-get install shibboleth-sp-utils');
  const sites = await newSites();
  const folder = path.join(path.dirname(sites[0].folder), 'shib');
  const configuration = await configure(gatehouse, folder, sites);
  const module: ApacheModule = {
    package: PACKAGE,
    module: 'shib',
    symbol: 'mod_shib',
    global: `ShibConfig ${configuration}`,
    site: ({ isDemanding }) => `<Location />
AuthType shibboleth
ShibRequestSetting requireSession 1
${isDemanding ? `ShibRequestSetting applicationId vault\nShibRequestSetting authnContextClassRef ${MFA}` : ''}
Require ${group === undefined ? 'valid-user' : `shib-attr groups ${group}`}
</Location>
<Location ${HANDLER}>
AuthType None
Require all granted
</Location>`,
    user: '%{reqenv:mail}',
    level: '%{reqenv:Shib-AuthnContext-Class}',
    groups: '%{reqenv:groups}',
    signOutPath: () => `${HANDLER}/Logout`,
  };
  const daemon = await startShibd(shibd, configuration, folder);
  const apache = await startApache(module, sites);
  for (const site of sites) await register(gatehouse, site);
  return {
    name: 'mod_shib',
    version,
    kind: 'saml',
    plain: applicationOf(module, sites[0]),
    demanding: applicationOf(module, sites[1]),
    async stop() {
      await apache.stop();
      await daemon.stop();
    },
  };
}

/** Writes its configuration, keys and attribute map; returns the path of shibboleth2.xml. */
async function configure(gatehouse: Gatehouse, folder: string, sites: readonly [Site, Site]): Promise<string> {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const file = (name: string, content: string) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const until = new Date(Date.now() + 86_400_000);
  const key = file('sp.key', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const certificate = file(
    'sp.pem',
    await selfSignedCertificate({ ...keys, host: '127.0.0.1', from: new Date(), until }),
  );
  const metadata = file('idp.xml', await (await fetch(`${gatehouse.issuer}/saml/metadata`)).text());
  const map = file(
    'attributes.xml',
    '<Attributes xmlns="urn:mace:shibboleth:2.0:attribute-map"><Attribute name="urn:oid:0.9.2342.19200300.100.1.3" id="mail"/><Attribute name="groups" nameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic" id="groups"/></Attributes>',
  );
  const [app, vault] = sites;
  return file(
    'shibboleth2.xml',
    `<SPConfig xmlns="urn:mace:shibboleth:3.0:native:sp:config" clockSkew="180">
  <UnixListener address="${folder}/shibd.sock"/>
  <ApplicationDefaults entityID="${app.origin}/shibboleth" REMOTE_USER="mail">
    <Sessions lifetime="28800" timeout="3600" relayState="ss:mem" checkAddress="false" handlerSSL="false" cookieProps="http">
      <SSO entityID="${gatehouse.issuer}/saml/metadata">SAML2</SSO>
      <Logout>SAML2 Local</Logout>
      <Handler type="MetadataGenerator" Location="/Metadata" signing="false"/>
    </Sessions>
    <Errors supportContact="root@localhost"/>
    <MetadataProvider type="XML" validate="true" path="${metadata}"/>
    <AttributeExtractor type="XML" validate="true" path="${map}"/>
    <AttributeFilter type="XML" validate="true" path="${ETC}/attribute-policy.xml"/>
    <CredentialResolver type="File" key="${key}" certificate="${certificate}"/>
    <ApplicationOverride id="vault" entityID="${vault.origin}/shibboleth"/>
  </ApplicationDefaults>
  <SecurityPolicyProvider type="XML" validate="true" path="${ETC}/security-policy.xml"/>
  <ProtocolProvider type="XML" validate="true" reloadChanges="false" path="${ETC}/protocols.xml"/>
</SPConfig>`,
  );
}

/** It listens on a socket of the file system, which the workers of Apache have to reach. */
async function startShibd(shibd: string, configuration: string, folder: string): Promise<Program> {
  const daemon = await startProgram(
    shibd,
    ['-F', '-f', '-c', configuration, '-p', path.join(folder, 'pid'), '-w', '30'],
    {
      ready: path.join(folder, 'shibd.sock'),
      seconds: 60,
    },
  );
  await sleep(500);
  chmodSync(path.join(folder, 'shibd.sock'), 0o777);
  return daemon;
}

async function register({ services }: Gatehouse, { origin, name }: Site): Promise<void> {
  const xml = await (await fetch(`${origin}${HANDLER}/Metadata`)).text();
  const attributes = { 'urn:oid:0.9.2342.19200300.100.1.3': 'email', groups: 'groups' };
  const entry = serviceProvider.parse({ name, metadata: xml, attributes });
  await services.applications.createSaml({
    ...entry,
    entityId: `${origin}/shibboleth`,
    settings: settingsOf(entry, xml),
  });
}
