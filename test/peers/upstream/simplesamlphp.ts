// SimpleSAMLphp as identity provider, with the users of its module exampleauth, behind PHP's own web server.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { selfSignedCertificate } from '../../../src/core/keys/certificate.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { person, STAFF, type Upstream } from '../peer.ts';
import { freePort, Missing, needFile, newFolder, packageVersion, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';

const HOW = 'apt-get install simplesamlphp php-cli php-xml php-mbstring';
const WWW = '/usr/share/simplesamlphp/www';
const BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings';

export async function startSimplesamlphp(gatehouse: Gatehouse): Promise<Upstream> {
  needFile(WWW, HOW);
  const php = needFile('/usr/bin/php', HOW);
  const version = await packageVersion('simplesamlphp');
  if (!version) throw new Missing(`needs ${HOW}`);
  const folder = newFolder('simplesamlphp');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const entityId = `${origin}/saml2/idp/metadata.php`;
  await configure(folder, origin, gatehouse);
  const server = await startProgram(php, ['-d', 'opcache.enable=0', '-S', `127.0.0.1:${port}`, '-t', WWW], {
    env: { SIMPLESAMLPHP_CONFIG_DIR: folder, PHP_CLI_SERVER_WORKERS: '4' },
    ready: entityId,
  });
  return {
    name: 'SimpleSAMLphp',
    version,
    kind: 'saml',
    connection: {
      kind: 'saml',
      name: 'SimpleSAMLphp',
      metadata_url: entityId,
      trusted_email: 'verified',
      subject_attribute: 'uid',
      groups_claim: 'groups',
      role_mappings: { [STAFF]: STAFF },
    },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { username: person.username, password: person.password })),
    signOut: (browser) =>
      open(browser, `${origin}/saml2/idp/SingleLogoutService.php?ReturnTo=${encodeURIComponent(`${origin}/`)}`),
    async rollOver(published) {
      await newKey(folder, 'new_idp');
      const both = "'new_privatekey' => 'new_idp.pem', 'new_certificate' => 'new_idp.crt',";
      writeHosted(folder, both);
      await published();
      // Its own key becomes the new one; the old certificate stays published.
      writeHosted(folder, '', 'new_idp');
    },
    stop: () => server.stop(),
  };
}

async function configure(folder: string, origin: string, { issuer }: Gatehouse): Promise<void> {
  for (const name of ['metadata', 'data', 'log', 'tmp', 'sessions']) mkdirSync(path.join(folder, name));
  await newKey(folder, 'idp');
  writeFileSync(
    path.join(folder, 'config.php'),
    `<?php
require '/etc/simplesamlphp/config.php';
$config = array_merge($config, [
  'baseurlpath' => '${origin}/',
  'certdir' => '${folder}/',
  'loggingdir' => '${folder}/log/',
  'datadir' => '${folder}/data/',
  'tempdir' => '${folder}/tmp',
  'metadatadir' => '${folder}/metadata/',
  'secretsalt' => 'a-salt-of-this-test',
  'auth.adminpassword' => 'an-admin-password',
  'logging.handler' => 'file',
  'trusted.url.domains' => null,
  'enable.saml20-idp' => true,
  'enable.http_post' => true,
  'session.cookie.secure' => false,
  'session.cookie.samesite' => null,
  'session.phpsession.savepath' => '${folder}/sessions',
  'language.cookie.secure' => false,
  'language.cookie.samesite' => null,
  'module.enable' => ['exampleauth' => true, 'core' => true, 'saml' => true],
  'metadata.sources' => [['type' => 'flatfile']],
  'store.type' => 'phpsession',
]);
`,
  );
  writeFileSync(
    path.join(folder, 'authsources.php'),
    `<?php
$config = ['users' => ['exampleauth:UserPass', '${person.username}:${person.password}' => [
  'uid' => ['${person.username}'], 'mail' => ['${person.email}'], 'groups' => ['${STAFF}'],
]]];
`,
  );
  writeHosted(folder, '');
  writeFileSync(
    path.join(folder, 'metadata', 'saml20-sp-remote.php'),
    `<?php
$metadata['${issuer}/saml/sp/metadata'] = [
  'AssertionConsumerService' => [['Binding' => '${BINDING}:HTTP-POST', 'Location' => '${issuer}/saml/acs', 'index' => 0]],
  'SingleLogoutService' => [['Binding' => '${BINDING}:HTTP-Redirect', 'Location' => '${issuer}/saml/sp/slo']],
  'simplesaml.nameidattribute' => 'uid',
];
`,
  );
}

function writeHosted(folder: string, more: string, key = 'idp'): void {
  writeFileSync(
    path.join(folder, 'metadata', 'saml20-idp-hosted.php'),
    `<?php
$metadata['__DYNAMIC:1__'] = [
  'host' => '__DEFAULT__', 'auth' => 'users', 'privatekey' => '${key}.pem', 'certificate' => '${key}.crt', ${more}
  'sign.logout' => true, 'saml20.sign.response' => true,
];
`,
  );
}

async function newKey(folder: string, name: string): Promise<void> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [from, until] = [new Date(), new Date(Date.now() + 86_400_000)];
  writeFileSync(path.join(folder, `${name}.pem`), keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(
    path.join(folder, `${name}.crt`),
    await selfSignedCertificate({ ...keys, host: '127.0.0.1', from, until }),
  );
}
