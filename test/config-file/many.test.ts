// More entries than a database takes parameters in one statement.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metadataOf, oidcMetadata } from '../../src/applications/fields/oidc-client.ts';
import { inChunks } from '../../src/storage/chunks.ts';
import { signRows } from '../support/database/row-macs.ts';
import { configFileBench, lines } from './support.ts';

const defaults = metadataOf(oidcMetadata.parse({ token_endpoint_auth_method: 'none' }));
let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());

it('plans and exports thousands of users and applications', async () => {
  const numbers = Array.from({ length: 2500 }, (_, index) => String(index).padStart(4, '0'));
  const at = bench.clock.at;
  await inChunks(numbers, async (piece) => {
    const users = piece.map((n) => ({
      id: `subject-${n}`,
      username: `u${n}`,
      usernameKey: `u${n}`,
      source: 'file',
      createdAt: at,
      updatedAt: at,
    }));
    const metadata = JSON.stringify({ ...defaults, redirect_uris: [`https://${piece[0]}.example/`] });
    const apps = piece.map((n) => ({
      id: n,
      clientId: `c${n}`,
      protocol: 'oidc',
      name: `c${n}`,
      metadata,
      source: 'file',
      updatedAt: at,
    }));
    for (let start = 0; start < piece.length; start += 50) {
      await bench.db.user.createMany({ data: users.slice(start, start + 50) });
      await bench.db.application.createMany({ data: apps.slice(start, start + 50) });
    }
    return [];
  });
  await signRows(bench);
  const text = await bench.export();
  expect(text.match(/username:/g)).toHaveLength(2500);
  expect(await bench.plan(text)).toMatchObject({ ok: true, plan: { steps: [], unchanged: 5000 } });
  expect(lines(await bench.plan(text.replace('username: u2499', 'username: other')))).toEqual([
    'change users other (username)',
  ]);
});
