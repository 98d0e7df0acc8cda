// The signing keys of tokens and assertions: created at the first start, stored encrypted in signing_keys, and rotated
// without a restart. Each instance holds the decrypted keys and reads changes of the table with refresh().

import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { OperatorError } from '../../base/platform/errors.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import type { AuditEventType } from '../audit/events.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { certificateInfo } from './certificate.ts';
import { type KeyPair, openKey, type PrivateJwk, privateJwk } from './key-pair.ts';
import {
  applySteps,
  type KeyRow,
  keySetVersion,
  type RecordStep,
  readKeys,
  resealKeys,
  versionOf,
} from './key-rows.ts';
import {
  canSignFrom,
  dueSteps,
  type KeyAlg,
  type KeyDates,
  type KeyUse,
  keyAlgs,
  planRotation,
  type RotationPlan,
  type RotationPolicy,
  type RotationRequest,
  rotationPolicy,
} from './rotation.ts';

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
export function createKeyring(
  deps: Base & {
    /** Records every key that is created, signs, retires or is removed. */
    audit: Audit;
    /** The current maximum length of a session; a retired key stays published longer. */
    sessionSeconds?: () => number;
  },
) {
  const { now, logger, sessionSeconds = () => limits.session.defaultHours * 3600 } = deps;
  const context = { ...deps, policy: () => rotationPolicy(sessionSeconds()) };
  const inSequence = createSequence();
  const current = createCurrentKeySet(deps);

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

async function listKeys({ db, policy }: RotationContext): Promise<KeyInfo[]> {
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

// The decrypted signing keys of this instance: the views for the OIDC engine and SAML, and the current set, which is updated
// from the table.

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

interface KeySet {
  version: string;
  rows: KeyRow[];
  pairs: Map<string, KeyPair>;
}

/** Called after the set has changed. */
type KeySetListener = () => void | Promise<void>;

/** The keys for tokens as JWKs with their private part, active ones first. */
function jwksOf({ rows, pairs }: KeySet): { keys: PrivateJwk[] } {
  const keys = rows.flatMap(({ kid, use, alg }) => {
    const pair = pairs.get(kid);
    return use === 'oidc' && isKeyAlg(alg) && pair ? [privateJwk(pair, alg)] : [];
  });
  return { keys };
}

/** The certificates of the keys of one use, those of active keys first. */
function samlCertificatesOf({ rows }: KeySet, wanted: SamlUse): SamlCertificate[] {
  return rows.flatMap(({ kid, use, state, certificate, certificateUntil }) =>
    use === wanted && certificate && certificateUntil
      ? [{ kid, state, certificatePem: certificate, until: certificateUntil }]
      : [],
  );
}

/** The keys of one use with their certificates, active ones first. */
function samlCredentialsOf(set: KeySet, use: SamlUse): SamlCredential[] {
  return samlCertificatesOf(set, use).flatMap((certificate) => {
    const pair = set.pairs.get(certificate.kid);
    return pair ? [{ ...certificate, privateKey: pair.privateKey }] : [];
  });
}

/** The active key of one use with its certificate; throws OperatorError when there is none. */
function samlCredentialOf(set: KeySet, use: SamlUse): SamlCredential {
  const active = samlCredentialsOf(set, use).find(({ state }) => state === 'active');
  if (!active) throw new OperatorError(`there is no active key for ${use}`);
  return active;
}

function isKeyAlg(alg: string): alg is KeyAlg {
  return (keyAlgs as readonly string[]).includes(alg);
}

/** Creates the current set of this instance. Calls of `reload` must not overlap. */
function createCurrentKeySet({ db, vault }: { db: Db; vault: Vault }) {
  const listeners = new Set<KeySetListener>();
  let current: KeySet | undefined;
  return {
    /** Throws OperatorError before the first `reload`. */
    get(): KeySet {
      if (!current) throw new OperatorError('the signing keys are not loaded yet');
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
      throw new OperatorError(`the certificate of signing key ${row.kid} belongs to another key`);
    return [row.kid, pair] as const;
  });
  return { version: versionOf(rows), rows, pairs: new Map(pairs) };
}

// Applies the steps of a scheduled or requested rotation, and records each in the audit log.

export type RotationOutcome =
  | { outcome: 'rotated'; activated: string[]; published: string[] }
  | { outcome: 'published'; kid: string }
  | { outcome: 'superseded' } // another instance rotated at the same time
  | Exclude<RotationPlan, { outcome: 'go' }>;

type RotationContext = Base & { audit: Audit; policy: () => RotationPolicy };

/** Applies every step that is due now. */
async function applyDueSteps(context: RotationContext): Promise<void> {
  const { db, now, policy, logger, audit } = context;
  // When another instance applied the same steps first, this one checks again whether more are due.
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const steps = dueSteps(await readKeys(db), now(), policy());
    if (steps.length === 0) return;
    const created = await applySteps(steps, context, recordedAs(audit, {}, { scheduled: true }));
    if (created !== 'superseded') logger.info({ steps, created }, 'signing keys changed as scheduled');
  }
}

/** Rotates on request of an administrator; `changed` runs after the change of the table and before the result. */
async function rotateKeys(
  context: RotationContext,
  request: RotationRequest,
  by: Actor,
  changed: () => Promise<unknown>,
): Promise<RotationOutcome> {
  const { db, now, policy, logger, audit } = context;
  const plan = planRotation(await readKeys(db), request, { now: now(), policy: policy() });
  if (plan.outcome !== 'go') return plan;
  const created = await applySteps(plan.steps, context, recordedAs(audit, by, { forced: request.force === true }));
  await changed();
  if (created === 'superseded') return { outcome: 'superseded' };
  logger.info({ steps: plan.steps, created }, 'signing keys rotated by request');
  const activated = plan.steps.flatMap((step) => (step.do === 'activate' ? [step.kid] : []));
  const [kid] = created;
  return activated.length === 0 && kid
    ? { outcome: 'published', kid }
    : { outcome: 'rotated', activated, published: created };
}

function recordedAs(audit: Audit, by: Actor, how: { scheduled: true } | { forced: boolean }): RecordStep {
  const record = (type: AuditEventType, tx: Tx, data: object) =>
    audit.record({ ...by, type, outcome: 'success', data: { ...data, ...how } }, tx);
  return async (step, kid, tx) => {
    if (step.do === 'remove') return record('key.removed', tx, { kid });
    if (step.do === 'create') {
      const { use, alg, state } = step;
      return record('key.created', tx, { kid, use, alg, state });
    }
    await record('key.activated', tx, { kid, instead: step.instead ?? null });
    if (step.instead !== undefined) await record('key.retired', tx, { kid: step.instead });
  };
}

// The periodic job of the signing keys: publishes, activates and retires them on schedule (rotation.ts).

export function keyJobs(keyring: Keyring): ScheduledJob[] {
  return [{ name: 'keys', everySeconds: 60, run: () => keyring.runSchedule() }];
}
