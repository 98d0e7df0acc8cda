// Registered APIs (RFC 8707 resources): a client that asks for one gets a JWT access token with it as the only audience.
import type { Actor, Audit } from '../audit/audit.ts';
import { badRequest, conflict, forbidden, notFound } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx, withinTransaction } from '../storage/database.ts';

export interface Resource {
  identifier: string;
  scopes: string[];
  signingAlg: 'RS256' | 'ES256';
  source: string;
}

export interface Resources {
  list(tx?: Tx): Promise<Resource[]>;
  get(identifier: string, tx?: Tx): Promise<Resource>;
  create(resource: Omit<Resource, 'source'>, by?: Actor, tx?: Tx): Promise<Resource>;
  update(
    identifier: string,
    changes: Partial<Omit<Resource, 'identifier' | 'source'>>,
    by: Actor,
    tx: Tx,
  ): Promise<Resource>;
  remove(identifier: string, by: Actor, tx: Tx): Promise<void>;
}

export interface ResourcesDependencies {
  db: Db;
  audit: Audit;
  now: Clock;
  /** Identifiers of this server's APIs. */
  reserved: readonly string[];
}

export function createResources({ db, audit, now, reserved }: ResourcesDependencies): Resources {
  async function get(identifier: string, tx: Tx = db): Promise<Resource> {
    const row = await tx.resource.findUnique({ where: { identifier } });
    if (!row) throw notFound({ message: 'There is no such API.' });
    return fromRow(row);
  }

  async function changeable(identifier: string, tx: Tx): Promise<Resource> {
    const resource = await get(identifier, tx);
    if (resource.source === 'file') throw forbidden('owned_by_file');
    return resource;
  }

  return {
    get,
    list: async (tx = db) => (await tx.resource.findMany({ orderBy: { identifier: 'asc' } })).map(fromRow),

    create: ({ identifier, scopes, signingAlg }, by = {}, outer = undefined) =>
      withinTransaction(db, outer, async (tx) => {
        if (reserved.includes(identifier)) {
          throw badRequest('invalid_input', {
            fields: [{ field: 'identifier', message: 'is an API of Gatehouse itself' }],
          });
        }
        const data = { identifier, scopes: JSON.stringify(scopes), signingAlg, createdAt: now() };
        await tx.resource.create({ data }).catch((error: unknown) => {
          if (!isUniqueViolation(error)) throw error;
          throw conflict('conflict', { message: 'An API with this identifier already exists.', cause: error });
        });
        const after = { identifier, scopes, signingAlg };
        await audit.record({ ...by, type: 'resource.created', outcome: 'success', data: { after } }, tx);
        return get(identifier, tx);
      }),

    async update(identifier, changes, by, tx) {
      const before = await changeable(identifier, tx);
      const { scopes, signingAlg } = { ...before, ...changes };
      await tx.resource.update({ where: { identifier }, data: { scopes: JSON.stringify(scopes), signingAlg } });
      const after = await get(identifier, tx);
      await audit.record({ ...by, type: 'resource.updated', outcome: 'success', data: { before, after } }, tx);
      return after;
    },

    async remove(identifier, by, tx) {
      const before = await changeable(identifier, tx);
      await tx.resource.delete({ where: { identifier } });
      await audit.record({ ...by, type: 'resource.deleted', outcome: 'success', data: { before } }, tx);
    },
  };
}

/** Stores an API as the configuration file declares it, new or in place of what is there. */
export async function storeDeclaredResource(
  tx: Tx,
  { identifier, scopes, signingAlg }: Omit<Resource, 'source'>,
  createdAt: Date,
): Promise<void> {
  const data = { scopes: JSON.stringify(scopes), signingAlg, source: 'file' };
  await tx.resource.upsert({ where: { identifier }, create: { ...data, identifier, createdAt }, update: data });
}

/** Removes an API that the configuration file declares no more. */
export async function removeDeclaredResource(tx: Tx, identifier: string): Promise<void> {
  await tx.resource.deleteMany({ where: { identifier } });
}

function fromRow(row: { identifier: string; scopes: string; signingAlg: string; source: string }): Resource {
  const { identifier, scopes, signingAlg, source } = row;
  return {
    identifier,
    scopes: JSON.parse(scopes) as string[],
    signingAlg: signingAlg as Resource['signingAlg'],
    source,
  };
}
