// /api/admin/imports: users from CSV by a job, after a trial or at once.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Answer, type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, fromCursor, jsonOf, paged, pageOf, time, toCursor } from '../api/parts.ts';
import { type ImportRow, importOptions, importOutcomes, type UserImport } from './import.ts';
import type { ImportJobs, StoredImport } from './import-job.ts';

const importOfUsers = z
  .object({
    id: z.string(),
    trial: z.boolean().describe('Each change is taken back'),
    state: z
      .enum(['reading', 'prepared', 'waiting', 'running', 'done', 'failed', 'canceled'])
      .describe('prepared: the trial has ended, and `start` carries it out; failed: `error` says why'),
    total: z.int().describe('Rows'),
    done: z.int().describe('Of them'),
    results: z.record(z.enum(importOutcomes), z.int()).describe('Rows of each result'),
    invitations: z.int().describe('Sent, after the last row'),
    error: z.string().nullable().describe('The code of the error'),
    created_at: time,
    ended_at: time.nullable(),
  })
  .meta({ id: 'UserImport' });

const importJson = (found: StoredImport): z.input<typeof importOfUsers> => {
  const results = Object.fromEntries(importOutcomes.map((one) => [one, found.counts[one] ?? 0])) as Record<
    ImportRow['outcome'],
    number
  >;
  return jsonOf(importOfUsers, found, { trial: found.isTrial, results, invitations: found.changed });
};

const answer = (found: StoredImport): Answer<z.input<typeof importOfUsers>> => ({
  body: importJson(found),
  location: `/imports/${found.id}`,
});

const needs = [within('gatehouse.users:write')];
const tag = 'Users';

/** The imports of the caller. */
export function importEndpoints(imports: ImportJobs, userImport: UserImport): Endpoint[] {
  return [
    endpoint('importUsers', 'POST /imports', {
      tag,
      needs,
      summary: 'Creates and changes users from CSV by a job, row by row',
      description:
        'A trial does the same and takes each change back; `start` then carries it out. One import of a caller at a time (409). The columns are those of the console.',
      status: 202,
      maxBodyBytes: limits.import.inRequest,
      body: z.strictObject({
        csv: z.string().max(limits.import.inRequest).describe('RFC 4180, with a header line'),
        trial: z.boolean().default(false),
        ...importOptions.shape,
      }),
      response: importOfUsers,
      async handle({ body: { csv, trial: isTrial, ...options }, by }) {
        const file = await userImport.read(csv, options.unknown_columns);
        return answer(await imports.begin(file, { ...options, isTrial }, by));
      },
    }),
    endpoint('listImports', 'GET /imports', {
      tag,
      needs,
      summary: 'The imports of the caller of a week, the newest first; at most 20',
      response: z.object({ items: z.array(importOfUsers) }),
      handle: async ({ by }) => ({ body: { items: (await imports.list(by)).map(importJson) } }),
    }),
    endpoint('getImport', 'GET /imports/{id}', {
      tag,
      needs,
      summary: 'An import, with its progress',
      params: byId,
      response: importOfUsers,
      handle: async ({ params, by }) => ({ body: importJson(await imports.get(params.id, by)) }),
    }),
    endpoint('listImportRows', 'GET /imports/{id}/rows', {
      tag,
      needs,
      summary: 'What became of each row, in the order of the file',
      description: 'Deleted after 7 days.',
      params: byId,
      query: z.object(paged),
      response: pageOf(
        z.object({
          line: z.int(),
          username: z.string(),
          result: z.enum(importOutcomes),
          reason: z.string().nullable(),
        }),
      ),
      async handle({ params: { id }, query: { limit, cursor }, by }) {
        const from = Math.max(0, Math.trunc(Number(fromCursor(cursor) ?? 0)) || 0);
        const rows: ImportRow[] = [];
        for await (const some of imports.report(id, by, from)) {
          rows.push(...some);
          if (rows.length > limit) break;
        }
        const items = rows.slice(0, limit).map(({ line, username, outcome: result, error }) => {
          const reason = error === undefined ? null : String(error);
          return { line, username, result, reason };
        });
        return { body: { items, next: rows.length > limit ? toCursor(String(from + limit)) : null } };
      },
    }),
    endpoint('startImport', 'POST /imports/{id}/start', {
      tag,
      needs,
      summary: 'Carries out what was tried',
      params: byId,
      response: importOfUsers,
      handle: async ({ params, by }) => ({ body: importJson(await imports.start(params.id, by)) }),
    }),
    endpoint('cancelImport', 'POST /imports/{id}/cancel', {
      tag,
      needs,
      summary: 'Stops an import; the rows that are done stay, those of a trial are deleted',
      params: byId,
      response: importOfUsers,
      handle: async ({ params, by }) => ({ body: importJson(await imports.cancel(params.id, by)) }),
    }),
  ];
}
