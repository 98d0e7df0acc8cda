// A program that can write to the database, but has no data key, makes passwords, factors and links by SQL.
import { randomBytes } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/base/platform/random.ts';
import { createLinkTokens } from '../../src/core/mail/link-tokens.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';

let idp: TestIdp;
let victim: TestUser;
let attacker: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
});
afterAll(() => idp?.stop());
beforeEach(async () => {
  victim = await aUser(idp.services);
  attacker = await aUser(idp.services, { password: 'another long password of mine' });
});

const alarmed = async (table: string, key: string) => {
  const alarms = await idp.services.audit.list({ types: ['integrity.alarm'], limit: 500 });
  return alarms.some(({ data }) => data.table === table && data.key === key);
};
const later = new Date(Date.UTC(2100, 0));

describe('the server', () => {
  it('rejects a password that another program wrote, also the genuine hash of another account, and raises an audited alarm', async () => {
    const { db } = idp.services;
    const { hash, mac } = await db.asStored.passwordCredential.findUniqueOrThrow({
      where: { userId: attacker.account.id },
    });
    for (const data of [{ hash }, { hash, mac }]) {
      await db.asStored.passwordCredential.update({ where: { userId: victim.account.id }, data });
      const page = await atAccount(idp, { username: victim.username, password: attacker.password });
      expect(page.status).toBe(401);
    }
    await expect.poll(() => alarmed('password_credentials', victim.account.id)).toBe(true);
    await signedIn(idp, attacker);
  });

  it('rejects a passkey that another program wrote', async () => {
    const id = randomBytes(16).toString('base64url');
    await idp.services.db.asStored.passkey.create({
      data: { id, userId: victim.account.id, name: 'key', publicKey: randomBytes(77), userVerified: true },
    });
    const answer = {
      id,
      rawId: id,
      type: 'public-key' as const,
      authenticatorAttachment: undefined,
      clientExtensionResults: {},
    };
    const response = { clientDataJSON: '', authenticatorData: '', signature: '', userHandle: undefined };
    const outcome = await idp.services.mfa.passkeys.authenticate({ ...answer, response }, { challenge: 'x' });
    expect(outcome).toEqual({ outcome: 'unknown-passkey' });
    await expect.poll(() => alarmed('passkeys', id)).toBe(true);
  });

  it('sends no code to a phone number that another program wrote', async () => {
    const userId = victim.account.id;
    await idp.services.db.asStored.phoneFactor.create({ data: { userId, number: '+4915100000', confirmedAt: later } });
    expect((await idp.services.mfa.factors.of(userId)).phone).toBeUndefined();
    await expect.poll(() => alarmed('phone_factors', userId)).toBe(true);
  });

  it('rejects every code of an authenticator app whose parameters another program changed', async () => {
    const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    const { db, mfa } = idp.services;
    const userId = victim.account.id;
    await mfa.totp.importSecret(userId, SECRET);
    const period = 3600;
    for (const data of [{ period }, { digits: 1 }, { digits: 1, period }]) {
      await db.totpCredential.update({ where: { userId }, data });
      expect(await mfa.totp.verify(userId, generateSync({ secret: SECRET, period }))).toBe('wrong');
      for (const digit of '0123456789') expect(await mfa.totp.verify(userId, digit)).toBe('wrong');
    }
  });

  it('rejects a TOTP secret that was copied from another account', async () => {
    const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
    const { db, mfa } = idp.services;
    await mfa.totp.importSecret(attacker.account.id, SECRET);
    const { userId: _, ...own } = await db.totpCredential.findUniqueOrThrow({ where: { userId: attacker.account.id } });
    await db.totpCredential.create({ data: { ...own, userId: victim.account.id } });
    await expect(mfa.totp.verify(victim.account.id, generateSync({ secret: SECRET }))).rejects.toThrow();
  });

  it('opens nothing with a link that another program wrote', async () => {
    const { db } = idp.services;
    const token = randomBytes(32).toString('base64url');
    const row = { id: 'forged', tokenHash: sha256(token), expiresAt: later };
    await db.asStored.passwordResetToken.create({ data: { ...row, userId: victim.account.id } });
    const open = async (value: string) => {
      const browser = httpClient(idp.issuer);
      return browser.follow(await browser.get(`/reset-password?token=${value}`));
    };
    expect((await open(token)).text).not.toContain('new-password');
    await expect.poll(() => alarmed('password_reset_tokens', 'forged')).toBe(true);
    const invited = randomBytes(32).toString('base64url');
    const data = JSON.stringify({ email: victim.account.email });
    await db.asStored.mailToken.create({
      data: {
        ...row,
        id: 'forged-too',
        tokenHash: sha256(invited),
        userId: victim.account.id,
        purpose: 'invite',
        data,
      },
    });
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(`/invitation?token=${invited}`));
    expect(page.text).not.toContain('new-password');
    await expect.poll(() => alarmed('mail_tokens', 'forged-too')).toBe(true);
    await signedIn(idp, victim);
  });

  it('rejects what another program changed of the password, the age of an account and setting, and the use of a link', async () => {
    const { accounts, credentials, db, settings } = idp.services;
    const links = createLinkTokens(idp.services);
    const userId = victim.account.id;
    const { email } = victim.account;
    const token = await links.issue({ userId, purpose: 'change-email', email: email ?? '' }, 600, db);
    const link = await links.find(token, 'change-email');
    expect(link && (await links.consume(link, db))).toBe(true);
    await db.asStored.mailToken.updateMany({ where: { userId }, data: { usedAt: null } });
    expect(await links.find(token, 'change-email')).toBeUndefined();

    await credentials.forceChange(userId);
    await db.asStored.passwordCredential.update({ where: { userId }, data: { mustChange: false } });
    expect(await credentials.status(userId)).toBeUndefined();

    await settings.set('mfa', 'optional');
    await db.asStored.setting.update({ where: { key: 'mfa' }, data: { updatedAt: later } });
    expect(await settings.changedAt('mfa')).toBeUndefined();
    await settings.unset('mfa');
    // Where the first factor may be set up in the days after the account was created.
    await db.asStored.user.update({ where: { id: userId }, data: { createdAt: later } });
    expect(await accounts.find(userId)).toBeUndefined();
    await expect.poll(() => alarmed('users', userId)).toBe(true);
  });

  it('does not open the console to a user who was made an administrator by SQL', async () => {
    const { db, roles } = idp.services;
    const roleId = (await roles.find('admin'))?.id ?? '';
    await db.asStored.userRole.create({ data: { userId: attacker.account.id, roleId } });
    const browser = await signedIn(idp, attacker);
    const page = await browser.follow(await browser.get('/admin/users'));
    expect(page.status).toBe(403);
    await expect.poll(() => alarmed('user_roles', attacker.account.id)).toBe(true);
  });
});
