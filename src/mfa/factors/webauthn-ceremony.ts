// What registration and authentication of passkeys share (WebAuthn Level 3): the library, the keys of an account as
// descriptors, and the single use of a challenge. The only file that loads @simplewebauthn/server.
import { limits } from '../../limits.ts';
import type { Clock } from '../../platform/clock.ts';
import { sha256 } from '../../platform/random.ts';
import type { Db } from '../../storage/database.ts';
import { isFirstUse } from '../../storage/single-use.ts';
import type { Sql } from '../../storage/statements.ts';

// A quarter of all modules: loaded when the server is ready, so that the start does not wait for them.
export const webauthn = () => import('@simplewebauthn/server');

export const TIMEOUT_MS = limits.passkey.timeoutSeconds * 1000;

/** The keys of an account, as the options of a ceremony name them. */
export async function descriptorsOf(db: Db, userId: string) {
  const rows = await db.passkey.findMany({ where: { userId }, select: { id: true, transports: true } });
  return rows.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) as string[] }));
}

/** The result of a verification; undefined when the library throws, as it does for every mismatch. */
export async function verificationResult<T extends { verified: boolean }>(check: Promise<T>): Promise<T | undefined> {
  try {
    return await check;
  } catch {
    return undefined; // a wrong challenge, origin, signature or flag
  }
}

/** Marks the challenge as used. False when an earlier response used it, at any instance. */
export async function redeemChallenge({ sql, now }: { sql: Sql; now: Clock }, challenge: string): Promise<boolean> {
  const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 2000);
  return isFirstUse(sql, `webauthn:${sha256(challenge)}`, expiresAt);
}

/** What the MAC of a passkey covers. */
export function passkeyFields({
  id,
  userId,
  publicKey,
  userVerified,
}: {
  id: string;
  userId: string;
  publicKey: Uint8Array;
  userVerified: boolean;
}): (string | boolean)[] {
  return [id, userId, Buffer.from(publicKey).toString('base64url'), userVerified];
}
