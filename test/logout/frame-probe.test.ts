// The HEAD request before a front-channel logout page is framed (docs/logout.md): what it carries, and which answers count as an
// application that is down.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import type { TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';
import { shortProbeWait } from '../support/waits.ts';
import { type AppServer, appServer } from './support/app-server.ts';
import { browserWith, leave, resultsOf } from './support/browser-steps.ts';
import { followLogout } from './support/follow.ts';
import { oidcApp } from './support/oidc-app.ts';

let idp: TestIdp;
/** The host of the front-channel page; the relying party itself is elsewhere. */
let frame: AppServer;
let answer: { status?: number; redirect?: string; hang?: true } = {};
const requests: { method: string; path: string; query: Record<string, string>; cookie: string | undefined }[] = [];

beforeAll(async () => {
  idp = await sharedIdp();
  frame = await appServer(({ method, url, cookie }) => {
    requests.push({ method, path: url.pathname, query: Object.fromEntries(url.searchParams), cookie });
    return answer;
  });
});
afterAll(() => frame?.close());

/** Signs out of an application with this front-channel address; gives what the result page says of it. */
async function signOut(reply: typeof answer) {
  answer = reply;
  requests.length = 0;
  frame.watch((method) => (reply.hang && method === 'HEAD' ? 'hang' : undefined));
  const app = await oidcApp(idp, 'none', 'Board');
  const { id, metadata } = await idp.services.db.asStored.application.findUniqueOrThrow({
    where: { clientId: app.clientId },
  });
  await idp.services.applications.update('oidc', id, {
    ...JSON.parse(metadata),
    // Front-Channel Logout 1.0, 2: on the origin of a redirect URI.
    redirect_uris: [...JSON.parse(metadata).redirect_uris, `${frame.origin}/cb`],
    client_name: 'Board',
    consent: 'implicit',
    frontchannel_logout_uri: `${frame.origin}/out?tenant=a`,
    frontchannel_logout_session_required: true,
  });
  const user = await aUser(idp.services);
  const browser = await browserWith([app], user);
  const { page } = await followLogout(browser, await leave(browser, app));
  await app.close();
  return { page, results: resultsOf(page) };
}

describe('the HEAD request before a front-channel logout', () => {
  it('has the iss and sid of the GET that follows, and no cookie', async () => {
    const { page } = await signOut({});
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /out', 'GET /out']);
    const [head, get] = requests;
    expect(head?.query).toEqual({ tenant: 'a', iss: idp.issuer, sid: expect.stringMatching(/^[\w-]{16,}$/) });
    expect(get?.query).toEqual(head?.query);
    expect(head?.cookie).toBeUndefined();
    expect(page.text).toContain('Board: signed out');
  });

  it.each([[204], [302], [401], [404], [405], [500]])(
    'is answered by an application that is up with %i',
    async (status) => {
      const reply = status === 302 ? { redirect: `${frame.origin}/elsewhere` } : { status };
      await signOut(reply);
      expect(requests.filter(({ method }) => method === 'HEAD').map(({ path }) => path)).toEqual(['/out']);
      expect(requests.find(({ method, path }) => method === 'GET' && path === '/out')).toBeDefined();
    },
  );

  it.each<[string, typeof answer]>([
    ['502', { status: 502 }],
    ['503', { status: 503 }],
    ['504', { status: 504 }],
    ['no answer in time', { hang: true }],
  ])('names the application as not notified with %s', async (_what, reply) => {
    if (reply.hang) shortProbeWait();
    const { results } = await signOut(reply);
    expect(results.Board).toMatch(/didn’t respond/);
  });
});
