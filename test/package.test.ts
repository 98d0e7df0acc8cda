// The package that a release publishes (`npm pack`), with the packages that npm installs beside it: not one for development.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testFolder } from './support/database/database.ts';
import { httpClient } from './support/http.ts';
import { freePort } from './support/idp.ts';

interface LockedPackage {
  dev?: boolean;
}

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const folder = testFolder();
const installed = path.join(folder, 'node_modules');
const program = path.join(installed, 'gatehouse', 'bin', 'gatehouse.js');
let server: ReturnType<typeof spawn> | undefined;

beforeAll(() => {
  const packed = execFileSync(npm, ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    encoding: 'utf8',
  });
  mkdirSync(installed);
  execFileSync('tar', ['-xzf', path.join(folder, tarballIn(packed)), '-C', installed]);
  renameSync(path.join(installed, 'package'), path.join(installed, 'gatehouse'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [name, { dev }] of Object.entries(packages)) {
    if (dev || !/^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) || !existsSync(name)) continue;
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    symlinkSync(path.resolve(name), path.join(folder, name), 'dir');
  }
}, 120_000);
afterAll(() => server?.kill());

/** npm 11 and before print a list, npm 12 an object by name. */
function tarballIn(json: string): string {
  const packed = JSON.parse(json) as { filename: string }[] | Record<string, { filename: string }>;
  return Object.values(packed)[0]?.filename ?? '';
}

it('the package has what the program reads at run time, and neither sources nor tests', () => {
  const listed = (name: string) => existsSync(path.join(installed, 'gatehouse', name));
  const read = ['dist/main.js', 'dist/documents.json', 'dist/assets/people.css', 'views/layout.eta'];
  const missing = [...read, 'prisma/migrations/sqlite', 'LICENSE'];
  expect(missing.filter((name) => !listed(name))).toEqual([]);
  expect(['src/main.ts', 'test', 'docs', 'dist/node_modules', '.ci'].filter(listed)).toEqual([]);
});

it('gatehouse serve of the package starts, with its pages, style sheets, presets and database', async () => {
  const port = String(await freePort());
  const file = path.join(folder, 'gatehouse.yaml');
  writeFileSync(file, 'settings: { admin_mfa: optional }\n');
  const environment = {
    PATH: process.env.PATH,
    PORT: port,
    DATA_DIR: path.join(folder, 'data'),
    GATEHOUSE_CONFIG: file,
    LOG_FORMAT: 'json',
  };
  server = spawn(process.execPath, [program, 'serve'], { cwd: folder, env: environment });
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('First administrator')) resolve();
    };
    server?.stdout?.on('data', read);
    server?.stderr?.on('data', read);
    server?.on('exit', (code) => reject(new Error(`exit ${code}: ${output}`)));
  });
  await ready;
  const browser = httpClient(`http://localhost:${port}`);
  expect((await browser.get('/readyz')).status).toBe(200);
  const page = await browser.follow(await browser.get('/account'));
  const [, style = ''] = /href="(\/assets\/people\.[^"]+\.css)"/.exec(page.text) ?? [];
  expect([page.status, (await browser.get(style)).status]).toEqual([200, 200]);
  expect((await browser.get('/saml/metadata')).text).toContain('EntityDescriptor');
  const gatehouse = (args: string[], input = '') =>
    execFileSync(process.execPath, [program, ...args], { cwd: folder, env: environment, encoding: 'utf8', input });
  expect(gatehouse(['user', 'list'])).toContain('admin');

  const [username, password] = ['boss', 'a long pass phrase of the boss'];
  gatehouse(['user', 'add', username, '--role', 'admin', '--password-stdin'], password);
  await browser.follow(await browser.submit(page, { username, password }));
  for (const [address, preset] of [
    ['applications', 'Grafana'],
    ['connections', 'Microsoft Entra ID'],
  ])
    expect((await browser.get(`/admin/${address}/new`)).text).toContain(preset);
});

it('the bill of materials names each package of the server (CycloneDX)', () => {
  const sbom = execFileSync(npm, ['sbom', '--omit=dev', '--sbom-format=cyclonedx'], { encoding: 'utf8' });
  const { bomFormat, components } = JSON.parse(sbom) as { bomFormat: string; components: { name: string }[] };
  const names = components.map(({ name }) => name);
  expect([bomFormat, names]).toEqual(['CycloneDX', expect.arrayContaining(['oidc-provider', 'samlify', 'argon2'])]);
  expect(names).not.toContain('vitest');
});
