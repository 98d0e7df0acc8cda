// Writes the row of an application of either protocol, with the roles that may use it, and records the change in the audit
// log.

import { conflict, forbidden, invalidInput } from '../base/http/errors.ts';
import { randomId, sha256 } from '../base/platform/random.ts';
import { isUniqueViolation, type Tx, withinTransaction } from '../base/storage/database.ts';
import { fault } from '../base/texts/faults.ts';
import type { Actor, Audit } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { nameKey } from '../people/accounts/names.ts';
import type { People } from '../people/people.ts';
import {
  type Application,
  type ApplicationSource,
  fromRow,
  type OidcApplication,
  readMetadata,
} from './application.ts';
import type { Access } from './fields/oidc-client.ts';
import type { ServiceProviderSettings } from './fields/service-provider.ts';
import { planPicture } from './pictures/plan-picture.ts';
import { getApplication, listKey, type StoredApplication, storedApplication } from './read.ts';
import { neededFor } from './rules/field-rights.ts';

/** What protocols remove with an application. */
export interface ApplicationHooks {
  /** Removes the grants, codes and tokens of an application that is disabled or deleted. */
  removeClientArtifacts(clientId: string, tx: Tx, options?: { keepsRegistration?: boolean }): Promise<void>;
  /** Removes the rows of the SAML protocol for an application. */
  removeServiceProviderData(applicationId: string, tx: Tx): Promise<void>;
  /** Starts the job that reads pictures soon. */
  wakePictureFetch(): void;
}

export type WriteContext = Core &
  People &
  ApplicationHooks & {
    /** Whether an identifier is one of Gatehouse itself. */
    isReserved(identifier: string): boolean;
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
 * when the client_id or entity ID is registered, invalid_input (400) when the access rule names an unknown role or the identifier
 * is reserved, forbidden (403) when the actor lacks what a field gives (field-rights.ts).
 */
export function insertApplication(
  context: WriteContext,
  row: NewApplication,
  { by, tx: outer, source = 'local' }: Change,
  after: (id: string, tx: Tx) => Promise<void> = async () => {},
): Promise<Application> {
  const { access, ...declaredColumns } = row;
  return withinTransaction(context.db, outer, async (tx) => {
    await assertMayDeclare(context, undefined, row, by, tx);
    if (context.isReserved(row.clientId)) {
      const field = row.protocol === 'saml' ? 'entity_id' : 'client_id';
      throw invalidInput([fault([field], 'reserved')]);
    }
    if (source === 'dynamic') await assertOwnName(row.name, tx);
    const at = context.now();
    const columns = { ...declaredColumns, id: randomId(), source, access: kindOf(access) };
    const { id } = columns;
    const data = { ...columns, nameKey: listKey(row.name), createdAt: at, updatedAt: at };
    await tx.application.create({ data, select: { id: true } }).catch(throwTaken);
    await setAccess(id, access, tx);
    await after(id, tx);
    const made = await getApplication(id, tx);
    await planPictureOf(context, made, tx);
    const { name, protocol } = row;
    const recorded = { name, protocol, source, after: declarationForAudit(made) };
    await recordChange(context, 'application.created', row.clientId, tx, by, recorded);
    return made;
  });
}

const profileOf = (application: Application) =>
  application.protocol === 'oidc' ? application.metadata.profile : undefined;

/** Replaces the columns of the application `before`; one that is disabled, or gets a security profile, loses its tokens and grants. */
export async function updateApplication(
  context: WriteContext,
  before: Application,
  row: ApplicationColumns,
  { by, source }: Change,
  tx: Tx,
): Promise<Application> {
  await assertMayDeclare(context, before, { ...row, protocol: before.protocol }, by, tx);
  if (source === 'dynamic' && row.name !== before.name) await assertOwnName(row.name, tx);
  const { access, ...columns } = row;
  const { id, clientId, protocol } = before;
  // All that the MAC covers, because the configuration file may replace a row that another program wrote.
  const data = { ...columns, id, clientId, protocol, access: kindOf(access), source: source ?? before.source };
  const updatedAt = context.now();
  await tx.application.update({
    where: { id },
    data: { ...data, nameKey: listKey(row.name), updatedAt },
    select: { id: true },
  });
  await setAccess(id, access, tx);
  if (before.enabled && !row.enabled) await context.removeClientArtifacts(before.clientId, tx);
  const roles = access === 'everyone' ? [] : [...new Set(access.roles)].map((name) => ({ role: { name } }));
  const after = fromRow({ ...data, createdAt: before.createdAt, updatedAt, roles });
  // Tokens of the time before are not bound to a key, and codes may lack PKCE.
  if (profileOf(after) !== undefined && profileOf(before) === undefined)
    await context.removeClientArtifacts(before.clientId, tx, { keepsRegistration: true });
  await planPictureOf(context, after, tx);
  const recorded = { name: row.name, ...declarationDifference(before, after) };
  await recordChange(context, 'application.updated', before.clientId, tx, by, recorded);
  return after;
}

/** The picture of the logo_uri is read by a job, so that saving waits for no other server. */
async function planPictureOf(
  { now, wakePictureFetch }: WriteContext,
  { id, metadata }: Application,
  tx: Tx,
): Promise<void> {
  if (await planPicture(tx, id, metadata.logo_uri, now())) wakePictureFetch();
}

/** Asks the authority about every field that the row changes. */
async function assertMayDeclare(
  { authority }: WriteContext,
  before: Application | undefined,
  row: Pick<NewApplication, 'access' | 'protocol' | 'metadata'>,
  by: Actor = {},
  tx: Tx,
): Promise<void> {
  const after = { access: row.access, metadata: readMetadata(row.protocol, row.metadata) };
  for (const change of neededFor(before, after)) {
    // A name that no role has belongs to the application.
    const roles = change.what === 'rename' ? await existingRoles(change.roles, tx) : [];
    await authority.assertMay(by, change.what === 'rename' ? { ...change, roles } : change, tx);
  }
}

async function existingRoles(names: readonly string[], tx: Tx): Promise<string[]> {
  const rows = await tx.role.findMany({ where: { name: { in: [...names] } }, select: { name: true } });
  return rows.map(({ name }) => name);
}

/** Users know an application by its name, so no client registers itself under one that looks like another's or the server's. */
async function assertOwnName(name: string, tx: Tx): Promise<void> {
  const where = { source: { not: 'dynamic' } };
  const rows = await tx.asStored.application.findMany({ where, select: { name: true }, distinct: ['name'] });
  const keyOf = (text: string) => nameKey(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')).replace(/\s+/gu, ' ');
  const keys = new Set(['Gatehouse', ...rows.map((row) => row.name)].map(keyOf));
  if (!keys.has(keyOf(name))) return;
  throw invalidInput([fault(['client_name'], 'name-taken')]);
}

/** What a change is about: an id, or the application as it was read for the change in its transaction. */
export type Changed = string | StoredApplication;

const storedOf = (of: Changed, tx: Tx) => (typeof of === 'string' ? storedApplication(of, tx) : of);

/** The application, when a change from `source` may delete it; throws owned_by_file (403) or not_found (404). */
export async function removableApplication(of: Changed, source: ApplicationSource, tx: Tx): Promise<Application> {
  const { application } = await storedOf(of, tx);
  if (application.source === 'file' && source !== 'file') throw forbidden('owned_by_file');
  return application;
}

/**
 * The application, when a change from `source` may touch it; throws as removableApplication does, and changed_outside (409) when
 * another program wrote its row. The file declares all of an application, so it may replace such a row.
 */
export async function changeableApplication(of: Changed, source: ApplicationSource, tx: Tx): Promise<Application> {
  const stored = await storedOf(of, tx);
  const application = await removableApplication(stored, source, tx);
  if (source !== 'file' && !stored.isGenuine()) throw conflict('changed_outside');
  return application;
}

/** Throws not_found (404), or changed_outside (409) when another program wrote the row of the application. */
export async function genuineApplication(id: string, tx: Tx): Promise<Application> {
  const { application, isGenuine } = await storedApplication(id, tx);
  if (!isGenuine()) throw conflict('changed_outside');
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
    throw invalidInput([fault(['access', 'roles'], 'unknown-role', { roles: missing.join(', ') })]);
  }
  await tx.applicationRole.deleteMany({ where: { applicationId } });
  if (roles.length > 0)
    await tx.applicationRole.createMany({ data: roles.map(({ id: roleId }) => ({ applicationId, roleId })) });
}

function throwTaken(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('application_taken', { cause: error });
  throw error;
}

// An application as the audit log stores it: its declaration without secrets, and SAML metadata as a hash.

type Declared = Record<string, unknown>;

/** The whole declaration. */
export function declarationForAudit({ name, consent, access, enabled, source, metadata }: Application): Declared {
  const xml = 'metadata_xml' in metadata ? metadata.metadata_xml : undefined;
  const document = xml === undefined ? {} : { metadata_xml: `${xml.length} characters, SHA-256 ${sha256(xml)}` };
  return { name, consent, access, enabled, source, ...metadata, ...document };
}

/** The fields that differ, before and after; null where one is absent. */
function declarationDifference(before: Application, after: Application): { before: Declared; after: Declared } {
  const [from, to] = [declarationForAudit(before), declarationForAudit(after)];
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const changedFields = fields.filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]));
  const pick = (all: Declared) => Object.fromEntries(changedFields.map((field) => [field, all[field] ?? null]));
  return { before: pick(from), after: pick(to) };
}

// The input and the result of registering or changing an application.

export type SamlInput = {
  entityId: string;
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  settings: ServiceProviderSettings;
};
export type Registered = {
  application: OidcApplication;
  /** Displayed once; absent when the application has none or its owner knows it. */
  clientSecret?: string;
};
export type Change = {
  by?: Actor;
  tx?: Tx;
  /** Where the change comes from. Only the configuration file may change what it declares. */
  source?: ApplicationSource;
};
