// Sign-in at GitHub (OAuth 2.0 without OpenID Connect), at a small fake of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TestIdp } from '../../support/idp.ts';
import { expectSignedIn } from '../../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../../support/shared-idp.ts';
import { type FakeGitHub, startGitHub } from '../../support/upstream/github.ts';
import { aConnection, accountOf, signInOver } from '../support.ts';

const id = `github-${process.pid}`;
let idp: TestIdp;
let github: FakeGitHub;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  github = await startGitHub();
  await aConnection(idp, {
    id,
    kind: 'oauth2',
    preset: 'github',
    name: 'GitHub',
    client_id: 'client',
    client_secret: 'github-secret',
    authorization_url: `${github.origin}/login/oauth/authorize`,
    token_url: `${github.origin}/login/oauth/access_token`,
    userinfo_url: `${github.origin}/user`,
    emails_url: `${github.origin}/user/emails`,
    create_users: true,
  });
});
beforeEach(() => {
  github.tokenError = undefined;
});
afterAll(async () => {
  await github.stop();
  await idp.services.connections.remove(id);
});

describe('sign-in with GitHub', () => {
  it('identifies the user by the number, which stays when the login changes', async () => {
    github.user = { id: 4711, login: 'octo-before', email: 'public@profile.example' };
    github.emails = [
      { email: 'second@octo.example', primary: false, verified: true },
      { email: 'octo@octo.example', primary: true, verified: true },
    ];
    expectSignedIn((await signInOver(idp, id)).page);
    const before = await accountOf(idp, id, '4711');
    expect(before).toMatchObject({ username: 'octo-before', email: 'octo@octo.example', emailVerified: true });
    github.user = { id: 4711, login: 'octo-after' };
    expectSignedIn((await signInOver(idp, id)).page);
    expect((await accountOf(idp, id, '4711'))?.id).toBe(before?.id);
  });

  it.each([
    ['the list of addresses is forbidden', undefined],
    ['the primary address is not verified', [{ email: 'x@octo.example', primary: true, verified: false }]],
  ])('believes no address when %s', async (what, emails) => {
    const number = what.length;
    github.user = { id: number, login: `octo-${number}`, email: 'victim@octo.example' };
    github.emails = emails;
    expectSignedIn((await signInOver(idp, id)).page);
    expect(await accountOf(idp, id, String(number))).toMatchObject({ email: null, emailVerified: false });
  });

  it('reads an error of the token endpoint that comes with status 200', async () => {
    github.user = { id: 5, login: 'octo' };
    github.tokenError = 'incorrect_client_credentials';
    const { page } = await signInOver(idp, id);
    expect(page.status).toBe(400);
    expect(page.text).toContain('We couldn’t verify the response from GitHub.');
  });

  it('stops when the answer has no number', async () => {
    github.user = { login: 'octo' };
    const { page } = await signInOver(idp, id);
    expect(page.text).toContain('GitHub didn’t send your user ID, so nothing changed.');
  });
});
