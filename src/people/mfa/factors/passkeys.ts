// Passkeys and security keys of an account, to sign in without a password or as second factor: registration,
// authentication, and the list that its owner manages.

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  VerifiedAuthenticationResponse,
  VerifiedRegistrationResponse,
} from '@simplewebauthn/server';
import { conflict } from '../../../base/http/errors.ts';
import { displayName, type fullName } from '../../../base/http/pages/tokens.ts';
import { limits } from '../../../base/limits.ts';
import { isUniqueConstraintError, type Tx, transaction, withinTransaction } from '../../../base/storage/database.ts';
import { t } from '../../../base/texts/text.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import type { Amr } from '../acr.ts';
import { clearResetByMail } from '../first-enrolment-rule.ts';
import {
  type AssertionResponse,
  type AttestationResponse,
  descriptorsOf,
  passkeyFault,
  redeemChallenge,
  TIMEOUT_MS,
  verificationResult,
  webauthn,
  withoutAttestation,
} from './webauthn-ceremony.ts';

export interface PasskeySummary {
  id: string;
  name: string;
  backedUp: boolean;
  discoverable: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
}

export type Passkeys = ReturnType<typeof createPasskeys>;

export function createPasskeys(
  dependencies: Core & {
    /** The name that the device shows. */
    serviceName: string;
  },
) {
  const { db, audit } = dependencies;
  return {
    ...createPasskeyRegistrar(dependencies),
    ...createPasskeyAuthenticator(dependencies),

    /** Loads the library ahead of its first use. */
    async prepare(): Promise<void> {
      await webauthn();
    },

    list: (userId: string): Promise<PasskeySummary[]> =>
      db.asStored.passkey.findMany({
        where: { userId },
        orderBy: { createdAt: 'asc' },
        select: { id: true, name: true, backedUp: true, discoverable: true, createdAt: true, lastUsedAt: true },
      }),

    rename: (userId: string, id: string, name: string, by: Actor = {}): Promise<boolean> =>
      transaction(db, async (tx) => {
        const data = { name: passkeyName(name) };
        const { count } = await tx.passkey.updateMany({ where: { id, userId }, data });
        if (count === 0) return false;
        await audit.record({ ...by, type: 'passkey.renamed', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    remove: (userId: string, id: string, by: Actor = {}, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const found = await tx.asStored.passkey.findFirst({ where: { id, userId }, select: { name: true } });
        const { count } = await tx.passkey.deleteMany({ where: { id, userId } });
        if (count === 0) return false;
        const data = { name: found?.name ?? '' };
        await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId, data }, tx);
        return true;
      }),

    removeAll: (userId: string, by: Actor = {}, outer?: Tx): Promise<number> =>
      withinTransaction(db, outer, async (tx) => {
        const { count } = await tx.passkey.deleteMany({ where: { userId } });
        if (count > 0) {
          const data = { count };
          await audit.record({ ...by, type: 'passkey.removed', outcome: 'success', subjectId: userId, data }, tx);
        }
        return count;
      }),

    count: (userId: string, tx: Tx = db): Promise<number> => tx.passkey.count({ where: { userId } }),
  };
}

// Registers a passkey or security key (WebAuthn Level 3, 7.1). The caller stores the challenge between the two calls.

/** `amr`: what a sign-in with it proves. */
type PasskeyRegistration = { outcome: 'ok'; id: string; amr: Amr[] } | { outcome: 'wrong' | 'already-registered' };
type PasskeyOwner = Parameters<typeof fullName>[0] & { id: string; username: string };

/** What the server stored when it sent the options, with the name that the user gave. */
type RegistrationCeremony = {
  challenge: string;
  name: string;
  mustVerify?: boolean;
  /** In the transaction that stores the passkey, before it. `amr`: what a sign-in with it proves. */
  inTransaction?(tx: Tx, amr: Amr[]): Promise<void>;
} & Actor;
type NewPasskey = Parameters<Tx['passkey']['create']>[0]['data'] & { userId: string };

function createPasskeyRegistrar(
  dependencies: Core & {
    /** The name that the device shows. */
    serviceName: string;
  },
) {
  const { db, serviceName } = dependencies;
  const { issuerUrl } = dependencies.config;
  return {
    /** `mustVerify`: only a passkey that verifies its user is accepted. `isOnly`: it replaces the password, so it must name its account. */
    async registrationOptions(
      owner: PasskeyOwner,
      { mustVerify = false, isOnly = false } = {},
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { generateRegistrationOptions } = await webauthn();
      return generateRegistrationOptions({
        rpName: serviceName,
        rpID: issuerUrl.hostname,
        userID: new TextEncoder().encode(owner.id),
        userName: owner.username,
        userDisplayName: displayName(owner),
        timeout: TIMEOUT_MS,
        attestationType: 'none',
        excludeCredentials: await descriptorsOf(db, owner.id),
        // Preferred, not required: a security key without PIN is still a good second factor.
        authenticatorSelection: {
          residentKey: isOnly ? 'required' : 'preferred',
          userVerification: mustVerify ? 'required' : 'preferred',
        },
        extensions: { credProps: true },
      });
    },

    register: (
      owner: PasskeyOwner,
      answer: AttestationResponse,
      ceremony: RegistrationCeremony,
    ): Promise<PasskeyRegistration> => register(dependencies, owner, answer, ceremony),
  };
}

async function register(
  dependencies: Core,
  owner: PasskeyOwner,
  answer: AttestationResponse,
  { challenge, name, mustVerify = false, inTransaction, ...by }: RegistrationCeremony,
): Promise<PasskeyRegistration> {
  const { sql, now } = dependencies;
  const { issuerUrl } = dependencies.config;
  const { verifyRegistrationResponse } = await webauthn();
  const result: VerifiedRegistrationResponse | undefined = await verificationResult(
    verifyRegistrationResponse({
      response: await withoutAttestation(answer),
      expectedChallenge: challenge,
      expectedOrigin: issuerUrl.origin,
      expectedRPID: issuerUrl.hostname,
      requireUserVerification: mustVerify,
    }),
  );
  if (!result?.verified || !(await redeemChallenge({ sql, now }, challenge))) return { outcome: 'wrong' };
  const { credential, aaguid, credentialBackedUp, credentialDeviceType, userVerified } = result.registrationInfo;
  const publicKey = Uint8Array.from(credential.publicKey);
  if ((await passkeyFault(publicKey)) !== undefined) return { outcome: 'wrong' };
  const row = {
    id: credential.id,
    userId: owner.id,
    publicKey,
    userVerified,
    name: passkeyName(name),
    counter: BigInt(credential.counter),
    transports: JSON.stringify(credential.transports ?? []),
    aaguid,
    backedUp: credentialDeviceType === 'multiDevice' || credentialBackedUp,
    discoverable: answer.clientExtensionResults?.credProps?.rk ?? false,
    createdAt: now(),
  };
  const amr = amrOf(credentialDeviceType, userVerified);
  try {
    await store(dependencies, row, by, async (tx) => inTransaction?.(tx, amr));
  } catch (error) {
    if (isUniqueConstraintError(error)) return { outcome: 'already-registered' };
    throw error;
  }
  return { outcome: 'ok', id: credential.id, amr };
}

/** Throws conflict (409) when the account has as many passkeys as it may have. */
async function store(
  { db, audit }: Core,
  row: NewPasskey,
  by: Actor,
  inTransaction: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { userId, name, aaguid } = row;
  await transaction(db, async (tx) => {
    await inTransaction(tx);
    if ((await tx.passkey.count({ where: { userId } })) >= limits.passkey.maxPerUser) {
      throw conflict('conflict', { message: t('error.too-many-passkeys') });
    }
    await tx.passkey.create({ data: row });
    await clearResetByMail(tx, userId);
    const data = { name, aaguid };
    await audit.record({ ...by, type: 'passkey.enrolled', outcome: 'success', subjectId: userId, data }, tx);
  });
}

// The name that a user gives to a passkey.

const MAX_NAME = 60;

/** The name without control characters, at most 60 characters; a default for an empty one. */
function passkeyName(name: string): string {
  const text = name
    .normalize('NFC')
    .replace(/[\p{C}]/gu, '')
    .trim();
  return [...text].slice(0, MAX_NAME).join('') || 'Passkey';
}

// Verifies a sign-in with a passkey or security key (WebAuthn Level 3, 7.2). The caller stores the challenge between the two
// calls.

type PasskeyCheck =
  | { outcome: 'ok'; userId: string; passkeyId: string; amr: Amr[]; userVerified: boolean }
  /** `cloned`: the counter went backwards. `replayed`: this response was used before. */
  | { outcome: 'wrong' | 'unknown-passkey' | 'cloned' | 'replayed' };

export interface AccountKeys {
  userId: string;
  /** Only a key that verifies its user (PIN or biometric) is accepted. */
  mustVerify?: boolean;
}

type ExpectedAssertion = { challenge: string } & Partial<AccountKeys>;

function createPasskeyAuthenticator(dependencies: Core) {
  const { db } = dependencies;
  const { issuerUrl } = dependencies.config;
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

  const amr = amrOf(credentialDeviceType, userVerified);
  return { outcome: 'ok', userId: row.userId, passkeyId: row.id, amr, userVerified };
}

/** RFC 8176, section 2. */
const amrOf = (device: 'singleDevice' | 'multiDevice', isVerified: boolean): Amr[] => [
  device === 'singleDevice' ? 'hwk' : 'swk',
  'pop',
  ...(isVerified ? (['user'] as const) : []),
];
