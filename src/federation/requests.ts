// Requests to upstreams and their responses. The response may arrive without the cookies of the sign-in (a cross-site POST), so it
// is stored once under a new random value, and redeemed by the browser that started the request.

import { z } from 'zod';
import type { Base } from '../base/base.ts';
import { limits } from '../base/limits.ts';
import { randomToken, sha256 } from '../base/platform/random.ts';
import { hotStatements } from '../base/storage/statements.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** Why the request was sent. `test`: "Try it" of the console, which writes nothing. */
export type Purpose = 'sign-in' | 'link' | 'test';

export interface NewRequest {
  handle: string;
  connectionId: string;
  purpose: Purpose;
  /** The interaction (sign-in) or the single sign-on session (link, test) that started it. */
  boundTo: string;
  memory: Record<string, unknown>;
  /** The requirements of the application and the user for the sign-in. */
  demands: Demands;
}

const demands = z.object({
  /** The user must authenticate again. */
  forced: z.boolean(),
  maxAgeSeconds: z.number().optional(),
});
export type Demands = z.output<typeof demands>;

/** The binding is also stored encrypted, because another program could change its columns to redeem the response elsewhere. */
const requestData = z.object({
  memory: z.record(z.string(), z.unknown()),
  demands,
  connectionId: z.string(),
  purpose: z.string(),
  boundTo: z.string(),
  /** An authentication before it is not fresh. */
  sentAt: z.iso.datetime(),
});
const answerData = z.record(z.string(), z.string());

export interface AnsweredRequest {
  /** The id under which `storeIdentity` stores the identity of the response. */
  id: string;
  connectionId: string;
  purpose: Purpose;
  boundTo: string;
  memory: Record<string, unknown>;
  demands: Demands;
  answer: UpstreamAnswer;
  sentAt: Date;
}

export const statements = hotStatements('upstream-requests', {
  store: `INSERT INTO upstream_requests (id, connection_id, purpose, bound_to, data_sealed, answer_sealed, redeemed_at,
      created_at, expires_at) VALUES (?,?,?,?,?,?,?,?,?)`,
  answer: `UPDATE upstream_requests SET answer_id = ?, answer_sealed = ?
    WHERE id = ? AND connection_id = ? AND answer_id IS NULL AND expires_at > ?
    RETURNING purpose, bound_to AS "boundTo"`,
  findAnswered: `SELECT id, connection_id AS "connectionId", data_sealed AS "dataSealed", answer_sealed AS "answerSealed"
    FROM upstream_requests
    WHERE answer_id = ? AND purpose = ? AND bound_to = ? AND redeemed_at IS NULL AND expires_at > ?`,
  redeem: 'UPDATE upstream_requests SET redeemed_at = ? WHERE id = ? AND redeemed_at IS NULL',
  storeIdentity: 'UPDATE upstream_requests SET answer_sealed = ?, expires_at = ? WHERE id = ?',
  end: 'UPDATE upstream_requests SET answer_sealed = NULL, expires_at = ? WHERE id = ?',
  findIdentity: `SELECT answer_sealed AS "answerSealed" FROM upstream_requests
    WHERE id = ? AND bound_to = ? AND redeemed_at IS NOT NULL AND expires_at > ?`,
});

interface NewRow {
  id: string;
  connectionId: string;
  purpose: Purpose;
  boundTo: string;
  dataSealed: string;
  /** Null: not yet, as `redeemedAt`. */
  answerSealed: string | null;
  redeemedAt: Date | null;
  createdAt: Date;
  /** Until it expires. */
  seconds: number;
}

interface AnsweredRow {
  id: string;
  connectionId: string;
  dataSealed: string;
  answerSealed: string;
}

export function createUpstreamRequests({ sql, vault, now }: Base) {
  const contextOf = (id: string) => `upstream_requests:${id}`;
  const seal = (id: string, value: unknown) => vault.seal(JSON.stringify(value), contextOf(id));
  const decrypt = (id: string, text: string): unknown => JSON.parse(vault.open(text, contextOf(id)).toString());

  async function insert({ id, connectionId, purpose, boundTo, ...row }: NewRow): Promise<void> {
    const { dataSealed, answerSealed, redeemedAt, createdAt, seconds } = row;
    const expiresAt = new Date(createdAt.getTime() + seconds * 1000);
    const columns = [id, connectionId, purpose, boundTo, dataSealed, answerSealed, redeemedAt, createdAt, expiresAt];
    await sql.execute(statements.store, ...columns);
  }

  return {
    async store({ handle, connectionId, purpose, boundTo, memory, demands: demanded }: NewRequest): Promise<void> {
      const id = sha256(handle);
      const createdAt = now();
      const binding = { connectionId, purpose, boundTo };
      const data = { memory, demands: demanded, ...binding, sentAt: createdAt.toISOString() };
      await insert({
        id,
        ...binding,
        dataSealed: seal(id, data),
        answerSealed: null,
        redeemedAt: null,
        createdAt,
        seconds: limits.upstream.requestSeconds,
      });
    },

    /**
     * Stores the answer to a request that has none yet, and returns where it is redeemed. `unknown`: no request of this
     * connection has the handle, it has expired or it was answered before.
     */
    async answered(
      handle: string,
      connectionId: string,
      answer: UpstreamAnswer,
    ): Promise<{ purpose: Purpose; boundTo: string; answer: string } | 'unknown'> {
      const id = sha256(handle);
      const value = randomToken();
      const values = [sha256(value), seal(id, answer), id, connectionId, now()];
      const [row] = await sql.query<{ purpose: Purpose; boundTo: string }>(statements.answer, ...values);
      return row ? { ...row, answer: value } : 'unknown';
    },

    /** Returns the answered request once, to the interaction or session that started it. */
    async redeem(answer: string, purpose: Purpose, boundTo: string): Promise<AnsweredRequest | undefined> {
      const [row] = await sql.query<AnsweredRow>(statements.findAnswered, sha256(answer), purpose, boundTo, now());
      if (!row) return undefined;
      const data = requestData.parse(decrypt(row.id, row.dataSealed));
      const isMoved = data.purpose !== purpose || data.boundTo !== boundTo || data.connectionId !== row.connectionId;
      if (isMoved) return undefined;
      if ((await sql.execute(statements.redeem, now(), row.id)) === 0) return undefined;
      return {
        id: row.id,
        connectionId: row.connectionId,
        purpose,
        boundTo,
        memory: data.memory,
        demands: data.demands,
        answer: answerData.parse(decrypt(row.id, row.answerSealed)),
        sentAt: new Date(data.sentAt),
      };
    },

    /** Stores the identity that a redeemed answer proved, encrypted and in place of the answer, until the sign-in is finished. */
    async storeIdentity(id: string, identity: unknown): Promise<void> {
      const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 1000);
      await sql.execute(statements.storeIdentity, seal(id, identity), expiresAt, id);
    },

    /**
     * The same for an identity that was proven without a redirect of the browser (a directory); returns the id. The row is that of a request which
     * is answered and redeemed already.
     */
    async storeIdentityWithoutRequest(
      identity: unknown,
      { connectionId, boundTo }: Pick<NewRequest, 'connectionId' | 'boundTo'>,
    ): Promise<string> {
      const id = sha256(randomToken());
      const at = now();
      await insert({
        id,
        connectionId,
        purpose: 'sign-in',
        boundTo,
        dataSealed: seal(id, { memory: {}, demands: { forced: false } }),
        answerSealed: seal(id, identity),
        redeemedAt: at,
        createdAt: at,
        seconds: limits.interaction.seconds,
      });
      return id;
    },

    /** The identity that is stored for this interaction; undefined when it has expired. */
    async findIdentity(id: string, boundTo: string): Promise<unknown> {
      const [row] = await sql.query<{ answerSealed: string | null }>(statements.findIdentity, id, boundTo, now());
      return row?.answerSealed ? decrypt(id, row.answerSealed) : undefined;
    },

    /** The sign-in is finished: erases the identity, and lets the row expire. */
    async end(id: string): Promise<void> {
      await sql.execute(statements.end, now(), id);
    },
  };
}
