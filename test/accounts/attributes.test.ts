// Custom attributes, with and without a JSON Schema.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileJsonSchema } from '../../src/base/schemas/json-schema.ts';
import { openDatabase } from '../../src/base/storage/database.ts';
import { formatPath } from '../../src/base/texts/faults.ts';
import { settingSchemas } from '../../src/core/settings/settings.ts';
import { createAccounts } from '../../src/people/accounts/accounts.ts';
import { attributeFaults } from '../../src/people/accounts/attributes.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';
import { openPeople, type People } from './fixture.ts';

const schema = {
  type: 'object',
  properties: {
    department: { type: 'string', enum: ['Library', 'Payroll'] },
    level: { type: 'integer', minimum: 1 },
    desk: { type: 'object', properties: { floor: { type: 'integer' } }, required: ['floor'] },
  },
  required: ['department'],
  additionalProperties: false,
};

describe('custom attributes', () => {
  it('are text, numbers, booleans and lists of text without a schema', () => {
    expect(attributeFaults({ a: 'x', b: 1, c: true, d: ['x', 'y'] }, {})).toEqual([]);
    for (const value of [null, { a: 1 }, [1], [['x']]]) {
      expect(attributeFaults({ a: value }, {}), JSON.stringify(value)).toMatchObject([{ path: ['attributes', 'a'] }]);
    }
  });

  it('have names that a mapping can contain', () => {
    for (const name of ['', '.a', 'a b', 'a\n', 'a\u200b', 'x'.repeat(65)])
      expect(attributeFaults({ [name]: 'x' }, {}), name).toHaveLength(1);
    expect(attributeFaults({ 'a.b:c': 'x', ünïcode: 'x' }, {})).toEqual([]);
  });

  it('are rejected when a pattern of the schema takes too long to check them', () => {
    const slow = { type: 'object', properties: { department: { type: 'string', pattern: '^(a+)+$' } } };
    const faults = attributeFaults({ department: `${'a'.repeat(26)}!` }, slow);
    expect(faults).toMatchObject([{ code: 'slow-pattern' }]);
    expect(attributeFaults({ department: 'aaa' }, slow)).toEqual([]);
  });

  it('are checked again where the process had to wait for a processor', () => {
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    let reads = 0;
    const attributes = {
      get department() {
        if (reads++ === 0) Atomics.wait(nothing, 0, 0, 400);
        return 'aaa';
      },
    };
    const ordinary = { type: 'object', properties: { department: { type: 'string', pattern: '^a+$' } } };
    expect(compileJsonSchema(ordinary)(attributes)).toEqual([]);
    expect(reads).toBeGreaterThan(1);
  });

  it('must match the schema, and each fault has its path', () => {
    expect(attributeFaults({ department: 'Library', level: 3, desk: { floor: 2 } }, schema)).toEqual([]);
    const faults = attributeFaults({ department: 'Kitchen', level: 0, desk: { floor: 'two' }, other: 'x' }, schema);
    expect(faults.map(({ path }) => formatPath(path)).sort()).toEqual([
      'attributes.department',
      'attributes.desk.floor',
      'attributes.level',
      'attributes.other',
    ]);
    expect(attributeFaults({}, schema)).toMatchObject([{ path: ['attributes', 'department'] }]);
  });

  it('may have values in other languages, of standard claims and of what the schema allows', () => {
    const faultsOf = (attributes: object, of: object = schema) =>
      attributeFaults({ department: 'Library', ...attributes }, { ...of });
    expect(faultsOf({ 'name#ja': '花子', 'department#de': 'Payroll' })).toEqual([]);
    expect(faultsOf({ 'anything#ja': '花子' }, {})).toEqual([]);
    for (const name of ['department#de', 'other#ja', 'level#ja', 'name#deutsch-', 'birthdate#ja'])
      expect(faultsOf({ [name]: 'Kitchen' })).toMatchObject([{ path: ['attributes', name] }]);
    const named = { ...schema, properties: { ...schema.properties, 'name#ja': { type: 'integer' } } };
    expect(faultsOf({ 'name#ja': 7 }, named)).toEqual([]);
  });
});

describe('the schema itself', () => {
  const accepted = (value: unknown) => settingSchemas.user_attributes.safeParse(value).success;
  it('must be a valid object schema', () => {
    expect(accepted(schema)).toBe(true);
    expect(accepted({})).toBe(true);
    expect(accepted(undefined)).toBe(true);
    expect(accepted({ type: 'string' })).toBe(false);
    expect(accepted({ type: 'object', properties: { a: { type: 'text' } } })).toBe(false);
    expect(accepted({ type: 'object', properties: { a: { $ref: 'https://elsewhere.example/schema' } } })).toBe(false);
    expect(accepted({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } })).toBe(false);
    expect(accepted({ type: 'object', description: 'x'.repeat(20_000) })).toBe(false);
  });
});

describe('accounts', () => {
  let people: People;
  beforeAll(async () => {
    people = await openPeople();
  });
  afterAll(() => people.close());

  it('accept only attributes that match, and keep older ones until they are changed', async () => {
    const database = await openDatabase(people.url);
    const accounts = createAccounts(
      servicesOf({ ...database, ...people, settings: fixedSettings(() => ({ user_attributes: schema })) }),
    );
    const invalidInput = expect.objectContaining({ code: 'invalid_input' });
    await expect(accounts.create({ username: 'zoe', attributes: { department: 'x' } })).rejects.toEqual(invalidInput);
    const zoe = await accounts.create({ username: 'zoe', attributes: { department: 'Library' } });
    await expect(accounts.update(zoe.id, { attributes: { level: 2 } })).rejects.toEqual(invalidInput);
    const older = await people.person({ attributes: { team: 'red' } });
    expect((await accounts.update(older.id, { name: 'Older', attributes: { team: 'red' } })).name).toBe('Older');
    await expect(accounts.update(older.id, { attributes: { team: 'blue' } })).rejects.toEqual(invalidInput);
    // An account without attributes is valid: a registration and the first administrator have none.
    expect((await accounts.create({ username: 'yve' })).attributes).toEqual({});
    await database.close();
  });
});
