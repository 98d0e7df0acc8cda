// The signing keys of tokens and assertions: created at the first start, stored encrypted in signing_keys, and rotated
// without a restart. Each instance holds the decrypted keys and reads changes of the table with refresh().
import type { KeyObject } from 'node:crypto';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import { certificateInfo } from './certificate.ts';
import type { PrivateJwk } from './key-pair.ts';
import { readKeys, resealKeys } from './key-rows.ts';
import {
  createCurrentKeySet,
  jwksOf,
  type SamlCertificate,
  type SamlCredential,
  type SamlUse,
  samlCertificatesOf,
  samlCredentialOf,
  samlCredentialsOf,
} from './key-set.ts';
import { applyDueSteps, type RotationContext, type RotationOutcome, rotateKeys } from './rotate-keys.ts';
import { canSignFrom, type KeyDates, type RotationRequest, rotationPolicy } from './rotation.ts';

export type { SamlCertificate, SamlCredential, SamlUse } from './key-set.ts';
export type { RotationOutcome } from './rotate-keys.ts';

export interface KeyringDependencies {
  db: Db;
  vault: Vault;
  now: Clock;
  /** The issuer URL; its host is the common name of the certificate. */
  issuer: string;
  logger: Logger;
  /** Records every key that is created, signs, retires or is removed. */
  audit: Audit;
  /** The current maximum length of a session; a retired key stays published longer. */
  sessionSeconds?: () => number;
}

export interface KeyInfo extends KeyDates {
  certificate?: { pem: string; fingerprint: string; until: Date };
  /** Of a next key. */
  canSignFrom?: Date;
}

/** The uses of the service provider's keys. */
export type ServiceProviderUse = Exclude<SamlUse, 'saml'>;

export type Keyring = ReturnType<typeof createKeyring>;

const DAY_MS = 24 * 3600 * 1000;

/** Creates the keyring of this instance; call load() before use. */
export function createKeyring(deps: KeyringDependencies) {
  const { db, vault, now, logger, audit, sessionSeconds = () => limits.session.defaultHours * 3600 } = deps;
  const host = new URL(deps.issuer).hostname;
  const context = { db, vault, now, host, audit, logger, policy: () => rotationPolicy(sessionSeconds()) };
  const inSequence = createSequence();
  const current = createCurrentKeySet({ db, vault });

  async function load(): Promise<void> {
    await applyDueSteps(context);
    await current.reload();
    const resealed = await resealKeys(current.get().rows, context);
    if (resealed > 0) logger.info({ resealed }, 'signing keys encrypted with the new secret');
  }

  async function runSchedule(): Promise<void> {
    await applyDueSteps(context);
    await current.reload();
    for (const { kid, until } of expiringCertificates())
      logger.warn({ kid, until }, 'the SAML signing certificate expires soon: publish the next one');
  }

  function expiringCertificates(): SamlCertificate[] {
    const warnAt = new Date(now().getTime() + limits.saml.certificateWarningDays * DAY_MS);
    return samlCertificatesOf(current.get(), 'saml').filter(
      ({ state, until }) => state !== 'retired' && until <= warnAt,
    );
  }

  return {
    /** Decrypts the keys, and creates missing ones. Must run before any other method. */
    load: (): Promise<void> => inSequence(load),
    /** Reads the table again; true when the set changed. Every instance calls it every limits.keys.reloadSeconds. */
    refresh: (): Promise<boolean> => inSequence(current.reload),
    /** Runs the scheduled steps that are due: rotates old keys, removes retired ones, logs warnings. A periodic job of one instance. */
    runSchedule: (): Promise<void> => inSequence(runSchedule),
    /** Activates the next key. SAML takes two calls: one publishes the next certificate, a later one activates it. */
    rotate: (request: RotationRequest, by: Actor = {}): Promise<RotationOutcome> =>
      inSequence(() => rotateKeys(context, request, by, current.reload)),
    /** Calls the listener after every change of the set; returns a function that removes it. */
    onChange: current.onChange,
    /** Private keys for the OIDC engine, which signs with the first of its algorithm: active, then next, then retired. */
    jwks: (): { keys: PrivateJwk[] } => jwksOf(current.get()),
    /** Every key in the table, for administrators. */
    list: (): Promise<KeyInfo[]> => listKeys(context),
    /** The active key and certificate for signing SAML messages. */
    samlCredential: (): SamlCredential => samlCredentialOf(current.get(), 'saml'),
    /** The certificates for the IdP metadata: the active one, then the next one, then those of retired keys. */
    samlCertificates: (): SamlCertificate[] => samlCertificatesOf(current.get(), 'saml'),
    /** The active key that signs as service provider of upstream identity providers. */
    serviceProviderCredential: (): SamlCredential => samlCredentialOf(current.get(), 'saml-sp'),
    /** The certificates for the metadata of the service provider, the active one first. */
    serviceProviderCertificates: (use: ServiceProviderUse): SamlCertificate[] => samlCertificatesOf(current.get(), use),
    /** The keys that decrypt assertions: the active one, then the next one, then retired ones. */
    decryptionKeys: (): KeyObject[] =>
      samlCredentialsOf(current.get(), 'saml-sp-encryption').map(({ privateKey }) => privateKey),
    /** Certificates in use that end within limits.saml.certificateWarningDays, or have ended. */
    expiringCertificates,
  };
}

async function listKeys({ db, policy }: Pick<RotationContext, 'db' | 'policy'>): Promise<KeyInfo[]> {
  const rows = await readKeys(db);
  return rows.map((row) => {
    const { kid, use, alg, state, createdAt, activatedAt, retiredAt, certificate: pem } = row;
    return {
      kid,
      use,
      alg,
      state,
      createdAt,
      activatedAt,
      retiredAt,
      ...(pem ? { certificate: { pem, ...certificateInfo(pem) } } : {}),
      ...(state === 'next' ? { canSignFrom: canSignFrom(row, policy()) } : {}),
    };
  });
}

// Runs calls one after the other, so that an older read of the table cannot replace a newer one.
function createSequence(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result;
    return result;
  };
}
