// Accepted AuthnRequests while the person signs in: kept on the server, tied to one browser, answered once. And the IDs
// of messages that were seen, so that none is accepted twice by any instance (SAML Profiles 4.1.4.5 in reverse).
// On the way of every sign-in, so in plain SQL.
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId, sha256 } from '../platform/random.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import type { RequestedAuthnContext } from './authn-request.ts';
import type { NameIdFormatName } from './names.ts';

/** What the answer needs to know of the question. */
export interface Question {
  entityId: string;
  /** ID of the AuthnRequest; undefined when the sign-in was begun here. */
  requestId: string | undefined;
  acsUrl: string;
  relayState: string | undefined;
  nameIdFormat: NameIdFormatName;
  mayCreateNameId: boolean;
  requestedContext: RequestedAuthnContext | undefined;
  /** acr values that meet the requested context; undefined: any. */
  acrs: string[] | undefined;
  /** Only a sign-in with the password itself meets it. */
  needsPassword: boolean;
  forceAuthn: boolean;
  isPassive: boolean;
  subjectHint: string | undefined;
  /** Begun in the console: the answer is shown there and never reaches the application. */
  isTest?: true;
}

export interface KeptRequests {
  keep(applicationId: string, question: Question, browser: string | undefined): Promise<string>;
  /** Ties a request that came without our cookies to the browser that brought it. Once. */
  bind(id: string, browser: string): Promise<Question | undefined>;
  /** An unanswered request of this application in this browser. */
  open(id: string, applicationId: string, browser: string | undefined): Promise<Question | undefined>;
  /** The same, and nobody gets it again. */
  take(id: string, applicationId: string, browser: string | undefined): Promise<Question | undefined>;
  /** Keeps the sealed answer to a test, for the page that shows it in this browser. */
  keepAnswer(id: string, sealed: string): Promise<void>;
  answer(id: string, browser: string | undefined): Promise<string | undefined>;
  /** False when the message was seen before. */
  isNew(issuer: string, messageId: string): Promise<boolean>;
}

/** Not yet tied to a browser: no hash is that short. */
const UNBOUND = '';
const OPEN = 'used_at IS NULL AND expires_at > ?';

const SQL = {
  keep: 'INSERT INTO saml_requests (id, application_id, request_id, browser_hash, data, expires_at) VALUES (?,?,?,?,?,?)',
  bind: `UPDATE saml_requests SET browser_hash = ? WHERE id = ? AND browser_hash = ? AND ${OPEN} RETURNING data`,
  open: `SELECT data FROM saml_requests WHERE id = ? AND application_id = ? AND browser_hash = ? AND ${OPEN}`,
  take: `UPDATE saml_requests SET used_at = ?
    WHERE id = ? AND application_id = ? AND browser_hash = ? AND ${OPEN} RETURNING data`,
  keepAnswer: 'UPDATE saml_requests SET data = ? WHERE id = ? AND used_at IS NOT NULL',
  answer: 'SELECT data FROM saml_requests WHERE id = ? AND browser_hash = ? AND used_at IS NOT NULL AND expires_at > ?',
  see: 'INSERT INTO seen_messages (id, expires_at) VALUES (?,?) ON CONFLICT (id) DO NOTHING',
};

export interface KeptRequestsNeeds {
  sql: Sql;
  kind: 'sqlite' | 'postgresql';
  now: Clock;
}

export function createKeptRequests({ sql, kind, now }: KeptRequestsNeeds): KeptRequests {
  const text = sqlFor(kind, SQL);
  const inSeconds = (seconds: number) => new Date(now().getTime() + seconds * 1000);

  return {
    async keep(applicationId, question, browser) {
      const id = randomId();
      const browserHash = browser === undefined ? UNBOUND : sha256(browser);
      const expiresAt = inSeconds(limits.saml.keptRequestSeconds);
      const requestId = question.requestId ?? null;
      await sql.execute(text.keep, id, applicationId, requestId, browserHash, JSON.stringify(question), expiresAt);
      return id;
    },

    bind: async (id, browser) => questionOf(await sql.query(text.bind, sha256(browser), id, UNBOUND, now())),

    async open(id, applicationId, browser) {
      if (!id || !browser) return undefined;
      return questionOf(await sql.query(text.open, id, applicationId, sha256(browser), now()));
    },

    async take(id, applicationId, browser) {
      if (!id || !browser) return undefined;
      return questionOf(await sql.query(text.take, now(), id, applicationId, sha256(browser), now()));
    },

    async keepAnswer(id, sealed) {
      await sql.execute(text.keepAnswer, JSON.stringify({ answer: sealed }), id);
    },

    async answer(id, browser) {
      if (!browser) return undefined;
      const [row] = await sql.query<{ data: string }>(text.answer, id, sha256(browser), now());
      return row && (JSON.parse(row.data) as { answer?: string }).answer;
    },

    async isNew(issuer, messageId) {
      const id = sha256(`${issuer}\0${messageId}`);
      // Longer than a message can be accepted: its age, the skew on both sides, and room for a slow clock.
      return (await sql.execute(text.see, id, inSeconds(4 * limits.saml.requestAgeSeconds))) === 1;
    },
  };
}

function questionOf([row]: { data: string }[]): Question | undefined {
  return row && (JSON.parse(row.data) as Question);
}
