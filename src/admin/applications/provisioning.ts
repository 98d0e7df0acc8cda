// What administrators see and decide of the provisioning of an application, for the API and the console. It is set up with the other fields of the
// application. Who sees people of it, or lets them lose their accounts there, may read all users.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type {
  ChangeKind,
  Provisioning,
  ProvisioningCheck,
  ProvisioningPreview,
  ProvisioningState,
  RejectedObject,
} from '../../protocols/provisioning/provisioning.ts';
import type { TargetDecision } from '../../protocols/provisioning/targets.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, done, iso, jsonOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { ApplicationAdmin } from './actions.ts';

export const READ_PROVISIONED = ['gatehouse.applications:read', 'gatehouse.users:read'] as const;
export const DECIDE_PROVISIONED = ['gatehouse.applications:write', 'gatehouse.users:read'] as const;
export const decisions = ['compare', 'pause', 'resume', 'approve'] as const satisfies readonly TargetDecision[];

export type ProvisioningAdmin = ReturnType<typeof createProvisioningAdmin>;

/** Everything throws not_found for an application without provisioning. */
export function createProvisioningAdmin(
  { provisioning }: { provisioning: Provisioning },
  { applications }: { applications: ApplicationAdmin },
) {
  const read = async (id: string, by: Actor) => (await applications.get(id, by)).application;

  async function change(id: string, by: Actor) {
    const { application } = await applications.get(id, by, 'gatehouse.applications:write');
    await applications.assertMayChange(application, by);
    return application;
  }

  return {
    state: async (id: string, by: Actor) => provisioning.state(await read(id, by)),
    rejected: async (id: string, by: Actor) => provisioning.rejected(await read(id, by)),
    /** Looks at so many people as a request has time for. */
    preview: async (id: string, by: Actor) => provisioning.preview(await read(id, by), limits.provisioning.previewed),
    test: async (id: string, by: Actor) => provisioning.test(await change(id, by)),
    beginPaused: provisioning.beginPaused,
    /** Throws conflict (409) where there is nothing to decide, and StepUpNeeded for an approval. */
    async decide(id: string, decision: TargetDecision, by: Actor): Promise<void> {
      const application = await change(id, by);
      if (decision === 'approve') assertFreshProof(by, 'application.change', application.name);
      await provisioning.decide(application, decision, by);
    },
  };
}

const state = z
  .object({
    active: z.int().describe('Accounts there that are active'),
    waiting: z.int().describe('People whose change is not there yet'),
    held: z.int().describe('Of these, leavers who wait for an approval or the end of a comparison'),
    comparing: z.boolean(),
    compared_at: time.nullable(),
    next_comparison_at: time.nullable(),
    failing_since: time.nullable().describe('It takes no calls since then'),
    retry_at: time.nullable(),
    error: z.string().nullable().describe('What it answered, or why it could not be called'),
    paused_at: time.nullable(),
    paused_by: z.enum(['failures', 'administrator']).nullable(),
    stopped_at: time.nullable().describe('Too many would lose their accounts there'),
  })
  .meta({ id: 'ProvisioningState' });

const previewed = z.object({
  count: z.int(),
  people: z
    .array(
      z.object({
        user: z.string(),
        username: z.string().nullable().describe('null: the account is deleted'),
        name: z.string().nullable(),
        attributes: z.array(z.string()).describe('That change'),
      }),
    )
    .describe('The first hundred'),
});
const preview = z
  .object({
    create: previewed,
    update: previewed,
    deactivate: previewed,
    delete: previewed,
    unchanged: z.int(),
    is_cut: z.boolean().describe(`Only ${limits.provisioning.previewed} people were looked at`),
  })
  .meta({ id: 'ProvisioningPreview' });

const rejected = z.object({
  kind: z.enum(['user', 'group']),
  id: z.string(),
  name: z.string().nullable().describe('The username, or the name of the group; null: it is deleted'),
  error: z.string().describe('What the application answered'),
  next_try_at: time,
});

const check = z.object({
  check: z.enum(['config', 'users']),
  ok: z.boolean(),
  error: z.string().nullable(),
});

export const stateJson = (one: ProvisioningState) =>
  jsonOf(state, one, {
    comparing: one.position !== null,
    next_comparison_at: iso(one.compareAt),
    error: one.lastError,
    paused_by: one.pausedBy === 'failures' || one.pausedBy === 'administrator' ? one.pausedBy : null,
  });

export function previewJson({ changes, unchanged, isCut }: ProvisioningPreview): z.output<typeof preview> {
  const of = (kind: ChangeKind) => ({
    count: changes[kind].count,
    people: changes[kind].people.map(({ id, attributes, ...person }) => ({
      user: id,
      ...person,
      attributes: [...attributes],
    })),
  });
  return {
    create: of('create'),
    update: of('update'),
    deactivate: of('deactivate'),
    delete: of('delete'),
    unchanged,
    is_cut: isCut,
  };
}

export const rejectedJson = (one: RejectedObject): z.output<typeof rejected> =>
  jsonOf(rejected, one, { kind: one.kind === 'group' ? 'group' : 'user' });

export const checkJson = ({ check: name, isOk, error }: ProvisioningCheck): z.output<typeof check> => ({
  check: name,
  ok: isOk,
  error: error ?? null,
});

const summaries = {
  compare: 'Compares everybody now, and tries again what was rejected or failed',
  pause: 'Nothing is sent until it is resumed',
  resume: 'Goes on',
  approve: 'Lets the held leavers lose their accounts there',
};

/** /api/admin/applications/{id}/provisioning. */
export function provisioningEndpoints(admin: ProvisioningAdmin): Endpoint[] {
  const path = '/applications/{id}/provisioning' as const;
  const tag = 'Applications' as const;
  return [
    endpoint('getProvisioning', `GET ${path}`, {
      tag,
      needs: ['gatehouse.applications:read'],
      summary: 'How the provisioning of the application goes',
      description: 'It is set up by the field `provision` of the application.',
      params: byId,
      response: state,
      handle: async ({ params, by }) => ({ body: stateJson(await admin.state(params.id, by)) }),
    }),
    endpoint('previewProvisioning', `GET ${path}/preview`, {
      tag,
      needs: READ_PROVISIONED,
      summary: 'What a comparison would do; nothing is sent',
      params: byId,
      response: preview,
      handle: async ({ params, by }) => ({ body: previewJson(await admin.preview(params.id, by)) }),
    }),
    endpoint('listProvisioningRejected', `GET ${path}/rejected`, {
      tag,
      needs: READ_PROVISIONED,
      summary: 'The people and groups that the application rejected, at most a hundred',
      params: byId,
      response: z.object({ items: z.array(rejected) }),
      handle: async ({ params, by }) => ({ body: { items: (await admin.rejected(params.id, by)).map(rejectedJson) } }),
    }),
    endpoint('testProvisioning', `POST ${path}/test`, {
      tag,
      needs: ['gatehouse.applications:write'],
      summary: 'Calls the application: its configuration, and a search for a name that nobody has',
      params: byId,
      response: z.object({ checks: z.array(check) }),
      handle: async ({ params, by }) => ({ body: { checks: (await admin.test(params.id, by)).map(checkJson) } }),
    }),
    ...decisions.map((decision) =>
      endpoint(`${decision}Provisioning`, `POST ${path}/${decision}`, {
        tag,
        needs: decision === 'approve' ? DECIDE_PROVISIONED : ['gatehouse.applications:write'],
        summary: summaries[decision],
        params: byId,
        response: done,
        async handle({ params, by }) {
          await admin.decide(params.id, decision, by);
          return { body: { done: true as const } };
        },
      }),
    ),
  ];
}
