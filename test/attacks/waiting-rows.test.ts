// What waits in the database becomes something protected later: a session, a right, a registration, a mail. A program that can write to the
// database, but has no data key, exchanges each kind of waiting row, and then the victim or an administrator goes on as usual.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import { sha256 } from '../../src/base/platform/random.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { anUpstream, callbackOf, isAtApplication, openSignIn } from '../federation/support.ts';
import { anApplication, authorizeUrl, completeSignIn, postAs, redirectUri, signIn } from '../oidc/support.ts';
import { forgot, linkIn, mailOf, NEW_PASSWORD, open } from '../recovery/support.ts';
import { aLiveSp, answerIn, redirect } from '../saml/live.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

const EVIL = 'https://mallory.example/cb';
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

const metadata = `<?xml version="1.0"?>
<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://waiting.example/sp">
  <SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://waiting.example/acs"/>
  </SPSSODescriptor>
</EntityDescriptor>`;

let idp: TestIdp;
let box: Mailbox;
let admin: HttpClient;
beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, hasTamperedRows: true });
  await idp.services.settings.set('rate_limits', false);
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

const db = () => idp.services.db;
/** One statement as any SQL client sends it; values stand for `?`. */
async function sql(text: string, ...values: string[]): Promise<void> {
  const quoted = values.map((value) => `'${value.replaceAll("'", "''")}'`);
  expect(await db().$executeRawUnsafe(text.replace(/\?/g, () => quoted.shift() ?? '')), text).toBeGreaterThan(0);
}
const alarmed = async (table: string, key: string) => {
  const alarms = await idp.services.audit.list({ types: ['integrity.alarm'], limit: 500 });
  return alarms.some(({ data }) => data.table === table && data.key === key);
};
const expectAlarm = (table: string, key: string) => expect.poll(() => alarmed(table, key)).toBe(true);
const device = async () => {
  const tv = await anApplication(idp, { grant_types: [DEVICE_CODE, 'authorization_code'] });
  const answer = await postAs(idp, tv, '/device/code', { scope: 'openid' });
  const { device_code, user_code } = answer.json<{ device_code: string; user_code: string }>();
  const poll = async () =>
    (await postAs(idp, tv, '/token', { grant_type: DEVICE_CODE, device_code })).json<{ error?: string }>();
  const row = await db().oidcArtifact.findFirstOrThrow({ where: { model: 'DeviceCode', clientId: tv.clientId } });
  return { tv, userCode: user_code, poll, row };
};
/** The owner enters the code, and signs in. */
async function connect(userCode: string, user: TestUser) {
  const browser = httpClient(idp.issuer);
  const page = await browser.submit(await browser.get('/device'), { user_code: userCode });
  const button = page.forms.flatMap(({ buttons }) => buttons).find(({ label }) => label === 'Connect device');
  return button
    ? completeSignIn(browser, await browser.submit(page, {}, { button: 'Connect device' }), { user })
    : page;
}
const rejectionOf = async (clientId: string) =>
  (await idp.services.rejections.list({ clientId })).rejections[0] ?? expect.fail('no rejection');

/** Each row: what waits, and the attack with its end. */
const attacks: [kind: string, attempt: () => Promise<void>][] = [
  [
    'a SAML document that waits for its approval',
    async () => {
      const { applications } = idp.services;
      const url = 'https://waiting.example/metadata';
      const acs = 'https://waiting.example/acs';
      const entry = serviceProvider.parse({ name: 'Waiting', metadata_url: url });
      const registration = { ...entry, entityId: 'https://waiting.example/sp', settings: settingsOf(entry, metadata) };
      const { id } = await applications.createSaml(registration);
      const row = { applicationId: id, url, pendingXml: metadata.replace(acs, `${acs}/new`), pendingSince: new Date() };
      await db().samlMetadata.create({ data: { ...row, nextReadAt: new Date('2100-01-01'), pendingKey: 'new' } });
      const api = await aService(idp);
      const path = `/applications/${id}/metadata-change`;
      expect((await api.get(path)).status).toBe(200);
      await sql('UPDATE saml_metadata SET pending_xml = replace(pending_xml, ?, ?)', acs, EVIL);
      const { pendingXml } = await db().asStored.samlMetadata.findUniqueOrThrow({ where: { applicationId: id } });
      expect(pendingXml).toContain(EVIL);
      const approved = await api.send('POST', `${path}/approve`, { document: sha256(pendingXml ?? '') });
      expect(approved.status).toBe(404);
      expect(JSON.stringify((await applications.get(id)).metadata)).not.toContain(EVIL);
      await expectAlarm('saml_metadata', id);
    },
  ],
  [
    'a pushed authorization request',
    async () => {
      const app = await anApplication(idp);
      const where = { model: 'PushedAuthorizationRequest' };
      const push = async (state: string) => {
        const parameters = Object.fromEntries(new URL(authorizeUrl(idp, app.clientId, { state })).searchParams);
        const known = await db().oidcArtifact.findMany({ where });
        const { request_uri } = (await postAs(idp, app, '/par', parameters)).json<{ request_uri: string }>();
        const ids = known.map(({ id }) => id);
        const row = await db().oidcArtifact.findFirstOrThrow({ where: { ...where, id: { notIn: ids } } });
        return { ...row, request_uri };
      };
      const [{ id, request_uri }, mallorys] = [await push('victim'), await push('mallory')];
      await sql('UPDATE oidc_artifacts SET payload = ?, mac = ? WHERE id = ?', mallorys.payload, mallorys.mac, id);
      const query = new URLSearchParams({ client_id: app.clientId, request_uri });
      const page = await httpClient(idp.issuer).get(`/authorize?${query}`);
      expect(page.location ?? '').not.toContain('/signin/');
      await expectAlarm('oidc_artifacts', id);
    },
  ],
  [
    'a device code under the user code of another device',
    async () => {
      const victim = await aUser(idp.services);
      const [tv, mallorys] = [await device(), await device()];
      await sql("UPDATE oidc_artifacts SET user_code = 'gone' WHERE id = ?", tv.row.id);
      await sql('UPDATE oidc_artifacts SET user_code = ? WHERE id = ?', tv.row.userCode ?? '', mallorys.row.id);
      await connect(tv.userCode, victim);
      expect(await mallorys.poll()).not.toHaveProperty('access_token');
      await expectAlarm('oidc_artifacts', mallorys.row.id);
    },
  ],
  [
    'a device code that says who approved it',
    async () => {
      const victim = await aUser(idp.services);
      const mallorys = await device();
      const payload = JSON.stringify({
        ...JSON.parse(mallorys.row.payload),
        accountId: victim.account.id,
        scope: 'openid',
      });
      await sql('UPDATE oidc_artifacts SET payload = ? WHERE id = ?', payload, mallorys.row.id);
      expect(await mallorys.poll()).not.toHaveProperty('access_token');
      await expectAlarm('oidc_artifacts', mallorys.row.id);
    },
  ],
  [
    'an interaction with another redirect URI',
    async () => {
      const [victim, app] = [await aUser(idp.services), await anApplication(idp)];
      const browser = httpClient(idp.issuer);
      const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
      await sql(
        "UPDATE oidc_artifacts SET payload = replace(payload, ?, ?) WHERE model = 'Interaction'",
        redirectUri,
        EVIL,
      );
      const sent = await browser.submit(page, { username: victim.username, password: victim.password });
      const end = await browser.follow(sent, (url) => url.startsWith(EVIL) || isAtApplication(url));
      expect(end.location).toBeUndefined();
    },
  ],
  [
    'a SAML request',
    async () => {
      const [victim, sp] = [await aUser(idp.services), await aLiveSp(idp)];
      const browser = httpClient(idp.issuer);
      const page = await browser.follow(await redirect(browser, sp.request()));
      await sql('UPDATE saml_requests SET data = replace(data, ?, ?) WHERE used_at IS NULL', sp.acs, EVIL);
      const end = await browser.submit(page, { username: victim.username, password: victim.password });
      const last = await browser.follow(end);
      expect(answerIn(last)).toBeUndefined();
      expect(last.text).not.toContain(EVIL);
    },
  ],
  [
    'the link of a mail',
    async () => {
      const [victim, mallory] = [await aUser(idp.services), await aUser(idp.services)];
      await forgot(idp, mallory.username);
      const link = linkIn(await mailOf(box, mallory.account.email ?? '', 'Reset your password'));
      const { id } = await db().asStored.passwordResetToken.findFirstOrThrow({ where: { userId: mallory.account.id } });
      await sql('UPDATE password_reset_tokens SET user_id = ? WHERE id = ?', victim.account.id, id);
      const { browser, page } = await open(idp, link);
      if (page.forms[0]) await browser.submit(page, { password: NEW_PASSWORD });
      const signedIn = await signIn(httpClient(idp.issuer), await anApplication(idp), victim);
      expect(signedIn.tokens).toHaveProperty('access_token');
      await expectAlarm('password_reset_tokens', id);
    },
  ],
  [
    'a queued mail, to another recipient and with the body of another one',
    async () => {
      const [victim, mallory] = [await aUser(idp.services), await aUser(idp.services)];
      box.rejectNext(1000);
      for (const { username } of [victim, mallory]) await forgot(idp, username);
      const rows = () =>
        db().mailMessage.findMany({
          where: { recipient: { in: [victim.account.email ?? '', mallory.account.email ?? ''] } },
        });
      const failed = async () => (await rows()).filter(({ lastError }) => lastError !== null).length;
      await expect.poll(failed).toBe(2);
      const waiting = (user: TestUser) =>
        db().mailMessage.findFirstOrThrow({ where: { recipient: user.account.email ?? '' } });
      const [theirs, own] = [await waiting(victim), await waiting(mallory)];
      await sql('UPDATE mail_messages SET body_sealed = ? WHERE id = ?', theirs.bodySealed, own.id);
      await sql('UPDATE mail_messages SET recipient = ? WHERE id = ?', 'evil@mallory.example', theirs.id);
      box.rejectNext(0);
      await db().mailMessage.updateMany({
        where: { id: { in: [theirs.id, own.id] } },
        data: { nextTryAt: new Date(0) },
      });
      await forgot(idp, (await aUser(idp.services)).username);
      await expectAlarm('mail_messages', theirs.id);
      await expect.poll(() => idp.log.join('\n')).toContain('queued mail cannot be decrypted');
      expect(box.messages.flatMap(({ to }) => to)).not.toContain('evil@mallory.example');
    },
  ],
  [
    'the time of a request to an upstream, so that an old sign-in counts as a new one',
    async () => {
      const { connection, upstream, remove } = await anUpstream(idp);
      const { clientId } = await anApplication(idp);
      upstream.user = { sub: 'old', auth_time: Math.floor(Date.now() / 1000) - 3600 };
      const browser = httpClient(idp.issuer);
      const form = await openSignIn(idp, { clientId, browser, prompt: 'login' });
      const sent = await browser.submit(form, {}, { form: `/connections/${connection}` });
      const back = await browser.follow(sent, (url) => url.startsWith(callbackOf(idp, connection)));
      await db().upstreamRequest.updateMany({ where: { connectionId: connection }, data: { createdAt: new Date(0) } });
      const end = await browser.follow(await browser.get(back.location ?? ''), isAtApplication);
      expect(end.location ?? '').not.toContain('code=');
      await remove();
    },
  ],
  [
    'the fix of a rejected request',
    async () => {
      const app = await anApplication(idp);
      const wanted = 'https://wanted.example/cb';
      await httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId, { redirect_uri: wanted }));
      const { code } = await rejectionOf(app.clientId);
      const page = await admin.get(`/admin/rejections/${code}`);
      expect(textOf(page.text)).toContain(wanted);
      const question = await admin.get(`/admin/rejections/${code}/fix/redirect-uri`);
      await sql('UPDATE rejections SET data = replace(data, ?, ?) WHERE id = ?', wanted, EVIL, code);
      const fixed = await admin.follow(await admin.submit(question, {}, { form: `/admin/rejections/${code}` }));
      expect(fixed.text).not.toContain(EVIL);
      const { metadata } = await idp.services.applications.get(app.applicationId);
      expect(metadata).toMatchObject({ redirect_uris: expect.not.arrayContaining([EVIL]) });
      await expectAlarm('rejections', code);
      expect((await admin.get(`/admin/rejections?client_id=${app.clientId}`)).text).not.toContain(EVIL);
    },
  ],
  [
    'a logout token',
    async () => {
      const [victim, mallory] = [await aUser(idp.services), await aUser(idp.services)];
      const app = await anApplication(idp, { backchannel_logout_uri: 'https://127.0.0.1:1/logout' });
      await signIn(httpClient(idp.issuer), app, mallory);
      await idp.services.endSession.all(mallory.account.id, 'signed-out');
      const where = { clientId: app.clientId };
      const { id } = await db().asStored.logoutDelivery.findFirstOrThrow({ where });
      const data = { accountId: victim.account.id, nextTryAt: new Date(0), tries: 0, doneAt: null, failedAt: null };
      await db().asStored.logoutDelivery.updateMany({ where, data });
      await idp.services.endSession.all(mallory.account.id, 'signed-out');
      await expectAlarm('logout_deliveries', id);
    },
  ],
  [
    'the public part of the signing keys, before another server of the database starts',
    async () => {
      const before = (await httpClient(idp.issuer).get('/jwks')).json();
      const own = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
      await sql('UPDATE signing_keys SET public_jwk = ?', JSON.stringify(own));
      const environment = { ...idp.environment, PORT: String(await freePort()) };
      const other = await startIdp({ environment, hasTamperedRows: true });
      const after = (await httpClient(other.issuer).get('/jwks')).json();
      expect(after).toEqual(before);
      await other.stop();
    },
  ],
  [
    'a form of the console that waits for a fresh sign-in',
    async () => {
      const boss = await staff(idp, 'admin');
      const browser = await consoleOf(idp, boss);
      await signedInLongAgo(idp, boss);
      const [chosen, victim] = [await aUser(idp.services), await aUser(idp.services)];
      const where = { userId: boss.account.id };
      const rowsOf = () => db().storedForm.findMany({ where, orderBy: { createdAt: 'asc' } });
      const disable = async ({ account }: TestUser) =>
        confirmation(browser, await browser.submit(await browser.get(`/admin/users/${account.id}/disable`)));
      const page = await disable(chosen);
      const [{ id = '' } = {}] = await rowsOf();
      await disable(victim);
      const other = (await rowsOf()).find((row) => row.id !== id);
      await sql('UPDATE stored_forms SET form_sealed = ? WHERE id = ?', other?.formSealed ?? '', id);
      const again = await signInAgain(browser, page, boss);
      expect([again.status, again.forms.some(({ action }) => action.includes('/disable'))]).toEqual([404, false]);
      expect(await idp.services.accounts.find(victim.account.id)).toMatchObject({ isActive: true });
    },
  ],
  [
    'the approval of a first factor',
    async () => {
      const userId = (await aUser(idp.services)).account.id;
      const row = { userId, requestedAt: new Date(), allowedUntil: new Date('2100-01-01') };
      await db().asStored.firstFactorApproval.create({ data: row });
      expect(await idp.services.mfa.firstEnrolment.state(userId)).toMatchObject({ allowedUntil: null });
      await expectAlarm('first_factor_approvals', userId);
    },
  ],
];

describe('a row that waits gives nothing once another program exchanged it', () => {
  it.each(attacks)('%s', async (_kind, attempt) => {
    await attempt();
  });
});
