// The NameID and the attributes that a service provider receives, and that RelayState comes back unchanged.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn, type LiveSp, post, redirect } from '../../saml/live.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';

let idp: TestIdp;
let ann: SamlUser;
let bob: SamlUser;

beforeAll(async () => {
  idp = await startIdp();
  ann = await aSamlUser(idp.services, { name: 'Ann', roles: [] } as never);
  bob = await aSamlUser(idp.services);
});
afterAll(() => idp?.stop());

/** The assertion for this service provider in this browser; signs in when a page requires it. */
async function assertion(browser: HttpClient, sp: LiveSp, who: SamlUser, body = ''): Promise<string> {
  const page = await browser.follow(await redirect(browser, sp.request({ body })));
  const answer = page.text.includes('name="username"') ? await who.withPassword(browser, page) : page;
  return answerIn(answer) ?? '';
}
const nameIdIn = (xml: string) => /<saml:NameID([^>]*)>([^<]+)</.exec(xml)?.slice(1) ?? [];
const policy = (format: string) => `<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:${format}"/>`;

describe('the identifier', () => {
  it('is opaque when persistent, stable, and different for each user and application', async () => {
    const [one, two] = [await aLiveSp(idp), await aLiveSp(idp)];
    const values = new Set<string>();
    for (const who of [ann, bob]) {
      for (const sp of [one, two]) {
        const [attributes, value = ''] = nameIdIn(await assertion(httpClient(idp.issuer), sp, who));
        expect(attributes).toContain('nameid-format:persistent');
        expect(attributes).toContain(`NameQualifier="${idp.issuer}/saml/metadata"`);
        expect(attributes).toContain(`SPNameQualifier="${sp.entityId}"`);
        expect(value).not.toContain(who.account.id);
        expect(value).not.toContain(who.username);
        expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, who))[1]).toBe(value);
        values.add(value);
      }
    }
    expect(values.size).toBe(4);
  });

  it('is created once in simultaneous sign-ins when persistent', async () => {
    const sp = await aLiveSp(idp);
    const browsers = Array.from({ length: 6 }, () => httpClient(idp.issuer));
    const other = await aLiveSp(idp);
    await Promise.all(browsers.map((browser) => assertion(browser, other, ann)));
    const answers = await Promise.all(browsers.map((browser) => assertion(browser, sp, ann)));
    expect(new Set(answers.map((xml) => nameIdIn(xml)[1])).size).toBe(1);
  });

  it('is never given to another user when persistent, not even after a deletion', async () => {
    const sp = await aLiveSp(idp);
    const gone = await aSamlUser(idp.services, { username: 'recycled' });
    const [, before] = nameIdIn(await assertion(httpClient(idp.issuer), sp, gone));
    await idp.services.db.user.delete({ where: { id: gone.account.id } });
    const next = await aSamlUser(idp.services, { username: 'recycled' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, next))[1]).not.toBe(before);
    expect(await idp.services.db.samlNameId.count({ where: { value: before } })).toBe(1);
  });

  it('lasts as long as the session when transient', async () => {
    const sp = await aLiveSp(idp, { name_id_format: 'transient' });
    const browser = httpClient(idp.issuer);
    const [attributes, first] = nameIdIn(await assertion(browser, sp, ann));
    expect(attributes).toContain('nameid-format:transient');
    expect(nameIdIn(await assertion(browser, sp, ann))[1]).toBe(first);
    expect(nameIdIn(await assertion(httpClient(idp.issuer), sp, ann))[1]).not.toBe(first);
  });

  it('is the verified address or the username where the application is configured so', async () => {
    const mails = await aLiveSp(idp, { name_id_format: 'emailAddress' });
    expect(nameIdIn(await assertion(httpClient(idp.issuer), mails, ann))[1]).toBe(ann.account.email);
    const names = await aLiveSp(idp, { name_id_format: 'unspecified' });
    const browser = httpClient(idp.issuer);
    expect(nameIdIn(await assertion(browser, names, ann))[1]).toBe(ann.username);
    expect(nameIdIn(await assertion(browser, names, ann, policy('1.1:nameid-format:unspecified')))[1]).toBe(
      ann.username,
    );
  });

  it('is a field of the user where the application has to know it in advance', async () => {
    const format = 'persistent';
    for (const [name_id_field, value] of [
      ['sub', ann.account.id],
      ['username', ann.username],
      ['email', ann.account.email],
    ] as const) {
      const sp = await aLiveSp(idp, { name_id_format: format, name_id_field, require_allow_create: true });
      const [attributes, nameId] = nameIdIn(await assertion(httpClient(idp.issuer), sp, ann));
      expect([attributes, nameId]).toEqual([expect.stringContaining('nameid-format:persistent'), value]);
      expect(await idp.services.db.samlNameId.count({ where: { value: value ?? '' } })).toBe(0);
    }
    const unproven = await aSamlUser(idp.services, { emailVerified: false });
    const sp = await aLiveSp(idp, { name_id_format: format, name_id_field: 'email' });
    expect(await assertion(httpClient(idp.issuer), sp, unproven)).toContain('status:InvalidNameIDPolicy');
  });
});

describe('a format with the other version number', () => {
  it.each([
    ['2.0:nameid-format:emailAddress', '1.1:nameid-format:emailAddress'],
    ['1.1:nameid-format:persistent', '2.0:nameid-format:persistent'],
    ['1.1:nameid-format:transient', '2.0:nameid-format:transient'],
  ])('is an alias: %s', async (requested, received) => {
    const sp = await aLiveSp(idp);
    const [attributes] = nameIdIn(await assertion(httpClient(idp.issuer), sp, ann, policy(requested)));
    expect(attributes).toContain(`Format="urn:oasis:names:tc:SAML:${received}"`);
  });
});

describe('attributes', () => {
  it('have the names, formats and friendly names that receivers expect, and all values of the roles', async () => {
    for (const name of ['editor', 'author'])
      await idp.services.roles.create({ name, description: '', permissions: [] });
    const who = await aSamlUser(idp.services, { name: `Zoë "<&>'\u{1f600} ]]>` });
    for (const name of ['editor', 'author']) await idp.services.roles.assign(who.account.id, name);
    const attributes = { 'urn:oid:0.9.2342.19200300.100.1.3': 'email', displayName: 'name', role: 'roles' };
    const sp = await aServiceProvider(idp.services, { settings: { attributes } });
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(await sp.saml.getAuthorizeUrlAsync('', undefined, {})));
    const profile = await sp.accept((await who.withPassword(browser, page)).forms[0]?.fields ?? {});
    expect(profile).toMatchObject({
      'urn:oid:0.9.2342.19200300.100.1.3': who.account.email,
      displayName: who.account.name,
      role: ['author', 'editor'],
    });
    const xml = profile.getAssertionXml?.() ?? '';
    expect(xml).toContain('FriendlyName="mail"');
    expect(xml).toContain('NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri"');
    expect(xml).toContain('NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic"');
  });
});

describe('the other parameters of a request', () => {
  const html = `<script>alert(1)</script>"'&amp;`;
  it.each([
    ['%'],
    ['a=b&c=d'],
    [html],
    ['ünïcødé 😀'],
    [' leading and trailing '],
    [''],
    ['x'.repeat(2048)],
    ['\t%00%0a'],
  ])('return the RelayState %j unchanged, by both bindings', async (relayState) => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    await assertion(browser, sp, ann);
    const byRedirect = await browser.follow(await redirect(browser, sp.request(), { relayState }));
    const byPost = await browser.follow(await post(browser, sp.request(), relayState));
    for (const page of [byRedirect, byPost]) {
      expect(page.forms[0]?.fields.RelayState).toBe(relayState);
      expect(page.text).not.toContain('<script>alert');
    }
  });

  it('return no RelayState when there was none', async () => {
    const sp = await aLiveSp(idp);
    const browser = httpClient(idp.issuer);
    await assertion(browser, sp, ann);
    const page = await browser.follow(await redirect(browser, sp.request()));
    expect(Object.keys(page.forms[0]?.fields ?? {})).toEqual(['SAMLResponse']);
  });

  it('ignore Scoping', async () => {
    const sp = await aLiveSp(idp);
    const body = '<samlp:Scoping ProxyCount="0"><samlp:RequesterID>urn:x</samlp:RequesterID></samlp:Scoping>';
    expect(await assertion(httpClient(idp.issuer), sp, ann, body)).toContain('<saml:Assertion');
  });
});

const subjectOf = (value: string, attributes = '') =>
  `<saml:Subject><saml:NameID${attributes}>${value}</saml:NameID></saml:Subject>`;
const format = (name: string) => ` Format="urn:oasis:names:tc:SAML:${name}"`;

describe('the Subject of a request', () => {
  /** A browser in which ann is signed in, and her persistent NameID at this service provider. */
  async function begun(sp: LiveSp) {
    const browser = httpClient(idp.issuer);
    const [, nameId = ''] = nameIdIn(await assertion(browser, sp, ann));
    return { browser, nameId };
  }
  const open = async (browser: HttpClient, sp: LiveSp, body: string, attributes = '') =>
    browser.follow(await redirect(browser, sp.request({ body, attributes })));

  /** The page after another user's sign-in, which ends the session of the first one by a form that posts itself. */
  async function switchTo(who: SamlUser, browser: HttpClient, page: Page): Promise<Page> {
    const next = await who.withPassword(browser, page);
    return 'logout' in (next.forms[0]?.fields ?? {}) ? browser.follow(await browser.submit(next, {})) : next;
  }

  it('needs no page when it is the user of the session, by each name of the user', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const { browser, nameId } = await begun(sp);
    for (const subject of [
      subjectOf(nameId),
      subjectOf(nameId, format('2.0:nameid-format:persistent')),
      subjectOf(nameId, format('1.1:nameid-format:persistent')),
      subjectOf(ann.username, format('1.1:nameid-format:unspecified')),
      subjectOf(ann.account.email?.toUpperCase() ?? '', format('2.0:nameid-format:emailAddress')),
      '<saml:Subject><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"/></saml:Subject>',
    ]) {
      expect(answerIn(await open(browser, sp, subject)), subject).toContain('<saml:Assertion');
    }
    const transient = await aLiveSp(idp, { name_id_format: 'transient' });
    const [, value = ''] = nameIdIn(await assertion(browser, transient, ann));
    const again = await open(browser, transient, subjectOf(value, format('2.0:nameid-format:transient')));
    expect(answerIn(again)).toContain('<saml:Assertion');
  });

  it.each<[string, (sp: LiveSp) => Promise<string>]>([
    ['a username', async () => subjectOf(bob.username)],
    ['an address', async () => subjectOf(bob.account.email ?? '', format('1.1:nameid-format:emailAddress'))],
    [
      'a persistent NameID',
      async (sp) => {
        const [, value = ''] = nameIdIn(await assertion(httpClient(idp.issuer), sp, bob));
        return subjectOf(value, format('2.0:nameid-format:persistent'));
      },
    ],
  ])('shows the form for another user, and the assertion is about that user alone, with %s', async (_what, subject) => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const { browser } = await begun(sp);
    const body = await subject(sp);
    const page = await open(browser, sp, body);
    expect(page.forms[0]?.fields).toHaveProperty('password');
    expect(answerIn(await switchTo(bob, browser, page))).toContain('<saml:Assertion');
    // Now bob has the session, and ann signs in where bob is the Subject.
    const other = await begun(sp);
    const wrong = await ann.withPassword(other.browser, await open(other.browser, sp, body));
    expect(answerIn(wrong)).toMatch(/status:Requester".*status:UnknownPrincipal"/);
    expect(answerIn(wrong)).not.toContain('<saml:Assertion');
    expect(wrong.text).toContain('wants a different account than the one you signed in with.');
    const [code = ''] = /\b[2-9A-Z]{4}-[2-9A-Z]{4}\b/.exec(wrong.text) ?? [];
    const rejection = await idp.services.rejections.find(code);
    expect(rejection?.rules.find(({ state }) => state === 'failed')?.rule).toBe('principal');
  });

  it('fills in the user whom a signed request names by a persistent NameID, and nobody for an unsigned one', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const { nameId } = await begun(sp);
    const body = subjectOf(nameId, format('2.0:nameid-format:persistent'));
    const visitor = httpClient(idp.issuer);
    const signed = await visitor.follow(await redirect(visitor, sp.request({ body }), { key: sp.credential }));
    expect(signed.forms[0]?.fields.username).toBe(ann.username);
    expect((await open(httpClient(idp.issuer), sp, body)).forms[0]?.fields.username).toBe('');
  });

  it('is NoPassive for another user and a passive request', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const { browser } = await begun(sp);
    const page = await open(browser, sp, subjectOf(bob.username), ' IsPassive="true"');
    expect(answerIn(page)).toContain('status:NoPassive');
  });

  it('is never met where it names nobody here', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const { browser, nameId } = await begun(sp);
    for (const subject of [
      subjectOf('nobody'),
      subjectOf(nameId, ' NameQualifier="https://other.example"'),
      subjectOf(nameId, ' SPNameQualifier="https://other.example"'),
      subjectOf(nameId, format('1.1:nameid-format:emailAddress')),
      subjectOf(ann.username, format('2.0:nameid-format:persistent')),
    ]) {
      const page = await open(browser, sp, subject);
      expect(answerIn(await ann.withPassword(browser, page)), subject).toContain('status:UnknownPrincipal');
    }
    const unverified = await aSamlUser(idp.services, { emailVerified: false });
    const page = await open(browser, sp, subjectOf(unverified.account.email ?? ''));
    expect(answerIn(await switchTo(unverified, browser, page))).toContain('status:UnknownPrincipal');
  });

  it('is rejected at once when it is encrypted, or has an unknown format', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const encrypted =
      '<saml:Subject><saml:EncryptedID><x:EncryptedData xmlns:x="http://www.w3.org/2001/04/xmlenc#"><x:CipherData><x:CipherValue>AAAA</x:CipherValue></x:CipherData></x:EncryptedData></saml:EncryptedID></saml:Subject>';
    for (const subject of [encrypted, subjectOf('CN=ann', format('1.1:nameid-format:X509SubjectName'))]) {
      expect(answerIn(await open(httpClient(idp.issuer), sp, subject))).toContain('status:UnknownPrincipal');
    }
  });

  it('is escaped in the form', async () => {
    const sp = await aLiveSp(idp, { slo_url: [] });
    const page = await open(httpClient(idp.issuer), sp, subjectOf('"&gt;&lt;script&gt;alert(1)&lt;/script&gt;'));
    expect(page.text).not.toContain('<script>alert');
  });
});
