// Requests from denied networks (setting denied_networks) get 403 on every route, and the audit log records them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSettingAdmin } from '../../src/admin/settings/settings.ts';
import { MFA_ACR } from '../../src/people/mfa/acr.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp({ environment: { TRUST_PROXY: '1' } });
  await idp.services.settings.set('denied_networks', ['192.0.2.0/24', '198.51.100.7', '2001:db8:bad::/48']);
  await idp.services.settings.reload();
});
afterAll(() => idp?.stop());

const from = (address: string) => httpClient(idp.issuer, { headers: { 'x-forwarded-for': address } });
const ROUTES = [
  '/',
  '/account',
  '/forgot-password',
  '/signin/anything',
  '/authorize?client_id=x',
  '/.well-known/openid-configuration',
  '/jwks',
  '/saml/metadata',
  '/saml/sso',
  '/healthz',
  '/metrics',
  '/api/admin/users',
  '/no-such-page',
];

describe('a denied network', () => {
  it.each(ROUTES)('gets nothing at %s', async (route) => {
    expect((await from('192.0.2.44').get(route)).status).toBe(403);
    expect((await from('192.0.2.44').post(route, { form: { a: 'b' } })).status).toBe(403);
    expect((await from('192.0.3.44').get(route)).status).not.toBe(403);
  });

  it('gets an error page or JSON with the request ID of the log line', async () => {
    const page = await from('192.0.2.45').get('/account', { headers: { accept: 'text/html' } });
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).toContain('Your network is blocked.');
    expect(page.text).toContain(String(page.headers['x-request-id']));
    const json = await from('192.0.2.45').get('/account', { headers: { accept: 'application/json' } });
    expect(json.json()).toMatchObject({ status: 403, code: 'address_denied' });
    const oauth = await from('192.0.2.45').post('/token', { form: { grant_type: 'client_credentials' } });
    expect(oauth.json(), 'RFC 6749 5.2').toEqual({
      error: 'access_denied',
      error_description: 'Your network is blocked.',
    });
    const style = /href="(\/assets\/people[^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await from('192.0.2.45').get(style)).status).toBe(200);
  });

  it.each(['198.51.100.7', '::ffff:192.0.2.1', '::ffff:c000:201', '2001:db8:bad:1::9', '[2001:db8:bad::1]:443'])(
    'is recognized in the spelling %s',
    async (address) => expect((await from(address).get('/account')).status).toBe(403),
  );

  it.each(['198.51.100.8', '2001:db8:bae::1', '::ffff:192.0.3.1', '127.0.0.1', 'nonsense'])(
    'does not include %s',
    async (address) => expect((await from(address).get('/forgot-password')).status).toBe(200),
  );

  it('cannot be hidden by a header from the client', async () => {
    expect((await from('10.0.0.1, 192.0.2.46').get('/account')).status).toBe(403);
  });

  it('is recorded in the audit log once an hour for each address, not for each request', async () => {
    for (let times = 0; times < 3; times += 1) await from('192.0.2.47').get('/account');
    const events = await idp.services.audit.list({ types: ['address.denied'], address: '192.0.2.47' });
    expect(events).toMatchObject([{ outcome: 'failure', reason: 'denied_network' }]);
  });
});

describe('the setting', () => {
  it.each(['127.0.0.0/8', '0.0.0.0/0', '::/0', '::1', '10.0.0.0/33', 'somewhere'])('rejects %s', async (network) => {
    await expect(idp.services.settings.set('denied_networks', [network])).rejects.toThrow();
  });

  it('rejects the address of the administrator who sets it', async () => {
    const admin = createSettingAdmin(idp.services as never);
    const { account } = await aUser(idp.services);
    await idp.services.roles.assign(account.id, 'admin');
    const request = { requestId: 'r', address: '203.0.113.9', userAgent: '' };
    const proof = { isFresh: true, isRecent: true, acr: MFA_ACR, authTime: new Date(), minutes: 10 };
    const by = { actorId: account.id, request, proof };
    await expect(admin.update({ denied_networks: ['203.0.113.0/24'] }, by)).rejects.toMatchObject({
      code: 'invalid_input',
      faults: [{ path: ['denied_networks'] }],
    });
    await admin.update({ denied_networks: ['203.0.113.10'] }, by);
    expect((await from('203.0.113.10').get('/account')).status).toBe(403);
    expect((await from('192.0.2.44').get('/forgot-password')).status).toBe(200);
  });
});

describe('a denied address behind the proxy of a website', () => {
  it.each<{ environment: Record<string, string> }>([
    { environment: { TRUST_PROXY: '2' } },
    { environment: { TRUST_PROXY: '1' } },
    { environment: { TRUST_PROXY: '1', FORWARD_AUTH_FROM: '192.0.2.0/24' } },
  ])('is the last one with $environment, whatever the client sent', async ({ environment }) => {
    const other = await startIdp({ environment });
    try {
      const url = 'https://wiki.example.com';
      const paths = [{ path: '/public/', rule: 'public' }];
      await other.services.applications.createProxied({ name: 'Wiki', url, proxy: 'caddy', paths });
      await other.services.settings.set('denied_networks', ['192.0.2.0/24']);
      await other.services.settings.reload();
      const about = { 'x-forwarded-method': 'GET', 'x-forwarded-proto': 'https', 'x-forwarded-uri': '/public/' };
      const ask = async (addresses: string) => {
        const headers = { ...about, 'x-forwarded-host': 'wiki.example.com', 'x-forwarded-for': addresses };
        return (await httpClient(other.issuer).get('/forward-auth/caddy', { headers })).status;
      };
      expect(await ask('198.51.100.1')).toBe(200);
      expect(await ask('192.0.2.44')).toBe(403);
      expect(await ask('198.51.100.1, 192.0.2.44')).toBe(403);
      expect(await ask('198.51.100.1, 198.51.100.2, 192.0.2.44')).toBe(403);
    } finally {
      await other.stop();
    }
  });
});
