// Passkeys and security keys, with an authenticator in software.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Account } from '../../src/people/accounts/account.ts';
import { parseAssertion, parseAttestation } from '../../src/people/mfa/factors/webauthn-ceremony.ts';
import { together } from '../accounts/fixture.ts';
import { type Ceremony, softAuthenticator } from './authenticator.ts';
import { type FactorsFixture, openFactors } from './fixture.ts';

let fixture: FactorsFixture;
let account: Account;
beforeAll(async () => {
  fixture = await openFactors();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  account = await fixture.person();
});

type Device = ReturnType<typeof softAuthenticator>;

async function register(device: Device, wrong: Partial<Ceremony> = {}, name = 'My phone') {
  const { challenge } = await fixture.passkeys.registrationOptions(account);
  const answer = parseAttestation(device.create({ challenge, ...wrong }));
  if (!answer) throw new Error('the answer could not be read');
  return fixture.passkeys.register(account, answer, { challenge, name });
}

async function signIn(device: Device, { userId, ...wrong }: Partial<Ceremony> & { userId?: string } = {}) {
  const { challenge } = await fixture.passkeys.authenticationOptions(userId === undefined ? undefined : { userId });
  const answer = parseAssertion(device.get({ challenge, userHandle: account.id, ...wrong }));
  if (!answer) throw new Error('the answer could not be read');
  return fixture.passkeys.authenticate(answer, { challenge, ...(userId ? { userId } : {}) });
}

describe('the registration of a passkey', () => {
  test('requests a discoverable key, and excludes registered ones', async () => {
    const device = softAuthenticator();
    expect(await register(device)).toMatchObject({ outcome: 'ok', id: device.id });
    const options = await fixture.passkeys.registrationOptions(account);
    expect(options).toMatchObject({
      rp: { id: 'login.example.org', name: 'Gatehouse' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      excludeCredentials: [{ id: device.id, transports: ['internal'] }],
    });
    expect(Buffer.from(options.user.id, 'base64url').toString()).toBe(account.id);
  });

  test('stores several, with names, and audits each', async () => {
    await register(softAuthenticator({ synced: true }), {}, '  Phone\u202e\0 ');
    await register(softAuthenticator(), {}, ' ');
    const passkeys = await fixture.passkeys.list(account.id);
    expect(passkeys.map(({ name, backedUp, discoverable }) => ({ name, backedUp, discoverable }))).toEqual([
      { name: 'Phone', backedUp: true, discoverable: true },
      { name: 'Passkey', backedUp: false, discoverable: true },
    ]);
    const events = await fixture.audit.list({ subjectId: account.id, types: ['passkey.enrolled'] });
    expect(events).toHaveLength(2);
  });

  test.each<[string, Partial<Ceremony>]>([
    ['another challenge', { challenge: 'AAAA' }],
    ['another origin', { origin: 'https://login.example.org.evil.test' }],
    ['plain http', { origin: 'http://login.example.org' }],
    ['another relying party', { rpId: 'evil.test' }],
    ['nobody present', { userPresent: false }],
    ['an answer to sign in', { type: 'webauthn.get' }],
  ])('rejects %s', async (_, wrong) => {
    expect(await register(softAuthenticator(), wrong)).toEqual({ outcome: 'wrong' });
    expect(await fixture.passkeys.count(account.id)).toBe(0);
  });

  test('rejects a key that is registered already, and a used response', async () => {
    const device = softAuthenticator();
    await register(device);
    const owner = account;
    account = await fixture.person();
    expect(await register(device)).toEqual({ outcome: 'already-registered' });
    expect(await fixture.passkeys.count(owner.id)).toBe(1);
    const { challenge } = await fixture.passkeys.registrationOptions(account);
    const outcomes = await together(4, async () => {
      const answer = parseAttestation(softAuthenticator().create({ challenge }));
      return answer && (await fixture.passkeys.register(account, answer, { challenge, name: 'x' })).outcome;
    });
    expect(outcomes.sort()).toEqual(['ok', 'wrong', 'wrong', 'wrong']);
  });
});

describe('a sign-in with a passkey', () => {
  test('works without a username, and amr states the kind of key', async () => {
    const phone = softAuthenticator({ synced: true });
    await register(phone);
    expect(await signIn(phone)).toEqual({
      outcome: 'ok',
      userId: account.id,
      passkeyId: phone.id,
      userVerified: true,
      amr: ['swk', 'pop', 'user'],
    });
    const [row] = await fixture.passkeys.list(account.id);
    expect(row?.lastUsedAt).toEqual(fixture.now());
    const options = await fixture.passkeys.authenticationOptions();
    expect(options).toMatchObject({ rpId: 'login.example.org', userVerification: 'required' });
    expect(options.allowCredentials).toBeUndefined();
  });

  test('accepts a key without PIN as second factor, and amr does not claim more', async () => {
    const key = softAuthenticator();
    await register(key, { userVerified: false });
    const options = await fixture.passkeys.authenticationOptions({ userId: account.id });
    expect(options).toMatchObject({ userVerification: 'preferred', allowCredentials: [{ id: key.id }] });
    const withoutPin = { userId: account.id, userVerified: false };
    expect(await signIn(key, withoutPin)).toMatchObject({ outcome: 'ok', amr: ['hwk', 'pop'], userVerified: false });
    expect(await signIn(key, { userVerified: false })).toEqual({ outcome: 'wrong' });
  });

  test('demands user verification where the key is the only factor, and remembers that the key can do it', async () => {
    const key = softAuthenticator();
    await register(key, { userVerified: false });
    const of = { userId: account.id, mustVerify: true };
    const options = await fixture.passkeys.authenticationOptions(of);
    expect(options.userVerification).toBe('required');
    const answer = parseAssertion(
      key.get({ challenge: options.challenge, userHandle: account.id, userVerified: false }),
    );
    if (!answer) throw new Error('the answer could not be read');
    expect(await fixture.passkeys.authenticate(answer, { challenge: options.challenge, ...of })).toEqual({
      outcome: 'wrong',
    });
    expect((await fixture.factors.of(account.id)).verifyingPasskeys).toBe(0);
    expect(await signIn(key, { userId: account.id })).toMatchObject({ outcome: 'ok', userVerified: true });
    expect((await fixture.factors.of(account.id)).verifyingPasskeys).toBe(1);
  });

  test('is rejected when another program says that the passkey verifies its user', async () => {
    const key = softAuthenticator();
    await register(key, { userVerified: false });
    await fixture.db.asStored.passkey.update({ where: { id: key.id }, data: { userVerified: true } });
    expect(await signIn(key, { userId: account.id })).toEqual({ outcome: 'unknown-passkey' });
  });

  test.each<[string, Partial<Ceremony>]>([
    ['another challenge', { challenge: 'AAAA' }],
    ['another origin', { origin: 'https://evil.test' }],
    ['another port', { origin: 'https://login.example.org:8443' }],
    ['another relying party', { rpId: 'evil.test' }],
    ['nobody present', { userPresent: false }],
    ['an unverified user', { userVerified: false }],
    ['an answer to register', { type: 'webauthn.create' }],
    ["another person's handle", { userHandle: 'another-user' }],
  ])('rejects %s', async (_, wrong) => {
    const device = softAuthenticator();
    await register(device);
    expect(await signIn(device, wrong)).toEqual({ outcome: 'wrong' });
  });

  test('rejects unknown keys, other keys of the same id, and keys of another account', async () => {
    const mine = softAuthenticator();
    await register(mine);
    expect(await signIn(softAuthenticator())).toEqual({ outcome: 'unknown-passkey' });
    const forged = { ...softAuthenticator(), id: mine.id };
    const { challenge } = await fixture.passkeys.authenticationOptions();
    const answer = parseAssertion(forged.get({ challenge }));
    if (!answer) throw new Error('unreadable');
    const renamed = { ...answer, id: mine.id, rawId: mine.id };
    expect(await fixture.passkeys.authenticate(renamed, { challenge })).toEqual({ outcome: 'wrong' });
    const other = await fixture.person();
    expect(await signIn(mine, { userId: other.id })).toEqual({ outcome: 'unknown-passkey' });
  });

  test('detects a cloned key by its counter, and accepts keys without a counter', async () => {
    const device = softAuthenticator();
    await register(device, { counter: 5 });
    expect(await signIn(device, { counter: 9 })).toMatchObject({ outcome: 'ok' });
    expect(await signIn(device, { counter: 9 })).toEqual({ outcome: 'cloned' });
    expect(await signIn(device, { counter: 0 })).toEqual({ outcome: 'cloned' });
    expect(await signIn(device, { counter: 10 })).toMatchObject({ outcome: 'ok' });
    const phone = softAuthenticator();
    await register(phone);
    expect(await signIn(phone)).toMatchObject({ outcome: 'ok' });
    expect(await signIn(phone)).toMatchObject({ outcome: 'ok' });
  });

  test('accepts a response once when it is sent twenty times in parallel', async () => {
    const device = softAuthenticator();
    await register(device);
    const { challenge } = await fixture.passkeys.authenticationOptions();
    const answer = parseAssertion(device.get({ challenge }));
    if (!answer) throw new Error('unreadable');
    const outcomes = await together(20, () => fixture.passkeys.authenticate(answer, { challenge }));
    expect(outcomes.filter(({ outcome }) => outcome === 'ok')).toHaveLength(1);
    expect(outcomes.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(19);
  });
});

describe('the list of passkeys', () => {
  test('is changed by its owner only', async () => {
    const device = softAuthenticator();
    await register(device);
    const other = await fixture.person();
    expect(await fixture.passkeys.rename(other.id, device.id, 'Mine now')).toBe(false);
    expect(await fixture.passkeys.remove(other.id, device.id)).toBe(false);
    expect(await fixture.passkeys.rename(account.id, device.id, 'Work laptop')).toBe(true);
    expect(await fixture.factors.isLast(account.id, { passkeyId: device.id })).toBe(true);
    expect(await fixture.factors.isLast(account.id, { totp: true })).toBe(false);
    expect((await fixture.passkeys.list(account.id)).map(({ name }) => name)).toEqual(['Work laptop']);
    expect(await fixture.passkeys.remove(account.id, device.id)).toBe(true);
    expect(await signIn(device)).toEqual({ outcome: 'unknown-passkey' });
  });
});

test.each(['', 'null', '[]', '{}', '{"id":5}', 'not json', '{"id":"a","rawId":"a","type":"public-key","response":{}}'])(
  'the server rejects the malformed response %s',
  (text) => {
    expect(parseAssertion(text)).toBeUndefined();
    expect(parseAttestation(text)).toBeUndefined();
  },
);
