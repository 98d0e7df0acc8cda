// A real Chromium: one per process, with a context for each user in the test.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core';
import { isLongRun } from '../long-run.ts';
import { unpackChromium } from './chromium.ts';

export type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** The two widths that every page is looked at. */
export const phone = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
} satisfies BrowserContextOptions;
export const desktop = { viewport: { width: 1280, height: 800 } } satisfies BrowserContextOptions;

let started: Promise<Browser> | undefined;

/** The browser of this process, which the first call starts. Close it in afterAll: contexts and pages go, and it stays for other files. */
export async function launchBrowser(): Promise<Browser> {
  if (!(await started)?.isConnected()) started = startBrowser();
  const browser = await (started as Promise<Browser>);
  const close = async () => void (await Promise.all(browser.contexts().map((context) => context.close())));
  return new Proxy(browser, {
    get(target, name) {
      if (name === 'close') return close;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Below the time limit of a test, so that a failure names the step; a page of a busy machine needs more than Playwright's 30 s. */
const STEP_TIMEOUT_MS = 100_000;

/** Starts a browser of one's own. */
export async function startBrowser(options: LaunchOptions = {}): Promise<Browser> {
  const { executable, fonts } = await unpackChromium();
  const browser = await chromium.launch({
    ...options,
    executablePath: executable,
    // No sandbox: test runs are often root in a container. Unlike the package's own list of arguments these keep
    // the web's security rules on, and processes apart: with one process, closing a context ends the browser.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--font-render-hinting=none',
    ],
    env: { ...process.env, FONTCONFIG_FILE: fonts } as Record<string, string>,
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(STEP_TIMEOUT_MS);
    return context;
  };
  return browser;
}

export type Scheme = 'light' | 'dark';

export interface Violation {
  scheme: Scheme;
  rule: string;
  impact: string;
  help: string;
  targets: string[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe that look at colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Contrast takes three quarters of the time of axe, and a list of a hundred rows has the same colors a hundred times. So axe looks at three
 * visible texts of each kind: of one size and weight, one color, and one background with all that is behind it. At every text in a long run.
 */
const MARK_TEXTS = `(() => {
  const behind = new Map();
  const counts = new Map();
  for (const element of document.querySelectorAll('body, body *')) {
    element.removeAttribute('data-contrast');
    const style = getComputedStyle(element);
    const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter].join();
    const parent = behind.get(element.parentElement) ?? '';
    const all = own === 'rgba(0, 0, 0, 0),none,1,none' ? parent : parent + own;
    behind.set(element, all);
    const hasText = element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const { width, height } = element.getBoundingClientRect();
    if (!hasText || width * height < 4 || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const isDisabled = element.closest(':disabled, [aria-disabled=true]') || element.closest('label')?.control?.disabled;
    const kind = [all, style.color, style.fontSize, style.fontWeight, style.textShadow, !!isDisabled].join();
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count <= 3) element.setAttribute('data-contrast', '');
  }
  axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] });
})()`;

/** Has axe in every page that the context opens from now on: much quicker than sending it to each (half a megabyte). */
export async function preloadAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript(axeSource);
}

/**
 * What axe finds on the page as it is now: WCAG 2.2 A and AA and best practices. Light alone unless `schemes` says more:
 * test/http/pages.test.ts checks every layout in dark too. What was read before, in another scheme, is read for its colors alone.
 */
export async function axe(
  page: Page,
  schemes: readonly Scheme[] = ['light'],
  { isReadBefore = false } = {},
): Promise<Violation[]> {
  if (await page.evaluate('typeof axe === "undefined"')) await injectAxe(page);
  const found: Violation[] = [];
  for (const [index, scheme] of schemes.entries()) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    // A color that is in transition from the other scheme has too little contrast.
    await page.evaluate(
      'document.getAnimations().filter((one) => one instanceof CSSTransition).forEach((one) => one.finish())',
    );
    if (!isLongRun) await page.evaluate(MARK_TEXTS);
    // Not inside frames: they are pages of their own, and the frame of a mail lets no script in.
    const violations = await page.evaluate<AxeResults['violations']>(
      `axe.run(document, ${JSON.stringify({
        resultTypes: ['violations'],
        iframes: false,
        // The second scheme has the same elements in other colors.
        ...((isReadBefore || index > 0) && { runOnly: COLOR_RULES }),
      })}).then(({ violations }) => violations)`,
    );
    for (const { id, impact, help, nodes } of violations)
      found.push({ scheme, rule: id, impact: impact ?? 'unknown', help, targets: nodes.map((node) => node.html) });
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  return found;
}

// Through the debugging protocol: the page's own Content-Security-Policy rejects an added script, and Playwright's
// evaluate takes five times as long with so much text.
async function injectAxe(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  // Never detached: that would end the virtual authenticator of the page as well. It closes with the page.
  await devtools.send('Runtime.evaluate', { expression: `${axeSource};undefined`, returnByValue: true });
}

/** Keeps a picture of the whole page where SCREENSHOTS names a folder; else does nothing. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.screenshot({ path: path.join(folder, `${name}-${scheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: null });
}

type Credentials = Awaited<ReturnType<typeof credentialsOf>>;

export interface VirtualAuthenticator {
  /** Whether the user is there to touch it; otherwise it waits. Autofill offers are accepted at once while present. */
  setPresent(present: boolean): Promise<void>;
  /** Whether user verification succeeds; false fails it. */
  setUserVerified(verified: boolean): Promise<void>;
  credentials(): Promise<Credentials>;
  /** Puts a copy of a credential into it, as a cloned device holds. */
  insert(credential: Credentials[number]): Promise<void>;
  remove(): Promise<void>;
}

const credentialsOf = async (devtools: CDPSession, authenticatorId: string) =>
  (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;

/** A passkey device for this page: platform authenticator with user verification by default. */
export async function addAuthenticator(
  page: Page,
  {
    transport = 'internal',
    hasUserVerification = true,
  }: { transport?: 'internal' | 'usb'; hasUserVerification?: boolean } = {},
): Promise<VirtualAuthenticator> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: hasUserVerification,
      hasUserVerification,
      isUserVerified: hasUserVerification,
      automaticPresenceSimulation: true,
    },
  });
  return {
    setPresent: async (enabled) =>
      void (await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })),
    insert: async (credential) => void (await devtools.send('WebAuthn.addCredential', { authenticatorId, credential })),
    setUserVerified: async (isUserVerified) =>
      void (await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })),
    credentials: () => credentialsOf(devtools, authenticatorId),
    remove: async () => void (await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })),
  };
}
