// Runs every flow that handles a secret, then checks that no password, token, code or secret is in the log, in the audit
// rows, or in the body of an error.
import { text } from 'node:stream/consumers';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anApplication, postAs, signIn } from '../oidc/support.ts';
import { linkIn, mailIsIdle, mailOf, NEW_PASSWORD, redeem, resetLink } from '../recovery/support.ts';
import { aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { atAccount, signedIn } from '../support/pages/account.ts';
import { solvedCaptcha } from '../support/pages/captcha.ts';

const WRONG = 'a wrong password of mine';
let box: Mailbox;
let gateway: Listening;
let idp: TestIdp;
const sent: string[] = [];
/** The secrets that must not appear, by description. */
const secrets = new Map<string, string>();
const errors: Page[] = [];

beforeAll(async () => {
  box = await mailbox();
  gateway = await listen(async (request, response) => {
    sent.push(await text(request));
    response.writeHead(500).end('no');
  });
  idp = await startIdp({ environment: { SMTP_URL: box.url, LOG_LEVEL: 'trace' } });
  await idp.services.settings.set('sms_gateway', { url: gateway.origin, token: 'token-of-the-sms-gateway' });
  await idp.services.settings.set('self_registration', true);
  await idp.services.settings.reload();
});
afterAll(async () => {
  await idp?.stop();
  await gateway?.close();
  await box?.close();
});

const secret = (what: string, value: string | undefined): string => {
  if (!value || value.length < 6) throw new Error(`no ${what}: ${value}`);
  secrets.set(what, value);
  return value;
};
const failed = (page: Page, status: number): Page => {
  expect(page.status, page.url).toBe(status);
  errors.push(page);
  return page;
};

async function passwordsAndLinks(): Promise<void> {
  const user = await aUser(idp.services);
  const email = user.account.email ?? '';
  secret('password', user.password);
  secret('wrong password', WRONG);
  failed(await atAccount(idp, { username: user.username, password: WRONG }), 401);
  failed(await atAccount(idp, { username: WRONG, password: user.password }), 401);
  const link = await resetLink(idp, box, user.username, email);
  secret('reset token', new URL(link).searchParams.get('token') ?? '');
  failed(await redeem(idp, link, secret('short password', 'kelp-otter')), 400);
  await redeem(idp, link, secret('new password', NEW_PASSWORD));
  failed(await redeem(idp, link), 400);

  const page = await httpClient(idp.issuer).get('/sign-up');
  await httpClient(idp.issuer).submit(page, { email: 'new@example.com' });
  for (let tries = 0; tries < 6; tries += 1)
    await failSignIn(idp.services.lockout, { login: user.username, address: `192.0.2.${tries}` });
  const altcha = secret('CAPTCHA answer', await solvedCaptcha(idp));
  const browser = httpClient(idp.issuer);
  const form = await browser.follow(await browser.get('/account'));
  failed(await browser.submit(form, { username: user.username, password: NEW_PASSWORD, altcha }), 429);
  await browser.submit(await browser.get('/unlock/ask'), { username: user.username });
  const unlock = linkIn(await mailOf(box, email, 'Unlock your account'));
  secret('unlock token', new URL(unlock).searchParams.get('token') ?? '');
  await browser.follow(await browser.get(unlock));
}

async function factors(): Promise<void> {
  const user = await aUser(idp.services);
  const browser = await signedIn(idp, user);
  const page = await browser.get('/account/factors/app');
  const key = secret('TOTP secret', /<code>([A-Z2-7 ]{16,})<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', ''));
  failed(await browser.submit(page, { code: 'wr0ngc0de' }), 400);
  secrets.set('wrong code', 'wr0ngc0de');
  const codesPage = await browser.follow(
    await browser.submit(page, { code: secret('TOTP code', generateSync({ secret: key })) }),
  );
  const codes = [...codesPage.text.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code]) => code ?? '');
  expect(codes).toHaveLength(10);
  codes.forEach((code, index) => void secret(`recovery code ${index}`, code));

  const other = httpClient(idp.issuer);
  const question = await atAccount(idp, user, other);
  failed(await other.submit(question, { code: codes[0]?.slice(0, -4).concat('zzzz') ?? '' }), 401);
  const recovery = await other.get(`${new URL(question.url).pathname}?method=recovery-code`);
  const offered = await other.follow(await other.submit(recovery, { code: codes[0] ?? '' }));
  await other.follow(await other.submit(offered, {}, { form: 'keep-factors' }));
  failed(await other.submit(await other.get('/account/factors/phone'), { phone: '+491701234567' }), 502);
  secret('SMS code', /(\d{6}) is your/.exec(sent[0] ?? '')?.[1]);
  secrets.set('gateway token', 'token-of-the-sms-gateway');
  secret('session cookie', /sessionId=([^;.]+)/.exec(other.cookies.headerFor(new URL(idp.issuer)) ?? '')?.[1]);
}

async function tokens(): Promise<void> {
  const user = await aUser(idp.services);
  const app = await anApplication(idp, { client_name: 'Leaky' });
  const {
    tokens: answer,
    callback,
    started,
  } = await signIn(httpClient(idp.issuer), app, user, { scope: 'openid offline_access', prompt: 'consent' });
  secret('client secret', app.clientSecret);
  const code = secret('authorization code', callback.searchParams.get('code') ?? '');
  secret('access token', answer.access_token);
  secret('ID token', answer.id_token);
  secret('PKCE verifier', started.checks.pkceCodeVerifier);
  const used = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri };
  failed(await postAs(idp, app, '/token', { ...used, code_verifier: started.checks.pkceCodeVerifier }), 400);
  const wrong = { ...app, clientSecret: secret('wrong client secret', 'wrong-client-secret-of-an-attacker') };
  failed(await postAs(idp, wrong, '/token', { grant_type: 'client_credentials' }), 401);
  failed(await postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: `${code}x` }), 400);
  const bearer = { headers: { authorization: `Bearer ${answer.access_token}x` } };
  failed(await httpClient(idp.issuer).get('/userinfo', bearer), 401);
}

/** A hash may contain the same six digits by chance, so a code counts only as a separate word. */
const holds = (content: string, value: string) =>
  /^\d{6}$/.test(value) ? new RegExp(`(?<!\\w)${value}(?!\\w)`).test(content) : content.includes(value);

it('no secret is in the log, the audit rows, or an error', { timeout: 180_000 }, async () => {
  await passwordsAndLinks();
  await factors();
  await tokens();
  await mailIsIdle(idp.services);
  const rows = await idp.services.db.auditEvent.findMany();
  const places = {
    log: idp.log.join('\n'),
    audit: JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    errors: errors.map(({ text: body, headers }) => `${body}\n${JSON.stringify(headers)}`).join('\n'),
  };
  expect(rows.length).toBeGreaterThan(20);
  expect(errors.length).toBeGreaterThan(10);
  const found = Object.entries(places).flatMap(([place, content]) =>
    [...secrets].flatMap(([what, value]) => (holds(content, value) ? [`${what} in ${place}`] : [])),
  );
  // A password typed as the username is repeated in that field only. The form of a new authenticator app, repeated after a
  // wrong code, contains the key for its owner.
  const allowed = ['wrong password in errors', 'TOTP secret in errors'];
  expect(found.filter((one) => !allowed.includes(one))).toEqual([]);
});
