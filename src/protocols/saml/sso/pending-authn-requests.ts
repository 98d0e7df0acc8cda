// Accepted AuthnRequests between /saml/sso and their Response: stored, tied to one browser, answered once. Part of every
// SAML sign-in, therefore plain SQL.

import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { limits } from '../../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../../base/platform/random.ts';
import { hotStatements } from '../../../base/storage/statements.ts';
import type { Core } from '../../../core/core.ts';
import type { RequestedAuthnContext } from '../messages/authn-request.ts';
import type { NameId } from '../messages/name-id.ts';
import type { NameIdFormatName } from '../xml/names.ts';

/** An accepted AuthnRequest, or an IdP-initiated sign-in, that waits for its Response. Stored as JSON. */
export interface PendingAuthnRequest {
  entityId: string;
  /** ID of the AuthnRequest; undefined for an IdP-initiated sign-in. */
  requestId: string | undefined;
  acsUrl: string;
  relayState: string | undefined;
  nameIdFormat: NameIdFormatName;
  mayCreateNameId: boolean;
  requestedContext: RequestedAuthnContext | undefined;
  forceAuthn: boolean;
  isPassive: boolean;
  /** The user that the assertion has to be about; undefined: any user. */
  subject: NameId | undefined;
  /** What the sign-in page has filled in. */
  loginHint: string | undefined;
  /** A test sign-in of the console: the Response is displayed there and never posted to the application. */
  isTest?: true;
}

/** How long an answered request is kept: for the page that shows the Response to a test sign-in. */
const ANSWERED_SECONDS = 10 * 60;
/** Stands for "not yet tied to a browser"; it equals no hash. */
const UNBOUND = '';
const OPEN = 'used_at IS NULL AND expires_at > ?';

const TABLE = 'saml_requests';
const COLUMNS = `id, application_id AS "applicationId", browser_hash AS "browserHash", data, mac`;

export const statements = hotStatements('authn-requests', {
  save: 'INSERT INTO saml_requests (id, application_id, request_id, browser_hash, data, expires_at, mac) VALUES (?,?,?,?,?,?,?)',
  find: `SELECT ${COLUMNS} FROM saml_requests WHERE id = ? AND application_id = ? AND browser_hash = ? AND ${OPEN}`,
  consume: `UPDATE saml_requests SET used_at = ?, expires_at = ?
    WHERE id = ? AND application_id = ? AND browser_hash = ? AND ${OPEN} RETURNING ${COLUMNS}`,
});

export function createPendingAuthnRequests(dependencies: Core) {
  const { db, sql, now } = dependencies;
  const requestOf = (row: { data: string } | undefined): PendingAuthnRequest | undefined =>
    row && (JSON.parse(row.data) as PendingAuthnRequest);

  return {
    /** Stores the request and returns its ID. Without a browser, `bindToBrowser` has to follow. */
    async save(applicationId: string, request: PendingAuthnRequest, browser: string | undefined): Promise<string> {
      const id = randomId();
      const browserHash = browser === undefined ? UNBOUND : sha256(browser);
      const expiresAt = new Date(now().getTime() + limits.saml.keptRequestSeconds * 1000);
      const requestId = request.requestId ?? null;
      const data = JSON.stringify(request);
      const mac = sql.macs.macOf(TABLE, { id, applicationId, browserHash, data });
      await sql.execute(statements.save, id, applicationId, requestId, browserHash, data, expiresAt, mac);
      return id;
    },

    /** Ties a request that was saved without a browser to this one. Works once. */
    async bindToBrowser(id: string, browser: string): Promise<PendingAuthnRequest | undefined> {
      const where = { id, browserHash: UNBOUND, usedAt: null, expiresAt: { gt: now() } };
      const row = await db.samlRequest.findFirst({ where });
      if (!row) return undefined;
      const browserHash = sha256(browser);
      const { count } = await db.samlRequest.updateMany({ where, data: { browserHash } });
      return count > 0 ? requestOf(row) : undefined;
    },

    /** The unanswered request of this application in this browser. */
    async find(
      id: string,
      applicationId: string,
      browser: string | undefined,
    ): Promise<PendingAuthnRequest | undefined> {
      if (!id || !browser) return undefined;
      const [row] = await sql.genuine<{ data: string }>(
        TABLE,
        statements.find,
        id,
        applicationId,
        sha256(browser),
        now(),
      );
      return requestOf(row);
    },

    /** The same, and marks it as answered: of several callers only one gets it. */
    async consume(
      id: string,
      applicationId: string,
      browser: string | undefined,
    ): Promise<PendingAuthnRequest | undefined> {
      if (!id || !browser) return undefined;
      const [at, keptUntil] = [now(), new Date(now().getTime() + ANSWERED_SECONDS * 1000)];
      const values = [at, keptUntil, id, applicationId, sha256(browser), at];
      return requestOf((await sql.genuine<{ data: string }>(TABLE, statements.consume, ...values))[0]);
    },

    /** Stores the encrypted Response to a test sign-in, for the page that shows it. */
    async saveTestResponse(id: string, sealed: string): Promise<void> {
      const data = JSON.stringify({ answer: sealed });
      await db.samlRequest.updateMany({ where: { id, usedAt: { not: null } }, data: { data } });
    },

    /** The encrypted Response to the test sign-in of this browser. */
    async testResponse(id: string, browser: string | undefined): Promise<string | undefined> {
      if (!browser) return undefined;
      const where = { id, browserHash: sha256(browser), usedAt: { not: null }, expiresAt: { gt: now() } };
      const row = await db.samlRequest.findFirst({ where });
      return row ? (JSON.parse(row.data) as { answer?: string }).answer : undefined;
    },
  };
}

// Ties a pending AuthnRequest to the browser that brought it, by a random value in a cookie.

export function createRequestBrowser({ cookies }: { cookies: Cookies }) {
  const of = (ctx: Context) => cookies.get(ctx, 'samlRequest');
  return {
    /** The value of this browser's cookie, if it has one. */
    of,
    /** The same; sets the cookie when there is none. */
    remember(ctx: Context): string {
      const value = of(ctx) ?? randomToken();
      cookies.set(ctx, 'samlRequest', value);
      return value;
    },
  };
}
