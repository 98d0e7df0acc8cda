// Writes the row of an application of either protocol, with the roles that may use it, and records the change in the audit
// log.
import type { Actor, Audit } from '../audit/audit.ts';
import { badRequest, conflict, forbidden } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId } from '../platform/random.ts';
import { type Db, isUniqueViolation, type Tx, withinTransaction } from '../storage/database.ts';
import type { Application, ApplicationSource } from './application.ts';
import { declared, difference } from './audit-data.ts';
import type { Change } from './changes.ts';
import type { Access } from './oidc-client.ts';
import { getApplication } from './read.ts';

export type WriteContext = {
  db: Db;
  audit: Audit;
  now: Clock;
  removeClientArtifacts(clientId: string, tx: Tx): Promise<void>;
};

/** The columns that both protocols fill. */
export type ApplicationColumns = {
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  metadata: string;
};
export type NewApplication = ApplicationColumns & { clientId: string; protocol: 'oidc' | 'saml' };

/**
 * Inserts an application; `after` runs in the same transaction, before the audit event. Throws application_taken (409)
 * when the client_id or entity ID is registered, invalid_input (400) when the access rule names an unknown role.
 */
export function insertApplication(
  context: WriteContext,
  row: NewApplication,
  { by, tx: outer, source = 'local' }: Change,
  after: (id: string, tx: Tx) => Promise<void> = async () => {},
): Promise<Application> {
  const { access, ...columns } = row;
  return withinTransaction(context.db, outer, async (tx) => {
    const at = context.now();
    const data = { ...columns, id: randomId(), source, access: kindOf(access), createdAt: at, updatedAt: at };
    const { id } = await tx.application.create({ data, select: { id: true } }).catch(throwTaken);
    await setAccess(id, access, tx);
    await after(id, tx);
    const made = await getApplication(id, tx);
    const { name, protocol } = row;
    const recorded = { name, protocol, source, after: declared(made) };
    await recordChange(context, 'application.created', row.clientId, tx, by, recorded);
    return made;
  });
}

/** Replaces the columns of the application `before`; one that is disabled now loses its tokens and grants. */
export async function updateApplication(
  context: WriteContext,
  before: Application,
  row: ApplicationColumns,
  { by, source }: Change,
  tx: Tx,
): Promise<Application> {
  const { access, ...columns } = row;
  const data = { ...columns, access: kindOf(access), ...(source ? { source } : {}), updatedAt: context.now() };
  await tx.application.update({ where: { id: before.id }, data, select: { id: true } });
  await setAccess(before.id, access, tx);
  if (before.enabled && !row.enabled) await context.removeClientArtifacts(before.clientId, tx);
  const after = await getApplication(before.id, tx);
  const recorded = { name: row.name, ...difference(before, after) };
  await recordChange(context, 'application.updated', before.clientId, tx, by, recorded);
  return after;
}

/** The application, when a change from `source` may touch it; throws owned_by_file (403) or not_found (404). */
export async function changeableApplication(id: string, source: ApplicationSource, tx: Tx): Promise<Application> {
  const application = await getApplication(id, tx);
  if (application.source === 'file' && source !== 'file') throw forbidden('owned_by_file');
  return application;
}

/** Records a successful change of an application in its transaction. */
export function recordChange(
  { audit }: Pick<WriteContext, 'audit'>,
  type: Parameters<Audit['record']>[0]['type'],
  clientId: string,
  tx: Tx,
  by: Actor = {},
  data = {},
) {
  return audit.record({ ...by, type, outcome: 'success', clientId, data }, tx);
}

function kindOf(access: Access): 'everyone' | 'roles' {
  return access === 'everyone' ? 'everyone' : 'roles';
}

async function setAccess(applicationId: string, access: Access, tx: Tx): Promise<void> {
  const names = access === 'everyone' ? [] : access.roles;
  const roles = await tx.role.findMany({ where: { name: { in: names } }, select: { id: true, name: true } });
  const missing = names.filter((name) => !roles.some((role) => role.name === name));
  if (missing.length > 0) {
    throw badRequest('invalid_input', {
      fields: [{ field: 'access.roles', message: `no such role: ${missing.join(', ')}` }],
    });
  }
  await tx.applicationRole.deleteMany({ where: { applicationId } });
  if (roles.length > 0)
    await tx.applicationRole.createMany({ data: roles.map(({ id }) => ({ applicationId, roleId: id })) });
}

function throwTaken(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('application_taken', { cause: error });
  throw error;
}
