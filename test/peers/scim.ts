// SCIM testers of others against this server, and the filters of scim2-parse-filter beside those of this server (README.md). Not part of
// `npm test`, because it needs the testers.
//   npx tsx test/peers/scim.ts [--url https://… --token …], the second at a server that runs already
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import fc from 'fast-check';
import { fits, parseFilter } from '../../src/protocols/scim/filter.ts';
import { readResource } from '../../src/protocols/scim/resource-values.ts';
import { userType } from '../../src/protocols/scim/schemas.ts';
import { startGatehouse } from './gatehouse.ts';
import { needFile, skip } from './programs.ts';

const { values: given } = parseArgs({ options: { url: { type: 'string' }, token: { type: 'string' } } });
const INSTALLED = process.env.SCIM ?? '/opt/peers/scim';
const at = (name: string) => needFile(path.join(INSTALLED, name), 'README.md');

/** Complaints that docs/scim.md chooses, by the line of the tester. */
const CHOSEN = [
  // 204, which Entra ID expects; with `attributes` in the query it is 200.
  /^\[FAIL\] PATCH \/Groups\/\{id\}$/,
  /^\[FAIL\] PATCH \/Groups\/\{id\} remove members$/,
  // A member is a user of the connection.
  /^\[FAIL\] PATCH \/Groups\/\{id\} add member$/,
  // It has always a value.
  /^ERROR check_remove_attribute PATCH modify\(\) did not remove attribute 'active'$/,
];

/** The output of a tester, also of one that fails. */
async function outputOf(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const options = { env: { ...process.env, ...env }, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 };
  const failed = (error: { stdout: string; stderr: string }) => error;
  const { stdout, stderr } = await promisify(execFile)(program, args, options).catch(failed);
  return stdout + stderr;
}

/** Prints what the tester says; returns the number of complaints that are not chosen. */
function report(name: string, output: string, passed: RegExp): number {
  const lines = output.split('\n').map((line) => line.trim());
  const complaints = lines.flatMap((line, index) => {
    if (line.startsWith('[FAIL]')) return [line];
    return line.startsWith('ERROR') ? [`${line} ${lines[index + 1]}`] : [];
  });
  const wrong = complaints.filter((line) => !CHOSEN.some((chosen) => chosen.test(line)));
  const right = lines.filter((line) => passed.test(line)).length;
  const chosen = complaints.length - wrong.length;
  process.stdout.write(`${name}: ${right} passed, ${wrong.length} failed, ${chosen} chosen otherwise\n`);
  for (const line of wrong) process.stdout.write(`  ${line}\n`);
  // A tester that did not start complains of nothing.
  return right === 0 ? wrong.length + 1 : wrong.length;
}

interface OtherFilters {
  parse(text: string): object;
  filter(parsed: object): (resource: object) => boolean;
}

/** Random filters over random users with one address, because the other one joins `and` across several: both find the same ones. Returns the number of differences. */
function compareFilters({ parse, filter }: OtherFilters): number {
  const word = fc.constantFrom('a', 'b', 'ab', 'x y', '(a)', '[b] and', 'é');
  const text = (path: string, ops: readonly string[]) =>
    fc.tuple(fc.constantFrom(...ops), word).map(([op, value]) => `${path} ${op} ${JSON.stringify(value)}`);
  const ops = ['eq', 'co', 'sw', 'ew'] as const;
  const simple = fc.oneof(
    text('userName', ops),
    text('displayName', ops),
    text('name.familyName', ops),
    text('emails.value', ['eq']),
    fc.constantFrom('title pr', 'displayName pr', 'name.familyName pr'),
    fc
      .tuple(text('value', ops), text('type', ['eq']), fc.constantFrom('and', 'or'))
      .map(([value, type, join]) => `emails[${value} ${join} ${type}]`),
  );
  const { term } = fc.letrec<{ term: string }>((tie) => ({
    term: fc.oneof(
      { maxDepth: 4 },
      simple,
      fc.tuple(tie('term'), fc.constantFrom('and', 'or'), tie('term')).map((parts) => parts.join(' ')),
      tie('term').map((inner) => `(${inner})`),
      tie('term').map((inner) => `not (${inner})`),
    ),
  }));
  const user = fc.record(
    {
      userName: word,
      displayName: word,
      title: word,
      name: fc.record({ familyName: word }),
      emails: fc.array(fc.record({ value: word, type: word }), { minLength: 1, maxLength: 1 }),
    },
    { requiredKeys: ['userName'] },
  );
  let differences = 0;
  let compared = 0;
  for (const [text, resource] of fc.sample(fc.tuple(term, user), { numRuns: 20_000, seed: 31 })) {
    if (text.length > 2048) continue;
    const ours = fits(parseFilter(text, userType), readResource(resource, userType));
    compared += 1;
    if (ours === filter(parse(text))(resource)) continue;
    differences += 1;
    if (differences <= 10) process.stdout.write(`  ${text}\n  ${JSON.stringify(resource)}: ${ours} here\n`);
  }
  process.stdout.write(`scim2-parse-filter: ${compared} filters, ${differences} differences\n`);
  return differences;
}

async function newToken({ scimConnections }: Awaited<ReturnType<typeof startGatehouse>>['services']): Promise<string> {
  const { id } = await scimConnections.create(
    {
      name: 'Testers',
      client_id: null,
      owned_domains: ['example.com'],
      adopt: 'never',
      may_create: true,
      delete_policy: 'disable',
      mappings: { attributes: {}, groups: {} },
    },
    {},
  );
  return (await scimConnections.addToken(id, 1, {})).text;
}

async function main(): Promise<number> {
  const [sanity, tester] = [at('bin/scim-sanity'), at('bin/scim2')];
  const require = createRequire(at('node_modules/scim2-parse-filter/package.json'));
  let failed = compareFilters(require('scim2-parse-filter') as OtherFilters);
  const idp = given.url ? undefined : await startGatehouse();
  try {
    const url = given.url ?? `${idp?.issuer}/scim/v2`;
    const token = given.token ?? (idp ? await newToken(idp.services) : '');
    const probe = ['probe', url, '--token', token, '--i-accept-side-effects'];
    failed += report('scim-sanity', await outputOf(sanity, probe), /^\[PASS\]/);
    const headers = { SCIM_CLI_HEADERS: `Authorization: Bearer ${token}` };
    failed += report('scim2-tester', await outputOf(tester, ['--url', url, 'test', '--verbose'], headers), /^SUCCESS/);
  } finally {
    await idp?.stop();
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch(skip);
