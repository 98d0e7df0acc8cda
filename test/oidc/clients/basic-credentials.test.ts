// Basic credentials (RFC 6749 2.3.1): secrets as the documents recommend them need no encoding, and where the missing encoding is the fault
// the rejection says so.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { anApplication, basic, type ClientInput } from '../support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await sharedIdp();
});

const machine = (input: ClientInput) =>
  anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'], ...input });
const raw = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const token = (authorization: string, path = '/token') =>
  httpClient(idp.issuer).post(path, {
    form: { grant_type: 'client_credentials', token: 'x' },
    headers: { authorization, accept: 'application/json' },
  });
const descriptionOf = async (authorization: string) => {
  const page = await token(authorization);
  return `${page.status} ${page.json().error} ${page.json().error_description}`;
};

describe('the secrets that the documents recommend', () => {
  const texts = [
    ...readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join('docs', name)),
    'README.md',
  ]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const examples = [...texts.matchAll(/client_secret: ([\w!-~]{32,})/g)].flatMap(([, secret]) => secret ?? []);
  const commands = [...texts.matchAll(/secret[^.|\n]*`(openssl rand [^`]+)`/gi)].flatMap(
    ([, command]) => command ?? [],
  );

  it('are the same with and without form-encoding', async () => {
    expect(examples.length).toBeGreaterThan(2);
    expect(commands).toContain('openssl rand -hex 32');
    const made = commands.map((command) => execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim());
    for (const secret of [...examples, ...made]) expect(encodeURIComponent(secret)).toBe(secret);
    const app = await machine({ client_secret: made[0] ?? '' });
    expect((await token(raw(app.clientId, made[0] ?? ''))).status).toBe(200);
    const generated = await machine({});
    expect((await token(raw(generated.clientId, generated.clientSecret ?? ''))).status).toBe(200);
  });
});

describe('credentials that are not form-encoded', () => {
  it.each([
    ['a + of base64', 'Y2xpZW50+c2VjcmV0/d2l0aCBhIHBsdXM=+end', /401 invalid_client .*\+ that is not encoded as %2B/],
    [
      'a % that begins no code',
      'one-hundred-%-secret-of-32-characters',
      /400 invalid_request .*% that is not encoded as %25/,
    ],
    ['a % that begins a code', 'one-hundred-%41-secret-of-32-characters', /401 invalid_client .*right secret.*%25/],
  ])('are diagnosed: %s in the secret', async (_what, secret, reason) => {
    const app = await machine({ client_secret: secret });
    expect((await token(basic(app.clientId, secret))).status).toBe(200);
    expect(await descriptionOf(raw(app.clientId, secret))).toMatch(reason);
    const [rejection] = (await idp.services.rejections.list({ clientId: app.clientId })).rejections;
    expect(rejection?.rules.find(({ state }) => state === 'failed')).toMatchObject({
      rule: 'secret',
      received: expect.stringMatching(/%2[B5]/),
      expected: expect.stringContaining('RFC 6749'),
    });
    expect((await token(raw(app.clientId, secret), '/introspect')).json().error_description).toMatch(/%2[B5]/);
  });

  it('are diagnosed: a : in the client_id', async () => {
    const app = await machine({ client_id: `https://rp-${crypto.randomUUID()}.example` });
    const secret = app.clientSecret ?? '';
    expect((await token(basic(app.clientId, secret))).status).toBe(200);
    expect(await descriptionOf(raw(app.clientId, secret))).toMatch(
      /401 invalid_client .*: in it must be encoded as %3A/,
    );
  });

  it('work as they are with a : in the secret', async () => {
    const app = await machine({ client_secret: 'a-secret:with:colons-of-32-characters' });
    expect((await token(raw(app.clientId, app.clientSecret ?? ''))).status).toBe(200);
  });

  it('are not the fault of a wrong secret', async () => {
    const app = await machine({ client_secret: 'a-secret-with-%41-in-32-characters' });
    for (const secret of ['wrong', 'wrong%41', encodeURIComponent('wrong%')])
      expect(await descriptionOf(raw(app.clientId, secret))).not.toMatch(/encoded/);
    expect(await descriptionOf(raw('unknown', 'secret'))).not.toMatch(/encoded/);
  });
});
