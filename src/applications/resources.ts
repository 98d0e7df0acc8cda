// Registered APIs (RFC 8707 resources): a client that asks for one gets a JWT access token with it as the only audience.

import { conflict, forbidden, invalidInput, notFound } from '../base/http/errors.ts';
import { isUniqueConstraintError, type Tx, withinTransaction } from '../base/storage/database.ts';
import { type Fault, fault } from '../base/texts/faults.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { KeyAlg } from '../core/keys/rotation.ts';
import { unlistedAlgFault } from './rules/signing-algorithms.ts';

export interface Resource {
  identifier: string;
  scopes: string[];
  /** Scope -> the permission (`resource:action`) that a user needs to get it; a scope without an entry needs none. */
  scopePermissions: Record<string, string>;
  signingAlg: KeyAlg;
  source: 'local' | 'file';
}

/** Scopes that are tied to a permission, but are not scopes of the API. */
export function scopePermissionFaults({
  scopes,
  scopePermissions,
}: Pick<Resource, 'scopes' | 'scopePermissions'>): Fault[] {
  return Object.keys(scopePermissions)
    .filter((scope) => !scopes.includes(scope))
    .map((scope) => fault(['scope_permissions', scope], 'not-a-scope'));
}

export type Resources = ReturnType<typeof createResources>;

export function createResources(core: Core, isReserved: (identifier: string) => boolean) {
  const { db, audit, now, settings } = core;
  const signingAlgorithms = () => settings.latest().signing_algorithms;
  async function get(identifier: string, tx: Tx = db): Promise<Resource> {
    const row = await tx.asStored.resource.findUnique({ where: { identifier } });
    if (!row) throw notFound({ message: t('console.applications.error.no-api') });
    return resourceOf(row);
  }

  async function getChangeable(identifier: string, tx: Tx): Promise<Resource> {
    const { source } = await get(identifier, tx);
    const row = await tx.resource.findUnique({ where: { identifier } });
    if (!row) throw conflict('changed_outside');
    if (source === 'file') throw forbidden('owned_by_file');
    return resourceOf(row);
  }

  return {
    get,
    /** The algorithms that an API may have. */
    signingAlgs: signingAlgorithms,
    list: async (tx: Tx = db): Promise<Resource[]> =>
      (await tx.asStored.resource.findMany({ orderBy: { identifier: 'asc' } })).map(resourceOf),

    create: (
      { identifier, scopes, scopePermissions, signingAlg }: Omit<Resource, 'source'>,
      by: Actor = {},
      outer?: Tx,
    ): Promise<Resource> =>
      withinTransaction(db, outer, async (tx) => {
        assertNoFaults(scopePermissionFaults({ scopes, scopePermissions }));
        assertNoFaults(unlistedAlgFault('signing_alg', signingAlg, signingAlgorithms(), undefined));
        if (isReserved(identifier)) throw invalidInput([fault(['identifier'], 'reserved')]);
        const columns = columnsOf({ scopes, scopePermissions, signingAlg });
        const data = { identifier, ...columns, access: 'everyone', source: 'local', createdAt: now() };
        await tx.resource.create({ data }).catch((error: unknown) => {
          if (!isUniqueConstraintError(error)) throw error;
          throw conflict('conflict', {
            message: t('console.applications.error.api-exists'),
            cause: error,
          });
        });
        const after = { identifier, scopes, scopePermissions, signingAlg };
        await audit.record({ ...by, type: 'resource.created', outcome: 'success', data: { after } }, tx);
        return get(identifier, tx);
      }),

    async update(
      identifier: string,
      changes: Partial<Omit<Resource, 'identifier' | 'source'>>,
      by: Actor,
      tx: Tx,
    ): Promise<Resource> {
      const before = await getChangeable(identifier, tx);
      const changed = { ...before, ...changes };
      assertNoFaults(scopePermissionFaults(changed));
      assertNoFaults(unlistedAlgFault('signing_alg', changed.signingAlg, signingAlgorithms(), before.signingAlg));
      const data = { identifier, ...columnsOf(changed), source: before.source };
      await tx.resource.update({ where: { identifier }, data });
      const after = await get(identifier, tx);
      await audit.record({ ...by, type: 'resource.updated', outcome: 'success', data: { before, after } }, tx);
      return after;
    },

    async remove(identifier: string, by: Actor, tx: Tx): Promise<void> {
      const before = await get(identifier, tx);
      if (before.source === 'file') throw forbidden('owned_by_file');
      await tx.resource.delete({ where: { identifier } });
      await audit.record({ ...by, type: 'resource.deleted', outcome: 'success', data: { before } }, tx);
    },
  };
}

/** Stores an API as the configuration file declares it, new or in place of what is there. */
export async function storeDeclaredResource(
  tx: Tx,
  { identifier, ...declared }: Omit<Resource, 'source'>,
  createdAt: Date,
): Promise<void> {
  const data = { identifier, ...columnsOf(declared), source: 'file' };
  await tx.resource.upsert({ where: { identifier }, create: { ...data, access: 'everyone', createdAt }, update: data });
}

/** Removes an API that the configuration file declares no more. */
export async function removeDeclaredResource(tx: Tx, identifier: string): Promise<void> {
  await tx.resource.deleteMany({ where: { identifier } });
}

function assertNoFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults);
}

type Columns = { scopes: string; scopePermissions: string; signingAlg: string; access: string };

function columnsOf({ scopes, scopePermissions, signingAlg }: Omit<Resource, 'identifier' | 'source'>): Columns {
  const access = 'everyone'; // of issue 28: an API gets the access rule of applications
  return { scopes: JSON.stringify(scopes), scopePermissions: JSON.stringify(scopePermissions), signingAlg, access };
}

type ResourceRow = Columns & { identifier: string; source: string };

/** A row of the table as the rest of the code sees it. */
export function resourceOf(row: ResourceRow): Resource {
  return {
    identifier: row.identifier,
    scopes: JSON.parse(row.scopes) as string[],
    scopePermissions: JSON.parse(row.scopePermissions) as Record<string, string>,
    signingAlg: row.signingAlg as Resource['signingAlg'],
    source: row.source === 'file' ? 'file' : 'local',
  };
}
