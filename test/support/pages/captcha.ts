// The CAPTCHA as a browser answers it: read from a page, solved by counting, and sent with the form.
import { pbkdf2Sync } from 'node:crypto';
import { createChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { limits } from '../../../src/base/limits.ts';
import type { Page } from '../http.ts';
import type { TestIdp } from '../idp.ts';
import { unescapeHtml } from './html.ts';

export interface Challenge {
  parameters: Record<string, unknown> & { nonce: string; salt: string; cost: number; keyPrefix: string };
  signature?: string;
}

/** The CAPTCHA challenge on the page, if there is one. */
export function captchaOn({ text }: Page): Challenge | undefined {
  const [, json] = /<altcha-widget challenge="([^"]*)"/.exec(text) ?? [];
  return json === undefined ? undefined : JSON.parse(unescapeHtml(json));
}

/** What the widget would put into the field `altcha`: a second or so of work. */
export function solve(challenge: Challenge): string {
  const { nonce, salt, cost, keyPrefix } = challenge.parameters;
  for (let counter = 0; ; counter += 1) {
    const password = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)]);
    password.writeUInt32BE(counter, password.length - 4);
    const derivedKey = pbkdf2Sync(password, Buffer.from(salt, 'hex'), cost, 32, 'sha256').toString('hex');
    if (derivedKey.startsWith(keyPrefix)) return payloadOf(challenge, { counter, derivedKey });
  }
}

export function payloadOf(challenge: Challenge, solution: { counter: number; derivedKey: string }): string {
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}

/** A solution to a challenge of this server that takes no work, for tests about what comes after. */
export async function solvedCaptcha({ services }: TestIdp): Promise<string> {
  const [key = ''] = services.vault.deriveKeys('captcha').map((one) => one.toString('base64url'));
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: limits.captcha.cost,
    counter: 0,
    deriveKey,
    expiresAt: Math.floor(services.now().getTime() / 1000) + limits.captcha.seconds,
    hmacSignatureSecret: key,
    hmacKeySignatureSecret: `${key}:key`,
  });
  return solve(challenge as unknown as Challenge);
}
