// Requests that are generated from the OpenAPI document, valid ones and broken ones, for every operation: the document has the
// status of each response, the body fits its schema, and nothing is an error of the server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import fc from '../support/property.ts';
import type { Operation } from './described.ts';
import { bodyOf, type Generated, headersOf, targetOf } from './generated-requests.ts';
import { type ApiCaller, anOwner, aService, described } from './support.ts';

/** Only their broken requests are sent: valid ones would change how the server treats all others, */
const CHANGES_SERVER = 'updateSettings';
/** or make it call another one, which takes seconds. */
const VALID_IS_SLOW = new Set([CHANGES_SERVER, 'readMetadata', 'createApplication', 'createConnection']);

let idp: TestIdp;
let admin: ApiCaller;
let owner: ApiCaller;
beforeAll(async () => {
  // Its own server, because valid requests fill it with users and roles. No generated id is that of the caller's client.
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  admin = await aService(idp);
  owner = await anOwner(idp, await aUser(idp.services));
});
afterAll(() => idp?.stop());

/** Every operation with its path and method. */
async function operations(): Promise<[string, string, Operation][]> {
  const { document } = await described(idp);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [path, method, operation]),
  );
}

describe('a generated request', () => {
  it.each(['valid', 'broken'] as const)('gets a response that the document describes when it is %s', async (kind) => {
    const { document } = await described(idp);
    const all = await operations();
    expect(all.length).toBeGreaterThan(60);
    const sent = all.filter(([, , { operationId }]) => kind === 'broken' || !VALID_IS_SLOW.has(operationId));
    const runs = kind === 'valid' ? 2 : 1;
    const statuses = new Map<string, number[]>();
    for (const [path, method, operation] of sent) {
      const parts = fc.record<Generated>({
        target: targetOf(path, operation, document, kind),
        headers: headersOf(operation, document, kind),
        body: bodyOf(operation, document, kind),
      });
      await fc.assert(
        fc.asyncProperty(parts, async ({ target, headers, body }) => {
          // Throws unless the status, the media type and the body are those of the document (described.ts).
          const caller = path.startsWith('/api/groups') ? owner : admin;
          const page = await caller.send(method.toUpperCase(), target, body, headers);
          expect(page.status, page.text).toBeLessThan(500);
          statuses.set(operation.operationId, [...(statuses.get(operation.operationId) ?? []), page.status]);
        }),
        { numRuns: isLongRun ? 20 : runs, endOnFailure: true },
      );
    }
    const answers = [...statuses.values()].flat();
    // An answer that says only that the caller may not call would prove nothing.
    expect(answers.filter((status) => status === 401 || status === 403 || status === 429)).toEqual([]);
    expect(answers.filter((status) => (kind === 'valid' ? status < 300 : status === 400)).length).toBeGreaterThan(20);
  });
});
