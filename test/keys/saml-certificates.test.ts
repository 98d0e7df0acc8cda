import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Keyring } from '../../src/core/keys/keyring.ts';
import type { TestClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';
import { anInstance, smallRsaKeys, startOfTests } from './support.ts';

smallRsaKeys();

let test: TestDatabase;
let keyring: Keyring;
let clock: TestClock;
const log: string[] = [];
beforeEach(async () => {
  test = await testDatabase({ keysFrom: startOfTests });
  ({ keyring, clock } = anInstance({ ...test.database, log }));
  await keyring.load();
  log.length = 0;
});
afterEach(() => test.close());

const states = () => keyring.samlCertificates().map(({ state }) => state);

describe('the rotation of certificates', () => {
  it('publishes the next certificate before it signs, and the old one afterwards', async () => {
    const first = keyring.samlCredential();
    expect(await keyring.rotate({ use: 'saml' })).toMatchObject({ outcome: 'published' });
    expect(keyring.samlCredential().kid).toBe(first.kid);
    expect(states()).toEqual(['active', 'next']);
    const [, next] = keyring.samlCertificates();

    expect(await keyring.rotate({ use: 'saml' })).toMatchObject({ outcome: 'published-already', kid: next?.kid });
    expect(await keyring.rotate({ use: 'saml', activate: true })).toMatchObject({ outcome: 'too-early' });
    clock.advance({ seconds: limits.keys.publishAheadSeconds });
    expect(await keyring.rotate({ use: 'saml', activate: true })).toMatchObject({ outcome: 'rotated', published: [] });
    expect(keyring.samlCredential()).toMatchObject({ kid: next?.kid, certificatePem: next?.certificatePem });
    expect(states()).toEqual(['active', 'retired']);

    clock.advance({ seconds: limits.keys.retireAfterSeconds });
    await keyring.runSchedule();
    expect(states()).toEqual(['active']);
  });

  it('activates nothing before a next certificate is published', async () => {
    expect(await keyring.rotate({ use: 'saml', activate: true })).toEqual({ outcome: 'nothing-to-activate' });
  });

  it('never rotates the certificate on schedule, but warns in its last 30 days', async () => {
    const { kid, until } = keyring.samlCredential();
    const secondsLeft = (until.getTime() - clock.now().getTime()) / 1000;
    clock.advance({ days: -limits.saml.certificateWarningDays, seconds: secondsLeft - 1 });
    await keyring.runSchedule();
    expect(keyring.expiringCertificates()).toEqual([]);
    expect(log.join()).not.toContain('expires soon');

    clock.advance({ seconds: 1 });
    await keyring.runSchedule();
    expect(keyring.expiringCertificates()).toMatchObject([{ kid, until }]);
    expect(log.join()).toContain('expires soon');
    expect(keyring.samlCredential().kid).toBe(kid);
  });
});
