// The verifier for Node.js of the guide. Those for Go and Python run in test/peers/website-verifiers.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { node, subjectsOf, websiteJwts } from '../support/website-jwt.ts';

let idp: TestIdp;
// Below node_modules, where the example finds its library.
const folder = mkdtempSync('node_modules/.verifier-');
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await idp?.stop();
});

it('accepts the statement about its user, and no other', async () => {
  const { origin, sub, genuine, rejected } = await websiteJwts(idp);
  const names = Object.keys(rejected);
  const [first, ...others] = await subjectsOf(node, folder, { issuer: idp.issuer, origin }, [
    genuine,
    ...Object.values(rejected),
  ]);
  expect(first).toBe(sub);
  expect(names.filter((_name, at) => others[at] !== null)).toEqual([]);
  expect(others).toHaveLength(names.length);
});
