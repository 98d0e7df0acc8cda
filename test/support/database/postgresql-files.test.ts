// The list of what runs on PostgreSQL keeps up with the tests.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filesUnder } from '../source/imports.ts';
import { postgresqlInclude } from './postgresql-files.ts';

describe('the list of tests for PostgreSQL', () => {
  it('names files that exist, each once', () => {
    expect(postgresqlInclude.filter((file) => !existsSync(file))).toEqual([]);
    expect(new Set(postgresqlInclude).size).toBe(postgresqlInclude.length);
  });

  it('names every test that behaves differently on PostgreSQL', () => {
    const branching = filesUnder('test', '.test.ts').filter((file) =>
      /databaseKind\(\)|\.kind [!=]== '(sqlite|postgresql)'/.test(readFileSync(file, 'utf8')),
    );
    expect(branching.length).toBeGreaterThan(5);
    expect(branching.filter((file) => !postgresqlInclude.includes(file))).toEqual([]);
  });
});
