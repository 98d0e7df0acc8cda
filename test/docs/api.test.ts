// Every example of docs/api.md, run in one shell from top to bottom on the configuration that it names. Where an example
// says `…`, what an answer before it said is put in, as a reader would.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSignIn } from '../oidc/support.ts';
import { testFolder } from '../support/database/database.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';

const text = readFileSync('docs/api.md', 'utf8');
interface Example {
  script: string;
  /** The answer that stands below it. */
  answer?: Record<string, unknown>;
}
const blocks = [...text.matchAll(/```(sh|json|yaml)\n([\s\S]*?)```/g)].map(([, type, body = '']) => ({ type, body }));
const examples: Example[] = blocks.flatMap(({ type, body }, index) => {
  const next = blocks[index + 1];
  if (type !== 'sh') return [];
  return [{ script: body, ...(next?.type === 'json' && { answer: JSON.parse(next.body) as Record<string, unknown> }) }];
});

const hasTools = ['bash', 'curl', 'openssl'].every((tool) => spawnSync(tool, ['--version']).error === undefined);
let idp: TestIdp;
let folder: string;
let run: (script: string) => Promise<string>;
let end: (() => void) | undefined;
beforeAll(async () => {
  const port = await freePort();
  folder = path.join(testFolder(), `api-${port}`);
  mkdirSync(folder);
  const yaml = blocks.find(({ type }) => type === 'yaml')?.body ?? '';
  const file = path.join(folder, 'gatehouse.yaml');
  writeFileSync(file, yaml.replaceAll(':3000', `:${port}`));
  ({ run, end } = shell(folder));
  idp = await startIdp({ environment: { PORT: String(port), GATEHOUSE_CONFIG: file } });
});
afterAll(async () => {
  end?.();
  await idp?.stop();
});

/** A shell that runs one example after the other. */
function shell(cwd: string) {
  const bash = spawn('bash', { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  const END = '--end of example--';
  bash.stdout.setEncoding('utf8');
  return {
    run: (script: string) =>
      new Promise<string>((resolve) => {
        let said = '';
        const listen = (piece: string) => {
          said += piece;
          if (!said.endsWith(`${END}\n`)) return;
          bash.stdout.off('data', listen);
          resolve(said.slice(0, -END.length - 1));
        };
        bash.stdout.on('data', listen);
        bash.stdin.write(`${script}\necho; echo '${END}'\n`);
      }),
    end: () => bash.stdin.end(),
  };
}

/** The last answer that is JSON; curl puts no line break between two. */
function answerOf(said: string): Record<string, unknown> {
  const lines = said
    .replaceAll('}{', '}\n{')
    .split('\n')
    .filter((line) => /^{.*}$/.test(line));
  return JSON.parse(lines.at(-1) ?? '{}') as Record<string, unknown>;
}

/** Signs alice in at the address that was printed, and copies the code from the address bar. */
async function codeFrom(address: string): Promise<string> {
  const user = { username: 'alice', password: 'a long pass phrase that is fine' };
  const page = await completeSignIn(httpClient(idp.issuer), address.trim(), {
    user: user as Parameters<typeof completeSignIn>[2]['user'],
  });
  return new URL(page.location ?? page.url).searchParams.get('code') ?? '';
}

it.skipIf(!hasTools)('a shell runs the commands of docs/api.md as they are written', async () => {
  const known: Record<string, string> = {};
  let said = '';
  let address = '';
  for (const { script, answer } of examples) {
    const [, name = ''] = /^(\w+)=…$/m.exec(script) ?? [];
    const last = answerOf(said);
    const value =
      name === 'CODE' ? await codeFrom(address) : name.endsWith('_ID') ? last.id : known[name.toLowerCase()];
    if (name) expect(value, name).toBeTruthy();
    const filled = script.replace(/=…$/m, `=${value}`).replace('http://localhost:3000', idp.issuer);
    said = await run(filled);
    if (said.includes('/authorize?')) address = said;
    const got = answerOf(said);
    // A person's tokens; those that an application gets for itself are for other examples.
    const isPersons = got.access_token === undefined || got.id_token !== undefined;
    for (const [field, found] of Object.entries(got)) if (isPersons && typeof found === 'string') known[field] = found;
    const wanted = Object.keys(answer ?? {}).filter((field) => field !== '…');
    expect(Object.keys(got), `${script}\n${said}`).toEqual(expect.arrayContaining(wanted));
    const isRejection = answer?.error !== undefined || script.includes('/register');
    expect(/"error":|urn:gatehouse:error/.test(said), `${script}\n${said}`).toBe(isRejection);
    for (const field of ['decision', 'evaluations', 'create', 'delete', 'permissions', 'next'])
      if (answer && field in answer) expect(got[field], script).toEqual(answer[field]);
  }
  expect(readFileSync(path.join(folder, 'audit.csv'), 'utf8')).toContain('application.secret-created');
  expect((await idp.services.applications.find('shop'))?.access).toEqual({ roles: ['seller'] });
});
