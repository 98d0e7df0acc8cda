// The decrypted signing keys of this instance: the views for the OIDC engine and SAML, and the current set, which is updated
// from the table.
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Vault } from '../platform/vault.ts';
import type { Db } from '../storage/database.ts';
import { type KeyPair, KeyringError, openKey, type PrivateJwk, privateJwk } from './key-pair.ts';
import { type KeyRow, keySetVersion, readKeys, versionOf } from './key-rows.ts';
import type { KeyDates } from './rotation.ts';

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
    return use === 'oidc' && pair ? [privateJwk(pair, alg)] : [];
  });
  return { keys };
}

export function samlCertificatesOf({ rows }: KeySet): SamlCertificate[] {
  return rows.flatMap(({ kid, state, certificate, certificateUntil }) =>
    certificate && certificateUntil ? [{ kid, state, certificatePem: certificate, until: certificateUntil }] : [],
  );
}

/** The active SAML key with its certificate; throws KeyringError when there is none. */
export function samlCredentialOf(set: KeySet): SamlCredential {
  const active = samlCertificatesOf(set).find(({ state }) => state === 'active');
  const pair = active && set.pairs.get(active.kid);
  if (!pair) throw new KeyringError('there is no active SAML key');
  return { ...active, privateKey: pair.privateKey };
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
