// The picture of an application in the console: its state, a picture that an administrator chooses, and `gatehouse doctor`.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/base/storage/database.ts';
import { consoleOf, staff } from '../../admin/console/support.ts';
import { aPng, aSvg } from '../../brand/pictures.ts';
import { commandLine } from '../../cli/support.ts';
import { redirectUri } from '../../oidc/support.ts';
import { aClient } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { type PictureServer, pictureServer } from './picture-server.ts';

let idp: TestIdp;
let server: PictureServer;
let admin: HttpClient;
beforeAll(async () => {
  server = await pictureServer();
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(async () => {
  await idp?.stop();
  await server?.close();
});

const withPicture = (file: string) =>
  aClient(idp.services, {
    client_name: 'Pictured',
    redirect_uris: [redirectUri],
    ...(file && { logo_uri: `${server.origin}${file}` }),
  });
const state = (id: string) => idp.services.pictures.state(id);
const settled = (id: string) =>
  expect
    .poll(async () => {
      const { address, failure } = (await state(id)) ?? {};
      return address ?? failure;
    })
    .toBeDefined();
const at = (id: string) => `/admin/applications/${id}/picture`;

async function upload(page: Page, content: Buffer): Promise<Page> {
  const sent = page.forms.find(({ action }) => action.endsWith('/picture'));
  const form = new FormData();
  for (const [name, value] of Object.entries(sent?.fields ?? {})) form.append(name, value);
  form.delete('picture');
  form.append('picture', new File([new Uint8Array(content)], 'picture.png', { type: 'image/png' }));
  const request = new Request(idp.issuer, { method: 'POST', body: form });
  const headers = { 'content-type': request.headers.get('content-type') ?? '', origin: idp.issuer };
  return admin.post(new URL(page.url).pathname, { body: new Uint8Array(await request.arrayBuffer()), headers });
}

describe('the page of the picture of an application', () => {
  it('has the copy of the picture at the logo_uri, as the list of applications and the tabs have', async () => {
    const { applicationId } = await withPicture('/good-console');
    await settled(applicationId);
    const { address } = (await state(applicationId)) ?? {};
    for (const shown of ['/admin/applications?q=pictured', `/admin/applications/${applicationId}`, at(applicationId)]) {
      const page = await admin.get(shown);
      expect(page.text, shown).toContain(`src="${address}"`);
      expect(page.text, shown).not.toContain(`src="${server.origin}`);
      expect(String(page.headers['content-security-policy']), shown).toMatch(/img-src 'self' data:(;|$)/);
    }
    expect(textOf((await admin.get(at(applicationId))).text)).toMatch(
      /Status Stored .*Source http:\/\/127\.0\.0\.1:\d+\/good-console/,
    );
  });

  it('says why there is none, and reads it again', async () => {
    server.changing.status = 404;
    const { applicationId } = await withPicture('/changing');
    await settled(applicationId);
    const page = await admin.get(at(applicationId));
    expect(textOf(page.text)).toMatch(/Couldn’t be read .*Reason .*\/changing returned 404\..*Next attempt/);
    expect(textOf((await admin.get(`/admin/applications/${applicationId}`)).text)).toMatch(
      /couldn’t read it\. http.*returned 404\./,
    );
    server.changing.status = 200;
    const sent = await admin.submit(page, {}, { form: `${at(applicationId)}/fetch` });
    expect(textOf((await admin.follow(sent)).text)).toContain('Gatehouse reads the picture now.');
    await expect.poll(async () => (await state(applicationId))?.address).toBeDefined();
  });

  it('says in words what is wrong with a picture', async () => {
    const { applicationId } = await withPicture('/large');
    await settled(applicationId);
    expect(textOf((await admin.get(at(applicationId))).text)).toContain('The picture is 5000 × 1 pixels;');
    const german = await admin.get(at(applicationId), { headers: { 'accept-language': 'de' } });
    expect(textOf(german.text)).toContain('Das Bild hat 5000 × 1 Pixel;');
  });

  it('takes a picture that replaces the one at the logo_uri, until it is removed', async () => {
    const { clientId, applicationId } = await withPicture('/drawing');
    await settled(applicationId);
    const page = await admin.get(at(applicationId));
    const wrong = await upload(page, Buffer.from('%PDF-1.7'));
    expect([wrong.status, textOf(wrong.text)]).toEqual([400, expect.stringContaining('must be a PNG, JPEG or SVG')]);
    const after = await admin.follow(await upload(page, aPng({ width: 12, height: 12 })));
    expect(textOf(after.text)).toMatch(/Picture saved\..*Source Uploaded here/);
    const { address, url } = (await state(applicationId)) ?? {};
    expect([address, url]).toEqual([expect.stringMatching(/\.png$/), undefined]);
    const [event] = await idp.services.audit.list({ clientId, types: ['application.updated'] });
    expect(event?.data).toMatchObject({ after: { picture: expect.stringMatching(/^[0-9a-f]{32}\.png$/) } });
    // A change of the application leaves it.
    const input = { client_name: 'Pictured', redirect_uris: [redirectUri], logo_uri: `${server.origin}/good-other` };
    await idp.services.applications.update('oidc', applicationId, input as never);
    expect((await state(applicationId))?.address).toBe(address);
    expect(server.count('/good-other')).toBe(0);
    const removed = await admin.submit(after, {}, { form: `${at(applicationId)}/remove` });
    expect(textOf((await admin.follow(removed)).text)).toContain('Picture removed.');
    await expect.poll(async () => (await state(applicationId))?.url).toBe(`${server.origin}/good-other`);
  });

  it('takes one for an application without a logo_uri', async () => {
    const { applicationId } = await withPicture('');
    const page = await admin.get(at(applicationId));
    expect(textOf(page.text)).toContain('None: pages display the first letter of the name.');
    expect((await upload(page, aSvg())).status).toBe(303);
    expect((await state(applicationId))?.address).toMatch(/\.svg$/);
  });

  it('changes nothing for an administrator who may only read', async () => {
    const { applicationId } = await withPicture('/good-read');
    await settled(applicationId);
    const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
    const page = await auditor.get(at(applicationId));
    expect([page.status, page.forms.filter(({ method }) => method === 'post')]).toEqual([200, []]);
    const form = { _csrf: 'x' };
    for (const action of ['', '/fetch', '/remove'])
      expect([401, 403]).toContain((await auditor.post(`${at(applicationId)}${action}`, { form })).status);
  });
});

describe('gatehouse', () => {
  it('doctor warns of pictures that cannot be read', async () => {
    const { clientId, applicationId } = await withPicture('/missing');
    await settled(applicationId);
    const cli = await commandLine();
    try {
      const { out } = await cli.gatehouse(['doctor', '--json'], { env: idp.environment as Record<string, string> });
      const findings = (JSON.parse(out) as { check: string; status: string; message: string }[]).filter(
        ({ check, message }) => check === 'pictures' && message.includes(clientId),
      );
      expect(findings).toMatchObject([{ status: 'warning', message: expect.stringContaining('returned 404') }]);
    } finally {
      await cli.close();
    }
  });

  it('backup has the pictures that were read', async () => {
    const { applicationId } = await withPicture('/good-in-backup');
    await settled(applicationId);
    const where = { where: { applicationId } };
    const kept = await idp.services.db.asStored.applicationPicture.findUniqueOrThrow(where);
    expect(kept.content?.length).toBeGreaterThan(0);
    const cli = await commandLine();
    const file = path.join(cli.folder, 'with-pictures.db');
    try {
      const env = idp.environment as Record<string, string>;
      expect(await cli.gatehouse(['backup', file], { env })).toMatchObject({ code: 0 });
      const { db, close } = await openDatabase(`file:${file}`);
      expect(await db.asStored.applicationPicture.findUniqueOrThrow(where)).toEqual(kept);
      await close();
    } finally {
      await cli.close();
    }
  });
});

describe('a client that registers itself', () => {
  it('has its picture read too', async () => {
    const { createRegistrationTokens } = await import('../../../src/protocols/oidc/store/registration-tokens.ts');
    const { token } = await createRegistrationTokens(idp.services).issue();
    const answer = await httpClient(idp.issuer).post('/register', {
      json: { client_name: 'Own', redirect_uris: [redirectUri], logo_uri: `${server.origin}/good-registered` },
      headers: { authorization: `Bearer ${token}` },
    });
    const { client_id: clientId } = answer.json<{ client_id: string }>();
    await expect.poll(() => idp.services.pictures.addressOf(clientId)).toMatch(/\.png$/);
  });
});
