import type { ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from './http.ts';
import { type Listening, listen } from './listen.ts';
import { formsOf, linksOf, textOf } from './pages/html.ts';

let server: Listening;

function redirect(response: ServerResponse, location: string): void {
  response.statusCode = 303;
  response.setHeader('location', location);
}

beforeAll(async () => {
  server = await listen(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/set')
      response.setHeader('set-cookie', ['sid=1; Path=/; HttpOnly', 'deep=2; Path=/deep', 'gone=3; Max-Age=0']);
    if (url.pathname === '/loop') redirect(response, '/loop');
    if (url.pathname === '/away') redirect(response, '/echo?a=1');
    response.setHeader('content-type', 'text/plain');
    if (url.pathname === '/form') response.setHeader('content-type', 'text/html; charset=utf-8');
    const { host, cookie = '', origin = '' } = request.headers;
    if (url.pathname === '/form')
      return void response.end('<form method="post" action="/echo"><input name="a"></form>');
    response.end([request.method, url.search, host, cookie, origin, await readText(request)].join('|'));
  });
});
afterAll(() => server.close());

describe('the HTTP client of the tests', () => {
  it('keeps cookies by path and forgets expired ones', async () => {
    const client = httpClient(server.origin);
    const { setCookie } = await client.get('/set');
    expect(setCookie).toHaveLength(3);
    expect((await client.get('/echo')).text).toContain('|sid=1|');
    expect((await client.get('/deep/er')).text).toContain('|deep=2; sid=1|');
    expect(client.cookies.get('sid')?.attributes.has('httponly')).toBe(true);
  });

  it('follows redirects only on request, up to a limit', async () => {
    const client = httpClient(server.origin);
    const page = await client.get('/away');
    expect(page).toMatchObject({ status: 303, location: `${server.origin}/echo?a=1` });
    expect((await client.follow(page)).text).toContain('GET|?a=1');
    expect((await client.follow(page, (url) => url.includes('/echo'))).status).toBe(303);
    await expect(client.follow(await client.get('/loop'))).rejects.toThrow('do not end');
  });

  it('sends a form as a browser does, and another Host header on request', async () => {
    const client = httpClient(server.origin);
    const answer = await client.submit(await client.get('/form'), { a: 'ä&=' });
    expect(answer.text).toBe(`POST||${new URL(server.origin).host}||${server.origin}|a=%C3%A4%26%3D`);
    expect((await client.get('/echo', { headers: { Host: 'evil.example' } })).text).toContain('|evil.example|');
  });
});

describe('reading a page', () => {
  it('reads from a form what a browser would send', () => {
    const [form] = formsOf(
      `<form method=post action="/save?x=1&amp;y=2"><input type="hidden" name=_csrf value="a&quot;b">
       <input type="checkbox" name="on" checked><input type="checkbox" name="off"><input name="dead" disabled>
       <select name="pick"><option value="1">One<option value="2" selected>Two</select>
       <textarea name="words">
x &lt; y</textarea><button name="do" value="it"><b>Save</b> it</button><button type="button">No</button></form>`,
      'http://a.example/page',
    );
    expect(form).toEqual({
      action: 'http://a.example/save?x=1&y=2',
      method: 'post',
      fields: { _csrf: 'a"b', on: 'on', pick: '2', words: 'x < y' },
      ticks: {},
      buttons: [{ name: 'do', value: 'it', label: 'Save it' }],
    });
  });

  it('reads text and links', () => {
    expect(textOf('<style>p{}</style><p>1 &lt;&#x20;2</p>\n<p>&#228;</p>')).toBe('1 < 2 ä');
    expect(linksOf('<a class="x" href="/y?a&amp;b">Go <i>on</i></a>', 'http://a.example')).toEqual([
      { href: 'http://a.example/y?a&b', label: 'Go on' },
    ]);
  });
});
