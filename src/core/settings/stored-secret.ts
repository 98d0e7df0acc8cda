// Secrets that must outlive a change of GATEHOUSE_SECRET, such as the salt of pairwise subjects: created once, encrypted, and
// read by every instance.

import { randomToken } from '../../base/platform/random.ts';
import type { Vault } from '../../base/platform/vault.ts';
import { type Db, isUniqueViolation } from '../../base/storage/database.ts';

/** The secret of this name; the first instance that reads it creates it, with `make` if it is more than random octets. */
export async function stableSecret(
  { db, vault }: { db: Db; vault: Vault },
  name: string,
  make: () => string | Promise<string> = randomToken,
): Promise<Buffer> {
  const key = `secret.${name}`;
  const context = `settings:${key}`;
  const read = async () => {
    const row = await db.setting.findUnique({ where: { key } });
    if (!row) return undefined;
    const sealed = JSON.parse(row.value) as string;
    const secret = vault.open(sealed, context);
    // Encrypted again under the newest value of GATEHOUSE_SECRET, so that the old value can be removed later.
    if (vault.isStale(sealed)) {
      await db.setting.update({ where: { key }, data: { value: JSON.stringify(vault.seal(secret, context)) } });
    }
    return secret;
  };
  const present = await read();
  if (present) return present;
  const value = JSON.stringify(vault.seal(await make(), context));
  await db.setting.create({ data: { key, value, source: 'secret' } }).catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
  });
  const made = await read();
  if (!made) throw new Error(`the secret ${name} could not be stored`);
  return made;
}
