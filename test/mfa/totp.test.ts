// The codes of an authenticator app.
import { createHmac } from 'node:crypto';
import { ScureBase32Plugin } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { parseTotpKey, totpKeyText } from '../../src/people/mfa/factors/totp-key.ts';
import { together } from '../accounts/fixture.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  fixture.clock.advance({ minutes: 10 });
  account = await fixture.person();
});

/** RFC 6238 written out: what an authenticator app shows, independent of the library under test. */
function app(secret: string, at: Date): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
const codeOf = (secret: string, seconds = 0) => app(secret, new Date(fixture.now().getTime() + seconds * 1000));

/** Enrolled a minute ago. */
async function enrolled(): Promise<string> {
  const { secret, sealed } = fixture.totp.begin(account);
  expect(await fixture.totp.confirm(account, sealed, codeOf(secret))).toBe('ok');
  fixture.clock.advance({ minutes: 1 });
  return secret;
}

test('the authenticator of these tests computes the vectors of RFC 6238', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  expect(app(secret, new Date(59_000))).toBe('287082');
  expect(app(secret, new Date(1_111_111_109_000))).toBe('081804');
});

describe('the enrollment of an app', () => {
  test('gives a random secret, and a URI with account and issuer', () => {
    const { secret, uri } = fixture.totp.begin(account);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const url = new URL(uri);
    expect(`${url.protocol}//${url.host}`).toBe('otpauth://totp');
    expect(decodeURIComponent(url.pathname)).toBe(`/login.example.org:${account.username}`);
    expect(url.searchParams.get('secret')).toBe(secret);
    expect(url.searchParams.get('issuer')).toBe('login.example.org');
    expect(fixture.totp.begin(account).secret).not.toBe(secret);
  });

  test('takes effect after a code, and does not change the present secret until then', async () => {
    const old = await enrolled();
    const { secret, sealed } = fixture.totp.begin(account);
    expect(await fixture.totp.confirm(account, sealed, '000000')).toBe('wrong');
    expect(fixture.totp.resume(account, sealed)?.secret).toBe(secret);
    expect(await fixture.totp.verify(account.id, codeOf(old))).toBe('ok');
    expect(await fixture.totp.confirm(account, sealed, codeOf(secret))).toBe('ok');
    fixture.clock.advance({ minutes: 1 });
    expect(await fixture.totp.verify(account.id, codeOf(old))).toBe('wrong');
    expect(await fixture.totp.verify(account.id, codeOf(secret))).toBe('ok');
  });

  test("rejects another account's form, a modified one and an expired one", async () => {
    const { secret, sealed } = fixture.totp.begin(account);
    const other = await fixture.person();
    expect(await fixture.totp.confirm(other, sealed, codeOf(secret))).toBe('expired');
    expect(await fixture.totp.confirm(account, `${sealed}A`, codeOf(secret))).toBe('expired');
    expect(await fixture.totp.confirm(account, 'nonsense', codeOf(secret))).toBe('expired');
    fixture.clock.advance({ hours: 2 });
    expect(await fixture.totp.confirm(account, sealed, codeOf(secret))).toBe('expired');
    expect(fixture.totp.resume(account, sealed)).toBeUndefined();
    expect(await fixture.totp.isEnrolled(account.id)).toBe(false);
  });

  test('stores the secret sealed', async () => {
    const secret = await enrolled();
    const row = await fixture.db.totpCredential.findUniqueOrThrow({ where: { userId: account.id } });
    expect(row.secretSealed).not.toContain(secret);
    expect(fixture.log.join('')).not.toContain(secret);
    expect(JSON.stringify(await fixture.audit.list({ subjectId: account.id }))).not.toContain(secret);
  });
});

describe('a code', () => {
  test.each([
    [-60, 'wrong'],
    [-30, 'ok'],
    [0, 'ok'],
    [30, 'ok'],
    [60, 'wrong'],
  ])('is, %i seconds away, %s', async (seconds, outcome) => {
    const secret = await enrolled();
    expect(await fixture.totp.verify(account.id, codeOf(secret, seconds))).toBe(outcome);
  });

  test('works once', async () => {
    const secret = await enrolled();
    const code = codeOf(secret);
    expect(await fixture.totp.verify(account.id, ` ${code.slice(0, 3)} ${code.slice(3)} `)).toBe('ok');
    expect(await fixture.totp.verify(account.id, code)).toBe('replayed');
    expect(await fixture.totp.verify(account.id, codeOf(secret, -30))).toBe('replayed');
    expect(await fixture.totp.verify(account.id, codeOf(secret, 30))).toBe('ok');
  });

  test('does not sign in when it confirmed the enrollment before', async () => {
    const { secret, sealed } = fixture.totp.begin(account);
    await fixture.totp.confirm(account, sealed, codeOf(secret));
    expect(await fixture.totp.verify(account.id, codeOf(secret))).toBe('replayed');
  });

  test('is accepted exactly once when it is sent twenty times in parallel', async () => {
    const secret = await enrolled();
    const outcomes = await together(20, () => fixture.totp.verify(account.id, codeOf(secret)));
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'replayed')).toHaveLength(19);
  });

  test.each(['', '12345', '1234567', 'abcdef', '12345a', '１２３', '-12345', '1e5', '0x1234', `${'1'.repeat(1e5)}`])(
    'is rejected when it is malformed: %.20j',
    async (code) => {
      await enrolled();
      expect(await fixture.totp.verify(account.id, code)).toBe('wrong');
    },
  );

  test('is rejected without enrollment, and after removal', async () => {
    expect(await fixture.totp.verify(account.id, '123456')).toBe('not-enrolled');
    const secret = await enrolled();
    expect(await fixture.totp.remove(account.id)).toBe(true);
    expect(await fixture.totp.remove(account.id)).toBe(false);
    expect(await fixture.totp.verify(account.id, codeOf(secret))).toBe('not-enrolled');
  });
});

describe('an imported secret', () => {
  test('may have ten bytes, and importing it again does not allow a used code', async () => {
    await fixture.totp.importSecret(account.id, 'jbsw y3dp-ehpk 3pxp');
    const code = codeOf('JBSWY3DPEHPK3PXP');
    expect(await fixture.totp.verify(account.id, code)).toBe('ok');
    await fixture.totp.importSecret(account.id, 'JBSWY3DPEHPK3PXP====');
    expect(await fixture.totp.verify(account.id, code)).toBe('replayed');
  });

  test.each(['', 'short', 'JBSWY3DP', 'JBSWY3DPEHPK3PX1', 'not base32 at all!'])('is rejected: %j', (secret) => {
    expect(() => parseTotpKey(secret)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  // RFC 6238 Appendix B, the values at 59 seconds.
  test.each([
    ['SHA1', '12345678901234567890', '94287082'],
    ['SHA256', '12345678901234567890123456789012', '46119246'],
    ['SHA512', '1234567890123456789012345678901234567890123456789012345678901234', '90693936'],
  ])('verifies the codes of RFC 6238 for an otpauth URI with %s and eight digits', async (algorithm, text, code) => {
    const secret = new ScureBase32Plugin().encode(Buffer.from(text));
    const uri = `otpauth://totp/Old:ann?secret=${secret}&issuer=Old&algorithm=${algorithm}&digits=8&period=30`;
    await fixture.totp.importSecret(account.id, uri);
    const now = fixture.now().getTime();
    fixture.clock.advance({ seconds: (59_000 - now) / 1000 });
    expect(await fixture.totp.verify(account.id, code)).toBe('ok');
    expect(await fixture.totp.verify(account.id, code)).toBe('replayed');
    fixture.clock.advance({ seconds: (now - 59_000) / 1000 });
  });

  test('accepts one code in each period of its otpauth URI', async () => {
    await fixture.totp.importSecret(account.id, 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&period=60');
    const { key, counter } = { key: 'JBSWY3DPEHPK3PXP', counter: Math.floor(fixture.now().getTime() / 60_000) };
    const code = app(key, new Date(counter * 30_000)); // the same HMAC counter with 30 seconds
    expect(await fixture.totp.verify(account.id, code)).toBe('ok');
    expect(await fixture.totp.verify(account.id, code)).toBe('replayed');
  });

  test.each(['hotp/x?secret=JBSWY3DPEHPK3PXP', 'totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=MD5', 'totp/x?digits=6'])(
    'is rejected in the URI otpauth://%s',
    (uri) => {
      expect(() => parseTotpKey(`otpauth://${uri}`)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    },
  );

  test('gives the same key in each of its spellings', () => {
    const uri = 'otpauth://totp/x?secret=jbswy3dpehpk3pxp&algorithm=SHA1&digits=6&period=30';
    expect(totpKeyText(parseTotpKey(uri))).toBe(totpKeyText(parseTotpKey('JBSW Y3DP EHPK 3PXP')));
    expect(totpKeyText(parseTotpKey(`${uri}0`.replace('300', '60')))).not.toBe(totpKeyText(parseTotpKey(uri)));
  });
});
