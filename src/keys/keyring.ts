// The keys that tokens and assertions are signed with: made at the first start, sealed in signing_keys, rotated
// without a restart. Each instance holds the opened set and follows the table by refresh().
import { type KeyObject, X509Certificate } from 'node:crypto';
import type { Audit, By } from '../audit/audit.ts';
import type { AuditEventType } from '../audit/events.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db, Tx } from '../platform/db.ts';
import type { Logger } from '../platform/logger.ts';
import type { Vault } from '../platform/vault.ts';
import { certificateInfo } from './certificate.ts';
import { type KeyPair, KeyringError, openKey, type PrivateJwk, privateJwk } from './key-pair.ts';
import { applySteps, type KeyRow, keySetVersion, type NoteStep, readKeys, resealKeys, versionOf } from './key-rows.ts';
import {
  dueSteps,
  type KeyDates,
  planRotation,
  type RotationPlan,
  type RotationRequest,
  rotationPolicy,
} from './rotation.ts';

export interface KeyringDeps {
  db: Db;
  vault: Vault;
  now: Clock;
  /** Public base URL; its host names the certificate. */
  issuer: string;
  logger: Logger;
  /** Told of every key that comes, signs, retires or goes. */
  audit: Pick<Audit, 'record'>;
  /** How long a session may last at present: a retired key stays published longer than that. */
  sessionSeconds?: () => number;
}

export interface KeyInfo extends KeyDates {
  certificate?: { pem: string; fingerprint: string; until: Date };
}

export interface SamlCertificate {
  kid: string;
  state: KeyDates['state'];
  certificatePem: string;
  until: Date;
}

export interface SamlCredential extends SamlCertificate {
  privateKey: KeyObject;
}

export type RotationOutcome =
  | { outcome: 'rotated'; activated: string[]; published: string[] }
  | { outcome: 'published'; kid: string }
  | { outcome: 'superseded' } // another instance rotated in this very moment
  | Exclude<RotationPlan, { outcome: 'go' }>;

export interface Keyring {
  /** Opens the keys, and makes them where there are none. Before anything is signed. */
  load(): Promise<void>;
  /** Reads the table again; true when the set changed. For every instance, every limits.keys.reloadSeconds. */
  refresh(): Promise<boolean>;
  /** Does what is due: the turn of old keys, the end of retired ones, warnings. For one instance, now and then. */
  tend(): Promise<void>;
  /** Tells of every change of the set; returns how to stop that. */
  onChange(listener: () => void | Promise<void>): () => void;
  /** Private keys for the OIDC engine, which signs with the first that fits: active, then next, then retired. */
  jwks(): { keys: PrivateJwk[] };
  /** Lets the next key sign. SAML in two steps: publish the next certificate, later `activate` it. */
  rotate(request: RotationRequest, by?: By): Promise<RotationOutcome>;
  /** Every key as the table has it, for people to read. */
  list(): Promise<KeyInfo[]>;
  /** What SAML messages are signed with. */
  samlCredential(): SamlCredential;
  /** What metadata shows: the certificate that signs, then the next one, then those of retired keys. */
  samlCertificates(): SamlCertificate[];
  /** Certificates in use that end within limits.saml.certificateWarningDays, or have ended. */
  expiringCertificates(): SamlCertificate[];
}

interface KeySet {
  version: string;
  rows: KeyRow[];
  pairs: Map<string, KeyPair>;
}

const DAY_MS = 24 * 3600 * 1000;

/** Makes the keyring of this instance; load() it before use. */
export function createKeyring(deps: KeyringDeps): Keyring {
  const { db, vault, now, logger, audit, sessionSeconds = () => limits.session.defaultHours * 3600 } = deps;
  const rowsDeps = { db, vault, now, host: new URL(deps.issuer).hostname };
  const policy = () => rotationPolicy(sessionSeconds());
  const listeners = new Set<() => void | Promise<void>>();
  const inTurn = createTurn();
  let current: KeySet | undefined;

  function loaded(): KeySet {
    if (!current) throw new KeyringError('the signing keys are not loaded yet');
    return current;
  }

  async function makeDueSteps(): Promise<void> {
    // When another instance is quicker it did the same; look again, in case that was not all.
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const steps = dueSteps(await readKeys(db), now(), policy());
      if (steps.length === 0) return;
      const made = await applySteps(steps, rowsDeps, noteAs({}, { scheduled: true }));
      if (made !== 'superseded') logger.info({ steps, made }, 'signing keys changed as scheduled');
    }
  }

  async function follow(): Promise<boolean> {
    const before = current;
    if (before?.version === (await keySetVersion(db))) return false;
    current = openKeySet(await readKeys(db), before, vault);
    if (!before) return true;
    try {
      for (const listener of listeners) await listener();
    } catch (error) {
      current = { ...current, version: 'not told' }; // the next refresh tells again
      throw error;
    }
    return true;
  }

  function noteAs(by: By, how: { scheduled: true } | { forced: boolean }): NoteStep {
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

  async function rotate(request: RotationRequest, by: By): Promise<RotationOutcome> {
    const plan = planRotation(await readKeys(db), request, { now: now(), policy: policy() });
    if (plan.outcome !== 'go') return plan;
    const made = await applySteps(plan.steps, rowsDeps, noteAs(by, { forced: request.force === true }));
    await follow();
    if (made === 'superseded') return { outcome: 'superseded' };
    logger.info({ steps: plan.steps, made }, 'signing keys rotated by request');
    const activated = plan.steps.flatMap((step) => (step.do === 'activate' ? [step.kid] : []));
    const [kid] = made;
    return activated.length === 0 && kid
      ? { outcome: 'published', kid }
      : { outcome: 'rotated', activated, published: made };
  }

  function samlCertificates(): SamlCertificate[] {
    return loaded().rows.flatMap(({ kid, state, certificate, certificateUntil }) =>
      certificate && certificateUntil ? [{ kid, state, certificatePem: certificate, until: certificateUntil }] : [],
    );
  }

  function expiringCertificates(): SamlCertificate[] {
    const warnAt = new Date(now().getTime() + limits.saml.certificateWarningDays * DAY_MS);
    return samlCertificates().filter(({ state, until }) => state !== 'retired' && until <= warnAt);
  }

  return {
    rotate: (request, by = {}) => inTurn(() => rotate(request, by)),
    refresh: () => inTurn(follow),
    samlCertificates,
    expiringCertificates,
    load: () =>
      inTurn(async () => {
        await makeDueSteps();
        await follow();
        const resealed = await resealKeys(loaded().rows, rowsDeps);
        if (resealed > 0) logger.info({ resealed }, 'signing keys sealed under the new secret');
      }),
    tend: () =>
      inTurn(async () => {
        await makeDueSteps();
        await follow();
        for (const { kid, until } of expiringCertificates())
          logger.warn({ kid, until }, 'the SAML signing certificate ends soon: publish the next one');
      }),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    jwks() {
      const { rows, pairs } = loaded();
      const keys = rows.flatMap(({ kid, use, alg }) => {
        const pair = pairs.get(kid);
        return use === 'oidc' && pair ? [privateJwk(pair, alg)] : [];
      });
      return { keys };
    },
    async list() {
      const rows = await readKeys(db);
      return rows.map(({ kid, use, alg, state, createdAt, activatedAt, retiredAt, certificate: pem }) => ({
        ...{ kid, use, alg, state, createdAt, activatedAt, retiredAt },
        ...(pem ? { certificate: { pem, ...certificateInfo(pem) } } : {}),
      }));
    },
    samlCredential() {
      const active = samlCertificates().find(({ state }) => state === 'active');
      const pair = active && loaded().pairs.get(active.kid);
      if (!pair) throw new KeyringError('there is no active SAML key');
      return { ...active, privateKey: pair.privateKey };
    },
  };
}

// Opens what is not open yet: an unchanged key keeps its KeyObject, which holds what was computed for it.
function openKeySet(rows: KeyRow[], before: KeySet | undefined, vault: Vault): KeySet {
  const pairs = rows.map((row) => {
    const pair = before?.pairs.get(row.kid) ?? openKey(row, vault);
    if (row.certificate && !new X509Certificate(row.certificate).checkPrivateKey(pair.privateKey))
      throw new KeyringError(`the certificate of signing key ${row.kid} belongs to another key`);
    return [row.kid, pair] as const;
  });
  return { version: versionOf(rows), rows, pairs: new Map(pairs) };
}

// One at a time: an older reading of the table must not replace a newer one.
function createTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work, work);
    last = result;
    return result;
  };
}
