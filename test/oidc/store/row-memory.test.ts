import { expect, it } from 'vitest';
import type { ArtifactRow } from '../../../src/oidc/store/read-ahead.ts';
import { rowMemoryOf } from '../../../src/oidc/store/row-memory.ts';

const row = { id: 'a' } as ArtifactRow;

function aDatabase() {
  const database = { revision: 1 as number | undefined, artifactRevision: () => database.revision };
  return database;
}

it('a row is remembered until the revision changes', () => {
  const database = aDatabase();
  const memory = rowMemoryOf(database);
  memory.remember('a', row, memory.begin());
  memory.remember('b', null, memory.begin());
  expect([memory.find('a'), memory.find('b'), memory.find('c')]).toEqual([row, null, undefined]);
  database.revision = 2;
  expect([memory.find('a'), memory.find('b')]).toEqual([undefined, undefined]);
});

it('a row that was changed while it was read is not remembered', () => {
  const database = aDatabase();
  const memory = rowMemoryOf(database);
  const readAt = memory.begin();
  rowMemoryOf(database).forget('a');
  memory.remember('a', row, readAt);
  expect(memory.find('a')).toBeUndefined();
  const earlier = memory.begin();
  database.revision = 2;
  memory.remember('a', row, earlier);
  expect(memory.find('a')).toBeUndefined();
});

it('a changed row is forgotten, and the others are not', () => {
  const memory = rowMemoryOf(aDatabase());
  for (const key of ['a', 'b']) memory.remember(key, row, memory.begin());
  memory.forget('a');
  expect([memory.find('a'), memory.find('b')]).toEqual([undefined, row]);
});

it('the oldest rows are dropped first', () => {
  const memory = rowMemoryOf(aDatabase());
  for (let count = 0; count <= 500; count += 1) memory.remember(`row ${count}`, row, memory.begin());
  expect([memory.find('row 0'), memory.find('row 1'), memory.find('row 500')]).toEqual([undefined, row, row]);
});

it('nothing is remembered of a database without a revision', () => {
  const database = aDatabase();
  database.revision = undefined;
  const memory = rowMemoryOf(database);
  memory.remember('a', row, memory.begin());
  expect(memory.find('a')).toBeUndefined();
});
