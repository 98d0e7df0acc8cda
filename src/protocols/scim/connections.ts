// The SCIM connections: who may create, change and disable which people, and the tokens with which they do. Only a keyed hash of a token is
// stored. A connection has its own people and groups; to every other one, they do not exist.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { conflict, notFound, ownedByFile } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { emailDomain } from '../../base/network/domains.ts';
import { randomId, sha256 } from '../../base/platform/random.ts';
import { createThrottle } from '../../base/platform/throttle.ts';
import { nameUpTo } from '../../base/schemas/line-schema.ts';
import { type Db, isUniqueConstraintError, type Tx, withinTransaction } from '../../base/storage/database.ts';
import { check, rule, textFault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { idInKey, newKeyText } from '../../people/api-keys/api-keys.ts';
import { parsePath } from './filter.ts';
import { userType } from './schemas.ts';

/** How many connections there can be, and tokens of one: the old and the new one at a change. */
const MOST_CONNECTIONS = 50;
const MOST_TOKENS = 2;
const MOST_MAPPINGS = 200;
const HASH_PURPOSE = 'scim-token';
const DAY_MS = 24 * 3600 * 1000;
/** One that no administrator has deleted. */
const PRESENT = { removedAt: null };
const leaversOf = (connectionId: string) => ({ connectionId, deletedAt: { not: null } });

const isAttributePath = (path: string): boolean => {
  try {
    return parsePath(path, userType).attribute.mutability !== 'readOnly';
  } catch {
    return false;
  }
};

/** A new connection, as the API, the console and the configuration file have it. */
export const scimDeclaration = z.strictObject({
  name: nameUpTo(100, z.string().trim()).describe('of the directory, such as “Entra ID”'),
  client_id: z
    .string()
    .min(1)
    .max(1024)
    .nullish()
    .describe('an application that calls with its own access tokens (`client_credentials`, scope `scim`)'),
  owned_domains: z
    .array(emailDomain)
    .max(100)
    .default([])
    .describe('email domains of the directory: addresses in them are verified, and may be usernames'),
  adopt: z
    .enum(['never', 'owned_domains'])
    .default('never')
    .describe(
      'whether it takes over accounts that are here, with a verified address in `owned_domains`; groups only by `mappings.groups`',
    ),
  may_create: z.boolean().default(true).describe('whether it creates accounts'),
  delete_policy: z
    .enum(['disable', 'delete'])
    .default('disable')
    .describe('what DELETE does: the account is disabled and deleted 30 days later, or deleted at once'),
  mappings: z
    .strictObject({
      attributes: z
        .record(z.string().max(64), z.string().max(300).refine(isAttributePath, rule('scim-attribute')))
        .refine((given) => Object.keys(given).length <= MOST_MAPPINGS, rule('max-entries', { entries: MOST_MAPPINGS }))
        .default({})
        .describe(
          'own field → SCIM attribute, such as `department: urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department`',
        ),
      groups: z
        .record(z.string().max(200), z.string().max(200))
        .refine((given) => Object.keys(given).length <= MOST_MAPPINGS, rule('max-entries', { entries: MOST_MAPPINGS }))
        .default({})
        .describe(
          'group of the directory → group here, which the directory fills, and neither renames nor deletes; others are created with their names',
        ),
    })
    .default({ attributes: {}, groups: {} })
    .describe('which own fields and groups the directory fills'),
});
export type ScimDeclaration = z.output<typeof scimDeclaration>;

export interface ScimConnection extends Omit<ScimDeclaration, 'client_id'> {
  id: string;
  client_id: string | null;
  source: 'local' | 'file';
  createdAt: Date;
  updatedAt: Date;
  /** At most a minute old. */
  lastRequestAt: Date | null;
}

export interface ScimToken {
  id: string;
  lastFour: string;
  source: 'local' | 'file';
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

type Row = Awaited<ReturnType<Db['scimConnection']['findMany']>>[number];

/** Whether the configuration file changes it, which alone changes what it declares. */
export interface ScimChange {
  source?: 'local' | 'file';
  tx?: Tx;
}

export type ScimConnections = ReturnType<typeof createScimConnections>;

export function createScimConnections({ db, vault, now, audit, logger }: Core) {
  // An unknown id costs as much as a wrong secret.
  const noHash = vault.mac('', HASH_PURPOSE);
  const isDue = createThrottle(now, limits.scim.noteSeconds);

  function record(
    type: 'created' | 'updated' | 'deleted',
    { id, name }: { id: string; name: string },
    by: Actor,
    tx: Tx,
    data = {},
  ) {
    const event = { type: `scim-connection.${type}`, outcome: 'success' } as const;
    return audit.record({ ...by, ...event, data: { connectionId: id, name, ...data } }, tx);
  }

  async function get(id: string, tx: Tx = db): Promise<ScimConnection> {
    const row = await tx.scimConnection.findFirst({ where: { id, ...PRESENT } });
    if (!row) throw notFound({ message: t('console.scim.error.unknown') });
    return connectionOf(row);
  }

  async function changeable(id: string, source: 'local' | 'file', tx: Tx): Promise<ScimConnection> {
    const before = await get(id, tx);
    if (before.source === 'file' && source !== 'file') throw ownedByFile('scim', before);
    return before;
  }

  return {
    /** Throws not_found (404). */
    get,

    /** By name. Those that another program wrote are left out. */
    async list(): Promise<ScimConnection[]> {
      const rows = await db.scimConnection.findMany({ where: PRESENT, orderBy: [{ name: 'asc' }] });
      return rows.map(connectionOf);
    },

    /**
     * Throws conflict (409) for a name or an application that another connection has, and for too many.
     * @param id of the configuration file; that of a deleted connection has those again whom this one deleted
     */
    create: (
      given: ScimDeclaration,
      by: Actor,
      { source = 'local', id = randomId(), tx }: ScimChange & { id?: string } = {},
    ) =>
      withinTransaction(db, tx, async (own): Promise<ScimConnection> => {
        if ((await own.scimConnection.count({ where: PRESENT })) >= MOST_CONNECTIONS)
          throw conflict('conflict', { message: t('console.scim.error.too-many', { count: MOST_CONNECTIONS }) });
        const at = now();
        const data = { id, ...columnsOf(given), source, createdAt: at, updatedAt: at };
        const update = { ...data, lastRequestAt: null, isApplied: false };
        await own.scimConnection.upsert({ where: { id }, create: data, update }).catch(throwTaken);
        await record('created', { id, name: given.name }, by, own, { after: given });
        return get(id, own);
      }),

    /** Throws as `create` does, not_found (404) and owned_by_file (403). */
    update: (id: string, given: ScimDeclaration, by: Actor, { source = 'local', tx }: ScimChange = {}) =>
      withinTransaction(db, tx, async (own): Promise<ScimConnection> => {
        const before = declarationOf(await changeable(id, source, own));
        const fillsTheSame =
          isDeepStrictEqual(before.owned_domains, given.owned_domains) &&
          isDeepStrictEqual(before.mappings.attributes, given.mappings.attributes);
        const data = { id, ...columnsOf(given), source, updatedAt: now(), ...(!fillsTheSame && { isApplied: false }) };
        const where = { id, ...PRESENT };
        await own.scimConnection.update({ where, data, select: { id: true } }).catch(throwTaken);
        const difference = { before, after: given };
        if (!isDeepStrictEqual(before, given)) await record('updated', { id, name: given.name }, by, own, difference);
        return get(id, own);
      }),

    /**
     * Deletes it with its tokens. Its people and groups stay as they are, and are managed here from then on; whom the directory deleted is deleted at
     * the same date as before. The row stays until the job has released the people, who may be a million.
     */
    remove: (id: string, by: Actor, { source = 'local', tx }: ScimChange = {}) =>
      withinTransaction(db, tx, async (own): Promise<void> => {
        const before = await changeable(id, source, own);
        const leavers = await own.scimUser.count({ where: leaversOf(id) });
        await own.scimToken.deleteMany({ where: { connectionId: id } });
        await own.scimGroup.deleteMany({ where: { connectionId: id } });
        const freed = { ...columnsOf(declarationOf(before)), clientId: null, source: 'local', removedAt: now() };
        await own.scimConnection.update({ where: { id }, data: { id, ...freed }, select: { id: true } });
        await record('deleted', before, by, own, { leavers });
      }),

    /** The deleted ones that still have people. */
    async removed(): Promise<string[]> {
      const rows = await db.scimConnection.findMany({ where: { removedAt: { not: null } }, select: { id: true } });
      return rows.map(({ id }) => id);
    },

    /** Deletes a deleted one that has nobody any more. */
    async forget(id: string): Promise<void> {
      if (await db.asStored.scimUser.findFirst({ where: { connectionId: id }, select: { userId: true } })) return;
      await db.scimConnection.deleteMany({ where: { id, removedAt: { not: null } } });
    },

    /** Its tokens, the newest first. */
    async tokens(connectionId: string, tx: Tx = db): Promise<ScimToken[]> {
      const rows = await tx.scimToken.findMany({ where: { connectionId }, orderBy: { createdAt: 'desc' } });
      return rows.map(tokenOf);
    },

    /**
     * A new token, the only time that its text can be read. The old one stays valid until it is revoked. Throws conflict (409) for a third one.
     * @param days from now on; absent: no end
     */
    addToken: (connectionId: string, days: number | undefined, by: Actor, outer?: Tx) =>
      withinTransaction(db, outer, async (tx): Promise<{ token: ScimToken; text: string }> => {
        const { name } = await get(connectionId, tx);
        const at = now();
        const lasting = { OR: [{ expiresAt: null }, { expiresAt: { gt: at } }] };
        if ((await tx.scimToken.count({ where: { connectionId, source: 'local', ...lasting } })) >= MOST_TOKENS)
          throw conflict('conflict', { message: t('console.scim.error.two-tokens') });
        const { id, text } = newKeyText();
        const row = {
          id,
          connectionId,
          secretHash: vault.mac(text, HASH_PURPOSE),
          lastFour: text.slice(-4),
          source: 'local',
          createdAt: at,
          expiresAt: days === undefined ? null : new Date(at.getTime() + days * DAY_MS),
          lastUsedAt: null,
        };
        await tx.scimToken.create({ data: row });
        const data = { connectionId, name, tokenId: id, expiresAt: row.expiresAt };
        await audit.record({ ...by, type: 'scim-token.created', outcome: 'success', data }, tx);
        return { token: tokenOf(row), text };
      }),

    /** Throws not_found (404). */
    revokeToken: (connectionId: string, id: string, by: Actor) =>
      withinTransaction(db, undefined, async (tx): Promise<void> => {
        const { name } = await get(connectionId, tx);
        const { count } = await tx.scimToken.deleteMany({ where: { id, connectionId, source: 'local' } });
        if (count === 0) throw notFound();
        const data = { connectionId, name, tokenId: id };
        await audit.record({ ...by, type: 'scim-token.revoked', outcome: 'success', data }, tx);
      }),

    /** For the configuration file: whether this is the token that it declares. */
    async hasToken(connectionId: string, text: string): Promise<boolean> {
      const row = await db.scimToken.findUnique({ where: { id: idOfToken(text) } });
      return row?.connectionId === connectionId && vault.macMatches(text, row.secretHash, HASH_PURPOSE);
    },

    /** Makes this the token that the configuration file declares; undefined: none. Tokens that were created here stay. */
    async declareToken(connectionId: string, text: string | undefined, tx: Tx): Promise<void> {
      await tx.scimToken.deleteMany({ where: { connectionId, source: 'file' } });
      if (text === undefined) return;
      const id = idOfToken(text);
      const secretHash = vault.mac(text, HASH_PURPOSE);
      const row = { id, connectionId, secretHash, lastFour: text.slice(-4), source: 'file', expiresAt: null };
      await tx.scimToken.create({ data: { ...row, createdAt: now(), lastUsedAt: null } }).catch(throwTaken);
    },

    /** Hands a connection of the configuration file back; false where it owns none with this id. */
    async release(id: string, tx: Tx): Promise<boolean> {
      const data = { source: 'local', updatedAt: now() };
      return (await tx.scimConnection.updateMany({ where: { id, source: 'file' }, data })).count > 0;
    },

    /** The connection of a token; undefined for one that is unknown, revoked or expired. Notes its use, at most once a minute. */
    async present(text: string): Promise<ScimConnection | undefined> {
      const row = await db.scimToken.findUnique({ where: { id: idOfToken(text) }, include: { connection: true } });
      const matches = vault.macMatches(text, row?.secretHash ?? noHash, HASH_PURPOSE);
      if (!row || !matches || row.connection.removedAt || (row.expiresAt && row.expiresAt <= now())) return undefined;
      if (isDue(`token ${row.id}`, row.lastUsedAt))
        await note(db.scimToken.updateMany({ where: { id: row.id }, data: { lastUsedAt: now() } }));
      return noted(connectionOf(row.connection));
    },

    /** The connection of an application that calls with its own access token. */
    async ofClient(clientId: string): Promise<ScimConnection | undefined> {
      const row = await db.scimConnection.findUnique({ where: { clientId, ...PRESENT } });
      return row ? noted(connectionOf(row)) : undefined;
    },

    /** Those whose domains or mappings have changed, and whose people do not have yet what they fill now. */
    async unapplied(): Promise<ScimConnection[]> {
      return (await db.scimConnection.findMany({ where: { isApplied: false, ...PRESENT } })).map(connectionOf);
    },

    /** Whether it has not been changed meanwhile. */
    async isCurrent({ id, updatedAt }: ScimConnection): Promise<boolean> {
      return (await db.scimConnection.count({ where: { id, updatedAt } })) > 0;
    },

    /** Its people have what it fills, unless it has been changed meanwhile. */
    async noteApplied({ id, updatedAt }: ScimConnection): Promise<void> {
      await db.scimConnection.updateMany({ where: { id, updatedAt }, data: { isApplied: true } });
    },

    /** How many people and groups it has, and how many people it deleted whose accounts are kept for some days. */
    async counts(connectionId: string) {
      const [users, groups, leavers] = await Promise.all([
        db.scimUser.count({ where: { connectionId, deletedAt: null } }),
        db.scimGroup.count({ where: { connectionId } }),
        db.scimUser.count({ where: leaversOf(connectionId) }),
      ]);
      return { users, groups, leavers };
    },
  };

  /** A use that could not be stored, as on a full disk, fails no request. */
  async function note(work: Promise<unknown>): Promise<void> {
    await work.catch((err: unknown) => logger.warn({ err }, 'the use of a SCIM connection was not stored'));
  }

  async function noted(connection: ScimConnection): Promise<ScimConnection> {
    const { id, lastRequestAt } = connection;
    if (isDue(`connection ${id}`, lastRequestAt))
      await note(db.scimConnection.updateMany({ where: { id }, data: { lastRequestAt: now() } }));
    return connection;
  }
}

/** Of a token of this server its first part; of one of the configuration file a hash. */
const idOfToken = (text: string): string => idInKey(text) ?? `file-${sha256(text)}`;

/** The declaration of a connection, as the API and the configuration file have it. */
export function declarationOf(connection: ScimConnection): ScimDeclaration {
  const { name, client_id, owned_domains, adopt, may_create, delete_policy, mappings } = connection;
  return { name, client_id, owned_domains, adopt, may_create, delete_policy, mappings };
}

const columnsOf = (given: ScimDeclaration) => ({
  ...PRESENT,
  name: given.name,
  clientId: given.client_id ?? null,
  ownedDomains: JSON.stringify(given.owned_domains),
  adopt: given.adopt,
  mayCreate: given.may_create,
  deletePolicy: given.delete_policy,
  mappings: JSON.stringify(given.mappings),
});

function connectionOf(row: Row): ScimConnection {
  const { id, name, clientId, createdAt, updatedAt, lastRequestAt } = row;
  const json = (text: string): unknown => JSON.parse(text);
  const stored = {
    name,
    client_id: clientId,
    owned_domains: json(row.ownedDomains),
    adopt: row.adopt,
    may_create: row.mayCreate,
    delete_policy: row.deletePolicy,
    mappings: json(row.mappings),
  };
  const read = check(scimDeclaration, stored);
  if (!read.ok) throw new Error(`the SCIM connection ${id} cannot be read`);
  const source = row.source === 'file' ? 'file' : 'local';
  return { ...read.value, client_id: clientId, id, source, createdAt, updatedAt, lastRequestAt };
}

function tokenOf({
  id,
  lastFour,
  source,
  createdAt,
  expiresAt,
  lastUsedAt,
}: Omit<ScimToken, 'source'> & { source: string }): ScimToken {
  return { id, lastFour, source: source === 'file' ? 'file' : 'local', createdAt, expiresAt, lastUsedAt };
}

function throwTaken(error: unknown): never {
  if (!isUniqueConstraintError(error)) throw error;
  const where = JSON.stringify(error instanceof Error && 'meta' in error ? error.meta : '');
  const field = /client_?id/i.test(where) ? 'client_id' : 'name';
  throw conflict('conflict', { faults: [textFault([field], t('console.scim.error.taken'))], cause: error });
}
