// The portal opens an application that was not asked by it (IdP-initiated): only where the application allows it.

import { ValidateInResponseTo } from '@node-saml/node-saml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn } from '../saml/live.ts';
import { aPerson, type Person } from '../saml/people.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { aServiceProvider } from '../support/sp.ts';

let idp: TestIdp;
let person: Person;

beforeAll(async () => {
  idp = await startIdp();
  person = await aPerson(idp.services);
});
afterAll(() => idp?.stop());

const start = async (browser: HttpClient, query: Record<string, string>) =>
  browser.follow(await browser.get(`/saml/sso/start?${new URLSearchParams(query)}`));

describe('a sign-in that begins here', () => {
  it('is accepted by node-saml: no InResponseTo, the default address, the RelayState that was given', async () => {
    const library = { validateInResponseTo: ValidateInResponseTo.never };
    const sp = await aServiceProvider(idp.services, { settings: { idp_initiated: true }, library });
    const browser = httpClient(idp.issuer);
    const page = await start(browser, { sp: sp.entityId, RelayState: '/reports?year=2026&x=<ü>' });
    const answer = await person.withPassword(browser, page);
    expect(answer.forms[0]).toMatchObject({ action: sp.acsUrl, fields: { RelayState: '/reports?year=2026&x=<ü>' } });
    expect(answerIn(answer)).not.toContain('InResponseTo');
    expect((await sp.accept(answer.forms[0]?.fields ?? {})).nameID).toBeTruthy();
    const again = await start(browser, { sp: sp.entityId });
    expect(Object.keys(again.forms[0]?.fields ?? {})).toEqual(['SAMLResponse']);
  });

  it('goes to the endpoint that is marked as default', async () => {
    const sp = await aLiveSp(idp, {
      idp_initiated: true,
      acs_url: ['https://a.example/0', { url: 'https://a.example/9', index: 9, default: true }],
    });
    const browser = httpClient(idp.issuer);
    const answer = await person.withPassword(browser, await start(browser, { sp: sp.entityId }));
    expect(answer.forms[0]?.action).toBe('https://a.example/9');
    expect(answerIn(answer)).toContain('Recipient="https://a.example/9"');
  });

  it('is refused where the application does not allow it, by name', async () => {
    const sp = await aLiveSp(idp);
    const page = await start(httpClient(idp.issuer), { sp: sp.entityId });
    expect(page.status).toBe(403);
    expect(page.text).toContain(`${sp.name} can only be opened from its own page.`);
  });

  it('is refused for an application that is unknown, disabled or not SAML, and with a long RelayState', async () => {
    const sp = await aLiveSp(idp, { idp_initiated: true, enabled: false });
    for (const id of [sp.entityId, 'https://unknown.example', 'gatehouse', '"><script>alert(1)</script>', '\u0000']) {
      const page = await start(httpClient(idp.issuer), { sp: id });
      expect(page.status).toBe(400);
      expect(page.text).not.toContain('<script>alert');
    }
    const open = await aLiveSp(idp, { idp_initiated: true });
    const page = await start(httpClient(idp.issuer), { sp: open.entityId, RelayState: 'ü'.repeat(1025) });
    expect(page.status).toBe(400);
  });
});
