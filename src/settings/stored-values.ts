// JSON values beside the settings in their table, under keys that no setting has: `<domain>:<id>`.
import type { Tx } from '../storage/database.ts';

/** Stores a value as JSON, in place of what the key held. */
export async function storeValue(
  tx: Tx,
  key: string,
  value: unknown,
  { source, at }: { source: string; at: Date },
): Promise<void> {
  const row = { value: JSON.stringify(value), source, updatedAt: at };
  await tx.setting.upsert({ where: { key }, create: { key, ...row }, update: row });
}

/** Removes the values of these keys; not more than one statement can take. */
export async function removeValues(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.setting.deleteMany({ where: { key: { in: [...keys] } } });
}
