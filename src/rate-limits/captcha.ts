// The CAPTCHA after failures (seed 5.7): ALTCHA, a proof of work that the browser does by itself; nobody else is asked
// and nobody is watched. The only importer of altcha-lib. Whoever has no script waits instead: a ticket of the page is
// good only after a while. Each answer counts once, on whatever instance.
import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation } from '../platform/db.ts';
import { randomId, randomToken, sha256 } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';
import type { RateLimits } from './rate-limits.ts';
import { addressKey } from './sign-in-guard.ts';

/** What the form of a page with a CAPTCHA sends. */
export interface CaptchaAnswer {
  altcha?: string | undefined;
  ticket?: string | undefined;
}

/** The wait in place of the work: begun, and not over yet. */
export interface Waiting {
  ticket: string;
  waitSeconds: number;
}

export interface CaptchaQuestion extends Waiting {
  /** For the widget, as JSON. The ticket is for the form of who has no script, to be sent after `waitSeconds`. */
  challenge: string;
}

export type CaptchaResult = { isSolved: true } | { isSolved: false; waiting?: Waiting };

export interface Captcha {
  /** A new question; a wait that was begun goes on. */
  ask(waiting?: Waiting): Promise<CaptchaQuestion>;
  check(answer: CaptchaAnswer, address: string): Promise<CaptchaResult>;
}

export interface CaptchaNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  rateLimits: Pick<RateLimits, 'consume'>;
}

const { cost, minCounter, maxCounter, seconds, waitSeconds } = limits.captcha;
const TICKET = 'captcha ticket';
const MAX_ANSWER = 4096;

const payload = z.object({
  challenge: z.object({
    parameters: z.looseObject({
      algorithm: z.literal('PBKDF2/SHA-256'),
      // What the signature vouches for is checked below; these would cost time before that.
      cost: z.literal(cost),
      keyLength: z.literal(32),
      nonce: z.string(),
      salt: z.string(),
      keyPrefix: z.string(),
      expiresAt: z.int(),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.int().min(0), derivedKey: z.string().max(128), time: z.number().optional() }),
});
const ticketSchema = z.object({ id: z.string(), from: z.number(), until: z.number() });

export function createCaptcha({ db, vault, now, rateLimits }: CaptchaNeeds): Captcha {
  const keys = () => vault.deriveKeys('captcha').map((key) => key.toString('base64url'));

  /** Whether this is its first use. */
  async function useUp(id: string): Promise<boolean> {
    const expiresAt = new Date(now().getTime() + seconds * 2000);
    try {
      await db.seenMessage.create({ data: { id: `captcha:${sha256(id)}`, expiresAt } });
      return true;
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  }

  async function isSolved(altcha: string): Promise<boolean> {
    const answer = payload.safeParse(decoded(altcha)).data;
    if (!answer || answer.challenge.parameters.expiresAt * 1000 <= now().getTime()) return false;
    for (const key of keys()) {
      const options = { ...answer, deriveKey, hmacSignatureSecret: key, hmacKeySignatureSecret: `${key}:key` };
      const { verified } = await verifySolution(options as Parameters<typeof verifySolution>[0]);
      if (verified) return useUp(answer.challenge.signature);
    }
    return false;
  }

  async function waited(sealed: string, address: string): Promise<CaptchaResult> {
    const ticket = opened(sealed);
    const at = now().getTime();
    if (!ticket || ticket.until <= at) return { isSolved: false };
    if (ticket.from > at) {
      return { isSolved: false, waiting: { ticket: sealed, waitSeconds: Math.ceil((ticket.from - at) / 1000) } };
    }
    const { allowed } = await rateLimits.consume('captcha-wait:address', addressKey(address));
    return { isSolved: allowed && (await useUp(ticket.id)) };
  }

  function opened(sealed: string): z.output<typeof ticketSchema> | undefined {
    try {
      return ticketSchema.parse(JSON.parse(vault.open(sealed, TICKET).toString()));
    } catch {
      return undefined; // not one of ours
    }
  }

  return {
    async ask(waiting) {
      const [key = ''] = keys();
      const at = now().getTime();
      const challenge = await createChallenge({
        algorithm: 'PBKDF2/SHA-256',
        cost,
        counter: randomBetween(minCounter, maxCounter),
        deriveKey,
        expiresAt: Math.floor(at / 1000) + seconds,
        hmacSignatureSecret: key,
        hmacKeySignatureSecret: `${key}:key`,
      });
      const ticket = { id: randomId(), from: at + waitSeconds * 1000, until: at + seconds * 1000 };
      const begun = { ticket: vault.seal(JSON.stringify(ticket), TICKET), waitSeconds };
      return { challenge: JSON.stringify(challenge), ...(waiting ?? begun) };
    },

    async check({ altcha, ticket }, address) {
      if (altcha) return { isSolved: await isSolved(altcha) };
      return ticket ? waited(ticket, address) : { isSolved: false };
    },
  };
}

function decoded(altcha: string): unknown {
  if (altcha.length > MAX_ANSWER) return undefined;
  try {
    return JSON.parse(Buffer.from(altcha, 'base64').toString());
  } catch {
    return undefined;
  }
}

function randomBetween(least: number, most: number): number {
  return least + (Buffer.from(randomToken(6), 'base64url').readUIntBE(0, 6) % (most - least + 1));
}
