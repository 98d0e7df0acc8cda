// /api/admin/access-check: whether a user may open an application.

import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { notFound } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
import { rejection, rejectionJson } from '../rejections/api.ts';
import type { AccessCheck } from './access-check.ts';
import { checkIds, checkStates } from './check.ts';

const verdict = z.object({
  user: z.object({ id: z.string(), username: z.string() }),
  application: z.object({ id: z.string(), identifier: z.string(), name: z.string() }),
  may_open: z.boolean().describe('What the access rule says'),
  can_sign_in: z
    .boolean()
    .describe('The access rule, and everything else that decides: lockout, sign-in methods, two-step verification'),
  rules: z.array(
    z.object({
      id: z.enum(checkIds).describe('Of the check, the same in every language'),
      rule: z.string(),
      met: z.boolean(),
      state: z
        .enum(checkStates)
        .describe(
          '`later`: the user does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply',
        ),
      explanation: z.string(),
    }),
  ),
  rejections: z.array(rejection).describe('The last ones of this user at this application, newest first'),
});

/** /access-check. */
export function accessCheckEndpoints(accessCheck: AccessCheck): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/access-check',
      operationId: 'why',
      tag: 'Rejections',
      needs: ['gatehouse.audit:read', 'gatehouse.users:read'],
      summary: 'Whether this user may open this application: by which role, or why not',
      query: z.object({
        user: z.string().min(1).max(254).describe('Id, username, email address or full name'),
        application: z.string().min(1).max(1024).describe('Id, client_id, entity ID or name'),
      }),
      response: verdict,
      rejects: [[404, 'The user or the application is not known']],
      async handle({ query, by }) {
        const [{ account }, application] = await Promise.all([
          accessCheck.findUser(query.user, by),
          accessCheck.findApplication(query.application),
        ]);
        if (!account) throw notKnown('user');
        if (!application) throw notKnown('application');
        const { id: userId, username } = account;
        const { clientId, name } = application;
        const [{ mayOpen, canSignIn, checks }, attempts] = await Promise.all([
          accessCheck.report(account, application),
          accessCheck.attempts({ userId, clientId }),
        ]);
        return {
          body: {
            user: { id: userId, username },
            application: { id: application.id, identifier: clientId, name },
            may_open: mayOpen,
            can_sign_in: canSignIn,
            rules: checks.map(({ id, label, state, explanation }) => ({
              id,
              state,
              rule: String(label),
              met: state !== 'failed',
              explanation: String(explanation),
            })),
            rejections: attempts.rejections.map(rejectionJson),
          },
        };
      },
    }),
  ];
}

function notKnown(field: string) {
  return notFound({ faults: [fault([field], 'not-known')] });
}
