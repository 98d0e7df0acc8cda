// LogoutRequests of service providers whose session has ended already, or that name no session: what the sender gets, and what the
// user reads (SAML Core 3.7.3.2).
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, type MessageParts, post, redirect } from '../../saml/live.ts';
import { aCredential } from '../../saml/support.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

const slo = '/saml/slo';
let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

interface Begun {
  sp: LiveSp;
  browser: HttpClient;
  user: TestUser;
  nameId: string;
  sessionIndex: string;
}

async function begin(
  format: 'persistent' | 'transient' | 'emailAddress' | 'unspecified' = 'unspecified',
): Promise<Begun> {
  const sp = await aLiveSp(idp, { name_id_format: format });
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  const page = await browser.follow(await redirect(browser, sp.request()));
  const answer = await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
  const assertion = answerIn(answer) ?? '';
  const nameId = /<saml:NameID[^>]*>([^<]+)/.exec(assertion)?.[1] ?? '';
  const sessionIndex = /SessionIndex="([^"]+)/.exec(assertion)?.[1] ?? '';
  return { sp, browser, user, nameId, sessionIndex };
}

const indexed = (index: string): MessageParts => ({ body: `<samlp:SessionIndex>${index}</samlp:SessionIndex>` });
const leave = ({ sp, browser }: Pick<Begun, 'sp' | 'browser'>, nameId: string, parts?: MessageParts) =>
  redirect(browser, sp.logout(nameId, parts), { key: sp.credential, path: slo });

/** The LogoutResponse in an address. */
function responseIn(address = ''): string {
  const message = new URL(address.replaceAll('&amp;', '&')).searchParams.get('SAMLResponse') ?? '';
  return inflateRawSync(Buffer.from(message, 'base64')).toString();
}

const end = ({ user }: Begun) => idp.services.endSession.all(user.account.id, 'signed-out');
const codeIn = (text: string) => /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(text)?.[0] ?? '';

describe('a LogoutRequest after the session has ended', () => {
  it.each(['persistent', 'transient', 'emailAddress', 'unspecified'] as const)(
    'succeeds when the NameID was of this application: %s',
    async (format) => {
      const begun = await begin(format);
      await end(begun);
      for (const parts of [indexed(begun.sessionIndex), {}]) {
        const { location } = await leave(begun, begun.nameId, parts);
        expect(responseIn(location)).toContain('status:Success');
      }
      const other = await aLiveSp(idp);
      const { location } = await leave({ sp: other, browser: begun.browser }, begun.nameId);
      expect(responseIn(location)).toContain('status:UnknownPrincipal');
    },
  );

  it('succeeds although the user has another session by now, which goes on', async () => {
    const begun = await begin();
    await end(begun);
    const again = httpClient(idp.issuer);
    const page = await again.follow(await redirect(again, begun.sp.request()));
    const { username, password } = begun.user;
    await again.follow(await again.submit(page, { username, password }));
    const { location } = await leave(begun, begun.nameId, indexed(begun.sessionIndex));
    expect(responseIn(location)).toContain('status:Success');
    expect(await idp.services.sessions.list(begun.user.account.id)).toHaveLength(1);
  });

  it('succeeds for a persistent NameID as long as the application is registered', async () => {
    const begun = await begin('persistent');
    await end(begun);
    await idp.services.db.samlParticipant.deleteMany({ where: { userId: begun.user.account.id } });
    expect(responseIn((await leave(begun, begun.nameId)).location)).toContain('status:Success');
  });

  it('is rejected for a NameID that the application never had, with an error reference', async () => {
    const begun = await begin();
    await end(begun);
    const xml = responseIn((await leave(begun, 'nobody')).location);
    expect(xml).toMatch(/status:Requester".*status:UnknownPrincipal"/);
    const rejection = await idp.services.rejections.find(codeIn(xml));
    expect(rejection).toMatchObject({ reason: 'no_such_session', clientId: begun.sp.entityId });
    expect(rejection?.rules.find(({ state }) => state === 'failed')?.rule).toBe('session');
  });
});

describe('a rejected LogoutRequest', () => {
  async function expectStillSignedIn(begun: Begun, page: Page, reason: string): Promise<void> {
    expect(page.text).toContain('You’re still signed in');
    expect(page.text).toContain('href="/end-session"');
    expect(page.text).toContain(begun.user.account.name ?? '');
    expect(await idp.services.rejections.find(codeIn(page.text))).toMatchObject({ reason });
    expect(await idp.services.sessions.list(begun.user.account.id)).toHaveLength(1);
  }

  it.each<[string, (begun: Begun) => [string, MessageParts]]>([
    ['another NameID', () => ['nobody', {}]],
    ['another SessionIndex', ({ nameId }) => [nameId, indexed('other')]],
  ])('tells a signed-in user so, and has the way back to the application: %s', async (_what, request) => {
    const begun = await begin();
    const page = await leave(begun, ...request(begun));
    await expectStillSignedIn(begun, page, 'no_such_session');
    const [, back] = /class="btn btn-quiet" href="([^"]+)"/.exec(page.text) ?? [];
    expect(responseIn(back)).toContain('status:UnknownPrincipal');
    const confirm = await begun.browser.follow(await begun.browser.get('/end-session'));
    await begun.browser.submit(confirm, { logout: 'yes' });
    expect(await idp.services.sessions.list(begun.user.account.id)).toHaveLength(0);
  });

  it('of an invalid signature tells a signed-in user so, and another one only that it is invalid', async () => {
    const begun = await begin();
    const forged = () => ({ key: aCredential(), path: slo });
    const page = await redirect(begun.browser, begun.sp.logout(begun.nameId), forged());
    expect(page.status).toBe(400);
    await expectStillSignedIn(begun, page, 'signature_invalid');
    const stranger = await redirect(httpClient(idp.issuer), begun.sp.logout(begun.nameId), forged());
    expect(stranger.text).not.toContain('You’re still signed in');
    expect(await idp.services.rejections.find(codeIn(stranger.text))).toMatchObject({ reason: 'signature_invalid' });
  });

  it.each<[string, (begun: Begun) => string, string, boolean]>([
    ['no session', ({ sp }) => sp.sign(sp.logout('nobody')), 'no_such_session', true],
    ['no signature', ({ sp, nameId }) => sp.logout(nameId), 'signature_missing', false],
  ])('by POST from another site reaches the session, too: %s', async (_what, xml, reason, hasWayBack) => {
    const begun = await begin();
    const { browser, sp } = begun;
    // A browser sends no SameSite=Lax cookie with this POST.
    const first = await post(httpClient(idp.issuer), xml(begun), 'state', slo);
    const page = await browser.follow(first);
    await expectStillSignedIn(begun, page, reason);
    const back = page.forms.find(({ action }) => action === sp.acs.replace('/acs', '/slo'));
    expect(back !== undefined).toBe(hasWayBack);
    if (back) expect(back.fields.RelayState).toBe('state');
    const stranger = await httpClient(idp.issuer).get(first.location ?? '');
    expect(stranger.text).not.toContain('still signed in');
    if (hasWayBack) expect(answerIn(stranger)).toContain('status:UnknownPrincipal');
    else expect(stranger.status).toBe(400);
    expect((await browser.get(`${first.location}x`)).status).toBe(400);
  });

  it('with a RelayState of more than 8 KB is answered', async () => {
    const begun = await begin();
    const { browser, sp, nameId } = begun;
    await post(browser, sp.sign(sp.logout(nameId)), 'x'.repeat(9000), slo);
    const page = await post(browser, sp.sign(sp.logout(nameId)), 'x'.repeat(9000), slo);
    await expectStillSignedIn(begun, page, 'relay_state_too_long');
  });

  it('that breaks the schema tells a signed-in user so, and the rejection is one of the application', async () => {
    const begun = await begin();
    const message = begun.sp.logout(begun.nameId).replace(' Version="2.0"', ' Version="2.0" Reason="" Attempt="1"');
    const page = await redirect(begun.browser, message, { key: begun.sp.credential, path: slo });
    await expectStillSignedIn(begun, page, 'not_schema_valid');
    expect(await idp.services.rejections.find(codeIn(page.text))).toMatchObject({ clientId: begun.sp.entityId });
  });

  it('of an unknown application has an error reference', async () => {
    const begun = await begin();
    const unknown = begun.sp.logout(begun.nameId, { issuer: 'https://unknown.example' });
    const page = await post(begun.browser, begun.sp.sign(unknown), '', slo);
    expect(await idp.services.rejections.find(codeIn(page.text))).toMatchObject({ reason: 'service_provider_unknown' });
  });
});

it('a SessionIndex of a proven sender suffices when only the format of the NameID differs', async () => {
  const begun = await begin('emailAddress');
  const message = begun.sp.logout(begun.nameId, indexed(begun.sessionIndex));
  const format = ' Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"';
  const other = message.replace('<saml:NameID>', `<saml:NameID${format}>`);
  const { location } = await redirect(begun.browser, other, { key: begun.sp.credential, path: slo });
  expect(responseIn(location)).toContain('status:Success');
  expect(await idp.services.sessions.list(begun.user.account.id)).toHaveLength(0);
});
