// What registration and authentication of passkeys share (WebAuthn Level 3): the library, the keys of an account as
// descriptors, and the single use of a challenge. The only file that loads @simplewebauthn/server.

import { z } from 'zod';
import type { Base } from '../../../base/base.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import type { Db } from '../../../base/storage/database.ts';
import { isFirstUse } from '../../../base/storage/seen-ids.ts';
import type { Sql } from '../../../base/storage/statements.ts';
import type { Fault } from '../../../base/texts/faults.ts';
import { jwkFault } from '../../../core/keys/foreign-keys.ts';

// A quarter of all modules: loaded when the server is ready, so that the start does not wait for them.
export const webauthn = () => import('@simplewebauthn/server');
const webauthnHelpers = () => import('@simplewebauthn/server/helpers');

export const TIMEOUT_MS = limits.passkey.timeoutSeconds * 1000;

/** The keys of an account, as the options of a ceremony name them. */
export async function descriptorsOf(db: Db, userId: string) {
  const rows = await db.asStored.passkey.findMany({ where: { userId }, select: { id: true, transports: true } });
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

/**
 * The response without its attestation statement, which nothing asks for: its certificates are a stranger's, and the library would verify
 * each of them and fetch the revocation lists that they name. A malformed one stays as it is, and the library rejects it.
 */
export async function withoutAttestation(answer: AttestationResponse): Promise<AttestationResponse> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await webauthnHelpers();
  const { response } = answer;
  try {
    const given = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
    const none = new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', given.get('authData')],
    ]);
    const attestationObject = isoBase64URL.fromBuffer(isoCBOR.encode(none) as Uint8Array<ArrayBuffer>);
    return { ...answer, response: { ...response, attestationObject } };
  } catch {
    return answer;
  }
}

/** What is wrong with the public key of a passkey (COSE_Key, RFC 9052 7); undefined: it is accepted. */
export async function passkeyFault(publicKey: Uint8Array<ArrayBuffer>): Promise<Fault | undefined> {
  const { cose, decodeCredentialPublicKey } = await webauthnHelpers();
  const key = decodeCredentialPublicKey(publicKey) as unknown as Map<number, unknown>;
  const { COSEKEYS, COSEKTY } = cose;
  const kty = key.get(COSEKEYS.kty);
  // ML-DSA, whose keys have one size.
  if (kty === COSEKTY.AKP) return undefined;
  const text = (member: number) => Buffer.from((key.get(member) as Uint8Array | undefined) ?? []).toString('base64url');
  if (kty === COSEKTY.RSA) return jwkFault({ kty: 'RSA', n: text(COSEKEYS.n), e: text(COSEKEYS.e) });
  const crv = CURVES[Number(key.get(COSEKEYS.crv))];
  return kty === COSEKTY.EC2
    ? jwkFault({ kty: 'EC', crv, x: text(COSEKEYS.x), y: text(COSEKEYS.y) })
    : jwkFault({ kty: 'OKP', crv, x: text(COSEKEYS.x) });
}

/** RFC 9053 7.1. */
const CURVES: Record<number, string> = { 1: 'P-256', 2: 'P-384', 3: 'P-521', 6: 'Ed25519' };

/** Marks the challenge as used. False when an earlier response used it, at any instance. */
export async function redeemChallenge({ sql, now }: { sql: Sql; now: Clock }, challenge: string): Promise<boolean> {
  const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 2000);
  return isFirstUse(sql, `webauthn:${sha256(challenge)}`, expiresAt);
}

// Parses the response of a WebAuthn ceremony, which a browser sends as JSON in a form field, and limits its size.
// passkeys.ts verifies it.

const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/);
const bytes = base64url.max(16_384); // attestation objects carry certificates
const credential = { id: base64url.min(1).max(1400), rawId: base64url.max(1400), type: z.literal('public-key') };
const extensions = z.object({ credProps: z.object({ rk: z.boolean().optional() }).optional() }).default({});
const attachment = z
  .enum(['platform', 'cross-platform'])
  .nullish()
  .transform((value) => value ?? undefined);

const attestation = z.object({
  ...credential,
  authenticatorAttachment: attachment,
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(20)).max(10).optional(),
  }),
});

const assertion = z.object({
  ...credential,
  authenticatorAttachment: attachment,
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: base64url
      .max(128)
      .nullish()
      .transform((value) => value ?? undefined),
  }),
});

export type AttestationResponse = z.output<typeof attestation>;
export type AssertionResponse = z.output<typeof assertion>;

/** The response to registration options; undefined when it is malformed. */
export function parseAttestation(text: string): AttestationResponse | undefined {
  return attestation.safeParse(fromJson(text)).data;
}

/** The response to authentication options; undefined when it is malformed. */
export function parseAssertion(text: string): AssertionResponse | undefined {
  return assertion.safeParse(fromJson(text)).data;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The challenge of a passkey for one form: `purpose` names its account, and the confirmation that it belongs to. */
export const sealChallenge = (base: Base, purpose: string, challenge: string): string =>
  sealForATime(base, challengeContext(purpose), challenge, limits.passkey.timeoutSeconds);

/** Undefined after its time, and where it was sealed for another purpose. */
export const openChallenge = (base: Base, purpose: string, sealed: string): string | undefined =>
  openInTime(base, challengeContext(purpose), z.string(), sealed);

const challengeContext = (purpose: string) => `passkey challenge:${purpose}`;
