// IdP-initiated sign-in from the portal, for applications that allow it (SAML Profiles 4.1.5).

import { ValidateInResponseTo } from '@node-saml/node-saml';
import { beforeAll, describe, expect, it } from 'vitest';
import { aLiveSp, answerIn } from '../../saml/live.ts';
import { aSamlUser, type SamlUser } from '../../saml/sign-in-steps.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';

let idp: TestIdp;
let person: SamlUser;

beforeAll(async () => {
  idp = await sharedIdp();
  person = await aSamlUser(idp.services);
});

const start = async (browser: HttpClient, query: Record<string, string>) =>
  browser.follow(await browser.get(`/saml/sso/start?${new URLSearchParams(query)}`));

describe('an IdP-initiated sign-in', () => {
  it('is accepted by node-saml, without InResponseTo, at the default ACS and with the given RelayState', async () => {
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

  it('is sent to the ACS with isDefault', async () => {
    const sp = await aLiveSp(idp, {
      idp_initiated: true,
      acs_url: ['https://a.example/0', { url: 'https://a.example/9', index: 9, default: true }],
    });
    const browser = httpClient(idp.issuer);
    const answer = await person.withPassword(browser, await start(browser, { sp: sp.entityId }));
    expect(answer.forms[0]?.action).toBe('https://a.example/9');
    expect(answerIn(answer)).toContain('Recipient="https://a.example/9"');
  });

  it('is rejected with the name of an application that does not allow it', async () => {
    const sp = await aLiveSp(idp);
    const page = await start(httpClient(idp.issuer), { sp: sp.entityId });
    expect(page.status).toBe(403);
    expect(page.text).toContain(`You can’t open ${sp.name} from here.`);
  });

  it('is rejected for an application that is unknown, disabled or not SAML, and with a long RelayState', async () => {
    const sp = await aLiveSp(idp, { idp_initiated: true, enabled: false });
    for (const id of [sp.entityId, 'https://unknown.example', 'gatehouse', '"><script>alert(1)</script>', '\u0000']) {
      const page = await start(httpClient(idp.issuer), { sp: id });
      expect(page.status).toBe(400);
      expect(page.text).not.toContain('<script>alert');
    }
    const open = await aLiveSp(idp, { idp_initiated: true });
    const page = await start(httpClient(idp.issuer), { sp: open.entityId, RelayState: 'ü'.repeat(4097) });
    expect(page.status).toBe(400);
  });
});
