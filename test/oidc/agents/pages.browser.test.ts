// What a person sees of a client that nobody registered: the question, and afterwards the list of what has access.
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { signIn } from '../../admin/console/real-browser.ts';
import { staff } from '../../admin/console/support.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { looksRight, openPage } from '../../support/browser/pages.ts';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { listen } from '../../support/listen.ts';
import { type DocumentHost, documentHost } from '../../support/mcp.ts';
import { authorizeUrl } from '../support.ts';

let idp: TestIdp;
let vendor: DocumentHost;
let user: TestUser;

beforeAll(async () => {
  [idp, vendor] = await Promise.all([startIdp(), documentHost('vendor.localhost'), launchBrowser()]);
  user = await aUser(idp.services);
  await anApi(idp.services, {
    identifier: 'https://mcp.example.com',
    scopes: ['notes:read', 'notes:write'],
    scope_titles: { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' },
    clients: 'documents',
  });
  await idp.services.settings.set('agents', 'allowed');
  await idp.services.settings.reload();
});
afterAll(() => Promise.all([idp?.stop(), vendor?.close()]));

it('asks with the host first, and lists the app, also for administrators, until its access is removed', async () => {
  const clientId = vendor.urlOf('/oauth/client.json');
  vendor.documents.set('/oauth/client.json', {
    client_id: clientId,
    client_name: 'Helper for notes',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const page = await openPage();
  const program = await listen((_request, response) => void response.end('connected'));
  onTestFinished(() => program.close());
  await page.goto(
    authorizeUrl(idp, clientId, {
      redirect_uri: `${program.origin}/callback`,
      scope: 'notes:read notes:write',
      resource: 'https://mcp.example.com/',
    }),
  );
  await page.getByLabel('Username or email').fill(user.username);
  await page.getByLabel('Password', { exact: true }).fill(user.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: `Allow ${vendor.host} to use your account?` }).waitFor();
  expect(await page.textContent('main')).toContain('Read your notes · Change your notes');
  await looksRight(page, 'agent-consent');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByText('connected').waitFor();
  await page.goto(`${idp.issuer}/account/applications`);
  expect(await page.textContent('main')).toContain(`${vendor.host} (Helper for notes)`);
  expect(await page.textContent('main')).toContain('A program on a computer of yours');
  await looksRight(page, 'agent-list');
  const console = await openPage();
  const sessions = `${idp.issuer}/admin/users/${user.account.id}/sessions`;
  await console.goto(sessions);
  await signIn(console, await staff(idp, 'admin'));
  await console.waitForURL(sessions);
  expect(await console.textContent('main')).toContain('https://mcp.example.com');
  await looksRight(console, 'agent-of-user');
  await console.click('a[href*="/consents/"]');
  await console.waitForSelector('dialog[open] form[action$="/remove"]');
  await looksRight(console, 'agent-remove');
  await page.getByRole('button', { name: /Remove access/ }).click();
  expect(await page.textContent('main')).toContain('No apps have access to your account.');
});
