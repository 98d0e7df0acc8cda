// The documentation that the program serves, and the links to it from the pages of the console.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aClient, aUser } from '../../support/factories.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
const read = new Map<string, Promise<Page>>();

beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { services } = idp;
  await aClient(services, { client_name: 'Wiki', redirect_uris: ['https://wiki.example/cb'] });
  await services.groups.create({ name: 'Science' });
  await aUser(services, { username: 'bo' });
  await fetch(`${idp.issuer}/authorize?client_id=unknown`);
});
afterAll(() => idp?.stop());

function document(path: string): Promise<Page> {
  const page = read.get(path) ?? admin.get(path);
  read.set(path, page);
  return page;
}

/** Undefined where the address leads to a chapter, and to a heading in it. */
async function faultOf(href: string): Promise<string | undefined> {
  const { pathname, hash } = new URL(href, idp.issuer);
  const { status, text } = await document(pathname);
  if (status !== 200) return `${href}: ${status}`;
  return hash && !text.includes(`id="${hash.slice(1)}"`) ? `${href}: no such heading` : undefined;
}

const faultsOf = async (links: readonly string[]) =>
  (await Promise.all([...new Set(links)].map(faultOf))).filter((fault) => fault !== undefined);

/** The address of a page without what names one thing, so that one user stands for all. */
const shapeOf = (path: string) => path.replace(/\/[^/]*[\dA-Z_.%][^/]*/g, '/:one');

it('each page of the console has a link to the chapter about it, which exists', async () => {
  const seen = new Set<string>();
  const waiting = ['/admin'];
  const helps: string[] = [];
  const without: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const page = await admin.get(path);
    if (page.status !== 200 || !page.text.includes('<body class="console">')) continue;
    const [, help] = /<a class="[^"]* help" href="([^"]*)"/.exec(page.text) ?? [];
    if (help === undefined) without.push(path);
    else helps.push(help);
    for (const { href } of linksOf(page.text, page.url)) {
      const url = new URL(href);
      const shape = shapeOf(url.pathname);
      if (url.origin !== idp.issuer || !url.pathname.startsWith('/admin') || seen.has(shape)) continue;
      seen.add(shape);
      waiting.push(url.pathname);
    }
  }
  expect(helps.length).toBeGreaterThan(70);
  expect(without).toEqual([]);
  expect(await faultsOf(helps)).toEqual([]);
});

it('chapters link to each other, and need nothing from elsewhere', async () => {
  const chaptersOn = ({ text, url }: Page) =>
    linksOf(text, url).filter(({ href }) => new URL(href).pathname.startsWith('/docs/'));
  const onHome = chaptersOn(await document('/docs'));
  // The decisions are for contributors, and have a list of their own.
  expect(onHome.filter(({ href }) => href.includes('/decisions/'))).toMatchObject([
    { label: 'Decisions', href: `${idp.issuer}/docs/decisions/README` },
  ]);
  const chapters = [...onHome, ...chaptersOn(await document('/docs/decisions/README'))];
  expect(chapters.length).toBeGreaterThan(40);
  const links: string[] = [];
  for (const { href } of chapters) {
    const page = await document(new URL(href).pathname);
    expect(page.status, href).toBe(200);
    const [, article = ''] = /<article class="box document"[^>]*>([\s\S]*)<\/article>/.exec(page.text) ?? [];
    expect(article, href).not.toBe('');
    const [, external] = /(?:src|srcset|<link[^>]* href)="(https?:[^"]*)"/.exec(article) ?? [];
    expect(external, href).toBeUndefined();
    expect(article, href).not.toMatch(/ style=|<script|\.md["#]/);
    links.push(...linksOf(article, page.url).map((link) => link.href));
  }
  expect(await faultsOf(links.filter((link) => link.startsWith(`${idp.issuer}/docs`)))).toEqual([]);
  expect(links.filter((link) => link.startsWith(idp.issuer) && !link.startsWith(`${idp.issuer}/docs`))).toEqual([]);
});

it('code is to be copied, and pictures are the server’s own', async () => {
  const { text } = await document('/docs/operating');
  expect(text).toMatch(/<button class="copy" type="button" data-copy[\s\S]*?<pre[^>]* data-value><code>/);
  expect((await document('/docs/first-hour')).text).toContain('<code>npm ci\nnpm start</code>');
  const [, picture = ''] = /<img src="([^"]+)" width="720"/.exec((await document('/docs/console')).text) ?? [];
  expect((await admin.get(picture)).headers['content-type']).toBe('image/png');
});

it('a search finds sections, those with the words as their title first', async () => {
  const page = await admin.get('/docs?q=Certificate+Rollover');
  const [first] = linksOf(page.text, page.url).filter(({ href }) => href.includes('/docs/'));
  expect(first).toMatchObject({ label: 'Certificate rollover', href: `${idp.issuer}/docs/saml#certificate-rollover` });
  expect(textOf((await admin.get('/docs?q=xyzzy')).text)).toContain('Nothing matches “xyzzy”.');
});

it('an unknown chapter is a page of the console that leads to the documentation', async () => {
  for (const path of ['/docs/nothing', '/docs/decisions/nothing', '/docs/..%2Fpackage', '/docs/constructor']) {
    const page = await admin.get(path);
    expect(page.status, path).toBe(404);
    expect(page.text, path).toContain('<body class="console">');
  }
});
