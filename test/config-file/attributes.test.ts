// Custom attributes of the users of the file, judged by the schema that the same file declares.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFileBench } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());

const file = (attributes: string, type = 'integer') => `
settings: { user_attributes: { type: object, properties: { level: { type: ${type} } } } }
users: [{ username: ann, attributes: ${attributes} }]`;

describe('a configuration file', () => {
  it('rejects custom attributes that do not match their schema, with their position', async () => {
    const rejected = await bench.apply(file('{ level: high }'));
    expect(rejected.ok ? [] : rejected.faults).toMatchObject([
      { path: ['users', 0, 'attributes', 'level'], position: { line: 3 } },
    ]);
    expect((await bench.apply(file('{ level: 3 }'))).ok).toBe(true);
    expect((await bench.apply(file('{ level: high }', 'string'))).ok).toBe(true);
    const ann = await bench.accounts.findByLogin('ann');
    expect(ann?.attributes).toEqual({ level: 'high' });
    // Without the schema, what no schema describes.
    expect((await bench.apply('users: [{ username: ann, attributes: { level: 3, tags: [a, b] } }]')).ok).toBe(true);
    expect((await bench.apply('users: [{ username: ann, attributes: { level: { deep: 3 } } }]')).ok).toBe(false);
  });
});
