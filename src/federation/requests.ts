// Requests to upstreams and their answers. The answer comes in a request that need not bring the cookies of the sign-in (a
// cross-site POST), so it is stored under a new random value, once, and redeemed by the browser that began the request.
import { z } from 'zod';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { randomToken, sha256 } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';
import type { Db } from '../storage/database.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** Why the request was sent. `test`: "Try it" of the console, which writes nothing. */
export type Purpose = 'sign-in' | 'link' | 'test';

export interface NewRequest {
  handle: string;
  connectionId: string;
  purpose: Purpose;
  /** The interaction (sign-in), or the single sign-on session (link, test) that began it. */
  boundTo: string;
  memory: Record<string, unknown>;
  /** What the application and the user demanded of the sign-in. */
  demands: Demands;
}

const demands = z.object({
  /** The user must authenticate again. */
  forced: z.boolean(),
  maxAgeSeconds: z.number().optional(),
});
export type Demands = z.output<typeof demands>;

/** The binding is stored encrypted too: another program could change its columns to redeem the answer elsewhere. */
const requestData = z.object({
  memory: z.record(z.string(), z.unknown()),
  demands,
  connectionId: z.string(),
  purpose: z.string(),
  boundTo: z.string(),
});
const answerData = z.record(z.string(), z.string());

export interface AnsweredRequest {
  /** Under which `storeIdentity` stores what the answer proved. */
  id: string;
  connectionId: string;
  purpose: Purpose;
  boundTo: string;
  memory: Record<string, unknown>;
  demands: Demands;
  answer: UpstreamAnswer;
  sentAt: Date;
}

export interface UpstreamRequests {
  store(request: NewRequest): Promise<void>;
  /**
   * Stores the answer to a request that has none yet, and returns where it is redeemed. `unknown`: no request of this
   * connection has the handle, it has expired or it was answered before.
   */
  answered(
    handle: string,
    connectionId: string,
    answer: UpstreamAnswer,
  ): Promise<{ purpose: Purpose; boundTo: string; answer: string } | 'unknown'>;
  /** The answered request, once, for the interaction or session that began it. */
  redeem(answer: string, purpose: Purpose, boundTo: string): Promise<AnsweredRequest | undefined>;
  /** Stores the identity that a redeemed answer proved, encrypted, until the sign-in is finished. */
  storeIdentity(id: string, identity: unknown): Promise<void>;
  /** The same for an identity that was proven without a redirect of the browser (a directory); returns the id. */
  storeIdentityWithoutRequest(identity: unknown, of: Pick<NewRequest, 'connectionId' | 'boundTo'>): Promise<string>;
  /** The identity that is stored for this interaction; undefined when it has expired. */
  findIdentity(id: string, boundTo: string): Promise<unknown>;
}

export interface RequestsDependencies {
  db: Db;
  vault: Pick<Vault, 'seal' | 'open'>;
  now: Clock;
}

const context = (id: string) => `upstream_requests:${id}`;

export function createUpstreamRequests(dependencies: RequestsDependencies): UpstreamRequests {
  return { ...answeredRequests(dependencies), ...provenIdentities(dependencies) };
}

/** Encrypts and decrypts what a request stores. */
function encryption(vault: RequestsDependencies['vault']) {
  return {
    seal: (id: string, value: unknown) => vault.seal(JSON.stringify(value), context(id)),
    decrypt: (id: string, text: string): unknown => JSON.parse(vault.open(text, context(id)).toString()),
  };
}

function answeredRequests({
  db,
  vault,
  now,
}: RequestsDependencies): Pick<UpstreamRequests, 'store' | 'answered' | 'redeem'> {
  const { seal, decrypt } = encryption(vault);
  return {
    async store({ handle, connectionId, purpose, boundTo, memory, demands: demanded }) {
      const id = sha256(handle);
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + limits.upstream.requestSeconds * 1000);
      const dataSealed = seal(id, { memory, demands: demanded, connectionId, purpose, boundTo });
      await db.upstreamRequest.create({
        data: { id, connectionId, purpose, boundTo, dataSealed, createdAt, expiresAt },
      });
    },

    async answered(handle, connectionId, answer) {
      const id = sha256(handle);
      const value = randomToken();
      const unanswered = { id, connectionId, answerId: null, expiresAt: { gt: now() } };
      const data = { answerId: sha256(value), answerSealed: seal(id, answer) };
      if ((await db.upstreamRequest.updateMany({ where: unanswered, data })).count === 0) return 'unknown';
      const row = await db.upstreamRequest.findUniqueOrThrow({
        where: { id },
        select: { purpose: true, boundTo: true },
      });
      return { purpose: row.purpose as Purpose, boundTo: row.boundTo, answer: value };
    },

    async redeem(answer, purpose, boundTo) {
      const where = { answerId: sha256(answer), purpose, boundTo, redeemedAt: null, expiresAt: { gt: now() } };
      const [row] = await db.upstreamRequest.findMany({ where, take: 1 });
      if (!row?.answerSealed) return undefined;
      const data = requestData.parse(decrypt(row.id, row.dataSealed));
      const isMoved = data.purpose !== purpose || data.boundTo !== boundTo || data.connectionId !== row.connectionId;
      if (isMoved) return undefined;
      const { count } = await db.upstreamRequest.updateMany({ where, data: { redeemedAt: now() } });
      if (count === 0) return undefined;
      return {
        id: row.id,
        connectionId: row.connectionId,
        purpose,
        boundTo,
        memory: data.memory,
        demands: data.demands,
        answer: answerData.parse(decrypt(row.id, row.answerSealed)),
        sentAt: row.createdAt,
      };
    },
  };
}

/** The identities that answers proved, until the end of the sign-in. */
function provenIdentities({
  db,
  vault,
  now,
}: RequestsDependencies): Pick<UpstreamRequests, 'storeIdentity' | 'storeIdentityWithoutRequest' | 'findIdentity'> {
  const { seal, decrypt } = encryption(vault);
  return {
    async storeIdentity(id, identity) {
      const expiresAt = new Date(now().getTime() + limits.interaction.seconds * 1000);
      await db.upstreamRequest.update({ where: { id }, data: { answerSealed: seal(id, identity), expiresAt } });
    },

    async storeIdentityWithoutRequest(identity, { connectionId, boundTo }) {
      const id = sha256(randomToken());
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + limits.interaction.seconds * 1000);
      const dataSealed = seal(id, { memory: {}, demands: { forced: false } });
      const row = { id, connectionId, purpose: 'sign-in', boundTo, dataSealed, answerSealed: seal(id, identity) };
      await db.upstreamRequest.create({ data: { ...row, createdAt, expiresAt, redeemedAt: createdAt } });
      return id;
    },

    async findIdentity(id, boundTo) {
      const where = { id, boundTo, redeemedAt: { not: null }, expiresAt: { gt: now() } };
      const row = await db.upstreamRequest.findFirst({ where, select: { answerSealed: true } });
      return row?.answerSealed ? decrypt(id, row.answerSealed) : undefined;
    },
  };
}
