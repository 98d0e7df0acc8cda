// The guides of docs/connections.md, followed at a local double of each vendor: their YAML is applied as it is printed but for the
// addresses of the vendor, their values are those that the server expects, "Try it" succeeds and users sign in.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pasteValuesOf } from '../../src/federation/connections/presets/presets.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { identityProviderMetadata } from '../../src/protocols/saml/metadata/presentation.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { accountOf, callbackOf, isAtApplication, signInOver } from '../federation/support.ts';
import { redirectUri } from '../oidc/support.ts';
import { aCredential } from '../saml/support.ts';
import { aClient } from '../support/factories.ts';
import type { HttpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { expectSignedIn } from '../support/pages/enter.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { startGitHub } from '../support/upstream/github.ts';
import { startOidcUpstream } from '../support/upstream/oidc-upstream.ts';
import { answerXml, beginAt, postAnswer, requestIn } from '../support/upstream/saml-upstream.ts';

const docs = readFileSync('docs/connections.md', 'utf8');
let idp: TestIdp;
let admin: HttpClient;

/** The text of one guide. */
function guide(title: string): string {
  const [, text = ''] = docs.split(`\n### ${title}\n`);
  return text.split(/\n##+ /)[0] ?? '';
}

/** The entry of a guide. */
function entryOf(title: string): Record<string, unknown> & { id: string } {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(guide(title)) ?? [];
  const { connections } = parse(yaml) as { connections: [Record<string, unknown> & { id: string }] };
  return connections[0];
}

/** Registers the entry, with these addresses instead of those of the vendor. */
async function registerGuideConnection(title: string, atDouble: Record<string, unknown>) {
  const entry = entryOf(title);
  const checked = checkConnection({ ...entry, ...atDouble });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  // As the file does it: its domains count as proven.
  return idp.services.connections.create(checked.value, { source: 'file' });
}

async function runConnectionTest(id: string): Promise<string> {
  const page = await admin.get(`/admin/connections/${id}`);
  return textOf((await admin.follow(await admin.submit(page, {}, { form: '/test' }))).text);
}

const remove = (id: string) => idp.services.connections.remove(id, { source: 'file' });

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  const left = await idp.services.connections.list();
  for (const { id } of left) if (['google', 'entra', 'github', 'school'].includes(id)) await remove(id);
});

describe('the guide', () => {
  it.each(['Google', 'Microsoft Entra ID', 'GitHub', 'Any SAML 2.0 identity provider'])(
    'is a valid entry for %s as it is printed, and names every value that the vendor needs',
    (title) => {
      const entry = entryOf(title);
      const checked = checkConnection(entry);
      if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
      const { kind, preset } = checked.value;
      for (const { value } of pasteValuesOf({ id: entry.id, kind, preset }, 'https://id.example.com'))
        expect(guide(title)).toContain(`\`${value}\``);
    },
  );

  it.each([
    ['Google', { sub: '1080', email: 'gil@example.com', email_verified: true, hd: 'example.com', name: 'Gil' }, '1080'],
    [
      'Microsoft Entra ID',
      {
        sub: 'pairwise',
        tid: '11111111-2222-3333-4444-555555555555',
        oid: 'o-1',
        email: 'eve@example.com',
        xms_edov: true,
        name: 'Eve',
        groups: ['99999999-aaaa-bbbb-cccc-dddddddddddd'],
      },
      '11111111-2222-3333-4444-555555555555:o-1',
    ],
  ])('leads to a sign-in for %s', async (title, user, subject) => {
    const { id, client_id } = entryOf(title);
    const method = { client_id, token_endpoint_auth_method: 'client_secret_post' };
    const upstream = await startOidcUpstream([callbackOf(idp, id)], method);
    upstream.user = user;
    upstream.quirks = { acceptsAnySecret: true };
    await registerGuideConnection(title, { issuer: upstream.issuer, tenant: undefined });
    expect(await runConnectionTest(id)).toContain('The sign-in succeeds');
    const { page } = await signInOver(idp, id);
    expectSignedIn(page);
    expect(await accountOf(idp, id, subject)).toMatchObject({
      email: user.email,
      emailVerified: true,
      name: user.name,
    });
    await upstream.stop();
    await remove(id);
  });

  it('leads to a sign-in for GitHub', async () => {
    const github = await startGitHub();
    github.user = { id: 4712, login: 'guided' };
    github.emails = [{ email: 'guided@octo.example', primary: true, verified: true }];
    const { origin } = github;
    await registerGuideConnection('GitHub', {
      client_secret: 'github-secret',
      authorization_url: `${origin}/login/oauth/authorize`,
      token_url: `${origin}/login/oauth/access_token`,
      userinfo_url: `${origin}/user`,
      emails_url: `${origin}/user/emails`,
    });
    expect(await runConnectionTest('github')).toContain('The sign-in succeeds');
    expectSignedIn((await signInOver(idp, 'github')).page);
    expect(await accountOf(idp, 'github', '4712')).toMatchObject({ email: 'guided@octo.example', username: 'guided' });
    await github.stop();
    await remove('github');
  });

  it('leads to a sign-in for SAML', async () => {
    const [credential, entityId] = [aCredential(), 'https://idp.school.example/metadata'];
    const xml = identityProviderMetadata({
      entityId,
      ssoUrl: 'https://idp.school.example/sso',
      sloUrl: 'https://idp.school.example/slo',
      url: entityId,
      displayName: 'School',
      signingCertificates: [credential.certificatePem],
      wantAuthnRequestsSigned: false,
    });
    const server = await listen((_request, response) => void response.end(xml));
    await registerGuideConnection('Any SAML 2.0 identity provider', { metadata_url: `${server.origin}/metadata` });
    const upstream = { connection: 'school', entityId, credential };
    const attributes = { mail: 'sue@school.example', displayName: 'Sue' };
    const answer = (requestId: string) => answerXml(idp, upstream, requestId, { nameId: 'guided-1', attributes });

    const page = await admin.get('/admin/connections/school');
    const sent = await admin.submit(page, {}, { form: '/test' });
    if (!sent.location) throw new Error(textOf(sent.text));
    const { requestId } = requestIn(sent.location);
    const tried = await admin.follow(await postAnswer(admin, answer(requestId), { relayState: requestId }));
    expect(textOf(tried.text)).toContain('The sign-in succeeds');

    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const begun = await beginAt(idp, upstream, { clientId });
    const posted = await postAnswer(begun.browser, answer(begun.requestId), { relayState: begun.requestId });
    expectSignedIn(await begun.browser.follow(posted, isAtApplication));
    expect(await accountOf(idp, 'school', 'guided-1')).toMatchObject({ email: 'sue@school.example', name: 'Sue' });
    await server.close();
    await remove('school');
  });
});
