// pysaml2 as SAML identity provider. Its package has no server, so pysaml2-idp.py is a small one on it.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { selfSignedCertificate } from '../../../src/core/keys/certificate.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { person, STAFF, type Upstream } from '../peer.ts';
import { freePort, Missing, needFile, newFolder, type Program, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';

const HOW =
  'python3 -m venv DIR && DIR/bin/pip install pysaml2==7.5.5, PYSAML2=DIR/bin/python; apt-get install xmlsec1';
const SERVER = fileURLToPath(new URL('./pysaml2-idp.py', import.meta.url));

/** PYSAML2 names the Python that has the package. */
export async function startPysaml2({ issuer }: Gatehouse): Promise<Upstream> {
  const { PYSAML2: python } = process.env;
  if (!python) throw new Missing(`needs PYSAML2 (${HOW})`);
  needFile('/usr/bin/xmlsec1', HOW);
  const version = await run(python, ['-c', "from importlib.metadata import version; print(version('pysaml2'))"]);
  const folder = newFolder('pysaml2');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const service_provider = path.join(folder, 'sp.xml');
  writeFileSync(service_provider, await (await fetch(`${issuer}/saml/sp/metadata`)).text());
  const first = await newKey(folder, 'first');
  const second = await newKey(folder, 'second');
  const settings = {
    port,
    service_provider,
    subjects: path.join(folder, 'subjects'),
    user: person.username,
    password: person.password,
    attributes: { mail: person.email, groups: [STAFF] },
  };
  const start = (keys: { key: string; certificate: string }, more_certificates: string[] = []): Promise<Program> => {
    const file = path.join(folder, 'settings.json');
    writeFileSync(file, JSON.stringify({ ...settings, ...keys, more_certificates }));
    return startProgram(python, [SERVER, file], { ready: `${origin}/metadata` });
  };
  let server = await start(first);
  const restart = async (...how: Parameters<typeof start>) => {
    await server.stop();
    server = await start(...how);
  };
  return {
    name: 'pysaml2',
    version: version.trim(),
    kind: 'saml',
    connection: {
      kind: 'saml',
      name: 'pysaml2',
      metadata_url: `${origin}/metadata`,
      trusted_email: 'verified',
      groups_claim: 'groups',
      role_mappings: { [STAFF]: STAFF },
    },
    signIn: async (browser, page) =>
      travel(browser, await browser.submit(page, { username: person.username, password: person.password })),
    signOut: (browser) => open(browser, `${origin}/logout`),
    async rollOver(published) {
      await restart(first, [second.certificate]);
      await published();
      await restart(second);
    },
    stop: () => server.stop(),
  };
}

async function newKey(folder: string, name: string): Promise<{ key: string; certificate: string }> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [from, until] = [new Date(), new Date(Date.now() + 86_400_000)];
  const [key, certificate] = [path.join(folder, `${name}.pem`), path.join(folder, `${name}.crt`)];
  writeFileSync(key, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(certificate, await selfSignedCertificate({ ...keys, host: '127.0.0.1', from, until }));
  return { key, certificate };
}
