// Writes the MACs of the passkeys and phone numbers of an older version, as part of `gatehouse secrets adopt`. TOTP secrets and
// recovery codes need none: they are encrypted or hashed under a key, bound to their account.

import type { ProtectedRows } from '../audit/protected-rows.ts';
import { type AdoptOptions, adoptRows } from '../storage/adopt-rows.ts';
import type { Db } from '../storage/database.ts';
import { passkeyFields } from './factors/webauthn-ceremony.ts';
import { trustFields } from './known-browsers.ts';

/** Writes the MAC of every factor, whatever it is; returns the number of rows. */
export async function adoptFactors(db: Db, protectedRows: Pick<ProtectedRows, 'macOf'>) {
  const passkeys = await db.passkey.findMany({
    select: { id: true, userId: true, publicKey: true, userVerified: true },
  });
  for (const passkey of passkeys) {
    const mac = protectedRows.macOf('passkeys', passkeyFields(passkey));
    await db.passkey.update({ where: { id: passkey.id }, data: { mac } });
  }
  const phones = await db.phoneFactor.findMany({ select: { userId: true, number: true } });
  for (const { userId, number } of phones) {
    const mac = protectedRows.macOf('phone_factors', [userId, number]);
    await db.phoneFactor.update({ where: { userId }, data: { mac } });
  }
  return { passkeys: passkeys.length, phone_factors: phones.length };
}

/** Writes the MAC of every trusted browser without one; returns the number of rows. */
export function adoptTrust(
  db: Db,
  protectedRows: Pick<ProtectedRows, 'macOf'>,
  options?: AdoptOptions,
): Promise<number> {
  return adoptRows(
    db,
    {
      empty: () => db.knownBrowser.updateMany({ data: { mac: '' } }),
      next: (take) => db.knownBrowser.findMany({ where: { mac: '', trustedUntil: { not: null } }, take }),
      save(row) {
        const trustedUntil = row.trustedUntil ?? new Date(0);
        const mac = protectedRows.macOf('known_browsers', trustFields({ ...row, trustedUntil }));
        return db.knownBrowser.update({ where: { id: row.id }, data: { mac } });
      },
    },
    options,
  );
}
