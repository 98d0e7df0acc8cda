// A small WebDriver client (https://www.w3.org/TR/webdriver2/), the protocol that Firefox, WebKit and Chromium share.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, needFile, newFolder, type Program, startProgram } from './programs.ts';

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const SECONDS = 180;

export interface WebDriver {
  /** The browser's own name and version. */
  name: string;
  open(url: string): Promise<void>;
  url(): Promise<string>;
  /** Waits for a visible element that the selector finds and whose text contains `text`. */
  see(selector: string, text?: string): Promise<Element>;
  /** Clicks such an element. */
  press(selector: string, text?: string): Promise<void>;
  /** Replaces the value of a field. */
  type(selector: string, value: string): Promise<void>;
  /** The result of the body of a function in the page. */
  evaluate<Result>(body: string): Promise<Result>;
  /**
   * Adds a virtual authenticator for passkeys (WebAuthn Level 3, section 12), and returns the function that removes it. Throws where
   * the engine has none.
   */
  addAuthenticator(): Promise<() => Promise<void>>;
  screenshot(file: string): Promise<void>;
  close(): Promise<void>;
}

interface Element {
  text(): Promise<string>;
  press(): Promise<void>;
  type(value: string): Promise<void>;
}

interface BrowserProgram {
  command: string;
  how: string;
  args(port: number): string[];
  capabilities: Record<string, unknown>;
  env?: Record<string, string>;
}

/** The three engines, with the commands that Debian and crates.io install. */
const programs = {
  chromium: {
    command: process.env.CHROMEDRIVER ?? '/usr/bin/chromedriver',
    how: 'apt-get install chromium chromium-driver',
    args: (port) => [`--port=${port}`],
    capabilities: {
      browserName: 'chrome',
      'goog:chromeOptions': { args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--window-size=1280,900'] },
    },
  },
  firefox: {
    command: process.env.GECKODRIVER ?? '/opt/peers/geckodriver/bin/geckodriver',
    how: 'apt-get install firefox-esr; cargo install geckodriver --root /opt/peers/geckodriver',
    args: (port) => ['--port', String(port), '--binary', '/usr/bin/firefox-esr'],
    capabilities: {
      browserName: 'firefox',
      'moz:firefoxOptions': {
        args: ['-headless', '-width', '1280', '-height', '900'],
        // Virtual authenticators instead of real ones.
        prefs: {
          'security.webauth.webauthn_enable_softtoken': true,
          'security.webauth.webauthn_enable_usbtoken': false,
        },
      },
    },
  },
  webkit: {
    command: process.env.WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver',
    how: 'apt-get install webkit2gtk-driver xvfb',
    args: (port) => [`--port=${port}`],
    capabilities: {
      'webkitgtk:browserOptions': {
        binary: '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser',
        args: ['--automation', '--geometry=1280x900'],
      },
    },
    // Root has no user namespaces for WebKit's sandbox in a container.
    env: { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1' },
  },
} satisfies Record<string, BrowserProgram>;

export type Engine = keyof typeof programs;
export const engines = Object.keys(programs) as Engine[];

/** Starts the engine's driver and one browser session. Throws Missing without the program. */
export async function startWebDriver(engine: Engine): Promise<WebDriver> {
  const { command, how, args, capabilities, env }: BrowserProgram = programs[engine];
  needFile(command, how);
  const display = engine === 'webkit' ? await startDisplay() : undefined;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const home = newFolder(engine);
  const driver = await startProgram(command, args(port), {
    env: { HOME: home, ...env, ...(display && { DISPLAY: display.name }) },
    ready: `${origin}/status`,
  });

  async function call<Result>(method: string, path: string, body?: object): Promise<Result> {
    const answer = await fetch(`${origin}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.timeout(2 * SECONDS * 1000),
    });
    const { value } = (await answer.json()) as { value: Result & { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message?.split('\n')[0]}`);
    return value;
  }
  const started = await call<{ sessionId: string; capabilities: { browserName: string; browserVersion: string } }>(
    'POST',
    '/session',
    { capabilities: { alwaysMatch: capabilities } },
  );
  const session = `/session/${started.sessionId}`;

  const elementAt = (id: string): Element => ({
    text: () => call('GET', `${session}/element/${id}/text`),
    press: () => call('POST', `${session}/element/${id}/click`, {}),
    async type(value) {
      await call('POST', `${session}/element/${id}/clear`, {});
      await call('POST', `${session}/element/${id}/value`, { text: value });
    },
  });
  /** Tries again while a page loads. */
  async function retry<Result>(what: string, action: () => Promise<Result | undefined>): Promise<Result> {
    const end = Date.now() + SECONDS * 1000;
    for (let reason = ''; ; ) {
      const result = await action().catch((error: Error) => {
        reason = error.message;
        return undefined;
      });
      if (result !== undefined) return result;
      if (Date.now() > end) throw new Error(`${what}: not found at ${await browser.url()} ${reason}`);
      await sleep(100);
    }
  }
  async function find(selector: string, text = ''): Promise<Element | undefined> {
    const found = await call<Record<string, string>[]>('POST', `${session}/elements`, {
      using: 'css selector',
      value: selector,
    });
    for (const { [ELEMENT]: id = '' } of found) {
      const visible = await call<boolean>('GET', `${session}/element/${id}/displayed`);
      if (visible && (await elementAt(id).text()).includes(text)) return elementAt(id);
    }
    return undefined;
  }
  const browser: WebDriver = {
    name: `${started.capabilities.browserName} ${started.capabilities.browserVersion}`,
    open: (url) => call('POST', `${session}/url`, { url }),
    url: () => call('GET', `${session}/url`),
    see: (selector, text) => retry(`${selector} ${text ?? ''}`, () => find(selector, text)),
    press: (selector, text) =>
      retry(`${selector} ${text ?? ''}`, async () => {
        const element = await find(selector, text);
        await element?.press();
        return element && true;
      }).then(() => {}),
    type: (selector, value) =>
      retry(selector, async () => {
        const element = await find(selector);
        await element?.type(value);
        return element && true;
      }).then(() => {}),
    evaluate: (body) => call('POST', `${session}/execute/sync`, { script: body, args: [] }),
    async addAuthenticator() {
      const id = await call<string>('POST', `${session}/webauthn/authenticator`, {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserConsenting: true,
        isUserVerified: true,
      });
      return () => call('DELETE', `${session}/webauthn/authenticator/${id}`);
    },
    async screenshot(file) {
      writeFileSync(file, Buffer.from(await call<string>('GET', `${session}/screenshot`), 'base64'));
    },
    async close() {
      await call('DELETE', session).catch(() => {});
      await driver.stop();
      await display?.program.stop();
    },
  };
  return browser;
}

/** An X server without a screen, for a browser without a headless mode. */
async function startDisplay(): Promise<{ name: string; program: Program }> {
  const command = needFile('/usr/bin/Xvfb', 'apt-get install xvfb');
  const number = 90 + (process.pid % 900);
  const program = await startProgram(command, [`:${number}`, '-screen', '0', '1280x900x24', '-nolisten', 'tcp'], {
    ready: `/tmp/.X11-unix/X${number}`,
  });
  return { name: `:${number}`, program };
}
