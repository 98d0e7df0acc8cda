// The picture of an application in the admin API: read, uploaded, removed, and read again from the logo_uri.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCaller, aPerson, aService } from '../../admin/support.ts';
import { aPng, aSvg } from '../../brand/pictures.ts';
import { redirectUri } from '../../oidc/support.ts';
import { aClient } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type PictureServer, pictureServer } from './picture-server.ts';

let idp: TestIdp;
let server: PictureServer;
let admin: ApiCaller;
beforeAll(async () => {
  server = await pictureServer();
  idp = await startIdp();
  admin = await aService(idp);
});
afterAll(async () => {
  await idp?.stop();
  await server?.close();
});

const dataUrl = (content: Buffer, type = 'image/png') => `data:${type};base64,${content.toString('base64')}`;

async function pathOf(logo = '', more: object = {}): Promise<string> {
  const { applicationId } = await aClient(idp.services, {
    client_name: 'Pictured',
    redirect_uris: [redirectUri],
    ...(logo && { logo_uri: `${server.origin}${logo}` }),
    ...more,
  });
  return `/applications/${applicationId}/picture`;
}
const read = async (path: string) => (await admin.get(path)).json<Record<string, unknown>>();

describe('the picture of an application', () => {
  it('is none without a logo_uri, and the uploaded one, which this server serves, until it is removed', async () => {
    const path = await pathOf();
    expect(await read(path)).toEqual({ address: null, source: 'none', url: null, failure: null, next_try_at: null });
    const put = await admin.send('PUT', path, { picture: dataUrl(aPng({ after: Buffer.from('hidden data') })) });
    expect(put.status, put.text).toBe(200);
    expect(put.json()).toMatchObject({ source: 'uploaded', url: null, failure: null });
    const { address } = put.json<{ address: string }>();
    expect(await read(path)).toEqual(put.json());
    const picture = await httpClient(idp.issuer).get(address);
    expect([picture.status, picture.headers['content-type']]).toEqual([200, 'image/png']);
    expect(picture.text).not.toContain('hidden data');
    const drawn = await admin.send('PUT', path, { picture: dataUrl(aSvg(), 'image/svg+xml') });
    expect(drawn.json<{ address: string }>().address).toMatch(/\.svg$/);
    expect((await admin.send('DELETE', path)).status).toBe(204);
    expect(await read(path)).toMatchObject({ address: null, source: 'none' });
    const [removed, added] = await idp.services.audit.list({ types: ['application.updated'], limit: 2 });
    expect(removed?.data).toMatchObject({ after: { picture: null } });
    expect(added?.data).toMatchObject({ after: { picture: expect.stringMatching(/\.svg$/) } });
  });

  it('is read again from the logo_uri', async () => {
    server.changing.status = 404;
    const path = await pathOf('/changing');
    const url = `${server.origin}/changing`;
    await expect.poll(() => read(path)).toMatchObject({ failure: expect.stringContaining('404') });
    expect(await read(path)).toMatchObject({ address: null, source: 'logo_uri', url, next_try_at: expect.any(String) });
    server.changing.status = 200;
    expect((await admin.send('POST', `${path}/fetch`)).status).toBe(202);
    await expect
      .poll(() => read(path))
      .toMatchObject({ address: expect.any(String), source: 'logo_uri', failure: null });
  });

  it.each([
    ['an address', 'https://evil.example/logo.png'],
    ['what is no picture', dataUrl(Buffer.from('%PDF-1.7'))],
    ['a picture that is too large', dataUrl(aPng({ width: 5000 }))],
  ])('is not %s, and the fault names the field', async (_, picture) => {
    const path = await pathOf();
    const page = await admin.send('PUT', path, { picture });
    expect(page.status, page.text).toBe(400);
    expect(page.json<{ errors: { path: string }[] }>().errors[0]?.path).toBe('picture');
    expect(await read(path)).toMatchObject({ address: null });
  });

  it('needs the permission to change the application, and an application that there is', async () => {
    const path = await pathOf('/good');
    const auditor = await aPerson(idp, ['auditor']);
    expect((await auditor.get(path)).status).toBe(200);
    const picture = dataUrl(aPng());
    expect((await auditor.send('PUT', path, { picture })).status).toBe(403);
    expect((await auditor.send('DELETE', path)).status).toBe(403);
    expect((await auditor.send('POST', `${path}/fetch`)).status).toBe(403);
    const nowhere = '/applications/nothing/picture';
    expect((await admin.get(nowhere)).status).toBe(404);
    expect((await admin.send('PUT', nowhere, { picture })).status).toBe(404);
    expect((await admin.send('DELETE', nowhere)).status).toBe(404);
    expect((await admin.send('POST', `${nowhere}/fetch`)).status).toBe(404);
  });

  it('is that of the members of a limited permission only', async () => {
    const mine = await aClient(idp.services, { client_name: 'Mine', redirect_uris: [redirectUri] });
    const all = ['read', 'write'].map((one) => `gatehouse.applications[application:${mine.clientId}]:${one}`);
    await idp.services.roles.create({ name: 'one picture', permissions: all });
    const keeper = await aPerson(idp, ['one picture']);
    const [own, other] = [`/applications/${mine.applicationId}/picture`, await pathOf('/good')];
    const picture = dataUrl(aPng());
    expect((await keeper.send('PUT', own, { picture })).status).toBe(200);
    expect((await keeper.get(own)).json()).toMatchObject({ source: 'uploaded' });
    expect((await keeper.get(other)).status).toBe(404);
    expect([403, 404]).toContain((await keeper.send('PUT', other, { picture })).status);
    expect(await read(other)).toMatchObject({ source: 'logo_uri' });
  });
});
