// Registered APIs (RFC 8707 resources): a client that asks for one gets a JWT access token with it as the only audience.

import { conflict, forbidden, invalidInput, notFound } from '../base/http/errors.ts';
import { inChunks } from '../base/storage/chunks.ts';
import { isUniqueConstraintError, type Tx, withinTransaction } from '../base/storage/database.ts';
import { isStorable } from '../base/storage/storable-text.ts';
import { type Fault, fault } from '../base/texts/faults.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { KeyAlg } from '../core/keys/rotation.ts';
import { accessOf, fromRow, idsOfAccess, readMetadata, withAccess } from './application.ts';
import type { Access } from './fields/oidc-client.ts';
import { WEBSITE_SCOPE } from './fields/proxied-application.ts';
import { unlistedAlgFault } from './rules/signing-algorithms.ts';

export interface Resource {
  identifier: string;
  scopes: string[];
  /** Scope -> the permission (`resource:action`) that a user needs to get it; a scope without an entry needs none. */
  scopePermissions: Record<string, string>;
  signingAlg: KeyAlg;
  /** Which users may get a token for it, by the names of their roles and groups. */
  access: Access;
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
    return resourceOf(row, tx);
  }

  async function getChangeable(identifier: string, tx: Tx): Promise<Resource> {
    const { source } = await get(identifier, tx);
    const row = await tx.resource.findUnique({ where: { identifier } });
    if (!row) throw conflict('changed_outside');
    if (source === 'file') throw forbidden('owned_by_file');
    return resourceOf(row, tx);
  }

  return {
    get,
    /** The algorithms that an API may have. */
    signingAlgs: signingAlgorithms,
    list: async (tx: Tx = db): Promise<Resource[]> =>
      resourcesOf(await tx.asStored.resource.findMany({ orderBy: { identifier: 'asc' } }), tx),

    /** What tokens can be issued for: the APIs, and the websites that let programs in with them. */
    async identifiers(): Promise<string[]> {
      const apis = await db.resource.findMany({ select: { identifier: true } });
      const websites = await db.asStored.application.findMany({ where: { protocol: 'proxy' } });
      const open = websites.filter(({ metadata }) => readMetadata('proxy', metadata).access_tokens !== 'none');
      return [...apis.map(({ identifier }) => identifier), ...open.map(({ clientId }) => clientId)].sort();
    },

    create: ({ identifier, ...declared }: Omit<Resource, 'source'>, by: Actor = {}, outer?: Tx): Promise<Resource> =>
      withinTransaction(db, outer, async (tx) => {
        assertNoFaults(scopePermissionFaults(declared));
        assertNoFaults(unlistedAlgFault('signing_alg', declared.signingAlg, signingAlgorithms(), undefined));
        if (isReserved(identifier)) throw invalidInput([fault(['identifier'], 'reserved')]);
        const columns = await columnsOf(declared, tx);
        const data = { identifier, ...columns, source: 'local', createdAt: now() };
        await tx.resource.create({ data }).catch((error: unknown) => {
          if (!isUniqueConstraintError(error)) throw error;
          throw conflict('conflict', {
            message: t('console.applications.error.api-exists'),
            cause: error,
          });
        });
        const { source: _source, ...after } = await get(identifier, tx);
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
      const data = { identifier, ...(await columnsOf(changed, tx)), source: before.source };
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
  const data = { identifier, ...(await columnsOf(declared, tx)), source: 'file' };
  await tx.resource.upsert({ where: { identifier }, create: { ...data, createdAt }, update: data });
}

/** Hands an API of the configuration file back; false where it owns none of this identifier. */
export async function releaseResource(tx: Tx, identifier: string): Promise<boolean> {
  const row = await tx.resource.findUnique({ where: { identifier } });
  if (row?.source !== 'file') return false;
  await tx.resource.update({ where: { identifier }, data: { source: 'local' } });
  return true;
}

/** Removes an API that the configuration file declares no more. */
export async function removeDeclaredResource(tx: Tx, identifier: string): Promise<void> {
  await tx.resource.deleteMany({ where: { identifier } });
}

function assertNoFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalidInput(faults);
}

type Columns = { scopes: string; scopePermissions: string; signingAlg: string; access: string };

/** Throws invalid_input for a role or group that does not exist. */
async function columnsOf(
  { scopes, scopePermissions, signingAlg, access }: Omit<Resource, 'identifier' | 'source'>,
  tx: Tx,
): Promise<Columns> {
  return {
    scopes: JSON.stringify(scopes),
    scopePermissions: JSON.stringify(scopePermissions),
    signingAlg,
    access: access === 'everyone' ? access : JSON.stringify(await idsOfAccess(access, tx)),
  };
}

type ResourceRow = Columns & { identifier: string; source: string };

const idsIn = ({ access }: ResourceRow): { roles: string[]; groups: string[] } =>
  access === 'everyone' ? { roles: [], groups: [] } : JSON.parse(access);

/** What a token for an API is made by. */
export type TokenTarget = Pick<Resource, 'scopes' | 'scopePermissions' | 'access'> & {
  /** Of JWTs; undefined: its tokens are opaque. */
  signingAlg?: KeyAlg;
};

/**
 * The API of this identifier: a registered one, or a website behind a proxy that lets programs in with access tokens. This server itself
 * accepts those, so they are opaque: a revoked one ends at once.
 */
export async function findResource(identifier: string, tx: Tx): Promise<TokenTarget | undefined> {
  if (!isStorable(identifier)) return undefined;
  const row = await tx.resource.findUnique({ where: { identifier } });
  if (row) return resourceOf(row, tx);
  const website = await tx.application.findUnique({ where: { clientId: identifier }, include: withAccess });
  if (website?.protocol !== 'proxy' || !website.enabled) return undefined;
  const { access, protocol, metadata } = fromRow(website);
  if (protocol !== 'proxy' || metadata.access_tokens === 'none') return undefined;
  return { scopes: [WEBSITE_SCOPE], scopePermissions: {}, access };
}

/** A row of the table as the rest of the code sees it. */
async function resourceOf(row: ResourceRow, tx: Tx): Promise<Resource> {
  const [api] = await resourcesOf([row], tx);
  if (!api) throw new Error('a row is an API');
  return api;
}

/** The same for several rows. A role or group that was deleted meanwhile is no more in the access rule. */
export async function resourcesOf(rows: readonly ResourceRow[], tx: Tx): Promise<Resource[]> {
  const named = rows.map(idsIn);
  const names = new Map<string, string>();
  const select = { id: true, name: true } as const;
  const roleIds = [...new Set(named.flatMap(({ roles }) => roles))];
  const groupIds = [...new Set(named.flatMap(({ groups }) => groups))];
  const found = [
    ...(await inChunks(roleIds, (ids) => tx.role.findMany({ where: { id: { in: ids } }, select }))),
    ...(await inChunks(groupIds, (ids) => tx.asStored.group.findMany({ where: { id: { in: ids } }, select }))),
  ];
  for (const { id, name } of found) names.set(id, name);
  const namesOf = (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? []).sort();
  return rows.map((row, at) => ({
    identifier: row.identifier,
    scopes: JSON.parse(row.scopes) as string[],
    scopePermissions: JSON.parse(row.scopePermissions) as Record<string, string>,
    signingAlg: row.signingAlg as Resource['signingAlg'],
    access:
      row.access === 'everyone'
        ? 'everyone'
        : accessOf(namesOf(named[at]?.roles ?? []), namesOf(named[at]?.groups ?? [])),
    source: row.source === 'file' ? 'file' : 'local',
  }));
}
