// The data keys: random keys that MACs, cookie keys and the signatures of audit checkpoints come from. They are stored encrypted
// under GATEHOUSE_SECRET, so that a change of that secret encrypts them again and everything made with them stays valid.

import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { DataKey, Vault } from '../../base/platform/vault.ts';
import { type Db, isUniqueConstraintError } from '../../base/storage/database.ts';
import { DatabaseError } from '../../base/storage/database-url.ts';

export interface DataKeys {
  /** For createVault(), the newest first. */
  mac: DataKey[];
  /** Signs the checkpoints of the audit log. */
  checkpoint: { id: string; privateKey: KeyObject };
}

export interface DataKeyRow {
  id: string;
  purpose: string;
  generation: number;
  keySealed: string;
  createdAt: Date;
}

const purposes = ['mac', 'audit-checkpoint'] as const;
type Purpose = (typeof purposes)[number];

/**
 * Opens the data keys; the first start of an empty database makes them. Throws DatabaseError when the keys of a database with
 * content are missing: new ones would not verify what is there, and anyone who removed them could hide a change that way.
 */
export async function openDataKeys(services: Base): Promise<DataKeys> {
  const { db, vault } = services;

  let rows = await readRows(db);
  if (rows.length === 0) {
    if (!(await isEmpty(db))) {
      throw new DatabaseError(
        'the data keys of this database are missing (table data_keys): restore them from a backup',
      );
    }
    rows = await storeDataKeys(db, newDataKeys(services));
  }
  return decryptDataKeys(rows, vault);
}

/** The rows of a new key for each purpose. */
export function newDataKeys({ vault, now }: Base): DataKeyRow[] {
  const row = (purpose: Purpose, key: Buffer) => {
    const id = randomToken(6);
    return { id, purpose, generation: 1, keySealed: vault.seal(key, contextOf(id)), createdAt: now() };
  };
  const checkpoint = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
  return [row('mac', randomBytes(limits.symmetricKey.minBytes)), row('audit-checkpoint', checkpoint)];
}

/** Stores the keys and returns those of the table: of two instances that start at once, both get the keys of the first. */
export async function storeDataKeys(db: Db, data: DataKeyRow[]): Promise<DataKeyRow[]> {
  await db.dataKey.createMany({ data }).catch((error: unknown) => {
    if (!isUniqueConstraintError(error)) throw error;
  });
  return readRows(db);
}

/** Decrypts the rows; throws DatabaseError when the key of a purpose is missing, VaultError when the secret is another one. */
export function decryptDataKeys(rows: readonly Omit<DataKeyRow, 'createdAt'>[], vault: Vault): DataKeys {
  const decrypt = (purpose: Purpose) =>
    rows
      .filter((row) => row.purpose === purpose)
      .map(({ id, keySealed }) => ({ id, key: vault.open(keySealed, contextOf(id)) }));
  const [checkpoint] = decrypt('audit-checkpoint');
  const mac = decrypt('mac');
  if (!checkpoint || mac.length === 0)
    throw new DatabaseError(
      'some data keys of this database are missing (table data_keys): restore them from a backup',
    );
  const privateKey = createPrivateKey({ key: checkpoint.key, type: 'pkcs8', format: 'der' });
  return { mac, checkpoint: { id: checkpoint.id, privateKey } };
}

function readRows(db: Db): Promise<DataKeyRow[]> {
  return db.dataKey.findMany({ orderBy: { generation: 'desc' } });
}

async function isEmpty(db: Db): Promise<boolean> {
  const [user, event] = await Promise.all([
    db.asStored.user.findFirst({ select: { id: true } }),
    db.auditEvent.findFirst({ select: { id: true } }),
  ]);
  return user === null && event === null;
}

function contextOf(id: string): string {
  return `data_keys:${id}`;
}
