// Applies the steps of a scheduled or requested rotation, and records each in the audit log.

import type { Logger } from '../../base/platform/logger.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import type { AuditEventType } from '../audit/events.ts';
import { applySteps, type KeyRowsDependencies, type RecordStep, readKeys } from './key-rows.ts';
import { dueSteps, planRotation, type RotationPlan, type RotationPolicy, type RotationRequest } from './rotation.ts';

export type RotationOutcome =
  | { outcome: 'rotated'; activated: string[]; published: string[] }
  | { outcome: 'published'; kid: string }
  | { outcome: 'superseded' } // another instance rotated at the same time
  | Exclude<RotationPlan, { outcome: 'go' }>;

export type RotationContext = KeyRowsDependencies & {
  audit: Audit;
  logger: Logger;
  policy: () => RotationPolicy;
};

/** Applies every step that is due now. */
export async function applyDueSteps(context: RotationContext): Promise<void> {
  const { db, now, policy, logger, audit } = context;
  // When another instance applied the same steps first, this one checks again whether more are due.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const steps = dueSteps(await readKeys(db), now(), policy());
    if (steps.length === 0) return;
    const created = await applySteps(steps, context, recordedAs(audit, {}, { scheduled: true }));
    if (created !== 'superseded') logger.info({ steps, created }, 'signing keys changed as scheduled');
  }
}

/** Rotates on request of an administrator; `changed` runs after the change of the table and before the result. */
export async function rotateKeys(
  context: RotationContext,
  request: RotationRequest,
  by: Actor,
  changed: () => Promise<unknown>,
): Promise<RotationOutcome> {
  const { db, now, policy, logger, audit } = context;
  const plan = planRotation(await readKeys(db), request, { now: now(), policy: policy() });
  if (plan.outcome !== 'go') return plan;
  const created = await applySteps(plan.steps, context, recordedAs(audit, by, { forced: request.force === true }));
  await changed();
  if (created === 'superseded') return { outcome: 'superseded' };
  logger.info({ steps: plan.steps, created }, 'signing keys rotated by request');
  const activated = plan.steps.flatMap((step) => (step.do === 'activate' ? [step.kid] : []));
  const [kid] = created;
  return activated.length === 0 && kid
    ? { outcome: 'published', kid }
    : { outcome: 'rotated', activated, published: created };
}

function recordedAs(audit: Audit, by: Actor, how: { scheduled: true } | { forced: boolean }): RecordStep {
  const record = (type: AuditEventType, tx: Tx, data: object) =>
    audit.record({ ...by, type, outcome: 'success', data: { ...data, ...how } }, tx);
  return async (step, kid, tx) => {
    if (step.do === 'remove') return record('key.removed', tx, { kid });
    if (step.do === 'create') {
      const { use, alg, state } = step;
      return record('key.created', tx, { kid, use, alg, state });
    }
    await record('key.activated', tx, { kid, instead: step.instead ?? null });
    if (step.instead !== undefined) await record('key.retired', tx, { kid: step.instead });
  };
}
