// Writes the MACs of the passkeys and phone numbers of an older version, as part of `gatehouse secrets adopt`. TOTP secrets and
// recovery codes need none: they are encrypted or hashed under a key, bound to their account.
import type { ProtectedRows } from '../audit/protected-rows.ts';
import type { Db } from '../storage/database.ts';
import { passkeyFields } from './factors/webauthn-ceremony.ts';

/** Writes the MAC of every factor, whatever it is; returns the number of rows. */
export async function adoptFactors(db: Db, protectedRows: Pick<ProtectedRows, 'macOf'>) {
  const passkeys = await db.passkey.findMany({ select: { id: true, userId: true, publicKey: true } });
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
