// Decides when a signing key is published, activated, retired and removed. A key is published before it signs (OpenID
// Connect Core 10.1.1), and stays published until everything that it signed has expired. Pure functions of keys and time.
import { limits } from '../../base/limits.ts';

/**
 * `saml` signs as identity provider, `saml-sp` as service provider of upstream ones, and `saml-sp-encryption` decrypts their
 * assertions. Each has a key of its own, so that no message of one role passes for one of another.
 */
export const keyUses = ['oidc', 'saml', 'saml-sp', 'saml-sp-encryption'] as const;
export type KeyUse = (typeof keyUses)[number];
/** The algorithms of signing keys (JWA, RFC 7518 3.1 and RFC 8037 3.1). EdDSA is Ed25519. */
export const keyAlgs = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
export type KeyAlg = (typeof keyAlgs)[number];
/** Those of every stored key; one that decrypts has an algorithm of its own (RFC 7518 4.3). */
export const storedAlgs = [...keyAlgs, 'RSA-OAEP'] as const;
export type StoredAlg = (typeof storedAlgs)[number];
export type KeyState = 'next' | 'active' | 'retired';

export interface KeyDates {
  kid: string;
  use: KeyUse;
  alg: StoredAlg;
  state: KeyState;
  createdAt: Date;
  activatedAt: Date | null;
  retiredAt: Date | null;
}

export interface RotationPolicy {
  /** How long a key signs. */
  rotateAfterSeconds: number;
  /** How long a key is published before it may sign, so that clients and service providers have read it. */
  publishAheadSeconds: number;
  /** How long a retired key stays published. */
  retireAfterSeconds: number;
}

export type Step =
  | { do: 'create'; use: KeyUse; alg: StoredAlg; state: 'next' | 'active' }
  | { do: 'activate'; kid: string; instead: string | undefined }
  | { do: 'remove'; kid: string };

export interface RotationRequest {
  use: KeyUse;
  /** OIDC keys only: this algorithm alone; all of them when absent. */
  alg?: KeyAlg | undefined;
  /** Activate the next key even when it was not published long enough: after a leak. */
  force?: boolean;
  /** SAML keys only: activate the certificate that is published as the next one. */
  activate?: boolean;
}

export type RotationPlan =
  | { outcome: 'go'; steps: Step[] }
  | { outcome: 'too-early'; kid: string; readyAt: Date }
  | { outcome: 'published-already'; kid: string; readyAt: Date }
  | { outcome: 'nothing-to-activate' };

interface Slot {
  use: KeyUse;
  alg: StoredAlg;
  /** OIDC clients read the key set automatically; service providers often do not, so an administrator activates there. */
  isAutomatic: boolean;
}

const slots: Slot[] = [
  ...keyAlgs.map((alg): Slot => ({ use: 'oidc', alg, isAutomatic: true })),
  { use: 'saml', alg: 'RS256', isAutomatic: false },
  { use: 'saml-sp', alg: 'RS256', isAutomatic: false },
  { use: 'saml-sp-encryption', alg: 'RSA-OAEP', isAutomatic: false },
];

const HOUR = 3600;

/** The policy for sessions of this length, because an ID token serves as id_token_hint as long as its session lasts. */
export function rotationPolicy(sessionSeconds: number): RotationPolicy {
  return {
    rotateAfterSeconds: limits.keys.rotateAfterDays * 24 * HOUR,
    publishAheadSeconds: limits.keys.publishAheadSeconds,
    retireAfterSeconds: Math.max(limits.keys.retireAfterSeconds, sessionSeconds + HOUR),
  };
}

/** The scheduled steps: create missing keys, rotate old ones, remove retired ones. */
export function dueSteps(keys: readonly KeyDates[], now: Date, policy: RotationPolicy): Step[] {
  const removed = keys
    .filter(
      (key) => key.state === 'retired' && addSeconds(key.retiredAt ?? key.createdAt, policy.retireAfterSeconds) <= now,
    )
    .map(({ kid }): Step => ({ do: 'remove', kid }));
  return [...slots.flatMap((slot) => [...missing(slot, keys), ...scheduled(slot, keys, now, policy)]), ...removed];
}

/** The steps of a rotation that an administrator requests, or the reason why it is not possible now. */
export function planRotation(
  keys: readonly KeyDates[],
  { use, alg: only, force = false, activate = false }: RotationRequest,
  { now, policy }: { now: Date; policy: RotationPolicy },
): RotationPlan {
  const own = slots.filter((slot) => slot.use === use && (only === undefined || slot.alg === only));
  const waiting = own.flatMap((slot) => find(keys, slot, 'next') ?? []);
  const readyAt = (key: KeyDates) => canSignFrom(key, policy);
  if (use !== 'oidc' && !activate) {
    const [published] = waiting;
    if (published) return { outcome: 'published-already', kid: published.kid, readyAt: readyAt(published) };
    return { outcome: 'go', steps: own.map(({ alg }): Step => ({ do: 'create', use, alg, state: 'next' })) };
  }
  if (waiting.length < own.length) return { outcome: 'nothing-to-activate' };
  // The newest: before it may sign, the rotation is not possible.
  const [early] = waiting
    .filter((key) => readyAt(key) > now)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
  if (early && !force) return { outcome: 'too-early', kid: early.kid, readyAt: readyAt(early) };
  return { outcome: 'go', steps: own.flatMap((slot) => promotion(slot, keys)) };
}

/** When a next key has been published long enough to sign. */
export function canSignFrom({ createdAt }: KeyDates, { publishAheadSeconds }: RotationPolicy): Date {
  return addSeconds(createdAt, publishAheadSeconds);
}

function missing(slot: Slot, keys: readonly KeyDates[]): Step[] {
  const { use, alg, isAutomatic } = slot;
  const steps: Step[] = [];
  if (!find(keys, slot, 'active')) steps.push({ do: 'create', use, alg, state: 'active' });
  if (isAutomatic && !find(keys, slot, 'next')) steps.push({ do: 'create', use, alg, state: 'next' });
  return steps;
}

function scheduled(slot: Slot, keys: readonly KeyDates[], now: Date, policy: RotationPolicy): Step[] {
  const active = find(keys, slot, 'active');
  const next = find(keys, slot, 'next');
  if (!slot.isAutomatic || !active || !next) return [];
  const isOld = addSeconds(active.activatedAt ?? active.createdAt, policy.rotateAfterSeconds) <= now;
  const isPublished = addSeconds(next.createdAt, policy.publishAheadSeconds) <= now;
  return isOld && isPublished ? promotion(slot, keys) : [];
}

function promotion(slot: Slot, keys: readonly KeyDates[]): Step[] {
  const { use, alg, isAutomatic } = slot;
  const next = find(keys, slot, 'next');
  if (!next) return [];
  const activate: Step = { do: 'activate', kid: next.kid, instead: find(keys, slot, 'active')?.kid };
  return isAutomatic ? [activate, { do: 'create', use, alg, state: 'next' }] : [activate];
}

function find(keys: readonly KeyDates[], { use, alg }: Slot, state: KeyState): KeyDates | undefined {
  return keys.find((key) => key.use === use && key.alg === alg && key.state === state);
}

function addSeconds(date: Date, seconds: number): Date {
  return new Date(date.getTime() + seconds * 1000);
}
