// SCIM testers of others against this server, SCIMMY as a client of it, and the filters of scim2-parse-filter beside those of this server
// (README.md). Not part of
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

type Json = Record<string, unknown>;
type Schema = new (json: Json, direction?: 'out') => object;

interface Scimmy {
  Schemas: { User: Schema & { definition: { extend(other: unknown): void } }; EnterpriseUser: { definition: unknown } };
  Messages: {
    PatchOp: new (json: Json) => { apply(resource: object): Promise<object | undefined> };
    ListResponse: new (json: Json) => { totalResults: number };
  };
}

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/**
 * SCIMMY as a client: it makes the bodies and reads the answers, and carries out the same random PATCHes itself. Returns the number of
 * differences.
 */
async function compareWithScimmy({ Schemas, Messages }: Scimmy, url: string, token: string): Promise<number> {
  Schemas.User.definition.extend(Schemas.EnterpriseUser.definition);
  const ask = async (method: string, at: string, body?: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' };
    const answer = await fetch(`${url}${at}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${await answer.text()}`);
    return (answer.status === 204 ? {} : await answer.json()) as Json;
  };
  const word = fc.constantFrom('a', 'B', 'x y', 'é');
  const kind = fc.constantFrom('work', 'home', 'other');
  const run = Date.now();
  // Of nobody else.
  const value = fc.uuid().map((one) => `${run}-${one}@example.com`);
  const single = fc.constantFrom('displayName', 'title', 'nickName', 'name.familyName', 'name.givenName');
  const step = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace'), path: single, value: word }),
    fc.record({ op: fc.constant('remove'), path: single }),
    fc.record({
      op: fc.constant('add'),
      path: fc.constant('emails'),
      value: fc.tuple(fc.record({ type: kind, value })),
    }),
    kind.map((type) => ({ op: 'remove', path: `emails[type eq "${type}"]` })),
    fc
      .tuple(kind, value)
      .map(([type, other]) => ({ op: 'replace', path: `emails[type eq "${type}"].value`, value: other })),
  );
  const shown = ({ meta: _meta, schemas: _schemas, ...rest }: Json) =>
    JSON.stringify(rest, (_key, one) => {
      if (Array.isArray(one)) return one.map((part) => JSON.stringify(part, Object.keys(part).sort())).sort();
      if (typeof one !== 'object' || one === null) return one;
      const parts = Object.entries(one as Json).sort();
      return parts.length === 0 ? undefined : Object.fromEntries(parts);
    });
  const ids: string[] = [];
  let [compared, differences] = [0, 0];
  for (const [index, steps] of fc
    .sample(fc.array(step, { minLength: 1, maxLength: 4 }), { numRuns: 100, seed: 31 })
    .entries()) {
    const body = new Schemas.User({
      schemas: [USER],
      userName: `scimmy-${run}-${index}`,
      title: 'T',
      name: { givenName: 'G' },
      emails: [],
    });
    const made = await ask('POST', '/Users', body);
    ids.push(String(made.id));
    const patch = { schemas: [PATCH], Operations: steps };
    const own = await new Messages.PatchOp(patch).apply(new Schemas.User(made, 'out')).catch(() => undefined);
    // It rejects what has no target, and returns nothing where nothing changes.
    if (!own) continue;
    const here = new Schemas.User(await ask('PATCH', `/Users/${String(made.id)}`, patch), 'out');
    const [theirs, ours] = [own, here].map((one) => shown(JSON.parse(JSON.stringify(one)) as Json));
    compared += 1;
    if (theirs === ours) continue;
    differences += 1;
    process.stdout.write(`  ${JSON.stringify(steps)}\n  ${ours} here\n  ${theirs}\n`);
  }
  const { totalResults } = new Messages.ListResponse(await ask('GET', '/Users?count=5'));
  for (const id of ids) await ask('DELETE', `/Users/${id}`);
  process.stdout.write(`SCIMMY: ${compared} PATCHes, ${differences} differences, ${totalResults} users listed\n`);
  return compared > 0 && totalResults > 0 ? differences : differences + 1;
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
    failed += await compareWithScimmy(require('scimmy') as Scimmy, url, token);
    failed += report('scim-sanity', await outputOf(sanity, probe), /^\[PASS\]/);
    const headers = { SCIM_CLI_HEADERS: `Authorization: Bearer ${token}` };
    failed += report('scim2-tester', await outputOf(tester, ['--url', url, 'test', '--verbose'], headers), /^SUCCESS/);
  } finally {
    await idp?.stop();
  }
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main().catch(skip);
