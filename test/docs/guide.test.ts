// The guide of docs/first-application.md, followed word by word: its file, its application, its pass phrase. Only the two ports
// differ, because the machine that runs the tests may use them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolder } from '../support/database/database.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';

const guide =
  /^## Connect an OpenID Connect application[\s\S]*?(?=^## )/m.exec(
    readFileSync('docs/first-application.md', 'utf8'),
  )?.[0] ?? '';
const block = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';
const [, username = '', password = ''] = /Sign in as `(.+)` with `(.+)`/.exec(guide) ?? [];

let idp: TestIdp;
let application: ChildProcess;
let origin: string;

beforeAll(async () => {
  const [idpPort, appPort] = [await freePort(), await freePort()];
  const withPorts = (text: string) => text.replaceAll(':3000', `:${idpPort}`).replaceAll('8080', String(appPort));
  const folder = path.join(testFolder(), `guide-${appPort}`);
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'gatehouse.yaml'), withPorts(block('yaml')));
  idp = await startIdp({
    environment: { PORT: String(idpPort), GATEHOUSE_CONFIG: path.join(folder, 'gatehouse.yaml') },
  });

  writeFileSync(path.join(folder, 'app.mjs'), withPorts(block('js')));
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules')); // npm install openid-client
  application = spawn(process.execPath, ['app.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(application.stdout ?? application, 'data');
  origin = String(said).replace('Open ', '').trim();
});
afterAll(async () => {
  application?.kill();
  await idp?.stop();
});

describe('the five-minute guide', () => {
  it('signs the user of the guide in to the application of the guide', async () => {
    const browser = httpClient(origin);
    const page = await browser.follow(await browser.get(origin));
    expect(page.text).toContain('My app');
    const back = await browser.follow(await browser.submit(page, { username, password }));
    expect(back.text).toContain('Signed in');
    expect(back.text).toContain('"name": "Alice Example"');

    // Single sign-on, as the guide promises.
    const again = await browser.follow(await browser.get(origin));
    expect(again.text).toContain('"name": "Alice Example"');
  });

  it('rejects a response that this browser did not request', async () => {
    const answer = await fetch(`${origin}/callback?code=stolen&state=foreign&iss=${encodeURIComponent(idp.issuer)}`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Sign-in failed');
  });

  it('writes the log lines that the guide quotes', () => {
    expect(idp.log.join('')).toContain('configuration file applied');
  });
});
