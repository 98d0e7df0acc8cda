// JSON values beside the settings in their table, under keys that no setting has: `<domain>:<id>`.
import type { Tx } from '../../base/storage/database.ts';

/** Stores a value as JSON, in place of what the key held. `mac` makes the MAC of its row. */
export async function storeValue(
  tx: Tx,
  key: string,
  value: unknown,
  { source, at, mac }: { source: string; at: Date; mac?: (text: string) => string },
): Promise<void> {
  const text = JSON.stringify(value);
  const row = { value: text, source, updatedAt: at, ...(mac && { mac: mac(text) }) };
  await tx.setting.upsert({ where: { key }, create: { key, ...row }, update: row });
}

/** The row of this key; undefined without one. */
export async function storedRow(tx: Tx, key: string): Promise<{ value: string; mac: string } | undefined> {
  return (await tx.setting.findUnique({ where: { key }, select: { value: true, mac: true } })) ?? undefined;
}

/** The keys that begin with this text and were stored before `before`. */
export async function storedKeys(tx: Tx, prefix: string, before: Date): Promise<string[]> {
  const where = { key: { startsWith: prefix }, updatedAt: { lt: before } };
  return (await tx.setting.findMany({ where, select: { key: true } })).map(({ key }) => key);
}

/** Removes the values of these keys that were stored before `before`; not more than one statement can take. */
export async function removeValues(tx: Tx, keys: readonly string[], before?: Date): Promise<void> {
  await tx.setting.deleteMany({ where: { key: { in: [...keys] }, ...(before && { updatedAt: { lt: before } }) } });
}
