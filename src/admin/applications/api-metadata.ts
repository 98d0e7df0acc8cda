// /api/admin/applications/{id}/metadata-change: metadata of a service provider that changed at its URL, and waits for approval.
import { z } from 'zod';
import { notFound } from '../../base/http/errors.ts';
import { within } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, iso, time } from '../api/parts.ts';
import type { ApplicationAdmin } from './actions.ts';
import { answer, application } from './api-shape.ts';

const tag = 'Applications';
const readPermissions = [within('gatehouse.applications:read')];
const writePermissions = [within('gatehouse.applications:write')];

const change = z.object({
  what: z.string(),
  received: z.string(),
  registered: z.string(),
  needs_approval: z.boolean(),
});
const waitingMetadata = z
  .object({
    document: z.string().describe('SHA-256 of the received document, which an approval names'),
    received_at: time,
    changes: z.array(change),
  })
  .meta({ id: 'WaitingMetadata' });

/** Reading the change, and deciding on it. */
export function metadataChangeEndpoints(applications: ApplicationAdmin): Endpoint[] {
  const path = '/applications/{id}/metadata-change';
  return [
    endpoint({
      method: 'get',
      path,
      operationId: 'getMetadataChange',
      tag,
      needs: readPermissions,
      summary: 'Changed SAML metadata that waits for approval, beside what is registered',
      params: byId,
      response: waitingMetadata,
      async handle({ params, by }) {
        const found = await applications.waitingMetadata(params.id, by);
        if (!found) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
        const changes = found.changes.map(({ needsApproval, ...one }) => ({ ...one, needs_approval: needsApproval }));
        return { body: { document: found.documentHash, received_at: iso(found.receivedAt), changes } };
      },
    }),
    ...(['approve', 'reject'] as const).map((decision) =>
      endpoint({
        method: 'post',
        path: `${path}/${decision}`,
        operationId: `${decision}MetadataChange`,
        tag,
        needs: writePermissions,
        summary:
          decision === 'approve'
            ? 'Registers the received metadata'
            : 'Drops the received metadata; the same changes are not reported again',
        params: byId,
        body: z.strictObject({ document: z.string().min(1).max(100) }),
        response: application,
        versioned: 'shows',
        handle: async ({ params, body, by }) =>
          answer(await applications.decideMetadata(params.id, decision, body.document, by)),
      }),
    ),
  ];
}
