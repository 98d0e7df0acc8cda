// Client secrets at rest: hashed where they are only compared, sealed where an HMAC needs the value (client_secret_jwt,
// HS256). Several may be valid while one is rotated. A generated secret is returned once and never again.

import type { Base } from '../base/base.ts';
import { conflict } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { randomId, randomToken, safeEqual } from '../base/platform/random.ts';
import { createThrottle } from '../base/platform/throttle.ts';
import type { Tx } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';

/** Purpose of the keyed hash, which protocols/oidc/patches/clients.ts compares with. */
const SECRET_PURPOSE = 'client-secret';
// Enough for a rotation in progress; each costs the token endpoint one more HMAC.
const MAX_SECRETS = 5;

/** One unexpired secret: `value` where it is sealed, `hash` where it is not. */
export type UnexpiredSecret = {
  id: string;
  /** The last characters of the secret. */
  lastFour: string;
  createdAt: Date;
  expiresAt: Date | null;
  /** At most an hour old; undefined: never, or its method does not send it (client_secret_jwt). */
  lastUsedAt: Date | undefined;
  hash?: string;
  value?: string;
};

export type Secrets = ReturnType<typeof createSecrets>;

export type AddSecret = {
  sealed: boolean;
  value?: string | undefined;
  /** `now`: the others are deleted; a number: they stay valid for that many seconds; absent: they stay. */
  replace?: 'now' | number | undefined;
};

type SecretServices = Pick<Core, 'vault' | 'now'>;

/** The store of client secrets; every call joins the caller's transaction. */
export function createSecrets(dependencies: SecretServices) {
  const { vault, now } = dependencies;
  const hash = (value: string) => vault.mac(value, SECRET_PURPOSE);

  return {
    /** The unexpired secrets of an application, newest first. */
    async listUnexpired(applicationId: string, tx: Tx): Promise<UnexpiredSecret[]> {
      const rows = await tx.clientSecret.findMany({
        where: { applicationId },
        orderBy: { createdAt: 'desc' },
        include: { use: true },
      });
      return rows
        .filter((row) => row.expiresAt === null || row.expiresAt > now())
        .map(({ id, lastFour, createdAt, expiresAt, secretHash, secretSealed, use }) => ({
          id,
          lastFour,
          createdAt,
          expiresAt,
          lastUsedAt: use?.lastUsedAt,
          ...(secretHash === null ? {} : { hash: secretHash }),
          ...(secretSealed === null ? {} : { value: vault.open(secretSealed, context(id)).toString() }),
        }));
    },

    /** Stores `value` (or a new one) and returns it; the others end when `replace` says so. */
    async add(
      applicationId: string,
      { sealed, value = randomToken(limits.symmetricKey.minBytes), replace }: AddSecret,
      tx: Tx,
    ): Promise<{ id: string; value: string }> {
      if (replace === 'now') await tx.clientSecret.deleteMany({ where: { applicationId } });
      if (typeof replace === 'number') await endWithin(dependencies, applicationId, replace, tx);
      if ((await tx.clientSecret.count({ where: { applicationId } })) >= MAX_SECRETS) {
        throw conflict('conflict', {
          message: t('console.applications.error.too-many-secrets', { count: MAX_SECRETS }),
        });
      }
      const id = randomId();
      const secretSealed = sealed ? vault.seal(value, context(id)) : null;
      const row = { id, applicationId, secretSealed, secretHash: sealed ? null : hash(value), expiresAt: null };
      await tx.clientSecret.create({ data: { ...row, lastFour: value.slice(-4), createdAt: now() } });
      return { id, value };
    },

    /** Whether a stored secret is `value`. */
    matches: ({ hash, value }: UnexpiredSecret, candidate: string): boolean =>
      (value !== undefined && safeEqual(value, candidate)) ||
      (hash !== undefined && vault.macMatches(candidate, hash, SECRET_PURPOSE)),

    /** Sealed secrets become hashes, for an application that no longer needs their values. */
    async hashAll(applicationId: string, tx: Tx): Promise<void> {
      for (const { id, value } of await this.listUnexpired(applicationId, tx)) {
        if (value === undefined) continue;
        await tx.clientSecret.update({ where: { id }, data: { secretSealed: null, secretHash: hash(value) } });
      }
    },
  };
}

/** The secrets of the application end in so many seconds, unless they end earlier. */
async function endWithin(dependencies: SecretServices, applicationId: string, seconds: number, tx: Tx): Promise<void> {
  const { now } = dependencies;
  const end = new Date(now().getTime() + seconds * 1000);
  const where = { applicationId, OR: [{ expiresAt: null }, { expiresAt: { gt: end } }] };
  await tx.clientSecret.updateMany({ where, data: { expiresAt: end } });
  await tx.clientSecret.deleteMany({ where: { applicationId, expiresAt: { lte: now() } } });
}

function context(id: string): string {
  return `client_secrets:${id}`;
}

// When each client secret was last used, so that an administrator knows when an old one can be revoked. At most one write for each secret
// and hour, apart from the answer that it belongs to.

type RecordSecretUse = (secretId: string) => void;

/** Returns without waiting; a use that could not be stored is logged. */
export function createSecretUses({ db, now, logger }: Base): RecordSecretUse {
  const isDue = createThrottle(now, limits.applicationUsage.seconds);

  return (secretId) => {
    if (!isDue(secretId)) return;
    const lastUsedAt = now();
    const row = { secretId, lastUsedAt };
    db.clientSecretUse
      .upsert({ where: { secretId }, create: row, update: { lastUsedAt } })
      .catch((err: unknown) => logger.warn({ err }, 'the use of a client secret was not stored'));
  };
}
