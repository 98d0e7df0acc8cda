// The picture of an application: read once from its logo_uri, checked, and served by this server.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizeUrl, redirectUri } from '../../oidc/support.ts';
import { aServiceProvider } from '../../support/applications/sp.ts';
import { itOnBothInLongRun, itOnSqlite } from '../../support/database/it-on-sqlite.ts';
import { aClient } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type PictureServer, pictureServer } from './picture-server.ts';

let idp: TestIdp;
let server: PictureServer;
beforeAll(async () => {
  server = await pictureServer();
  idp = await startIdp({ hasTamperedRows: true });
});
afterAll(async () => {
  await idp?.stop();
  await server?.close();
});

const redirect_uris = [redirectUri];
const withPicture = (path: string) => aClient(idp.services, { redirect_uris, logo_uri: `${server.origin}${path}` });
const state = (id: string) => idp.services.pictures.state(id);
const fetched = async (id: string) => {
  await expect.poll(async () => (await state(id))?.address).toMatch(/^\/assets\/application-/);
  return String((await state(id))?.address);
};
const failed = async (id: string) => {
  await expect.poll(async () => (await state(id))?.failure).toBeDefined();
  return String((await state(id))?.failure);
};
const load = (address: string): Promise<Page> => httpClient(idp.issuer).get(address);
async function signInPage(clientId: string): Promise<Page> {
  const browser = httpClient(idp.issuer);
  return browser.follow(await browser.get(authorizeUrl(idp, clientId)));
}

describe('the picture of an application', () => {
  it('is read once, and served from this server under the hash of its content', async () => {
    const { clientId, applicationId } = await withPicture('/good-once');
    const address = await fetched(applicationId);
    expect(address).toMatch(/^\/assets\/application-[0-9a-f]{32}\.png$/);
    const picture = await load(address);
    expect(picture.status).toBe(200);
    expect(picture.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect(picture.text).not.toContain('hidden data');
    for (let time = 0; time < 3; time += 1) {
      const page = await signInPage(clientId);
      expect(page.text).toContain(`<img class="logo lg" src="${address}" alt=""`);
      expect(page.text).not.toContain(server.origin);
      expect(String(page.headers['content-security-policy'])).toMatch(/img-src 'self' data:(;|$)/);
    }
    expect(server.count('/good-once')).toBe(1);
  });

  itOnBothInLongRun('is on the sign-in page that follows the registration', async () => {
    const { clientId } = await withPicture('/good-after-registration');
    expect((await signInPage(clientId)).text).toMatch(
      /<img class="logo lg" src="\/assets\/application-[0-9a-f]{32}\.png"/,
    );
  });

  itOnBothInLongRun('is requested without a cookie and without a word on who signs in', async () => {
    await fetched((await withPicture('/good-alone')).applicationId);
    const { headers } = server.requests.find(({ path }) => path === '/good-alone') ?? {};
    expect(Object.keys(headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  itOnBothInLongRun('follows a redirect to another public address, and takes what the content says', async () => {
    const moved = await withPicture('/moved');
    const drawing = await withPicture('/drawing');
    expect(await fetched(moved.applicationId)).toMatch(/\.png$/);
    const svg = await fetched(drawing.applicationId);
    expect((await load(svg)).headers['content-type']).toMatch(/^image\/svg\+xml/);
  });

  itOnBothInLongRun('loses the scripts of an SVG', async () => {
    const { applicationId } = await withPicture('/hostile.svg');
    const { text } = await load(await fetched(applicationId));
    expect(text).toContain('<rect');
    expect(text).not.toMatch(/script|onload|onclick|alert/);
  });

  itOnBothInLongRun.each([
    ['what is no picture', '/page', 'isn’t a real SVG file'],
    ['more than 200 KB', '/huge', 'sent more than 200,000 bytes'],
    ['more pixels than a browser should decode', '/large', '5000 × 1 pixels'],
    ['an error', '/missing', 'returned 404'],
    ['a redirect to a private address', '/private', '10.0.0.1 is in a private or special network'],
  ])('is left out for %s, with the reason', async (_what, path, reason) => {
    const { clientId, applicationId } = await withPicture(path);
    expect(await failed(applicationId)).toContain(reason);
    expect((await state(applicationId))?.address).toBeUndefined();
    expect((await signInPage(clientId)).text).not.toContain('<img class="logo');
  });

  itOnSqlite('is left out where the server does not answer, and delays no other', async () => {
    const slow = await withPicture('/slow');
    await expect.poll(() => server.count('/slow')).toBe(1);
    const other = await withPicture('/good-beside-slow');
    await fetched(other.applicationId);
    expect(server.count('/good-beside-slow')).toBe(1);
    expect((await state(slow.applicationId))?.failure).toBeUndefined();
    server.endSlow();
    expect(await failed(slow.applicationId)).toContain(server.origin);
  });

  itOnBothInLongRun('is not read from a private address', async () => {
    const { applicationId } = await aClient(idp.services, { redirect_uris, logo_uri: 'https://10.0.0.1/logo.png' });
    expect(await failed(applicationId)).toContain('10.0.0.1 is in a private or special network');
  });

  it('is read again with a pause after a failure, and at once when an administrator says so', async () => {
    server.changing.status = 503;
    const { applicationId } = await withPicture('/changing');
    expect(await failed(applicationId)).toContain('returned 503');
    const before = Date.now();
    const { nextTryAt, tries } = (await state(applicationId)) ?? {};
    expect(tries).toBe(1);
    expect(Number(nextTryAt) - before).toBeGreaterThan(60_000);
    const count = server.count('/changing');
    await idp.services.pictures.fetchDue();
    expect(server.count('/changing')).toBe(count);
    server.changing.status = 200;
    await idp.services.pictures.fetchAgain(applicationId);
    await fetched(applicationId);
    expect((await state(applicationId))?.failure).toBeUndefined();
  });

  it('changes with the logo_uri, and goes with it', async () => {
    const { clientId, applicationId } = await withPicture('/good-first');
    const first = await fetched(applicationId);
    const update = (logo_uri?: string) =>
      idp.services.applications.update('oidc', applicationId, {
        client_name: 'Test application',
        redirect_uris,
        ...(logo_uri && { logo_uri }),
      } as never);
    await update(`${server.origin}/drawing`);
    await expect.poll(async () => (await state(applicationId))?.address).toMatch(/\.svg$/);
    expect((await state(applicationId))?.address).not.toBe(first);
    await update();
    expect(await state(applicationId)).toBeUndefined();
    expect((await signInPage(clientId)).text).not.toContain('<img class="logo');
  });

  itOnBothInLongRun('stays while something else of the application changes, and is not read again', async () => {
    const { applicationId } = await withPicture('/good-stays');
    const address = await fetched(applicationId);
    await idp.services.applications.update('oidc', applicationId, {
      client_name: 'Renamed application',
      redirect_uris,
      logo_uri: `${server.origin}/good-stays`,
    } as never);
    expect((await state(applicationId))?.address).toBe(address);
    expect(server.count('/good-stays')).toBe(1);
  });

  it('is not served once no application has it', async () => {
    server.changing.status = 200;
    server.changing.body = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>',
    );
    const own = await withPicture('/changing');
    const address = await fetched(own.applicationId);
    expect((await load(address)).status).toBe(200);
    await idp.services.applications.remove(own.applicationId);
    expect((await load(address)).status).toBe(404);
  });

  it('is the same for a SAML application, and on another instance', async () => {
    const sp = await aServiceProvider(idp.services, {
      settings: { name: 'With picture', logo_uri: `${server.origin}/good-saml` },
    });
    const { id } = (await idp.services.applications.find(sp.entityId)) ?? { id: '' };
    const address = await fetched(id);
    const { PORT: _port, ...environment } = idp.environment as Record<string, string>;
    const other = await startIdp({ environment });
    try {
      expect(await other.services.pictures.addressOf(sp.entityId)).toBe(address);
      const { services } = other;
      expect(await services.pictures.read(address.slice('/assets/application-'.length))).toEqual(expect.any(Buffer));
    } finally {
      await other.stop();
    }
    expect(server.count('/good-saml')).toBe(1);
  });

  itOnBothInLongRun('is ignored when another program wrote its row', async () => {
    const { clientId, applicationId } = await withPicture('/good-forged');
    const address = await fetched(applicationId);
    const content = new Uint8Array(Buffer.from('<svg/>'));
    const where = { applicationId };
    await idp.services.db.asStored.applicationPicture.update({ where, data: { content } });
    expect(await idp.services.pictures.read(address.slice('/assets/application-'.length))).not.toEqual(
      Buffer.from('<svg/>'),
    );
    await idp.services.db.asStored.applicationPicture.update({ where, data: { name: `${'0'.repeat(32)}.svg` } });
    expect(await idp.services.pictures.addressOf(clientId)).toBeUndefined();
    expect((await load(`/assets/application-${'0'.repeat(32)}.svg`)).status).toBe(404);
    await idp.services.applications.remove(applicationId);
  });
});
