// The logos of products and providers in a real browser: in the lists of presets, in the console, in the app list of people and on the
// buttons of the sign-in page.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aSvg } from '../../brand/pictures.ts';
import { aConnection } from '../../federation/support.ts';
import { anApplication, authorizeUrl } from '../../oidc/support.ts';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  phone,
  screenshot,
} from '../../support/browser/browser.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { isLongRun } from '../../support/long-run.ts';
import { signIn } from './real-browser.ts';
import { staff } from './support.ts';

let idp: TestIdp;
let browser: Browser;
let wide: Page;
let narrow: Page;
let clientId: string;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  const client = (name: string, more: object = {}) =>
    anApplication(idp, { client_name: name, client_uri: 'https://app.example/', ...more });
  ({ clientId } = await client('Dashboards', { preset: 'grafana' }));
  await client('Own app');
  const pictured = await client('Pictured', { preset: 'gitlab' });
  await idp.services.pictures.choose(pictured.applicationId, aSvg());
  const oidc = { issuer: 'https://provider.example', client_id: 'a', client_secret: 'b', show_button: true };
  for (const [id, preset, name] of [
    ['google', 'google', 'Google'],
    ['keycloak', 'keycloak', 'Keycloak'],
    ['okta', 'okta', 'Okta'],
  ] as const)
    await aConnection(idp, { ...oidc, id, preset, name });
  const user = await staff(idp, 'admin');
  [wide, narrow] = (await Promise.all(
    [
      { ...desktop, colorScheme: 'light' as const },
      { ...phone, colorScheme: 'dark' as const },
    ].map(async (device) => {
      const page = await (await browser.newContext(device)).newPage();
      await page.goto(`${idp.issuer}/admin/applications`);
      await signIn(page, user);
      await page.waitForSelector('h1');
      return page;
    }),
  )) as [Page, Page];
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

/** The path of a logo in the package. */
const logoAt = (slug: string) =>
  / d="([^"]+)"/.exec(readFileSync(`node_modules/simple-icons/icons/${slug}.svg`, 'utf8'))?.[1];

/** The contrast between each logo and its tile (WCAG 1.4.11), as the browser paints them. */
const CONTRASTS = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const painted = (color) => {
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll('.logo > svg:not(.icon), .connection-mark > svg')].map((svg) => {
    const [one, two] = [painted(getComputedStyle(svg).color), painted(getComputedStyle(svg.parentElement).backgroundColor)];
    return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  });
})()`;

/** Opens the page on a desktop in light and on a phone in dark colors, and checks it there; axe reads the dark colors in a long run. */
async function inspect(address: string, name: string): Promise<void> {
  for (const [page, scheme] of [
    [wide, 'light'],
    [narrow, 'dark'],
  ] as const) {
    await page.goto(address);
    const contrasts = await page.evaluate<number[]>(CONTRASTS);
    expect(contrasts.length, name).toBeGreaterThan(0);
    expect(Math.min(...contrasts), name).toBeGreaterThan(3);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true);
    await screenshot(page, `logos-${name}-${scheme}`);
    const isReadBefore = scheme === 'dark';
    if (!isReadBefore || isLongRun) expect(await axe(page, [scheme], { isReadBefore }), name).toEqual([]);
    await page.emulateMedia({ colorScheme: scheme });
  }
}

/** What stands for each entry: the path of a logo, an address of a picture, or a letter. */
const marks = async (entries: string, name: string) =>
  new Map(
    await wide.evaluate<[string, string][]>(
      `[...document.querySelectorAll('${entries}')].map((entry) => {
        const mark = entry.querySelector('.logo, .connection-mark');
        const drawn = mark.querySelector('path')?.getAttribute('d') ?? mark.getAttribute('src');
        return [entry.querySelector('${name}').textContent.trim(), drawn ?? mark.textContent.trim()];
      })`,
    ),
  );

const lettersOf = (found: Map<string, string>) =>
  [...found].filter(([, mark]) => mark.length === 1).map(([name]) => name);

it('each product has its logo, and a letter where the license of the logo does not allow it or there is none', async () => {
  await inspect(`${idp.issuer}/admin/applications/new`, 'products');
  const found = await marks('.tiles li', 'strong');
  expect(found.get('Grafana')).toBe(logoAt('grafana'));
  // ChatGPT and VS Code have none in the collection. Forgejo and Jenkins are under CC BY-SA, Harbor under terms of its own.
  expect(lettersOf(found).sort()).toEqual(
    [
      'AWS',
      'ChatGPT',
      'Forgejo',
      'Harbor',
      'Jenkins',
      'Microsoft 365',
      'Salesforce',
      'Slack',
      'VS Code',
      'Zammad',
      'Zoom',
      'oauth2-proxy',
    ].sort(),
  );
});

it('each provider of a connection has its logo, and a letter without one', async () => {
  await inspect(`${idp.issuer}/admin/connections/new`, 'providers');
  const found = await marks('.tiles li', 'strong');
  expect(found.get('Google')).toBe(logoAt('google'));
  expect(found.get('LinkedIn')).toBe('L');
  await inspect(`${idp.issuer}/admin/connections`, 'connections');
  expect((await marks('tbody tr', 'a')).get('Okta')).toBe(logoAt('okta'));
});

it('an application of a product has the logo of the product where it has no picture', async () => {
  for (const [at, entries, name] of [
    ['/admin/applications', 'tbody tr', 'a'],
    ['/dashboard', '.tiles li', 'strong'],
  ] as const) {
    await inspect(`${idp.issuer}${at}`, at.replaceAll('/', '-'));
    const found = await marks(entries, name);
    expect(found.get('Dashboards'), at).toBe(logoAt('grafana'));
    expect(found.get('Own app'), at).toBe('O');
    expect(found.get('Pictured'), at).toMatch(/^\/assets\/application-/);
  }
});

it('the buttons of the sign-in page have the logos of their providers', async () => {
  for (const page of [wide, narrow]) await page.context().clearCookies();
  await inspect(authorizeUrl(idp, clientId), 'sign-in');
  const found = await marks('form.connection', 'button');
  const markOf = (provider: string) => [...found].find(([button]) => button.includes(provider))?.[1];
  expect(markOf('Google')).toBe(logoAt('google'));
  expect(markOf('Keycloak')).toBe('K');
});
