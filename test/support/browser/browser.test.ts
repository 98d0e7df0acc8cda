import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, listen } from '../listen.ts';
import { addAuthenticator, axe, type Browser, launchBrowser, phone } from './browser.ts';

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="viewport" content="width=device-width">
   <style>:root{color-scheme:light dark} @media (prefers-color-scheme: dark) { .dim { color: #222; background: #111 } }</style>
   </head><body><main><h1>${title}</h1>${body}</main></body></html>`;

let browser: Browser;
let server: Listening;

beforeAll(async () => {
  browser = await launchBrowser();
  server = await listen((request, response) => {
    // The strictest policy our pages have: axe must work under it.
    response.setHeader('content-security-policy', "default-src 'self'; style-src 'self' 'unsafe-inline'");
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(request.url === '/good' ? page('Fine', '<p>Words</p>') : page('Not', '<input><p class="dim">Dim</p>'));
  });
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

describe('the browser of the tests', () => {
  it('reports nothing on an accessible page', async () => {
    const context = await browser.newContext(phone);
    const tab = await context.newPage();
    await tab.goto(`${server.origin}/good`);
    expect(await axe(tab)).toEqual([]);
    await context.close();
  });

  it('reports an input without a label in both schemes, and low contrast of the dark one', async () => {
    const tab = await browser.newPage();
    await tab.goto(`${server.origin}/bad`);
    const found = (await axe(tab, ['light', 'dark'])).map(({ scheme, rule }) => `${scheme} ${rule}`);
    expect(found).toEqual(['light label', 'dark color-contrast', 'dark label']);
    await tab.close();
  });

  it('enforces the same-origin policy', async () => {
    const tab = await browser.newPage();
    await tab.goto(`${server.origin}/good`);
    const other = server.origin.replace('127.0.0.1', 'localhost');
    const read = tab.evaluate((url) => fetch(url).then((response) => response.text()), `${other}/good`);
    await expect(read).rejects.toThrow();
    await tab.close();
  });

  it('adds a virtual passkey device', async () => {
    const tab = await browser.newPage();
    await tab.goto(`${server.origin.replace('127.0.0.1', 'localhost')}/good`);
    const device = await addAuthenticator(tab);
    await tab.evaluate(async () => {
      const bytes = new Uint8Array(32);
      await navigator.credentials.create({
        publicKey: {
          challenge: bytes,
          rp: { name: 'Test' },
          user: { id: bytes, name: 'alice', displayName: 'Alice' },
          pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        },
      });
    });
    expect(await device.credentials()).toMatchObject([{ isResidentCredential: true }]);
    await tab.close();
  });
});
