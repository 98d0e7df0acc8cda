// A change of GATEHOUSE_SECRET from the beginning to the end: new value in front, rotate, old value removed.
import { readFileSync } from 'node:fs';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { run } from '../../src/cli/run.ts';
import { sealedColumns } from '../../src/server/secrets/reseal.ts';
import { open, resetLink } from '../recovery/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';
import { testSecret } from '../support/secret.ts';
import { filesUnder } from '../support/source/imports.ts';

const TOTP = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const newSecret = Buffer.alloc(32, 77);
const asText = (...secrets: Buffer[]) => secrets.map((secret) => secret.toString('base64url')).join(',');

let box: Mailbox;
let idp: TestIdp;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url } });
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const restart = async (secrets: string) => {
  await idp.stop();
  idp = await startIdp({ environment: { ...(idp.environment as Record<string, string>), GATEHOUSE_SECRET: secrets } });
};

async function gatehouse(...args: string[]) {
  const ended = { out: '', err: '', code: 0 };
  for (const [name, value] of Object.entries(idp.environment)) vi.stubEnv(name, value ?? '');
  const print = (to: 'out' | 'err') => (line: string) => {
    ended[to] += `${line}\n`;
  };
  const json = (value: unknown) => print('out')(JSON.stringify(value));
  const [out, err] = [print('out'), print('err')];
  ended.code = await run(args, { out, err, json, table: () => {}, stdin: async () => '' });
  vi.unstubAllEnvs();
  return ended;
}

/** The places in the whole database that hold a value which this secret encrypted: table.column. */
async function placesUnder(secret: Buffer): Promise<string[]> {
  const { sealedPrefix } = createVault([secret]);
  const { db, close } = await openDatabase(idp.environment.DATABASE_URL ?? '');
  const schema = readFileSync('prisma/schema.prisma', 'utf8');
  const tables = [...schema.matchAll(/@@map\("(\w+)"\)/g)].map(([, table]) => table);
  const found = new Set<string>();
  for (const table of tables) {
    for (const row of await db.$queryRawUnsafe<Record<string, unknown>[]>(`SELECT * FROM ${table}`)) {
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && value.includes(sealedPrefix)) found.add(`${table}.${column}`);
    }
  }
  await close();
  return [...found].sort();
}

const token = (client: { clientId: string; clientSecret: string }) =>
  fetch(`${idp.issuer}/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });

describe('a change of GATEHOUSE_SECRET', () => {
  it('ends with the old value removed, and everything works as before', async () => {
    const { services } = idp;
    const machine = { grant_types: ['client_credentials' as const], redirect_uris: [] };
    const basic = await aClient(services, machine);
    const sealed = await aClient(services, {
      redirect_uris: ['https://app.example.com/cb'],
      token_endpoint_auth_method: 'client_secret_jwt',
    });
    const user = await aUser(services);
    await services.mfa.totp.importSecret(user.account.id, TOTP);
    const other = await aUser(services);
    const session: HttpClient = await signedIn(idp, other);
    const [recoveryCode = ''] = await services.mfa.recoveryCodes.create(user.account.id);
    await services.settings.set('sms_gateway', { url: 'https://sms.example.com', token: 'gateway-token' });
    const link = await resetLink(idp, box, other.username, other.account.email ?? '');

    await restart(asText(newSecret, testSecret));
    const before = await gatehouse('doctor', '--json');
    expect(before.out).toMatch(/values? still encrypted with an older secret: .*totp_credentials 1/);
    const rotated = await gatehouse('secrets', 'rotate', '--json');
    expect(rotated).toMatchObject({ code: 0 });
    expect(JSON.parse(rotated.out)).toContainEqual({ table: 'totp_credentials', resealed: 1, unreadable: [] });
    expect(JSON.parse(rotated.out)).toContainEqual({ table: 'settings', resealed: expect.any(Number), unreadable: [] });
    expect(await placesUnder(testSecret)).toEqual([]);
    expect((await gatehouse('doctor', '--json')).out).toContain('everything is encrypted with the first secret');
    expect(await gatehouse('secrets', 'rotate')).toMatchObject({
      code: 0,
      out: 'Everything is encrypted with the first secret.\n',
    });

    await restart(asText(newSecret));
    expect((await session.get('/account')).text).toContain('Your account');
    expect((await token(basic)).status).toBe(200);
    const [secret] = await idp.services.applications.unexpiredSecrets(sealed.applicationId);
    expect(secret?.value).toBe(sealed.clientSecret);
    expect((await idp.services.settings.reload()).sms_gateway?.token).toBe('gateway-token');
    const browser = httpClient(idp.issuer);
    const second = await atAccount(idp, user, browser);
    const page = await browser.follow(await browser.submit(second, { code: generateSync({ secret: TOTP }) }));
    expect(page.text).toContain('Your account');
    expect(await idp.services.mfa.recoveryCodes.redeem(user.account.id, recoveryCode, {})).toBe('ok');
    expect((await open(idp, link)).page.text).toContain('new-password');
    expect(await gatehouse('audit', 'verify')).toMatchObject({ code: 0 });
    const [event] = await idp.services.audit.list({ types: ['secrets.rotated'] });
    expect(event?.data).toMatchObject({ data_keys: 2, totp_credentials: 1 });
  });

  it('never encrypts under the old value, and reports what no value decrypts', async () => {
    await restart(asText(testSecret, newSecret)); // back again
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, TOTP);
    const vault = createVault([newSecret]);
    const { secretSealed } = await idp.services.db.totpCredential.findUniqueOrThrow({
      where: { userId: user.account.id },
    });
    expect(secretSealed.slice(0, vault.sealedPrefix.length)).not.toBe(vault.sealedPrefix);
    const lost = createVault([Buffer.alloc(32, 1)]).seal(TOTP, `totp_credentials:${user.account.id}`);
    await idp.services.db.totpCredential.update({ where: { userId: user.account.id }, data: { secretSealed: lost } });
    const rotated = await gatehouse('secrets', 'rotate');
    expect(rotated).toMatchObject({ code: 1 });
    expect(rotated.err).toContain(
      `totp_credentials: can't decrypt 1 value with any value of GATEHOUSE_SECRET: ${user.account.id}`,
    );
  });

  it('does not overwrite a change that was made meanwhile', async () => {
    const { db, vault } = idp.services;
    const { resealAll } = await import('../../src/server/secrets/reseal.ts');
    const user = await aUser(idp.services);
    await idp.services.mfa.totp.importSecret(user.account.id, TOTP);
    const where = { userId: user.account.id };
    const context = `totp_credentials:${user.account.id}`;
    await db.totpCredential.update({ where, data: { secretSealed: createVault([newSecret]).seal('old', context) } });
    const slow = {
      ...vault,
      // Called between the read and the write of the row.
      seal: (plain: string | Uint8Array, where_: string) => {
        if (where_ === context)
          meanwhile = db.totpCredential.update({ where, data: { secretSealed: vault.seal('new', context) } });
        return vault.seal(plain, where_);
      },
    };
    let meanwhile: Promise<unknown> = Promise.resolve();
    const raced = { ...slow, isStale: vault.isStale };
    await resealAll({ db: slowUpdates(db, () => meanwhile), vault: raced });
    const { secretSealed } = await db.totpCredential.findUniqueOrThrow({ where });
    expect(vault.open(secretSealed, context).toString()).toBe('new');
  });
});

/** The database, whose raw updates wait for `first`. */
function slowUpdates(db: TestIdp['services']['db'], first: () => Promise<unknown>): typeof db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== '$executeRaw') return Reflect.get(target, name);
      return async (query: Parameters<typeof db.$executeRaw>[0]) => {
        await first();
        return target.$executeRaw(query);
      };
    },
  });
}

describe('the registry of encrypted columns', () => {
  it('names every column of the schema that holds encrypted values', () => {
    const schema = readFileSync('prisma/schema.prisma', 'utf8');
    const columns = [...schema.matchAll(/^model \w+ \{[\s\S]*?@@map\("(\w+)"\)/gm)].flatMap(([model, table]) =>
      [...model.matchAll(/@map\("(\w+_sealed)"\)/g)].map(([, column]) => `${table}.${column}`),
    );
    const registered = sealedColumns.filter(({ json }) => !json).map(({ table, column }) => `${table}.${column}`);
    expect(registered.sort()).toEqual(columns.sort());
  });

  /** File -> where its encrypted values go. A stored value belongs in the registry. */
  const callers: Record<string, string> = {
    'admin/api/idempotency.ts': 'idempotency_keys',
    'base/http/stored-pages.ts': 'stored_forms',
    'base/platform/sealed-for-a-time.ts': 'where its callers keep it',
    'applications/secrets.ts': 'client_secrets',
    'federation/connections/secrets.ts': 'connection_secrets',
    'people/bulk-changes.ts': 'bulk_change_pieces',
    'federation/requests.ts': 'upstream_requests',
    'federation/saml/slo-routes.ts': 'an address, during one logout',
    'federation/sessions.ts': 'upstream_sessions',
    'core/keys/data-keys.ts': 'data_keys',
    'protocols/event-streams/streams.ts': 'event_streams',
    'applications/provisioning-tokens.ts': 'provisioning_tokens',
    'core/keys/key-pair.ts': 'signing_keys',
    'protocols/logout/saml/routes.ts': 'an address, for a minute',
    'core/mail/outbox.ts': 'mail_messages',
    'people/mfa/factors/totp.ts': 'totp_credentials; a form, while a factor is set up',
    'core/settings/settings.ts': 'settings',
    'server/secrets/reseal.ts': 'the registry',
    'people/mfa/factors/webauthn-ceremony.ts': 'a form',
    'people/mfa/factors/phone-number.ts': 'a form',
    'protocols/oidc/store/form-state.ts': 'a cookie, valid for an hour',
    'protocols/forward-auth/website-test.ts': 'an address and a form, for ten minutes',
    'protocols/forward-auth/forward-auth.ts': 'the state of a sign-in, valid for ten minutes',
    'protocols/oidc/store/test-tickets.ts': 'a cookie',
    'people/rate-limits/captcha.ts': 'a form',
    'account/registration/self-registration.ts': 'a mailed link, valid for a day',
    'protocols/saml/sso/response-mode.ts': 'saml_requests: the Response to a test sign-in, for ten minutes',
    'test-bench/test-app-routes.ts': 'a form',
    'test-bench/test-sp-routes.ts': 'a form',
  };

  it('is complete: each file that encrypts is known', () => {
    const isCaller = (text: string) => /\b(vault\.seal|sealForATime)\(/.test(text);
    const files = filesUnder('src', '.ts').filter((file) => isCaller(readFileSync(file, 'utf8')));
    expect(files.map((file) => file.replaceAll('\\', '/').replace(/^src\//, '')).sort()).toEqual(
      Object.keys(callers).sort(),
    );
  });
});
