// A second factor of a user of one Gatehouse, for a while.
import { randomBytes } from 'node:crypto';
import { generateSync } from 'otplib';
import type { HttpClient, Page } from '../support/http.ts';
import type { Gatehouse } from './gatehouse.ts';
import { travel } from './travel.ts';

/** The user has an authenticator while `work` runs; `prove` types its code into the page. */
export async function withTotp<Result>(
  { services }: Gatehouse,
  userId: string,
  work: (prove: (browser: HttpClient, page: Page) => Promise<Page>) => Promise<Result>,
): Promise<Result> {
  const { totp } = services.mfa;
  const secret = base32(randomBytes(20));
  await totp.importSecret(userId, secret);
  try {
    return await work(async (browser, page) =>
      travel(browser, await browser.submit(page, { code: generateSync({ secret }) })),
    );
  } finally {
    await totp.remove(userId);
  }
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}
