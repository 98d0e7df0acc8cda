import { expect, it } from 'vitest';
import { rowCacheOf } from '../../../src/protocols/oidc/store/adapter.ts';
import type { ArtifactRow } from '../../../src/protocols/oidc/store/read-ahead.ts';

const row = { id: 'a' } as ArtifactRow;

function aDatabase() {
  const database = { revision: 1 as number | undefined, artifactRevision: () => database.revision };
  return database;
}

it('a row is cached until the revision changes', () => {
  const database = aDatabase();
  const cache = rowCacheOf(database);
  cache.set('a', row, cache.begin());
  cache.set('b', null, cache.begin());
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([row, null, undefined]);
  database.revision = 2;
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, undefined]);
});

it('a row that was changed while it was read is not cached', () => {
  const database = aDatabase();
  const cache = rowCacheOf(database);
  const readAt = cache.begin();
  rowCacheOf(database).delete('a');
  cache.set('a', row, readAt);
  expect(cache.get('a')).toBeUndefined();
  const earlier = cache.begin();
  database.revision = 2;
  cache.set('a', row, earlier);
  expect(cache.get('a')).toBeUndefined();
});

it('a changed row is deleted from the cache, and the others are not', () => {
  const cache = rowCacheOf(aDatabase());
  for (const key of ['a', 'b']) cache.set(key, row, cache.begin());
  cache.delete('a');
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, row]);
});

it('the oldest rows are dropped first', () => {
  const cache = rowCacheOf(aDatabase());
  for (let count = 0; count <= 500; count += 1) cache.set(`row ${count}`, row, cache.begin());
  expect([cache.get('row 0'), cache.get('row 1'), cache.get('row 500')]).toEqual([undefined, row, row]);
});

it('nothing of a database without a revision is cached', () => {
  const database = aDatabase();
  database.revision = undefined;
  const cache = rowCacheOf(database);
  cache.set('a', row, cache.begin());
  expect(cache.get('a')).toBeUndefined();
});
