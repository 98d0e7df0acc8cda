// The console changes how a client authenticates: a secret that the server generates is displayed once, whatever else the form changes, and
// what the client used before ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ec } from '../../support/applications/registrations.ts';
import { aClient, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from './support.ts';

let idp: TestIdp;
let boss: TestUser;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  boss = await staff(idp, 'admin');
  admin = await consoleOf(idp, boss);
});
afterAll(() => idp?.stop());

type Method = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

async function anApplication(token_endpoint_auth_method: Method, more = {}) {
  const { clientId, clientSecret, applicationId } = await aClient(idp.services, {
    token_endpoint_auth_method,
    redirect_uris: ['https://app.example.com/cb'],
    ...more,
  });
  const at = `/admin/applications/${applicationId}`;
  const save = async (fields: Record<string, string>, tab = 'credentials') =>
    admin.submit(await admin.get(`${at}/${tab}`), fields);
  const stored = async () => (await idp.services.applications.get(applicationId)).metadata;
  const secrets = () => idp.services.db.clientSecret.count({ where: { applicationId } });
  return { clientId, clientSecret, applicationId, at, save, stored, secrets };
}

/** The secret on the page that displays it once. */
async function displayed(sent: Page): Promise<string> {
  expect([sent.status, sent.status === 303 ? '' : textOf(sent.text)]).toEqual([303, '']);
  const page = await admin.follow(sent);
  const [, secret] = /<code[^>]*>([\w-]{43,})<\/code>/.exec(page.text) ?? [];
  expect(secret, textOf(page.text).slice(0, 600)).toBeTruthy();
  // The page survives a reload and a change of language in this session, and nobody else opens it.
  expect((await admin.get(page.url)).text).toContain(secret);
  expect((await admin.get(`${page.url}${page.url.includes('?') ? '&' : '?'}lang=de`)).text).toContain(secret);
  const other = await consoleOf(idp, await staff(idp, 'admin'));
  expect((await other.get(page.url)).text).not.toContain(secret);
  return secret ?? '';
}

/** Whether the client authenticates with this secret. */
async function accepts(clientId: string, secret: string, method: Method = 'client_secret_basic'): Promise<boolean> {
  const isPost = method === 'client_secret_post';
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64');
  const answer = await httpClient(idp.issuer).post('/introspect', {
    form: { token: 'unknown', ...(isPost && { client_id: clientId, client_secret: secret }) },
    headers: isPost ? {} : { authorization: `Basic ${basic}` },
  });
  return answer.status === 200;
}

describe('a public client', () => {
  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'that gets %s displays its secret',
    async (method) => {
      const app = await anApplication('none');
      const secret = await displayed(await app.save({ token_endpoint_auth_method: method }));
      expect(await app.stored()).toMatchObject({ token_endpoint_auth_method: method });
      expect(await accepts(app.clientId, secret, method)).toBe(true);
    },
  );

  it('gets it after the administrator has signed in again, too', async () => {
    const app = await anApplication('none');
    await signedInLongAgo(idp, boss);
    const sent = await app.save({ token_endpoint_auth_method: 'client_secret_basic' });
    const form = await signInAgain(admin, await confirmation(admin, sent), boss);
    expect(await app.stored()).toMatchObject({ token_endpoint_auth_method: 'none' });
    const secret = await displayed(await admin.submit(form));
    expect(await accepts(app.clientId, secret)).toBe(true);
  });
});

describe('a confidential client', () => {
  it('loses its secret with a key of its own, and gets a new one when it goes back', async () => {
    const app = await anApplication('client_secret_basic');
    const jwks = JSON.stringify({ keys: [ec()] });
    const toKey = await app.save({ token_endpoint_auth_method: 'private_key_jwt', jwks });
    expect(textOf((await admin.follow(toKey)).text)).toContain('Saved');
    expect(await app.secrets()).toBe(0);
    expect(await accepts(app.clientId, app.clientSecret)).toBe(false);
    const secret = await displayed(await app.save({ token_endpoint_auth_method: 'client_secret_basic' }));
    expect(secret).not.toBe(app.clientSecret);
    expect(await accepts(app.clientId, secret)).toBe(true);
    expect(await accepts(app.clientId, app.clientSecret)).toBe(false);
  });

  it('that becomes public loses its secret', async () => {
    const app = await anApplication('client_secret_basic');
    expect((await app.save({ token_endpoint_auth_method: 'none' })).status).toBe(303);
    expect(await app.secrets()).toBe(0);
    expect(await accepts(app.clientId, app.clientSecret)).toBe(false);
  });

  it('keeps its secret with another way to send it, and with a save of many fields', async () => {
    const app = await anApplication('client_secret_basic');
    expect((await app.save({ token_endpoint_auth_method: 'client_secret_post' })).status).toBe(303);
    expect(await accepts(app.clientId, app.clientSecret, 'client_secret_post')).toBe(true);
    const fields = {
      client_name: 'Renamed',
      redirect_uris: 'https://app.example.com/other',
      client_uri: 'https://app.example.com',
    };
    expect((await app.save(fields, 'settings')).status).toBe(303);
    expect(await accepts(app.clientId, app.clientSecret, 'client_secret_post')).toBe(true);
    expect(await app.stored()).toMatchObject({ redirect_uris: ['https://app.example.com/other'] });
  });

  it('gets a new secret where a signature needs its value (HS256), which is displayed', async () => {
    const app = await anApplication('client_secret_basic');
    const secret = await displayed(await app.save({ id_token_signed_response_alg: 'HS256' }, 'settings'));
    expect(await accepts(app.clientId, secret)).toBe(true);
    expect(await accepts(app.clientId, app.clientSecret)).toBe(false);
  });

  it('keeps both secrets for the chosen time, and one without a time', async () => {
    const app = await anApplication('client_secret_basic');
    const add = async (overlap: string) =>
      displayed(await admin.submit(await admin.get(`${app.at}/secret`), { overlap }));
    const second = await add('3600');
    expect(await accepts(app.clientId, app.clientSecret)).toBe(true);
    expect(await accepts(app.clientId, second)).toBe(true);
    const third = await add('0');
    const results = await Promise.all([app.clientSecret, second, third].map((one) => accepts(app.clientId, one)));
    expect(results.indexOf(true)).toBe(2);
  });
});
