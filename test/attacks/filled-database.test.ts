// Requests of anyone that store something: rejected ones in the audit log, accepted ones until the sign-in has ended.

import { beforeAll, describe, expect, it } from 'vitest';
import { randomToken } from '../../src/base/platform/random.ts';
import { type Application, anApplication, authorizeUrl } from '../oidc/support.ts';
import { aLiveSp, post } from '../saml/live.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let app: Application;
let user: TestUser;
beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
  return () => idp.stop();
});

const stored = () => idp.services.db.oidcArtifact.count({ where: { model: 'Interaction' } });

describe('a form of the sign-in that anyone sends again and again', () => {
  /** Sends the form with these fields forty times. Returns what the audit entries of the type say about repetitions. */
  async function entriesAfter(type: string, fields: Record<string, string>, extra: { path?: string } = {}) {
    const browser = httpClient(idp.issuer);
    const page = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
    const forms = page.forms.map((form) => ({ ...form, action: `${page.url}${extra.path ?? '/password'}` }));
    const before = await idp.services.db.auditEvent.count({ where: { type } });
    for (let count = 0; count < 40; count += 1) {
      expect([401, 429]).toContain((await browser.submit({ ...page, forms }, fields, { form: '/signin/' })).status);
    }
    await idp.services.repeatedEntries.flush();
    const entries = await idp.services.db.auditEvent.findMany({
      where: { type },
      orderBy: { id: 'asc' },
      skip: before,
    });
    return entries.map(({ data }) => (JSON.parse(data) as { repeated?: number }).repeated);
  }

  it('is audited with the number of the attempts that were not checked', async () => {
    const fields = { username: `nobody-${randomToken(6)}`, password: 'a wrong pass phrase' };
    expect(await entriesAfter('sign-in.throttled', fields)).toEqual([undefined, 36]);
  });

  it('is audited once for passkeys that are malformed', async () => {
    const repeated = await entriesAfter('sign-in.passkey', { response: '{}' }, { path: '/passkey' });
    expect(repeated).toEqual([undefined, 39]);
  });
});

describe('requests of an attacker with a password, or the name of a service provider,', () => {
  const repeatedOf = async (type: string) => {
    await idp.services.repeatedEntries.flush();
    const entries = await idp.services.audit.list({ types: [type as 'saml.logout'], outcome: 'failure', limit: 100 });
    return entries.map(({ data }) => data.repeated);
  };

  it('write two audit entries for codes that are not sent because there were too many', async () => {
    const { account } = user;
    const request = { requestId: 'r', address: '127.0.0.1', userAgent: '' };
    for (let count = 0; count < 40; count += 1)
      await idp.services.codeDelivery.send(account, 'email', account.email ?? '', request);
    expect(await repeatedOf('one-time-code.sent')).toEqual([29, undefined]);
  });

  it('write two audit entries for logout requests that the service provider did not sign', async () => {
    const sp = await aLiveSp(idp, { name_id_format: 'unspecified' });
    for (let count = 0; count < 20; count += 1)
      expect((await post(httpClient(idp.issuer), sp.logout('unknown'), '', '/saml/slo')).status).toBe(303);
    expect(await repeatedOf('saml.logout')).toEqual([19, undefined]);
  });
});

describe('an anonymous authorization request', () => {
  it('is audited once when it is rejected many times, and each time it is answered alike', async () => {
    const wrong = authorizeUrl(idp, app.clientId, { redirect_uri: 'https://attacker.example/cb' });
    for (let count = 0; count < 50; count += 1) expect((await httpClient().get(wrong)).status).toBe(400);
    const entries = () => idp.services.db.auditEvent.findMany({ where: { type: 'authorization.rejected' } });
    expect(await entries()).toHaveLength(1);
    await idp.services.repeatedEntries.flush();
    expect((await entries()).map(({ data }) => JSON.parse(data).repeated)).toEqual([undefined, 49]);
  });

  it('is stored for administrators a hundred times an hour when it is rejected, for all addresses of an IPv6 network of 48 bits', async () => {
    const { rejections, db } = idp.services;
    const reason = randomToken();
    for (let count = 0; count < 110; count += 1) {
      const request = { requestId: 'r', address: `2001:db8:7:${count.toString(16)}::1`, userAgent: '' };
      rejections.record(request, { endpoint: 'authorize', reason, message: '', received: {}, rules: [] });
    }
    await rejections.list({});
    expect(await db.rejection.count({ where: { reason } })).toBe(100);
  });

  it('is rejected when its parameters are longer than 8 KiB together, and stores nothing', async () => {
    const before = await stored();
    const result = await httpClient().get(authorizeUrl(idp, app.clientId, { nonce: 'x'.repeat(8150) }));
    expect(result.location ?? result.text).toContain('invalid_request');
    expect(await stored()).toBe(before);
    const longest = await httpClient().get(authorizeUrl(idp, app.clientId, { state: 'x'.repeat(7500) }));
    expect(longest.status).toBe(303);
    expect(await stored()).toBe(before + 1);
  });
});
