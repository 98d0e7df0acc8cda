// The CAPTCHA after failed sign-ins: ALTCHA, a proof of work in the browser without a third party. A browser without
// scripts waits instead: its form contains a ticket that is valid only after some seconds. Each solution and each ticket
// is accepted once, across all instances. The only importer of altcha-lib.

import { createChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { limits } from '../../base/limits.ts';
import { randomId, randomToken, sha256 } from '../../base/platform/random.ts';
import { openInTime, sealForATime } from '../../base/platform/sealed-for-a-time.ts';
import type { Vault } from '../../base/platform/vault.ts';
import { isFirstUse } from '../../base/storage/seen-ids.ts';
import type { RateLimits } from './rate-limits.ts';

/** What the form of a page with a CAPTCHA sends. */
export interface CaptchaAnswer {
  altcha?: string | undefined;
  ticket?: string | undefined;
}

/** A wait in place of the proof of work that has begun and is not over yet. */
export interface CaptchaWait {
  ticket: string;
  waitSeconds: number;
}

export interface CaptchaChallenge extends CaptchaWait {
  /** JSON for the widget. The ticket is for a browser without scripts, which sends it after `waitSeconds`. */
  challenge: string;
}

export type CaptchaResult = { isSolved: true } | { isSolved: false; waiting?: CaptchaWait };

export type Captcha = ReturnType<typeof createCaptcha>;

const { cost, minCounter, maxCounter, seconds, waitSeconds } = limits.captcha;
const TICKET = 'captcha ticket';
const MAX_ANSWER = 4096;

const payload = z.object({
  challenge: z.object({
    parameters: z.looseObject({
      algorithm: z.literal('PBKDF2/SHA-256'),
      // Values that would cost time before the signature is checked.
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
const ticketSchema = z.object({ id: z.string(), from: z.number() });

/** Issues CAPTCHAs and checks their answers. */
export function createCaptcha(dependencies: Base & { rateLimits: RateLimits }) {
  const { vault, now } = dependencies;
  return {
    /** A new challenge; a wait that has begun goes on. */
    async issue(waiting?: CaptchaWait): Promise<CaptchaChallenge> {
      const at = now().getTime();
      const challenge = await newChallenge(vault, at);
      return { challenge: JSON.stringify(challenge), ...(waiting ?? newWait(dependencies)) };
    },

    async check({ altcha, ticket }: CaptchaAnswer, address: string): Promise<CaptchaResult> {
      if (altcha) return { isSolved: await isSolved(dependencies, altcha) };
      return ticket ? checkWait(dependencies, ticket, address) : { isSolved: false };
    },
  };
}

// One for each data key; the first one signs.
function keysOf(vault: Vault): string[] {
  return vault.deriveKeys('captcha').map((key) => key.toString('base64url'));
}

function newChallenge(vault: Vault, at: number) {
  const [key = ''] = keysOf(vault);
  return createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost,
    counter: randomBetween(minCounter, maxCounter),
    deriveKey,
    expiresAt: Math.floor(at / 1000) + seconds,
    hmacSignatureSecret: key,
    hmacKeySignatureSecret: `${key}:key`,
  });
}

function newWait(base: Base): CaptchaWait {
  const ticket = { id: randomId(), from: base.now().getTime() + waitSeconds * 1000 };
  return { ticket: sealForATime(base, TICKET, ticket, seconds), waitSeconds };
}

/** False when it was used before. */
async function consumeOnce({ sql, now }: Base, id: string): Promise<boolean> {
  const expiresAt = new Date(now().getTime() + seconds * 2000);
  return isFirstUse(sql, `captcha:${sha256(id)}`, expiresAt);
}

/** Whether this is a proof of work for a challenge of this server, in time and for the first time. */
async function isSolved(dependencies: Base, altcha: string): Promise<boolean> {
  const { vault, now } = dependencies;
  const answer = payload.safeParse(parseSolution(altcha)).data;
  if (!answer || answer.challenge.parameters.expiresAt * 1000 <= now().getTime()) return false;
  for (const key of keysOf(vault)) {
    const options = { ...answer, deriveKey, hmacSignatureSecret: key, hmacKeySignatureSecret: `${key}:key` };
    const { verified } = await verifySolution(options as Parameters<typeof verifySolution>[0]);
    if (verified) return consumeOnce(dependencies, answer.challenge.signature);
  }
  return false;
}

/** Whether the wait of a ticket is over, for the first time and within the limit of the network address. */
async function checkWait(
  dependencies: Base & { rateLimits: RateLimits },
  sealed: string,
  address: string,
): Promise<CaptchaResult> {
  const { now, rateLimits } = dependencies;
  const ticket = openInTime(dependencies, TICKET, ticketSchema, sealed);
  const at = now().getTime();
  if (!ticket) return { isSolved: false };
  if (ticket.from > at) {
    return { isSolved: false, waiting: { ticket: sealed, waitSeconds: Math.ceil((ticket.from - at) / 1000) } };
  }
  const { allowed } = await rateLimits.consume('captcha-wait:address', { address });
  return { isSolved: allowed && (await consumeOnce(dependencies, ticket.id)) };
}

function parseSolution(altcha: string): unknown {
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
