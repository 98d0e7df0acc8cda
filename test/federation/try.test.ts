// "Try it" in the console: a real sign-in at the upstream that writes nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { redirectUri } from '../oidc/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { answerXml, aSamlUpstream, postAnswer, requestIn } from '../support/upstream/saml-upstream.ts';
import { anUpstream, type Connected, callbackOf, openSignIn } from './support.ts';

let idp: TestIdp;
let draft: Connected;
let admin: HttpClient;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  draft = await anUpstream(idp, { enabled: false, groups_claim: 'groups', role_mappings: { admins: 'admin' } });
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => draft.remove());

const page = () => admin.get(`/admin/connections/${draft.connection}`);
const counts = async () => {
  const { db } = idp.services;
  return [
    await db.user.count(),
    await db.externalIdentity.count(),
    await db.upstreamSession.count(),
    await db.userRole.count(),
  ];
};

describe('a connection that is tried', () => {
  it('shows claims, checks, the account, roles and acr, and writes nothing, also while it is disabled', async () => {
    const owner = await aUser(idp.services);
    const user = { sub: 'tried-1', email: owner.account.email, email_verified: true };
    draft.upstream.user = { ...user, groups: ['admins'] };
    const before = await counts();
    const result = await admin.follow(await admin.submit(await page(), {}, { form: '/test' }));
    const text = textOf(result.text);
    expect(text).toContain('The sign-in succeeds');
    expect(text).toContain(`Asks the user to sign in to ${owner.username}`);
    expect(text).toContain('urn:gatehouse:acr:federated');
    expect(text).toMatch(/Roles by groups admin/);
    expect(text).toContain('tried-1');
    expect(await counts()).toEqual(before);
  });

  it('is tried over SAML in the same way, while it is disabled', async () => {
    const school = await aSamlUpstream(idp, {
      enabled: false,
      trusted_acr: { mfa: ['https://refeds.org/profile/mfa'] },
    });
    const form = await admin.get(`/admin/connections/${school.connection}`);
    const { requestId } = requestIn((await admin.submit(form, {}, { form: '/test' })).location ?? '');
    const before = await counts();
    const parts = { nameId: 'tried-saml', contextClass: 'https://refeds.org/profile/mfa' };
    const posted = await postAnswer(admin, answerXml(idp, school, requestId, parts), { relayState: requestId });
    const text = textOf((await admin.follow(posted)).text);
    expect(text).toContain('The sign-in succeeds');
    expect(text).toContain('urn:gatehouse:acr:mfa');
    expect(await counts()).toEqual(before);
    await idp.services.connections.remove(school.connection);
  });

  it('shows the rule that fails with what was expected and received', async () => {
    draft.upstream.user = { sub: 'tried-2' };
    draft.upstream.quirks = { idToken: { aud: 'another-client' } };
    const result = await admin.follow(await admin.submit(await page(), {}, { form: '/test' }));
    draft.upstream.quirks = {};
    const text = textOf(result.text);
    expect(text).toContain('The sign-in fails');
    expect(text).toMatch(/Rule audience/);
    expect(text).toContain('another-client');
  });

  it('is tried by full administrators only', async () => {
    await idp.services.roles.create({
      name: 'connection-writer',
      permissions: ['gatehouse.connections:read', 'gatehouse.connections:write'],
    });
    const writer = await consoleOf(idp, await staff(idp, 'connection-writer'));
    const at = `/admin/connections/${draft.connection}`;
    const { _csrf = '' } =
      (await writer.get('/account/profile')).forms.find(({ fields }) => '_csrf' in fields)?.fields ?? {};
    const answer = await writer.post(`${at}/test`, { form: { _csrf } });
    expect([answer.status, textOf(answer.text)]).toEqual([403, expect.stringContaining('full administrators')]);
  });

  it('gives its result to no other session, and signs nobody in', async () => {
    draft.upstream.user = { sub: 'tried-3' };
    const sent = await admin.submit(await page(), {}, { form: '/test' });
    const back = await admin.follow(sent, (url) => url.startsWith(callbackOf(idp, draft.connection)));
    const thief = await consoleOf(idp, await staff(idp, 'admin'));
    const stored = await thief.get(back.location ?? '');
    expect(stored.location).toContain('/admin/connections/');
    expect(textOf((await thief.follow(stored)).text)).toContain('The sign-in fails');
    const nobody = httpClient(idp.issuer);
    const opened = await nobody.follow(await nobody.get(stored.location ?? ''));
    expect(opened.url).toContain('/signin/');
  });

  it('is tried by no one without the right to change connections', async () => {
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    const form = await auditor.get('/admin/connections');
    const _csrf = form.forms[0]?.fields._csrf ?? '';
    const headers = { origin: idp.issuer, 'sec-fetch-site': 'same-origin' };
    const sent = await auditor.post(`/admin/connections/${draft.connection}/test`, { form: { _csrf }, headers });
    expect(sent.status).toBe(403);
  });
});

describe('a rejected sign-in', () => {
  const codeIn = ({ text }: Page) => /Error reference: <strong[^>]*>([A-Z0-9-]+)</.exec(text)?.[1] ?? '';

  it('is fixed by one button where that trusts nothing new, by a full administrator', async () => {
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    // An application of the same name has nothing to do with it.
    await aClient(idp.services, { client_id: draft.connection, client_name: 'Namesake', redirect_uris: [redirectUri] });
    const disabled = `/admin/rejections/${codeIn(await openSignIn(idp, { clientId, connection: draft.connection }))}`;
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    expect((await auditor.get(disabled)).text).not.toContain('Enable Example Corp');
    const rejection = await admin.get(disabled);
    expect(textOf(rejection.text)).not.toMatch(/Namesake|Register an application/);
    await admin.submit(rejection, {}, { button: 'Enable Example Corp' });
    expect(textOf((await admin.get(disabled)).text)).toContain('This is fixed');

    draft.upstream.user = { sub: 'tried-4' };
    draft.upstream.quirks = { signature: 'other-key' };
    const unsigned = await openSignIn(idp, { clientId, connection: draft.connection });
    draft.upstream.quirks = {};
    // The stored answer cannot prove that other keys would help: none is offered.
    const page = await admin.get(`/admin/rejections/${codeIn(unsigned)}`);
    expect(textOf(page.text)).not.toContain('Update keys and endpoints');
    await idp.services.connections.setEnabled(draft.connection, false);
  });
});
