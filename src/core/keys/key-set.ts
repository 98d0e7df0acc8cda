// The decrypted signing keys of this instance: the views for the OIDC engine and SAML, and the current set, which is updated
// from the table.
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import { type KeyPair, KeyringError, openKey, type PrivateJwk, privateJwk } from './key-pair.ts';
import { type KeyRow, keySetVersion, readKeys, versionOf } from './key-rows.ts';
import { type KeyAlg, type KeyDates, type KeyUse, keyAlgs } from './rotation.ts';

/** The uses whose keys have certificates. */
export type SamlUse = Exclude<KeyUse, 'oidc'>;

export interface SamlCertificate {
  kid: string;
  state: KeyDates['state'];
  certificatePem: string;
  until: Date;
}

export interface SamlCredential extends SamlCertificate {
  privateKey: KeyObject;
}

export interface KeySet {
  version: string;
  rows: KeyRow[];
  pairs: Map<string, KeyPair>;
}

/** Called after the set has changed. */
export type KeySetListener = () => void | Promise<void>;

/** The keys for tokens as JWKs with their private part, active ones first. */
export function jwksOf({ rows, pairs }: KeySet): { keys: PrivateJwk[] } {
  const keys = rows.flatMap(({ kid, use, alg }) => {
    const pair = pairs.get(kid);
    return use === 'oidc' && isKeyAlg(alg) && pair ? [privateJwk(pair, alg)] : [];
  });
  return { keys };
}

/** The certificates of the keys of one use, those of active keys first. */
export function samlCertificatesOf({ rows }: KeySet, wanted: SamlUse): SamlCertificate[] {
  return rows.flatMap(({ kid, use, state, certificate, certificateUntil }) =>
    use === wanted && certificate && certificateUntil
      ? [{ kid, state, certificatePem: certificate, until: certificateUntil }]
      : [],
  );
}

/** The keys of one use with their certificates, active ones first. */
export function samlCredentialsOf(set: KeySet, use: SamlUse): SamlCredential[] {
  return samlCertificatesOf(set, use).flatMap((certificate) => {
    const pair = set.pairs.get(certificate.kid);
    return pair ? [{ ...certificate, privateKey: pair.privateKey }] : [];
  });
}

/** The active key of one use with its certificate; throws KeyringError when there is none. */
export function samlCredentialOf(set: KeySet, use: SamlUse): SamlCredential {
  const active = samlCredentialsOf(set, use).find(({ state }) => state === 'active');
  if (!active) throw new KeyringError(`there is no active key for ${use}`);
  return active;
}

function isKeyAlg(alg: string): alg is KeyAlg {
  return (keyAlgs as readonly string[]).includes(alg);
}

/** Creates the current set of this instance. Calls of `follow` must not overlap. */
export function createCurrentKeySet({ db, vault }: { db: Db; vault: Vault }) {
  const listeners = new Set<KeySetListener>();
  let current: KeySet | undefined;
  return {
    /** Throws KeyringError before the first `follow`. */
    get(): KeySet {
      if (!current) throw new KeyringError('the signing keys are not loaded yet');
      return current;
    },

    /** Reads the table when it differs from the set, then runs the listeners; true when it differed. */
    async reload(): Promise<boolean> {
      const before = current;
      if (before?.version === (await keySetVersion(db))) return false;
      current = openKeySet(await readKeys(db), before, vault);
      if (!before) return true;
      try {
        for (const listener of listeners) await listener();
      } catch (error) {
        current = { ...current, version: 'listeners failed' }; // the next call runs them again
        throw error;
      }
      return true;
    },

    /** Adds a listener; returns a function that removes it. */
    onChange(listener: KeySetListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

// Decrypts new keys only. An unchanged key keeps its KeyObject, which caches computed values.
function openKeySet(rows: KeyRow[], before: KeySet | undefined, vault: Vault): KeySet {
  const pairs = rows.map((row) => {
    const pair = before?.pairs.get(row.kid) ?? openKey(row, vault);
    if (row.certificate && !new X509Certificate(row.certificate).checkPrivateKey(pair.privateKey))
      throw new KeyringError(`the certificate of signing key ${row.kid} belongs to another key`);
    return [row.kid, pair] as const;
  });
  return { version: versionOf(rows), rows, pairs: new Map(pairs) };
}
