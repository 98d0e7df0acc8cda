// LemonLDAP::NG as SAML identity provider, with the users of its module Demo; the portal runs as a PSGI application under plackup.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { selfSignedCertificate } from '../../../src/core/keys/certificate.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { STAFF, type Upstream } from '../peer.ts';
import { freePort, Missing, needFile, newFolder, packageVersion, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';

const HOW =
  'apt-get install lemonldap-ng liblasso-perl libxml-simple-perl libimage-magick-perl, with what they recommend';
/** Without one of these the portal starts, and answers every request with “Unable to protect this server”. */
const MODULES = [
  'Plack::Builder',
  'Lemonldap::NG::Portal::Issuer::SAML',
  'Lemonldap::NG::Portal::Captcha::SecurityImage',
];
const PORTAL = '/usr/share/lemonldap-ng/portal';
/** A user of the module Demo, whose passwords are the usernames. */
const demo = { username: 'dwho', email: 'dwho@badwolf.org', group: 'timelords' };

export async function startLemonldap(gatehouse: Gatehouse): Promise<Upstream> {
  needFile(PORTAL, HOW);
  const plackup = needFile('/usr/bin/plackup', HOW);
  const version = await packageVersion('lemonldap-ng');
  const load = MODULES.map((name) => `-M${name}`);
  const loads = await run('perl', [...load, '-e', '1']).then(
    () => true,
    () => false,
  );
  if (!version || !loads) throw new Missing(`needs ${HOW}`);
  const folder = newFolder('lemonldap');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const settings = { ...(await settingsOf(folder, origin, gatehouse)), ...(await newKey()) };
  writeConfiguration(folder, 1, settings);
  const application = path.join(folder, 'portal.psgi');
  writeFileSync(application, PSGI);
  const server = await startProgram(plackup, ['--host', '127.0.0.1', '--port', String(port), application], {
    env: { LLNG_DEFAULTCONFFILE: path.join(folder, 'lemonldap-ng.ini') },
    ready: `${origin}/saml/metadata`,
  });
  return {
    name: 'LemonLDAP::NG',
    version,
    kind: 'saml',
    email: demo.email,
    connection: {
      kind: 'saml',
      name: 'LemonLDAP::NG',
      metadata_url: `${origin}/saml/metadata/idp`,
      trusted_email: 'verified',
      groups_claim: 'groups',
      role_mappings: { [demo.group]: STAFF },
    },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { user: demo.username, password: demo.username })),
    signOut: (browser) => open(browser, `${origin}/?logout=1`),
    async rollOver(published) {
      // It publishes the one key that it signs with.
      writeConfiguration(folder, 2, { ...settings, ...(await newKey()) });
      await sleep(3000); // it looks for a new configuration each second
      await published();
    },
    stop: () => server.stop(),
  };
}

const PSGI = `use Plack::Builder;
use Lemonldap::NG::Portal::Main;
builder {
  enable 'Static', path => qr{^/static/}, root => '${PORTAL}/htdocs';
  Lemonldap::NG::Portal::Main->run({});
};
`;

/** Makes the folders and lemonldap-ng.ini; returns its configuration without keys. */
async function settingsOf(folder: string, origin: string, { issuer }: Gatehouse): Promise<Record<string, unknown>> {
  const at = (name: string) => path.join(folder, name);
  for (const name of ['conf', 'cache', 'sessions', 'sessions/lock', 'psessions', 'psessions/lock']) mkdirSync(at(name));
  const cache = { cache_root: at('cache'), cache_depth: 3, default_expires_in: 600 };
  writeFileSync(
    at('lemonldap-ng.ini'),
    `[all]
logLevel = ${process.env.KEEP === undefined ? 'notice' : 'debug'}
logger = Lemonldap::NG::Common::Logger::Std
checkTime = 1
[configuration]
type = File
dirName = ${at('conf')}
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'configuration', 'cache_root' => '${at('cache')}', 'cache_depth' => 3, 'default_expires_in' => 600 }
[portal]
staticPrefix = /static
templateDir = ${PORTAL}/templates
languages = en
[handler]
`,
  );
  const store = (name: string) => ({ Directory: at(name), LockDirectory: at(`${name}/lock`) });
  const host = new URL(origin).hostname;
  return {
    cfgVersion: '2.16.1',
    cfgAuthor: 'test',
    cfgDate: '1',
    portal: `${origin}/`,
    domain: host,
    cookieName: 'lemonldap',
    securedCookie: 0,
    sameSite: 'Lax',
    authentication: 'Demo',
    userDB: 'Same',
    demoExportedVars: { cn: 'cn', mail: 'mail', uid: 'uid' },
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: store('sessions'),
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: store('psessions'),
    localSessionStorage: 'Cache::FileCache',
    localSessionStorageOptions: { ...cache, namespace: 'sessions' },
    locationRules: { [host]: { default: 'accept' } },
    exportedHeaders: {},
    exportedVars: {},
    groups: {},
    macros: {},
    applicationList: {},
    timeout: 72000,
    whatToTrace: 'uid',
    issuerDBSAMLActivation: 1,
    samlSPMetaDataXML: {
      gatehouse: { samlSPMetaDataXML: await (await fetch(`${issuer}/saml/sp/metadata`)).text() },
    },
    samlSPMetaDataExportedAttributes: { gatehouse: { mail: '1;mail', groups: '1;groups' } },
    samlSPMetaDataOptions: {
      gatehouse: {
        samlSPMetaDataOptionsNameIDFormat: 'persistent',
        samlSPMetaDataOptionsSignSSOMessage: 1,
        samlSPMetaDataOptionsSignSLOMessage: 1,
      },
    },
  };
}

function writeConfiguration(folder: string, number: number, settings: Record<string, unknown>): void {
  const content = JSON.stringify({ ...settings, cfgNum: number });
  writeFileSync(path.join(folder, 'conf', `lmConf-${number}.json`), content);
}

async function newKey(): Promise<Record<string, unknown>> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [from, until] = [new Date(), new Date(Date.now() + 86_400_000)];
  return {
    samlServicePrivateKeySig: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    samlServicePublicKeySig: await selfSignedCertificate({ ...keys, host: '127.0.0.1', from, until }),
    samlServiceUseCertificateInResponse: 1,
  };
}
