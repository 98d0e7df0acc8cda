// What the MAC of a row covers: named columns, without those that have their default, so that a later version adds a column without a new
// MAC for every row, and both versions run on one database during a rolling upgrade.
import { expect, it } from 'vitest';
import { type CoveredColumns, coveredText, protectedTables } from '../../src/base/storage/protected-rows.ts';
import { databaseKind } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { startIdp } from '../support/idp.ts';

const columns: CoveredColumns = {
  id: 'text',
  enabled: 'flag',
  uses: 'number',
  until: 'time',
  key: 'bytes',
  roles: 'list',
};
const row = { id: 'a', enabled: true, uses: 0, until: new Date(0), key: Buffer.from('k'), roles: ['x'] };

it('the text of a MAC names its columns, and is the same however the database gives them', () => {
  const text = '[1,"id","a","enabled",true,"uses",0,"until","1970-01-01T00:00:00.000Z","key","aw","roles",["x"]]';
  expect(coveredText(columns, row)).toBe(text);
  expect(coveredText(columns, { ...row, enabled: 1, until: '1970-01-01T00:00:00.000+00:00', other: 'x' })).toBe(text);
  expect(coveredText(columns, { ...row, until: 0, key: new Uint8Array([107]) })).toBe(text);
});

it.each(Object.keys(row))('another value of %s, or none, is another text', (name) => {
  const other = { id: 'b', enabled: false, uses: 1, until: new Date(1), key: Buffer.from('l'), roles: ['x', 'y'] };
  const texts = [row, { ...row, [name]: other[name as keyof typeof other] }, { ...row, [name]: null }];
  expect(new Set(texts.map((one) => coveredText(columns, one))).size).toBe(3);
});

it('values cannot move between columns: neither a null nor a text that looks like the next name', () => {
  const two: CoveredColumns = { one: 'text', two: 'text' };
  const texts = [
    { one: 'x', two: null },
    { one: null, two: 'x' },
    { one: 'x","two","y', two: null },
    { one: 'x', two: 'y' },
  ].map((values) => coveredText(two, values));
  expect(new Set(texts).size).toBe(4);
});

it('two versions share a database: the rows of one are genuine to the other until a new column is used', async () => {
  const idp = await startIdp();
  const { db, vault, accounts } = idp.services;
  const ann = await aUser(idp.services, { username: 'ann' });
  const isFalse = databaseKind() === 'sqlite' ? '0' : 'false';
  await db.$executeRawUnsafe('ALTER TABLE users ADD COLUMN "pronouns" TEXT');
  await db.$executeRawUnsafe(`ALTER TABLE users ADD COLUMN "newsletter" BOOLEAN NOT NULL DEFAULT ${isFalse}`);
  const next: CoveredColumns = { ...protectedTables.users.covers, pronouns: 'text', newsletter: ['flag', false] };
  const stored = async () => ({
    ...(await db.asStored.user.findUniqueOrThrow({ where: { id: ann.account.id } })),
    ...(await db.$queryRawUnsafe<object[]>(`SELECT pronouns, newsletter FROM users WHERE id = '${ann.account.id}'`))[0],
  });
  const macOfNext = (values: object) => vault.mac(coveredText(next, { ...values }), 'row users');

  // The next version reads what this one has written, and the other way around.
  const before = await stored();
  expect(macOfNext(before)).toBe(before.mac);
  const renamed = { ...before, name: 'Ann Renamed' };
  await db.asStored.user.update({ where: { id: before.id }, data: { name: renamed.name, mac: macOfNext(renamed) } });
  expect((await accounts.find(before.id))?.name).toBe('Ann Renamed');

  // Used before the upgrade is over: only the next version knows the user.
  const used = { ...(await stored()), newsletter: true };
  await db.$executeRawUnsafe(
    `UPDATE users SET newsletter = NOT newsletter, mac = '${macOfNext(used)}' WHERE id = '${used.id}'`,
  );
  expect(macOfNext(await stored())).toBe((await stored()).mac);
  expect(await accounts.find(used.id)).toBeUndefined();
  await idp.stop();
});
