// `gatehouse app …` and `gatehouse keys …`.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { smallRsaKeys } from '../keys/support.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
  const argv = ['--name', 'Shop', '--client-id', 'shop', '--redirect-uri', 'https://shop.example/cb'];
  await cli.gatehouse(['app', 'add', ...argv]);
});
afterAll(() => cli.close());

const metadata = `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example/sp">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://wiki.example/acs"/>
  </SPSSODescriptor>
</EntityDescriptor>`;

describe('gatehouse app', () => {
  it('registers a client, and shows its secret once', async () => {
    const argv = ['app', 'add', '--name', 'Store', '--client-id', 'store', '--redirect-uri', 'https://shop.example/cb'];
    const { code, out } = await cli.gatehouse([
      ...argv,
      '--grant',
      'authorization_code',
      '--grant',
      'refresh_token',
      '--json',
    ]);
    expect(code).toBe(0);
    const { client_id, client_secret } = JSON.parse(out);
    expect(client_id).toBe('store');
    expect(client_secret).toMatch(/^[\w-]{43}$/);
    const printed = await cli.gatehouse(['app', 'show', 'store']);
    expect(printed.out).not.toContain(client_secret);
    expect(parse(printed.out)).toEqual({
      client_id: 'store',
      client_name: 'Store',
      redirect_uris: ['https://shop.example/cb'],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const rows = JSON.stringify(await cli.db.asStored.clientSecret.findMany());
    expect(rows).not.toContain(client_secret);
  });

  it('registers an application with high security, which has keys and no secret', async () => {
    const argv = ['app', 'add', '--name', 'Bank', '--client-id', 'bank', '--redirect-uri', 'https://bank.example/cb'];
    const keys = ['--jwks-uri', 'https://bank.example/jwks', '--json'];
    const { code, out } = await cli.gatehouse([...argv, '--profile', 'fapi2', ...keys]);
    expect([code, JSON.parse(out)]).toEqual([0, { client_id: 'bank' }]);
    const exported = parse((await cli.gatehouse(['app', 'show', 'bank'])).out);
    expect(exported).toMatchObject({ profile: 'fapi2', token_endpoint_auth_method: 'private_key_jwt' });
    const weaker = await cli.gatehouse([
      ...argv,
      '--profile',
      'fapi2',
      '--auth-method',
      'client_secret_basic',
      ...keys,
    ]);
    expect(weaker.code).not.toBe(0);

    const answers = [
      '6',
      'Asked bank',
      'https://asked-bank.example/cb',
      '',
      'n',
      'y',
      'http://x',
      'https://x.example/k',
    ];
    const asked = await cli.gatehouse(['app', 'add'], { answers: [...answers, 'y', ''] });
    expect(asked).toMatchObject({ code: 0, err: expect.stringContaining('must be an https URL') });
    const row = await cli.db.asStored.application.findFirstOrThrow({ where: { name: 'Asked bank' } });
    expect(JSON.parse(row.metadata)).toMatchObject({ profile: 'fapi2-signing', response_modes: ['jwt'] });
  });

  it('registers a public app without a secret, and a SAML one by its metadata', async () => {
    const spa = await cli.gatehouse(['app', 'add', '--public', '--redirect-uri', 'http://localhost:5173/', '--json']);
    expect(JSON.parse(spa.out)).toEqual({ client_id: expect.stringMatching(/^[\w-]{21,}$/) });
    const file = path.join(cli.folder, 'sp.xml');
    writeFileSync(file, metadata);
    const saml = await cli.gatehouse(['app', 'add', '--name', 'Wiki', '--saml-metadata', file]);
    expect(saml).toMatchObject({ code: 0, out: expect.stringContaining('Entity ID: https://wiki.example/sp') });
    const list = await cli.gatehouse(['app', 'list', '--json']);
    const found = JSON.parse(list.out).map(
      ({ name, protocol }: { name: string; protocol: string }) => `${protocol} ${name}`,
    );
    expect(found).toEqual(expect.arrayContaining(['oidc Shop', 'saml Wiki']));
    expect((await cli.gatehouse(['app', 'list'])).out).toContain('https://wiki.example/sp');
    expect(parse((await cli.gatehouse(['app', 'show', 'https://wiki.example/sp'])).out)).toMatchObject({
      name: 'Wiki',
      metadata,
    });
  });

  it('prompts on a terminal, and again after an invalid answer', async () => {
    const web = await cli.gatehouse(['app', 'add'], {
      answers: [
        '7',
        '1',
        '',
        'Asked',
        'http://asked.example/cb',
        'https://asked.example/cb, https://b.example/cb',
      ].concat(['', 'y', 'n', 'nobody', 'admin, support']),
    });
    expect(web.code, web.err).toBe(0);
    expect(
      web.err.match(/Enter a number from 1 to 6|Enter a value|must be https|the role nobody doesn’t exist/g),
    ).toHaveLength(4);
    const [, clientId = ''] = /Client ID: +(\S+)/.exec(web.out) ?? [];
    expect(web.out).toMatch(/Client secret: [\w-]{43}/);
    expect(parse((await cli.gatehouse(['app', 'show', clientId])).out)).toEqual({
      client_id: clientId,
      client_name: 'Asked',
      access: { roles: ['admin', 'support'] },
      redirect_uris: ['https://asked.example/cb', 'https://b.example/cb'],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const api = 'https://id.example.com/api/admin';
    const service = await cli.gatehouse(['app', 'add'], { answers: ['4', 'Script', api, 'admin:*'] });
    expect(service).toMatchObject({ code: 0, out: expect.stringContaining('Client secret') });
    const file = path.join(cli.folder, 'asked.xml');
    writeFileSync(file, metadata.replace('wiki.example/sp', 'asked.example/sp'));
    const saml = await cli.gatehouse(['app', 'add'], { answers: ['5', 'SAML', '/nowhere', file, 'y', ''] });
    expect(saml).toMatchObject({
      code: 0,
      out: expect.stringContaining('https://asked.example/sp'),
      err: expect.stringContaining('cannot be read'),
    });
    const native = await cli.gatehouse(['app', 'add'], {
      answers: ['3', 'App', 'com.example.app:/cb', '', 'n', 'y', ''],
    });
    expect(native.out).not.toContain('Client secret');
  });

  it('prints nothing but its result with LOG_FORMAT=pretty', async () => {
    const ended = await cli.gatehouse(['app', 'list', '--json'], { env: { LOG_FORMAT: 'pretty' } });
    expect([ended.code, ended.err]).toEqual([0, '']);
  });

  it('takes an API and scopes for a service, in a script', async () => {
    const argv = ['app', 'add', '--client-id', 'script', '--grant', 'client_credentials', '--scope', 'admin:*'];
    expect((await cli.gatehouse([...argv, '--resource', 'https://id.example.com/api/admin'])).code).toBe(0);
    expect(parse((await cli.gatehouse(['app', 'show', 'script'])).out)).toMatchObject({
      resources: ['https://id.example.com/api/admin'],
      scope: 'admin:*',
    });
    expect(await cli.gatehouse(['app', 'add'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('redirect_uris'),
    });
  });

  it.each([
    [['app', 'add', '--redirect-uri', 'http://shop.example/cb'], 1, 'redirect_uris[0] must be https'],
    [['app', 'add', '--client-id', 'shop', '--redirect-uri', 'https://a.example/'], 1, 'already exists'],
    [['app', 'add', '--redirect-uri', 'https://a.example/', '--role', 'editor'], 1, 'this role doesn’t exist: editor'],
    [['app', 'add', '--saml-metadata', '/nowhere.xml'], 2, "can't be read"],
    [['app', 'add', '--saml-metadata', 'package.json'], 2, "isn't well-formed XML"],
    [['app', 'show', 'nothing'], 1, 'There is no application "nothing"'],
    [['app', 'secret', 'shop', '--keep', 'long'], 2, '--keep must be'],
  ])('fails for %j', async (argv, code, message) => {
    expect(await cli.gatehouse(argv)).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });

  it('makes an initial access token, which is for clients without PKCE only when that is named, with a warning', async () => {
    const policies = async (...options: string[]) => {
      const { code, out, err } = await cli.gatehouse(['app', 'registration-token', '--json', ...options]);
      expect([code, Object.keys(JSON.parse(out))]).toEqual([0, ['initial_access_token', 'expires_at']]);
      const rows = await cli.db.oidcArtifact.findMany({ where: { model: 'InitialAccessToken' } });
      await cli.db.oidcArtifact.deleteMany({ where: { model: 'InitialAccessToken' } });
      return { policies: rows.map(({ payload }) => JSON.parse(payload).policies), err };
    };
    expect(await policies()).toEqual({ policies: [undefined], err: '' });
    expect(await policies('--without-pkce', '--seconds', '60')).toEqual({
      policies: [['without-pkce']],
      err: expect.stringContaining('Warning'),
    });
  });

  it('makes a new secret beside the old one, or in its place', async () => {
    const rotated = JSON.parse((await cli.gatehouse(['app', 'secret', 'shop', '--keep', '3600', '--json'])).out);
    expect(rotated.client_secret).toMatch(/^[\w-]{43}$/);
    const where = { application: { clientId: 'shop' } };
    const secrets = await cli.db.asStored.clientSecret.findMany({ where, orderBy: { createdAt: 'asc' } });
    expect(secrets).toMatchObject([{ expiresAt: expect.any(Date) }, { expiresAt: null }]);
    await cli.gatehouse(['app', 'secret', 'shop']);
    expect(await cli.db.clientSecret.count({ where })).toBe(1);
  });
});

describe('gatehouse keys', () => {
  smallRsaKeys();
  beforeAll(async () => {
    await cli.gatehouse(['keys', 'rotate']); // makes the first keys, and rejects the rotation
  });
  const list = async () =>
    JSON.parse((await cli.gatehouse(['keys', 'list', '--json'])).out) as { kid: string; use: string; state: string }[];
  const active = async (use: string) =>
    (await list()).filter((key) => key.use === use && key.state === 'active').map(({ kid }) => kid);

  it('does not rotate until applications know the next key, unless forced', async () => {
    const early = await cli.gatehouse(['keys', 'rotate']);
    expect(early).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Not rotated. The next key') });
    const before = await active('oidc');
    expect(await cli.gatehouse(['keys', 'rotate', '--now'])).toMatchObject({ code: 0 });
    const after = await active('oidc');
    expect(after).toHaveLength(before.length);
    expect(after.filter((kid) => before.includes(kid))).toEqual([]);
    const noted = await cli.db.auditEvent.findMany({ where: { type: 'key.activated' } });
    expect(noted.map(({ data }) => JSON.parse(data).kid)).toEqual(expect.arrayContaining(after));
  });

  it('publishes the next SAML certificate first', async () => {
    const before = await active('saml');
    expect((await cli.gatehouse(['keys', 'rotate', '--saml'])).out).toContain('is in the metadata');
    expect(await active('saml')).toEqual(before);
    expect(await cli.gatehouse(['keys', 'rotate', '--saml'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already published'),
    });
    expect(await cli.gatehouse(['keys', 'rotate', '--saml', '--activate'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Not rotated'),
    });
    expect(await cli.gatehouse(['keys', 'rotate', '--saml', '--now'])).toMatchObject({ code: 0 });
    expect(await active('saml')).not.toEqual(before);
    expect((await cli.gatehouse(['keys', 'list'])).out).toMatch(/saml\s+RS256\s+retired/);
  });

  it('rotates the keys of the service provider in the same two steps', async () => {
    const rotate = (...more: string[]) => cli.gatehouse(['keys', 'rotate', ...more]);
    expect(await rotate('--saml-sp')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/identity providers.*gatehouse keys rotate --saml-sp --activate/),
    });
    expect(await rotate('--saml-sp', '--activate')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Not rotated'),
    });
    expect(await rotate('--saml-sp', '--activate', '--now')).toMatchObject({ code: 0 });
    expect(await rotate('--saml-sp-encryption', '--now')).toMatchObject({ code: 0 });
    const list = (await cli.gatehouse(['keys', 'list'])).out;
    expect(list).toMatch(/saml-sp\s+RS256\s+retired/);
    expect(list).toMatch(/saml-sp-encryption\s+RSA-OAEP\s+retired/);
    expect(await rotate('--saml', '--saml-sp')).toMatchObject({ code: 2 });
  });
});
