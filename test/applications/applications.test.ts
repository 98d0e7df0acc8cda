// Registering applications: what is stored, who may change it, and that a deletion is complete.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplications } from '../../src/applications/applications.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { createAudit } from '../../src/core/audit/audit.ts';
import { createSettings } from '../../src/core/settings/settings.ts';
import { removeClientArtifacts } from '../../src/protocols/oidc/store/removals.ts';
import { removeServiceProviderData } from '../../src/protocols/saml/slo/session-participants.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { servicesOf } from '../support/services-of.ts';

let database: TestDatabase;
let applications: ReturnType<typeof createApplications>;
let db: TestDatabase['database']['db'];
const clock = { at: new Date('2026-03-01T12:00:00Z') };
beforeAll(async () => {
  database = await testDatabase();
  db = database.database.db;
  const now = () => clock.at;
  const vault = createVault([Buffer.alloc(32, 1)]);
  const audit = createAudit(
    servicesOf({ ...database.database, vault, logger: createLogger({ level: 'silent', format: 'json' }), now }),
  );
  database.database.protect(createProtectedRows({ vault, alarm: { raise: async () => {} } }));
  const authority = { assertMay: async () => {} } as never;
  const settings = createSettings({ db, now });
  applications = createApplications(
    {
      ...servicesOf({ db, vault, audit, now, authority, settings }),
      removeClientArtifacts,
      removeServiceProviderData,
      wake() {},
    },
    ['gatehouse'],
  );
  await db.role.create({ data: { id: 'r1', name: 'editor' } });
});
afterAll(() => database.close());

const uri = ['https://a.example/cb'];
const secretsOf = (applicationId: string) =>
  db.asStored.clientSecret.findMany({ where: { applicationId }, orderBy: { createdAt: 'asc' } });

describe('a client secret', () => {
  it('is hashed where it is only compared, and returned once', async () => {
    const { application, clientSecret = '' } = await applications.createOidc({
      client_id: 'basic',
      redirect_uris: uri,
    });
    expect(clientSecret).toMatch(/^[\w-]{43}$/);
    const [row] = await secretsOf(application.id);
    expect(row).toMatchObject({ secretSealed: null, secretHash: expect.not.stringContaining(clientSecret) });
    expect(await applications.hasSecret(application.id, clientSecret)).toBe(true);
    expect(await applications.hasSecret(application.id, `${clientSecret}x`)).toBe(false);
    expect(JSON.stringify(await applications.get(application.id))).not.toContain(clientSecret);
  });

  it.each([
    { token_endpoint_auth_method: 'client_secret_jwt' as const },
    { id_token_signed_response_alg: 'HS256' as const },
  ])('is sealed where an HMAC needs it: %j', async (more) => {
    const { application, clientSecret } = await applications.createOidc({ redirect_uris: uri, ...more });
    const [row] = await secretsOf(application.id);
    expect(row).toMatchObject({ secretHash: null, secretSealed: expect.not.stringContaining(clientSecret ?? '') });
    expect(await applications.unexpiredSecrets(application.id)).toMatchObject([{ value: clientSecret }]);
  });

  it('is converted from sealed to hashed, and replaced when it was hashed, as the method of the client changes', async () => {
    const { application, clientSecret = '' } = await applications.createOidc({
      redirect_uris: uri,
      token_endpoint_auth_method: 'client_secret_jwt',
    });
    const hashed = await applications.update('oidc', application.id, { redirect_uris: uri });
    expect(hashed).not.toHaveProperty('clientSecret');
    expect(await secretsOf(application.id)).toMatchObject([{ secretSealed: null }]);
    expect(await applications.hasSecret(application.id, clientSecret)).toBe(true);
    const sealed = await applications.update('oidc', application.id, {
      redirect_uris: uri,
      id_token_signed_response_alg: 'HS256',
    });
    expect(await applications.unexpiredSecrets(application.id)).toMatchObject([{ value: sealed.clientSecret }]);
    expect(await applications.hasSecret(application.id, clientSecret)).toBe(false);
    await applications.update('oidc', application.id, { redirect_uris: uri, token_endpoint_auth_method: 'none' });
    expect(await secretsOf(application.id)).toEqual([]);
  });

  it('is rotated with an overlap, and the old one ends', async () => {
    const { application, clientSecret = '' } = await applications.createOidc({ redirect_uris: uri });
    clock.at = new Date(clock.at.getTime() + 1000);
    const { value } = await applications.addSecret(application.id, { replace: 60 });
    for (const secret of [clientSecret, value]) expect(await applications.hasSecret(application.id, secret)).toBe(true);
    clock.at = new Date(clock.at.getTime() + 61_000);
    expect(await applications.hasSecret(application.id, clientSecret)).toBe(false);
    expect(await applications.hasSecret(application.id, value)).toBe(true);
  });

  it('exists at most five times, and not for a public client', async () => {
    const { application } = await applications.createOidc({ redirect_uris: uri });
    for (let count = 1; count < 5; count += 1) await applications.addSecret(application.id);
    await expect(applications.addSecret(application.id)).rejects.toMatchObject({ status: 409 });
    const spa = await applications.createOidc({ redirect_uris: uri, token_endpoint_auth_method: 'none' });
    expect(spa).not.toHaveProperty('clientSecret');
    await expect(applications.addSecret(spa.application.id)).rejects.toMatchObject({ status: 409 });
  });
});

describe('an application', () => {
  it('has a unique identifier across protocols and parallel requests', async () => {
    const create = () => applications.createOidc({ client_id: 'same', redirect_uris: uri });
    const results = await Promise.allSettled([create(), create(), create()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'application_taken' });
  });

  it('is rejected with the name of the invalid field', async () => {
    const wrong = applications.createOidc({ redirect_uris: ['http://a.example/'], client_name: '' });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_input',
      faults: [{ path: ['client_name'], code: 'empty' }],
    });
    const role = applications.createOidc({ redirect_uris: uri, access: { roles: ['editor', 'none'] } });
    await expect(role).rejects.toMatchObject({
      faults: [{ path: ['access', 'roles'], code: 'unknown-role' }],
    });
  });

  it('rejects local changes to file-managed applications', async () => {
    const { application } = await applications.createOidc(
      { client_id: 'filed', redirect_uris: uri, access: { roles: ['editor'] } },
      { source: 'file' },
    );
    expect(await applications.unexpiredSecrets(application.id)).toEqual([]);
    for (const change of [
      () => applications.update('oidc', application.id, { redirect_uris: uri }),
      () => applications.setEnabled(application.id, false),
      () => applications.remove(application.id),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'owned_by_file' });
    await applications.setEnabled(application.id, false, { source: 'file' });
    expect(await applications.get(application.id)).toMatchObject({ enabled: false, access: { roles: ['editor'] } });
  });

  it('is deleted with its own grants and tokens only', async () => {
    const { application } = await applications.createOidc({ client_id: 'gone', redirect_uris: uri });
    const artifact = (id: string, clientId: string) =>
      db.oidcArtifact.create({ data: { id, model: 'RefreshToken', payload: '{}', clientId } });
    await Promise.all([artifact('1', 'gone'), artifact('2', 'other')]);
    await applications.remove(application.id);
    expect((await db.oidcArtifact.findMany()).map(({ id }) => id)).toEqual(['2']);
    expect(await secretsOf(application.id)).toEqual([]);
    expect(await applications.find('gone')).toBeUndefined();
  });

  it('is listed in pages by name, and found by a part of its identifier', async () => {
    const names = ['Paged 1', 'Paged 2', 'Paged 3', 'Paged 4'];
    for (const client_name of [...names].reverse()) await applications.createOidc({ client_name, redirect_uris: uri });
    const listed: string[] = [];
    let after: string | undefined;
    do {
      const page = await applications.list({ limit: 3, ...(after ? { after } : {}) });
      expect(page.applications.length).toBeLessThanOrEqual(3);
      listed.push(...page.applications.map(({ name }) => name));
      after = page.next;
    } while (after !== undefined);
    expect(listed.filter((name) => names.includes(name))).toEqual(names);
    expect(listed).toHaveLength(await db.application.count());
    await applications.createOidc({ client_id: 'searched-for', redirect_uris: uri });
    expect((await applications.list({ search: 'ched-fo' })).applications.map(({ clientId }) => clientId)).toEqual([
      'searched-for',
    ]);
    expect((await applications.list({ protocol: 'saml' })).applications).toEqual([]);
  });

  it('records each change in the audit log', async () => {
    const { application } = await applications.createOidc({ client_id: 'audited', redirect_uris: uri });
    await applications.setEnabled(application.id, false);
    const events = await db.auditEvent.findMany({ where: { clientId: 'audited' }, orderBy: { id: 'asc' } });
    expect(events.map(({ type }) => type)).toEqual(['application.created', 'application.disabled']);
  });
});
