// What a reverse proxy asks about a website (docs/forward-auth.md).
import { httpClient, type Page } from '../../test/support/http.ts';
import { agent, send } from './load.ts';
import { person, website } from './target.ts';

/** A question of a proxy, and the answer that is a yes. */
export interface Question {
  url: string;
  headers: Record<string, string>;
  /** 200 without it. */
  expect?: number;
}

export const ask = ({ url, headers, expect = 200 }: Question) => send(url, { headers, expect });

/** What a browser sends with a page. */
const navigation = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.5',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** Caddy describes the request of a browser in these headers. */
export function asked(target: string, { origin }: { origin: string } = website): Record<string, string> {
  const { protocol, host } = new URL(origin);
  return {
    ...navigation,
    'x-forwarded-for': '192.0.2.7',
    'x-forwarded-method': 'GET',
    'x-forwarded-proto': protocol.slice(0, -1),
    'x-forwarded-host': host,
    'x-forwarded-uri': target,
  };
}

const questionUrl = (origin: string) => `${origin}/forward-auth/${website.proxy}`;

/** The question about a page, of a browser that has signed in for the website. */
export async function questionOfSession(origin: string): Promise<Question> {
  const browser = httpClient(origin, { agent });
  const question = (target: string) => browser.get(questionUrl(origin), { headers: asked(target) });
  const isBack = (url: string) => url.startsWith(website.origin);
  let page: Page = await browser.follow(await question('/'), isBack);
  if (!page.location) page = await browser.follow(await browser.submit(page, person), isBack);
  const { pathname, search } = new URL(page.location ?? '');
  await question(`${pathname}${search}`);
  const cookies = browser.cookies.headerFor(new URL(origin)).split('; ');
  const cookie = cookies.find((one) => one.startsWith('gatehouse_app')) ?? '';
  return { url: questionUrl(origin), headers: { ...asked('/page'), cookie } };
}

/** The question about a page, of a program that has an app password of the user. */
export async function questionOfProgram(origin: string): Promise<Question> {
  const browser = httpClient(origin, { agent });
  const signIn = await browser.follow(await browser.get('/login?return_to=/account/app-passwords/new'));
  const form = await browser.follow(await browser.submit(signIn, person));
  const [, id = ''] = /<option value="([^"]+)"/.exec(form.text) ?? [];
  const created = await browser.submit(form, { website: id, name: 'Program' });
  const [, password = ''] = /id="app-password">([^<]+)</.exec(created.text) ?? [];
  const authorization = `Basic ${Buffer.from(`${person.username}:${password}`).toString('base64')}`;
  const { 'sec-fetch-mode': _mode, 'sec-fetch-dest': _dest, ...headers } = asked('/page');
  return { url: questionUrl(origin), headers: { ...headers, authorization } };
}

/** The same of a browser whose cookie was made up: it leads to the sign-in. */
export function questionWithoutSession(origin: string): Question {
  const value = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');
  const cookie = `gatehouse_app_${new URL(website.origin).port}=${value}.${value}`;
  return { url: questionUrl(origin), headers: { ...asked('/page'), cookie }, expect: 302 };
}
