// Beyond the limit of an address, a rejected request is not stored: its error reference is in the log.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const { perHour } = limits.rejections;
async function rejected(): Promise<string> {
  const { text } = await httpClient(idp.issuer).get('/authorize?client_id=nobody&response_type=code');
  return /[2-9A-Z]{4}-[2-9A-Z]{4}/.exec(text)?.[0] ?? 'none';
}

it('the log has the error reference and the reason of each request that is not stored', async () => {
  const codes = [];
  for (let number = 0; number < perHour + 2; number += 1) codes.push(await rejected());
  const { rejections } = idp.services;
  expect(await rejections.find(codes[perHour - 1] ?? '')).toMatchObject({ reason: 'invalid_client' });
  expect(await rejections.find(codes[perHour] ?? '')).toBeUndefined();
  const lines = idp.log.map((line) => JSON.parse(line)).filter(({ rejection }) => rejection !== undefined);
  expect(lines.map(({ rejection }) => rejection)).toEqual(codes.slice(perHour));
  expect(lines[0]).toMatchObject({ endpoint: 'authorize', reason: 'invalid_client', client: 'nobody', level: 'warn' });
});
