// More entries than a database takes parameters in one statement.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metadataOf, oidcMetadata } from '../../src/applications/fields/oidc-client.ts';
import { inChunks } from '../../src/base/storage/chunks.ts';
import { type TextFieldName, textFieldNames } from '../../src/people/accounts/profile-fields.ts';
import { configFileBench, lines } from './support.ts';

const defaults = metadataOf(oidcMetadata.parse({ token_endpoint_auth_method: 'none' }));
const emptyUser = {
  email: null,
  emailKey: null,
  emailVerified: false,
  emailProven: false,
  phoneNumber: null,
  phoneNumberVerified: false,
  address: null,
  attributes: '{}',
  ssoId: null,
  termsVersion: null,
  termsAcceptedAt: null,
  isEnabled: true,
  activeFrom: null,
  activeUntil: null,
  deleteAt: null,
  ...(Object.fromEntries(textFieldNames.map((name) => [name, null])) as Record<TextFieldName, null>),
};
let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());

it('a configuration file plans and exports thousands of users and applications', async () => {
  const numbers = Array.from({ length: 2500 }, (_, index) => String(index).padStart(4, '0'));
  const at = bench.clock.at;
  await inChunks(numbers, async (piece) => {
    const users = piece.map((n) => {
      const row = { ...emptyUser, id: `subject-${n}`, username: `u${n}`, usernameKey: `u${n}`, source: 'file' };
      return { ...row, createdAt: at, updatedAt: at };
    });
    const metadata = JSON.stringify({ ...defaults, redirect_uris: [`https://${piece[0]}.example/`] });
    const apps = piece.map((n) => {
      const rule = { enabled: true, consent: 'explicit', access: 'everyone' };
      const row = { id: n, clientId: `c${n}`, protocol: 'oidc', name: `c${n}`, metadata, source: 'file', ...rule };
      return { ...row, updatedAt: at };
    });
    for (let start = 0; start < piece.length; start += 50) {
      await bench.db.user.createMany({ data: users.slice(start, start + 50) });
      await bench.db.application.createMany({ data: apps.slice(start, start + 50) });
    }
    return [];
  });
  const text = await bench.export();
  expect(text.match(/username:/g)).toHaveLength(2500);
  expect(await bench.plan(text)).toMatchObject({ ok: true, plan: { steps: [], unchanged: 5000 } });
  expect(lines(await bench.plan(text.replace('username: u2499', 'username: other')))).toEqual([
    'change users other (username)',
  ]);
});
