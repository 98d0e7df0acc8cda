// Passkeys and hardware keys (seed 5.6, WebAuthn level 3): to sign in without a password, or as second factor. The only
// importer of @simplewebauthn/server. The caller keeps the challenge between options and verification.
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  VerifiedAuthenticationResponse,
  VerifiedRegistrationResponse,
} from '@simplewebauthn/server';
import type { Audit, By } from '../audit/audit.ts';
import { conflict } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx, transaction } from '../platform/db.ts';
import { sha256 } from '../platform/random.ts';
import type { Amr } from './acr.ts';
import type { AssertionResponse, AttestationResponse } from './webauthn-input.ts';

export interface PasskeySummary {
  id: string;
  name: string;
  backedUp: boolean;
  discoverable: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type PasskeyRegistration = { outcome: 'ok'; id: string } | { outcome: 'wrong' | 'already-registered' };
export type PasskeyCheck =
  | { outcome: 'ok'; userId: string; passkeyId: string; amr: Amr[]; userVerified: boolean }
  /** `cloned`: its counter went backwards. `replayed`: this very answer was used before. */
  | { outcome: 'wrong' | 'unknown-passkey' | 'cloned' | 'replayed' };

export interface OnePersonsKeys {
  userId: string;
  /** The key alone has to do: it must verify its user. */
  mustVerify?: boolean;
}

export interface PasskeyOwner {
  id: string;
  username: string;
  name: string | null;
}

export interface Passkeys {
  /** Loads the library ahead of its first use. */
  prepare(): Promise<void>;
  /** `mustVerify`: for who needs a passkey that does alone. */
  registrationOptions(owner: PasskeyOwner, mustVerify?: boolean): Promise<PublicKeyCredentialCreationOptionsJSON>;
  register(
    owner: PasskeyOwner,
    answer: AttestationResponse,
    kept: { challenge: string; name: string; mustVerify?: boolean } & By,
  ): Promise<PasskeyRegistration>;
  /** For one person's keys as second factor, or for whatever passkey this device holds. */
  authenticationOptions(of?: OnePersonsKeys): Promise<PublicKeyCredentialRequestOptionsJSON>;
  /** Without `userId` the passkey says who it is, and its user must be verified (PIN, finger, face). */
  authenticate(answer: AssertionResponse, kept: { challenge: string } & Partial<OnePersonsKeys>): Promise<PasskeyCheck>;
  list(userId: string): Promise<PasskeySummary[]>;
  rename(userId: string, id: string, name: string, by?: By): Promise<boolean>;
  remove(userId: string, id: string, by?: By): Promise<boolean>;
  removeAll(userId: string, by?: By, tx?: Tx): Promise<number>;
  count(userId: string, tx?: Tx): Promise<number>;
}

export interface PasskeysNeeds {
  db: Db;
  now: Clock;
  audit: Audit;
  issuerUrl: URL;
  /** Shown by the device. */
  serviceName: string;
}

// A quarter of the whole server's modules: loaded once the server is ready, so that a start does not wait for them.
const webauthn = () => import('@simplewebauthn/server');

const TIMEOUT_MS = limits.passkey.timeoutSeconds * 1000;
const MAX_NAME = 60;

export function createPasskeys({ db, now, audit, issuerUrl, serviceName }: PasskeysNeeds): Passkeys {
  const rpID = issuerUrl.hostname;
  const expectedOrigin = issuerUrl.origin;

  async function descriptors(userId: string) {
    const rows = await db.passkey.findMany({ where: { userId }, select: { id: true, transports: true } });
    return rows.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) as string[] }));
  }

  async function verified<T extends { verified: boolean }>(check: Promise<T>): Promise<T | undefined> {
    try {
      return await check;
    } catch {
      return undefined; // the library throws for everything that does not fit: challenge, origin, signature, flags
    }
  }

  /** Whether this challenge is answered for the first time, on whatever instance. */
  async function firstAnswer(challenge: string): Promise<boolean> {
    const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 2000);
    try {
      await db.seenMessage.create({ data: { id: `webauthn:${sha256(challenge)}`, expiresAt } });
      return true;
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  }

  return {
    async prepare() {
      await webauthn();
    },

    async registrationOptions(owner, mustVerify = false) {
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        rpName: serviceName,
        rpID,
        userID: new TextEncoder().encode(owner.id),
        userName: owner.username,
        userDisplayName: owner.name ?? owner.username,
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: await descriptors(owner.id),
        // Preferred, not required: a plain security key without PIN is still a good second factor.
        authenticatorSelection: { residentKey: 'preferred', userVerification: mustVerify ? 'required' : 'preferred' },
        extensions: { credProps: true },
      });
    },

    async register(owner, answer, { challenge, name, mustVerify = false, ...by }) {
      const { verifyRegistrationResponse } = await webauthn();
      const result: VerifiedRegistrationResponse | undefined = await verified(
        verifyRegistrationResponse({
          response: answer,
          expectedChallenge: challenge,
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: mustVerify,
        }),
      );
      if (!result?.verified || !(await firstAnswer(challenge))) return { outcome: 'wrong' };
      const { credential, aaguid, credentialBackedUp, credentialDeviceType } = result.registrationInfo;
      const row = {
        id: credential.id,
        userId: owner.id,
        name: cleanName(name),
        publicKey: Uint8Array.from(credential.publicKey),
        counter: BigInt(credential.counter),
        transports: JSON.stringify(credential.transports ?? []),
        aaguid,
        backedUp: credentialDeviceType === 'multiDevice' || credentialBackedUp,
        discoverable: answer.clientExtensionResults?.credProps?.rk ?? false,
        userVerified: result.registrationInfo.userVerified,
        createdAt: now(),
      };
      try {
        await transaction(db, async (tx) => {
          if ((await tx.passkey.count({ where: { userId: owner.id } })) >= limits.passkey.maxPerUser) {
            throw conflict('conflict', { message: 'You have as many passkeys as one account can hold.' });
          }
          await tx.passkey.create({ data: row });
          const data = { name: row.name, aaguid };
          await audit.record({ ...by, type: 'passkey.enrolled', outcome: 'success', subjectId: owner.id, data }, tx);
        });
      } catch (error) {
        if (isUniqueViolation(error)) return { outcome: 'already-registered' };
        throw error;
      }
      return { outcome: 'ok', id: credential.id };
    },

    async authenticationOptions(of) {
      const { generateAuthenticationOptions } = await webauthn();
      return generateAuthenticationOptions({
        rpID,
        timeout: TIMEOUT_MS,
        userVerification: of === undefined || of.mustVerify ? 'required' : 'preferred',
        ...(of === undefined ? {} : { allowCredentials: await descriptors(of.userId) }),
      });
    },

    async authenticate(answer, { challenge, userId, mustVerify = userId === undefined }) {
      const row = await db.passkey.findUnique({ where: { id: answer.id } });
      if (!row || (userId !== undefined && row.userId !== userId)) return { outcome: 'unknown-passkey' };
      const handle = answer.response.userHandle;
      if (handle && Buffer.from(handle, 'base64url').toString() !== row.userId) return { outcome: 'wrong' };

      const { verifyAuthenticationResponse } = await webauthn();
      const result: VerifiedAuthenticationResponse | undefined = await verified(
        verifyAuthenticationResponse({
          response: answer,
          expectedChallenge: challenge,
          expectedOrigin,
          expectedRPID: rpID,
          requireUserVerification: mustVerify,
          // The counter is compared below, in the database, where two answers at once cannot both pass.
          credential: { id: row.id, publicKey: Uint8Array.from(row.publicKey), counter: 0 },
        }),
      );
      if (!result?.verified) return { outcome: 'wrong' };
      const { newCounter, userVerified, credentialDeviceType } = result.authenticationInfo;
      // A key that does not count says 0 for ever; for those only the challenge tells answers apart.
      const counter = newCounter === 0 ? { equals: 0n } : { lt: BigInt(newCounter) };
      if (!(await firstAnswer(challenge))) return { outcome: 'replayed' };
      const { count } = await db.passkey.updateMany({
        where: { id: row.id, counter },
        data: {
          counter: BigInt(newCounter),
          lastUsedAt: now(),
          backedUp: credentialDeviceType === 'multiDevice',
          ...(userVerified && { userVerified }), // a key that was given a PIN later on
        },
      });
      if (count === 0) return { outcome: 'cloned' };

      const amr: Amr[] = [credentialDeviceType === 'singleDevice' ? 'hwk' : 'swk', 'pop'];
      if (userVerified) amr.push('user');
      return { outcome: 'ok', userId: row.userId, passkeyId: row.id, amr, userVerified };
    },

    list: (userId) =>
      db.passkey.findMany({
        where: { userId },
        orderBy: { createdAt: 'asc' },
        select: { id: true, name: true, backedUp: true, discoverable: true, createdAt: true, lastUsedAt: true },
      }),

    rename: (userId, id, name, by = {}) =>
      transaction(db, async (tx) => {
        const data = { name: cleanName(name) };
        const { count } = await tx.passkey.updateMany({ where: { id, userId }, data });
        if (count === 0) return false;
        await audit.record({ ...by, type: 'passkey.renamed', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    remove: (userId, id, by = {}) =>
      transaction(db, async (tx) => {
        const { count } = await tx.passkey.deleteMany({ where: { id, userId } });
        if (count === 0) return false;
        await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId }, tx);
        return true;
      }),

    async removeAll(userId, by = {}, outer) {
      const work = async (tx: Tx) => {
        const { count } = await tx.passkey.deleteMany({ where: { userId } });
        if (count > 0) {
          const data = { count };
          await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId, data }, tx);
        }
        return count;
      };
      return outer ? work(outer) : transaction(db, work);
    },

    count: (userId, tx = db) => tx.passkey.count({ where: { userId } }),
  };
}

function cleanName(name: string): string {
  const text = name
    .normalize('NFC')
    .replace(/[\p{C}]/gu, '')
    .trim();
  return [...text].slice(0, MAX_NAME).join('') || 'Passkey';
}
