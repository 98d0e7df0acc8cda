// App passwords, with which programs of a user sign in to one website behind a proxy (RFC 7617): created by the user, found by their text,
// and revoked. Only a keyed hash is stored. Six letters are a MAC for the website, so a made-up password costs no read of the database.

import { conflict } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { hmacSha256 } from '../base/platform/hmac.ts';
import { randomId, safeEqual } from '../base/platform/random.ts';
import { canonicalCode, encodeAsLetters, newReadableCode } from '../base/platform/readable-code.ts';
import { createThrottle } from '../base/platform/throttle.ts';
import { type Tx, withinTransaction } from '../base/storage/database.ts';
import { hotStatements } from '../base/storage/statements.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import { staffRule } from '../people/mfa/account-factors.ts';
import { accessDecisionFilter } from './access-decision.ts';
import { fromRow, withAccess } from './application.ts';
import type { ProxiedSettings } from './fields/proxied-application.ts';
import { signInRulesOf } from './rules/sign-in-rule.ts';

export interface AppPassword {
  id: string;
  name: string;
  /** The name and the address of the website. */
  website: string;
  origin: string;
  createdAt: Date;
  /** At most a minute old. */
  lastUsedAt: Date | null;
}

/** One that a program presented. */
export type PresentedAppPassword = Pick<AppPassword, 'id' | 'name' | 'lastUsedAt'> & {
  userId: string;
  applicationId: string;
};

/** 130 random bits. */
const SECRET_LETTERS = 26;
const TAG_LETTERS = 6;

interface Row {
  id: string;
  userId: string;
  applicationId: string;
  name: string;
  secretHash: string;
  createdAt: Date | string;
  mac: string;
  lastUsedAt: Date | string | null;
}

export const statements = hotStatements('app-passwords', {
  find: `SELECT id, user_id AS "userId", application_id AS "applicationId", name, secret_hash AS "secretHash", created_at AS "createdAt",
      mac, last_used_at AS "lastUsedAt"
    FROM app_passwords WHERE secret_hash = ?`,
});

/** A password is one factor, and says nothing about a connection. */
export function acceptsAppPasswords(website: ProxiedSettings): boolean {
  const { mfa, signInRule } = signInRulesOf(website);
  return website.app_passwords && mfa === undefined && signInRule === undefined;
}

export function createAppPasswords({ db, sql, vault, now, audit, logger, settings }: Core) {
  // The newest data key first: it makes a new password.
  const macs = vault.deriveKeys('app passwords').map(hmacSha256);
  const tagOf = (mac: (text: string) => string, secret: string, origin: string) =>
    encodeAsLetters(Buffer.from(mac(`tag ${origin} ${secret}`), 'base64url'), TAG_LETTERS).replaceAll('-', '');
  const hashOf = (mac: (text: string) => string, canonical: string) => mac(`hash ${canonical}`);
  // Another instance does not know of it and writes once more.
  const isDue = createThrottle(now, limits.appPassword.useSeconds);

  /** Whether the settings let the user sign in with one factor, which is what a password is. */
  function isEnoughFor(account: Account): boolean {
    const latest = settings.latest();
    return latest.mfa !== 'required' && staffRule(latest, account) === undefined;
  }

  /** The websites for which the user may create one, by name. */
  async function websitesFor(account: Account, tx: Tx = db) {
    if (!isEnoughFor(account)) return [];
    const where = { AND: [accessDecisionFilter(account), { protocol: 'proxy' }] };
    const rows = await tx.application.findMany({
      where,
      include: withAccess,
      orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
    });
    const websites = rows.map(fromRow).filter((one) => one.protocol === 'proxy');
    return websites.filter(({ metadata }) => acceptsAppPasswords(metadata));
  }

  return {
    isEnoughFor,
    websitesFor,

    /**
     * Returns the password, the only time that its text can be read; undefined for a website that is not open to the user. Throws
     * conflict (409) when the user has too many.
     */
    create: (account: Account, { applicationId, name }: { applicationId: string; name: string }, by: Actor) =>
      withinTransaction(db, undefined, async (tx): Promise<string | undefined> => {
        const website = (await websitesFor(account, tx)).find(({ id }) => id === applicationId);
        const [mac] = macs;
        if (!website || !mac) return undefined;
        if ((await tx.appPassword.count({ where: { userId: account.id } })) >= limits.appPassword.maxPerUser)
          throw conflict('conflict', { message: t('app-passwords.too-many') });
        const secret = newReadableCode(SECRET_LETTERS).replaceAll('-', '');
        const canonical = `${secret}${tagOf(mac, secret, website.clientId)}`;
        const row = { id: randomId(), userId: account.id, applicationId, name, createdAt: now(), lastUsedAt: null };
        await tx.appPassword.create({ data: { ...row, secretHash: hashOf(mac, canonical) } });
        const data = { passwordId: row.id, name };
        const about = { subjectId: account.id, clientId: website.clientId, data };
        await audit.record({ ...by, ...about, type: 'app-password.created', outcome: 'success' }, tx);
        return canonical.replace(/(.{4})(?=.)/g, '$1-');
      }),

    /** The password of this text for the website, by its origin. */
    async find(text: string, origin: string): Promise<PresentedAppPassword | undefined> {
      const canonical = text.length > 100 ? '' : canonicalCode(text);
      if (canonical.length !== SECRET_LETTERS + TAG_LETTERS) return undefined;
      const [secret, tag] = [canonical.slice(0, SECRET_LETTERS), canonical.slice(SECRET_LETTERS)];
      const mac = macs.find((one) => safeEqual(tagOf(one, secret, origin), tag));
      if (!mac) return undefined;
      const [row] = await sql.query<Row>(statements.find, hashOf(mac, canonical));
      if (!row) return undefined;
      const { createdAt, mac: rowMac, ...rest } = row;
      if (!sql.macs.isGenuine('app_passwords', { ...rest, createdAt: new Date(createdAt) }, rowMac)) return undefined;
      const { id, userId, applicationId, name, lastUsedAt } = rest;
      return { id, userId, applicationId, name, lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt) };
    },

    /** Returns without waiting; a use that could not be stored is logged. The first one is audited. */
    recordUse({ id, name, userId, lastUsedAt }: PresentedAppPassword, clientId: string, by: Actor): void {
      if (!isDue(id, lastUsedAt)) return;
      const about = { subjectId: userId, clientId, data: { passwordId: id, name } };
      Promise.all([
        db.appPassword.updateMany({ where: { id }, data: { lastUsedAt: now() } }),
        lastUsedAt === null && audit.record({ ...by, ...about, type: 'app-password.used', outcome: 'success' }),
      ]).catch((err: unknown) => logger.warn({ err }, 'the use of an app password was not stored'));
    },

    /** Those of a user, the newest first. */
    async list(userId: string): Promise<AppPassword[]> {
      const rows = await db.asStored.appPassword.findMany({
        where: { userId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        include: { application: { select: { name: true, clientId: true } } },
      });
      return rows.map(({ id, name, createdAt, lastUsedAt, application }) => {
        return { id, name, createdAt, lastUsedAt, website: application.name, origin: application.clientId };
      });
    },

    /** Deletes all of a user, because the password of the account changes or must: who knew it may have created some. */
    async endAll(userId: string, by: Actor, tx: Tx): Promise<void> {
      const rows = await tx.asStored.appPassword.findMany({ where: { userId }, include: { application: true } });
      if (rows.length === 0) return;
      await tx.appPassword.deleteMany({ where: { userId } });
      for (const { id, name, application } of rows) {
        const about = { subjectId: userId, clientId: application.clientId, data: { passwordId: id, name } };
        await audit.record({ ...by, ...about, type: 'app-password.revoked', outcome: 'success' }, tx);
      }
    },

    /** Deletes it; false where the user has none of this id. */
    revoke: (userId: string, id: string, by: Actor): Promise<boolean> =>
      withinTransaction(db, undefined, async (tx) => {
        const row = await tx.asStored.appPassword.findUnique({ where: { id }, include: { application: true } });
        if (row?.userId !== userId) return false;
        await tx.appPassword.deleteMany({ where: { id } });
        const about = {
          subjectId: userId,
          clientId: row.application.clientId,
          data: { passwordId: id, name: row.name },
        };
        await audit.record({ ...by, ...about, type: 'app-password.revoked', outcome: 'success' }, tx);
        return true;
      }),
  };
}
