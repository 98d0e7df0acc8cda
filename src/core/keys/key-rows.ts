// The signing_keys table: reads it, and applies the steps of a rotation in one transaction. When several instances apply
// the same steps at the same time, exactly one succeeds.

import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { OperatorError } from '../../base/platform/errors.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import { selfSignedCertificate } from './certificate.ts';
import { makeKeyPair, openKey, publicJwk, sealKey } from './key-pair.ts';
import { type KeyDates, type KeyState, type KeyUse, keyUses, type Step, storedAlgs } from './rotation.ts';

export interface KeyRow extends KeyDates {
  privateSealed: string;
  certificate: string | null;
  certificateUntil: Date | null;
}

/** Called for each applied step, inside its transaction. */
export type RecordStep = (step: Step, kid: string, tx: Tx) => Promise<void>;

const states: KeyState[] = ['active', 'next', 'retired'];

/** Reads every key: active ones first, then next, then retired; of the same state and algorithm the newest first. */
export async function readKeys(db: Db): Promise<KeyRow[]> {
  const rows = await db.signingKey.findMany();
  return rows
    .map(({ id, use, alg, state, ...rest }) => ({
      ...rest,
      kid: id,
      use: oneOf(keyUses, use, id),
      alg: oneOf(storedAlgs, alg, id),
      state: oneOf(states, state, id),
    }))
    .sort(
      (a, b) =>
        states.indexOf(a.state) - states.indexOf(b.state) ||
        storedAlgs.indexOf(a.alg) - storedAlgs.indexOf(b.alg) ||
        b.createdAt.getTime() - a.createdAt.getTime(),
    );
}

/** The expiry of the certificates of the active keys of these uses. Reads only the table and decrypts nothing. */
export async function certificateEnds(db: Db, uses: readonly KeyUse[]): Promise<{ use: KeyUse; until: Date }[]> {
  const rows = await readKeys(db);
  return rows.flatMap(({ use, state, certificateUntil: until }) =>
    uses.includes(use) && state === 'active' && until ? [{ use, until }] : [],
  );
}

/** A text that changes whenever a key is added, removed or changes its state; it is cheap to read. */
export async function keySetVersion(db: Db): Promise<string> {
  const rows = await db.signingKey.findMany({ select: { id: true, state: true } });
  return versionOf(rows.map(({ id, state }) => ({ kid: id, state })));
}

/** The value of keySetVersion() for these rows. */
export function versionOf(rows: readonly { kid: string; state: string }[]): string {
  return rows
    .map(({ kid, state }) => `${kid} ${state}`)
    .sort()
    .join();
}

/** Applies the steps and returns the kids of new keys; 'superseded', without a change, when another instance was first. */
export async function applySteps(
  steps: readonly Step[],
  base: Base,
  recordStep: RecordStep,
): Promise<string[] | 'superseded'> {
  const { db, now } = base;
  // Generated before the transaction, because the search for primes takes longer than a transaction should.
  const created = await Promise.all(steps.map((step) => (step.do === 'create' ? newRow(step, base) : undefined)));
  try {
    // Serializable, because the absence of a row cannot be a condition of an UPDATE.
    await transaction(
      db,
      async (tx) => {
        for (const [index, step] of steps.entries()) {
          if (!(await apply(tx, step, created[index], now()))) throw new Superseded();
          await recordStep(step, step.do === 'create' ? (created[index]?.id ?? '') : step.kid, tx);
        }
      },
      { isolationLevel: 'Serializable' },
    );
    return created.flatMap((row) => (row ? [row.id] : []));
  } catch (error) {
    if (error instanceof Superseded) return 'superseded';
    throw error;
  }
}

/** Encrypts again, under the first secret, the rows that an older secret encrypted; skips a row that changed meanwhile. */
export async function resealKeys(rows: readonly KeyRow[], { db, vault }: Base): Promise<number> {
  const stale = rows.filter(({ privateSealed }) => vault.isStale(privateSealed));
  for (const row of stale) {
    const { kid: id, privateSealed } = row;
    const sealedAgain = sealKey(openKey(row, vault), vault);
    await db.signingKey.updateMany({ where: { id, privateSealed }, data: { privateSealed: sealedAgain } });
  }
  return stale.length;
}

class Superseded extends Error {}

type NewRow = Awaited<ReturnType<typeof newRow>>;

async function apply(tx: Tx, step: Step, created: NewRow | undefined, at: Date): Promise<boolean> {
  switch (step.do) {
    case 'create': {
      const { use, alg, state } = step;
      if (!created || (await tx.signingKey.count({ where: { use, alg, state } })) > 0) return false;
      await tx.signingKey.create({ data: created });
      return true;
    }
    case 'activate': {
      const { count } = await tx.signingKey.updateMany({
        where: { id: step.kid, state: 'next' },
        data: { state: 'active', activatedAt: at },
      });
      if (count !== 1 || step.instead === undefined) return count === 1;
      const retired = await tx.signingKey.updateMany({
        where: { id: step.instead, state: 'active' },
        data: { state: 'retired', retiredAt: at },
      });
      return retired.count === 1;
    }
    case 'remove': {
      const { count } = await tx.signingKey.deleteMany({ where: { id: step.kid, state: 'retired' } });
      return count === 1;
    }
  }
}

async function newRow({ use, alg, state }: Extract<Step, { do: 'create' }>, { config, vault, now }: Base) {
  const pair = await makeKeyPair(alg);
  const host = new URL(config.issuer).hostname;
  const from = now();
  const until = new Date(from.getTime() + limits.saml.certificateDays * 24 * 3600 * 1000);
  return {
    id: pair.kid,
    use,
    alg,
    state,
    publicJwk: JSON.stringify(publicJwk(pair, alg)),
    privateSealed: sealKey(pair, vault),
    certificate: use !== 'oidc' ? await selfSignedCertificate({ ...pair, host, from, until }) : null,
    certificateUntil: use !== 'oidc' ? until : null,
    createdAt: from,
    activatedAt: state === 'active' ? from : null,
  };
}

function oneOf<T extends string>(allowed: readonly T[], found: string, kid: string): T {
  const match = allowed.find((value) => value === found);
  if (match) return match;
  throw new OperatorError(`signing key ${kid} has the value "${found}" where one of ${allowed.join(', ')} is allowed`);
}
