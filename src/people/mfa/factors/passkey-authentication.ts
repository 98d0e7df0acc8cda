// Verifies a sign-in with a passkey or security key (WebAuthn Level 3, 7.2). The caller stores the challenge between the two
// calls.

import type { PublicKeyCredentialRequestOptionsJSON, VerifiedAuthenticationResponse } from '@simplewebauthn/server';
import type { Core } from '../../../core/core.ts';
import type { Amr } from '../acr.ts';
import { descriptorsOf, redeemChallenge, TIMEOUT_MS, verificationResult, webauthn } from './webauthn-ceremony.ts';
import type { AssertionResponse } from './webauthn-input.ts';

export type PasskeyCheck =
  | { outcome: 'ok'; userId: string; passkeyId: string; amr: Amr[]; userVerified: boolean }
  /** `cloned`: the counter went backwards. `replayed`: this response was used before. */
  | { outcome: 'wrong' | 'unknown-passkey' | 'cloned' | 'replayed' };

export interface AccountKeys {
  userId: string;
  /** Only a key that verifies its user (PIN or biometric) is accepted. */
  mustVerify?: boolean;
}

type ExpectedAssertion = { challenge: string } & Partial<AccountKeys>;

export type PasskeyAuthenticator = ReturnType<typeof createPasskeyAuthenticator>;

export function createPasskeyAuthenticator(dependencies: Core) {
  const {
    db,
    config: { issuerUrl },
  } = dependencies;
  return {
    /** For the keys of one account, as second factor; without `of` for every passkey of this device. */
    async authenticationOptions(of?: AccountKeys): Promise<PublicKeyCredentialRequestOptionsJSON> {
      const { generateAuthenticationOptions } = await webauthn();
      return generateAuthenticationOptions({
        rpID: issuerUrl.hostname,
        timeout: TIMEOUT_MS,
        userVerification: of === undefined || of.mustVerify ? 'required' : 'preferred',
        ...(of === undefined ? {} : { allowCredentials: await descriptorsOf(db, of.userId) }),
      });
    },

    /** Without `userId` the passkey names the account, and must verify its user. */
    authenticate: (answer: AssertionResponse, expected: ExpectedAssertion): Promise<PasskeyCheck> =>
      authenticate(dependencies, answer, expected),
  };
}

async function authenticate(
  { db, sql, now, config: { issuerUrl } }: Core,
  answer: AssertionResponse,
  { challenge, userId, mustVerify = userId === undefined }: ExpectedAssertion,
): Promise<PasskeyCheck> {
  const row = await db.passkey.findUnique({ where: { id: answer.id } });
  if (!row || (userId !== undefined && row.userId !== userId)) return { outcome: 'unknown-passkey' };
  const handle = answer.response.userHandle;
  if (handle && Buffer.from(handle, 'base64url').toString() !== row.userId) return { outcome: 'wrong' };

  const { verifyAuthenticationResponse } = await webauthn();
  const result: VerifiedAuthenticationResponse | undefined = await verificationResult(
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: issuerUrl.origin,
      expectedRPID: issuerUrl.hostname,
      requireUserVerification: mustVerify,
      // The counter is compared below in the database, where two parallel responses cannot both pass.
      credential: { id: row.id, publicKey: Uint8Array.from(row.publicKey), counter: 0 },
    }),
  );
  if (!result?.verified) return { outcome: 'wrong' };
  const { newCounter, userVerified, credentialDeviceType } = result.authenticationInfo;
  // A key without a counter always sends 0; then only the challenge tells responses apart.
  const counter = newCounter === 0 ? { equals: 0n } : { lt: BigInt(newCounter) };
  if (!(await redeemChallenge({ sql, now }, challenge))) return { outcome: 'replayed' };
  // The key got a PIN after its registration.
  const nowVerified = userVerified && !row.userVerified && { userVerified };
  const { count } = await db.passkey.updateMany({
    where: { id: row.id, counter },
    data: {
      counter: BigInt(newCounter),
      lastUsedAt: now(),
      backedUp: credentialDeviceType === 'multiDevice',
      ...nowVerified,
    },
  });
  if (count === 0) return { outcome: 'cloned' };

  const amr: Amr[] = [credentialDeviceType === 'singleDevice' ? 'hwk' : 'swk', 'pop'];
  if (userVerified) amr.push('user');
  return { outcome: 'ok', userId: row.userId, passkeyId: row.id, amr, userVerified };
}
