// The tables whose rows have a MAC: the one list that `doctor` works by, compared with the schema.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowFindings, rowsOf, tablesInOrder, uniqueKey } from '../../src/cli/doctor/check-rows.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aPng } from '../brand/pictures.ts';
import { aClient } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

/** MACs of a chain, which `audit verify` verifies. */
const AUDIT_LOG = ['audit_chain', 'audit_events'];

const models = readFileSync('prisma/schema.prisma', 'utf8')
  .split(/^model /m)
  .slice(1)
  .map((text) => ({
    model: text.split(' ')[0] ?? '',
    table: /@@map\("(\w+)"\)/.exec(text)?.[1] ?? '',
    hasMac: /^ +(mac|rowMac) +String/m.test(text),
    key: (/@@id\(\[([^\]]+)\]/.exec(text)?.[1] ?? /^ +(\w+) .*@id\b/m.exec(text)?.[1] ?? '').split(', '),
  }));

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
  const { services } = idp;
  const user = await staff(idp, 'admin', 'support');
  const { id: userId } = user.account;
  await consoleOf(idp, user);
  const { applicationId } = await aClient(services, {
    access: { roles: ['admin'] },
    grant_types: ['client_credentials'],
  });
  await services.pictures.choose(applicationId, aPng());
  await services.signUpCodes.create({ name: 'Partners', maxUses: 2, days: 1 }, {});
  await services.settings.set('clock_skew_seconds', 7);
  await services.db.phoneFactor.create({ data: { userId, number: '+15550100', confirmedAt: new Date() } });
  const checked = checkConnection({
    id: 'corp',
    kind: 'oidc',
    name: 'Corp',
    issuer: 'https://corp.example.com',
    client_id: 'gatehouse',
    client_secret: 'a secret',
    domains: ['corp.example.com'],
    role_mappings: { staff: ['auditor'] },
  });
  if (checked.ok) await services.connections.create(checked.value);
  await services.identities.link({ connectionId: 'corp', subject: 'ann', userId, label: '' }, {});
});
afterAll(() => idp?.stop());

const findings = async () => {
  return (await rowFindings({ database: idp.services })).map(({ message }) => message);
};

describe('the list of protected tables', () => {
  it('has every table of the schema with a MAC, with its key, and no other', () => {
    const listed = tablesInOrder.map(([table]) => table);
    const withMac = models.filter(({ hasMac }) => hasMac).map(({ table }) => table);
    expect([...listed, ...AUDIT_LOG].sort()).toEqual(withMac.sort());
    for (const [table, { model, key }] of tablesInOrder) {
      const inSchema = models.find((one) => one.table === table);
      expect([inSchema?.model.toLowerCase(), inSchema?.key], table).toEqual([String(model).toLowerCase(), key]);
    }
  });

  it('describes the rows as the server writes them', async () => {
    expect(await findings()).toEqual([]);
    const empty: string[] = [];
    for (const [table, entry] of tablesInOrder)
      if ((await rowsOf(idp.services.db, entry).count({ where: entry.where ?? {} })) === 0) empty.push(table);
    // Their fields are the functions that their folders also write with.
    const shared = [
      'passkeys',
      'password_reset_tokens',
      'mail_tokens',
      'known_browsers',
      'upstream_sessions',
      'consents',
      'saml_metadata',
      'first_factor_approvals',
    ];
    const others = [
      'resources',
      'api_keys',
      'app_passwords',
      'event_streams',
      'scim_connections',
      'scim_tokens',
      'scim_users',
      'provisioned_objects',
      'sign_in_attempts',
      'saml_requests',
      'saml_name_ids',
      'connection_documents',
      'retired_subjects',
      'logout_runs',
      'logout_participants',
      'logout_deliveries',
      'rejections',
    ];
    const groups = tablesInOrder.map(([table]) => table).filter((table) => /group|bulk/.test(table));
    expect([...shared, ...others, ...groups]).toEqual(expect.arrayContaining(empty));
  });

  it('is what doctor verifies: a row with a wrong MAC or without one', async () => {
    const { db } = idp.services;
    for (const [table, entry] of tablesInOrder) {
      const rows = rowsOf(db, entry);
      const query = { where: entry.where ?? {}, take: 1, ...(entry.include && { include: entry.include }) };
      const [row] = await rows.findMany(query);
      if (!row) continue;
      for (const mac of ['x.y', '']) {
        await rows.update({ where: uniqueKey(entry, row), data: { mac } });
        expect(await findings(), table).toEqual([expect.stringContaining('another program wrote')]);
      }
      const { mac, updatedAt } = row as { mac: string; updatedAt?: Date };
      await rows.update({ where: uniqueKey(entry, row), data: { mac, ...(updatedAt && { updatedAt }) } });
      expect(await findings(), table).toEqual([]);
    }
  });
});
