// API keys: created, found by their text, listed and revoked. Only a keyed hash is stored, as of client secrets. A row decides who calls
// the admin API, so it has a MAC over everything but the time of its last use.

import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { conflict, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { plural } from '../../base/platform/plural.ts';
import { randomToken } from '../../base/platform/random.ts';
import { createThrottle } from '../../base/platform/throttle.ts';
import { type Db, type Tx, withinTransaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';

export interface ApiKey {
  id: string;
  ownerId: string;
  name: string;
  /** `resource:action`, also limited ones. What it may do is what its owner has of them. */
  permissions: readonly string[];
  /** The last characters of the key. */
  lastFour: string;
  /** The account that created it; null: the command line. */
  createdBy: string | null;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
  /** At most an hour old. */
  lastUsedAt: Date | null;
}

export interface NewApiKey {
  ownerId: string;
  name: string;
  permissions: readonly string[];
  /** From now on. */
  days: number;
}

/** A key that someone presented. `fault`: why it is not valid; `key` is there when the presented text is really that key. */
export type PresentedKey = { key: ApiKey; fault?: 'expired' | 'revoked' } | { key?: undefined; fault: 'unknown' };

export interface ListApiKeys {
  /** `active`: neither expired nor revoked. */
  state: 'active' | 'ended';
  ownerId?: string | undefined;
  /** Only the keys that were created before this one: the last of the page before. */
  after?: { createdAt: Date; id: string } | undefined;
  limit: number;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

type Row = NonNullable<Awaited<ReturnType<Db['apiKey']['findUnique']>>>;

const HASH_PURPOSE = 'api-key';
const DAY_MS = 24 * 3600 * 1000;

export function createApiKeys(dependencies: Core) {
  const { db, vault, now } = dependencies;
  // An unknown id costs as much as a wrong secret.
  const noHash = vault.mac('', HASH_PURPOSE);

  return {
    /** Returns the key, the only time that its text can be read. Throws conflict (409) when the owner has too many. */
    create: (key: NewApiKey, by: Actor, tx?: Tx): Promise<{ key: ApiKey; text: string }> =>
      withinTransaction(db, tx, (inner) => createKey(dependencies, key, by, inner)),

    /** The key of this text. */
    async present(text: string): Promise<PresentedKey> {
      const id = idInKey(text);
      const row = id === undefined ? null : await db.apiKey.findUnique({ where: { id } });
      const matches = vault.macMatches(text, row?.secretHash ?? noHash, HASH_PURPOSE);
      if (!row || !matches) return { fault: 'unknown' };
      const key = keyOf(row);
      if (key.revokedAt) return { key, fault: 'revoked' };
      return key.expiresAt <= now() ? { key, fault: 'expired' } : { key };
    },

    /** The newest first. */
    async list({ state, ownerId, after, limit }: ListApiKeys): Promise<ApiKey[]> {
      const isOfOwner = ownerId === undefined ? {} : { userId: ownerId };
      const isAfter = after && {
        createdAt: { lte: after.createdAt },
        OR: [{ createdAt: { lt: after.createdAt } }, { id: { lt: after.id } }],
      };
      const rows = await db.asStored.apiKey.findMany({
        where: { AND: [inState(state, now()), isOfOwner, isAfter ?? {}] },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: limit,
      });
      return rows.map(keyOf);
    },

    /** Throws not_found (404). */
    async get(id: string): Promise<ApiKey> {
      const row = await db.asStored.apiKey.findUnique({ where: { id } });
      if (!row) throw noSuchKey();
      return keyOf(row);
    },

    /** False when it was revoked before. Throws not_found (404). */
    revoke: (id: string, by: Actor): Promise<boolean> =>
      withinTransaction(db, undefined, (tx) => revokeKey(dependencies, id, by, tx)),
  };
}

async function createKey(
  { vault, now, audit }: Core,
  { ownerId, name, permissions, days }: NewApiKey,
  by: Actor,
  tx: Tx,
): Promise<{ key: ApiKey; text: string }> {
  const createdAt = now();
  const active = await tx.apiKey.count({ where: { userId: ownerId, ...inState('active', createdAt) } });
  if (active >= limits.apiKey.maxPerUser) {
    const message = `This user already has ${plural(limits.apiKey.maxPerUser, 'API key')}. Revoke one first.`;
    throw conflict('conflict', { message });
  }
  const { id, text } = newKeyText();
  const row = {
    id,
    userId: ownerId,
    name,
    secretHash: vault.mac(text, HASH_PURPOSE),
    lastFour: text.slice(-4),
    permissions: JSON.stringify([...new Set(permissions)]),
    createdBy: by.actorId ?? null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + days * DAY_MS),
    revokedAt: null,
    lastUsedAt: null,
  };
  await tx.apiKey.create({ data: row });
  const data = { keyId: id, name, permissions, expiresAt: row.expiresAt };
  await audit.record({ ...by, type: 'api-key.created', outcome: 'success', subjectId: ownerId, data }, tx);
  return { key: keyOf(row), text };
}

async function revokeKey(dependencies: Core, id: string, by: Actor, tx: Tx): Promise<boolean> {
  const { now, audit } = dependencies;
  const row = await tx.asStored.apiKey.findUnique({ where: { id } });
  if (!row) throw noSuchKey();
  if (row.revokedAt) return false;
  const revokedAt = now();
  const ended = { revokedAt, expiresAt: new Date(Math.min(+row.expiresAt, +revokedAt)) };
  // A row that another program changed is no key, and stays none: the change does not confirm it.
  if ((await tx.apiKey.updateMany({ where: { id }, data: ended })).count === 0)
    await tx.asStored.apiKey.update({ where: { id }, data: { ...ended, mac: '' } });
  const data = { keyId: id, name: row.name };
  await audit.record({ ...by, type: 'api-key.revoked', outcome: 'success', subjectId: row.userId, data }, tx);
  return true;
}

function inState(state: ListApiKeys['state'], now: Date) {
  return state === 'active'
    ? { revokedAt: null, expiresAt: { gt: now } }
    : { OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] };
}

function keyOf({
  userId,
  permissions,
  secretHash: _hash,
  mac: _mac,
  ...row
}: Omit<Row, 'mac'> & { mac?: string }): ApiKey {
  return { ...row, ownerId: userId, permissions: listOf(permissions) };
}

/** None where another program wrote something else: a list displays the rows as they are. */
function listOf(permissions: string): string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(permissions));
  } catch {
    return [];
  }
}

function noSuchKey() {
  return notFound({ message: 'This API key doesn’t exist.' });
}

// The uses of API keys: when each was last used, and one audit event an hour for each, so that no call has to write. What a call
// changes is audited besides, with the key.

type RecordKeyUse = (key: ApiKey, by: Actor) => void;

/** Returns without waiting; a use that could not be stored is logged. */
export function createKeyUses({ db, audit, now, logger }: Core): RecordKeyUse {
  const isDue = createThrottle(now, limits.applicationUsage.seconds);

  return ({ id, name, ownerId, lastUsedAt }, by) => {
    if (!isDue(id, lastUsedAt)) return;
    const data = { keyId: id, name };
    Promise.all([
      db.apiKey.updateMany({ where: { id }, data: { lastUsedAt: now() } }),
      audit.record({ ...by, type: 'api-key.used', outcome: 'success', subjectId: ownerId, data }),
    ]).catch((err: unknown) => logger.warn({ err }, 'the use of an API key was not stored'));
  };
}

// The text of an API key (docs/decisions/0045-api-keys.md): `gh_`, the id of its row (11 characters), 256 random bits (43 characters)
// and a CRC-32 of all that (6 characters), each in base 62. The prefix and the checksum let secret scanners and this server tell a
// key from any other text without a database; a typing mistake is found the same way. Letters and digits only: a double click selects
// all of it.

const PREFIX = 'gh_';
const ID_BYTES = 8;
const SECRET_BYTES = 32;
const ID_LENGTH = 11;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = new RegExp(`^${PREFIX}([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new key, with the id under which it is stored. */
export function newKeyText(): { id: string; text: string } {
  const id = randomDigits(ID_BYTES, ID_LENGTH);
  const body = `${PREFIX}${id}${randomDigits(SECRET_BYTES, SECRET_LENGTH)}`;
  return { id, text: body + checksumOf(body) };
}

/** The id in a key; undefined for every text that is no complete key. */
export function idInKey(text: string): string | undefined {
  const [, id] = KEY.exec(text) ?? [];
  const end = text.length - CHECKSUM_LENGTH;
  return id !== undefined && checksumOf(text.slice(0, end)) === text.slice(end) ? id : undefined;
}

/** Whether a text claims to be an API key. An access token of this server is shorter. */
export function looksLikeKey(text: string): boolean {
  return KEY.test(text);
}

/** How lists display a key: its beginning, which is no secret, and its end; of a text of the configuration file, the end. */
export function maskedKey({ id, lastFour }: { id: string; lastFour: string }): string {
  return id.startsWith('file-') ? `…${lastFour}` : `${PREFIX}${id}…${lastFour}`;
}

function checksumOf(body: string): string {
  return inBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

function randomDigits(bytes: number, length: number): string {
  return inBase62(BigInt(`0x${Buffer.from(randomToken(bytes), 'base64url').toString('hex')}`), length);
}

function inBase62(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  while (text.length < length) {
    text = (DIGITS[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
