// Signs in, proves factors, consents, resets, changes the account and administers with Firefox, WebKit and Chromium, and prints a line
// for each step (README.md). Not part of `npm test`, because npm has neither Firefox nor WebKit; what is missing is skipped.
//   npx tsx test/peers/browsers.ts [--engine firefox] … [--pictures /tmp/pictures]
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { generateSync } from 'otplib';
import { oidcApp } from '../logout/support/oidc-app.ts';
import { linkIn, mailOf } from '../recovery/support.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { Missing } from './programs.ts';
import { type Engine, engines, startWebDriver, type WebDriver } from './webdriver.ts';

const { values: options } = parseArgs({
  options: { engine: { type: 'string', multiple: true }, pictures: { type: 'string' } },
});
const NEW_PASSWORD = 'a new sentence of five words';

let failures = 0;
for (const engine of engines.filter((name) => options.engine?.includes(name) ?? true)) await tryEngine(engine);
process.exit(failures > 0 ? 1 : 0);

async function tryEngine(engine: Engine): Promise<void> {
  const box = await mailbox();
  const gatehouse = await startGatehouse('localhost', 'http', { SMTP_URL: box.url });
  try {
    const browser = await startWebDriver(engine);
    await tryBrowser(browser, engine, gatehouse, box).finally(() => browser.close());
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    process.stdout.write(`${engine}: skipped, ${error.message}\n`);
  } finally {
    await gatehouse.stop();
    await box.close();
  }
}

/** Each step goes on where the one before ended. */
async function tryBrowser(browser: WebDriver, engine: Engine, gatehouse: Gatehouse, box: Mailbox): Promise<void> {
  const { issuer, services } = gatehouse;
  const user = await aUser(services);
  const email = user.account.email ?? '';
  const admin = await aUser(services);
  await services.roles.assign(admin.account.id, 'admin');
  const app = await oidcApp(gatehouse, 'back', 'Lab notes', {}, { consent: 'explicit' });
  let secret = '';
  let password = PASSWORD;

  const primary = () => browser.press('main button.btn-primary');
  const signIn = async ({ username } = user, typed = password) => {
    await browser.type('[name=username]', username);
    await browser.type('[name=password]', typed);
    await primary();
  };
  const signOut = async () => {
    await browser.open(`${issuer}/account`);
    await browser.press('a', 'Sign out');
    await browser.see('h1', 'signed out');
  };
  const code = () => generateSync({ secret });

  const steps: Record<string, () => Promise<string>> = {
    async 'sign-in and consent'() {
      await browser.open(`${app.origin}/sign-in`);
      await signIn();
      await browser.see('h1', 'Lab notes');
      await picture('consent');
      await browser.press('button[value=allow]');
      await browser.see('h1', 'Lab notes: signed in');
      return `user ${await browser.evaluate("return document.querySelector('[data-user]').dataset.user")}`;
    },
    async 'sign-out at the application'() {
      await browser.open(`${app.origin}/sign-out`);
      await browser.open(`${issuer}/account`);
      await browser.see('h1', 'Sign in');
      return `${app.sessions()} sessions left at the application`;
    },
    async 'password reset'() {
      await browser.press('a', 'Forgot password?');
      await browser.type('[name=username]', user.username);
      await primary();
      await browser.see('h1', 'Check your email');
      await browser.open(linkIn(await mailOf(box, email, 'Reset your password')));
      await browser.type('[name=password]', NEW_PASSWORD);
      await primary();
      await browser.see('h1', 'Password changed');
      password = NEW_PASSWORD;
      return 'the new password is set';
    },
    async account() {
      await browser.open(`${issuer}/account`);
      await signIn();
      await browser.see('h1', 'Your account');
      await picture('account');
      await browser.open(`${issuer}/account/profile`);
      await browser.type('[name=family_name]', 'Andersen');
      await primary();
      await browser.see('[role=status]');
      await browser.open(`${issuer}/account/profile`);
      await browser.see('h1', 'Profile');
      const stored = await browser.evaluate("return document.querySelector('[name=family_name]').value");
      if (stored !== 'Andersen') throw new Error(`family name ${stored}`);
      return 'the family name is stored';
    },
    async 'authenticator app'() {
      await browser.open(`${issuer}/account/factors`);
      await browser.press('a, button', 'Set up authenticator app');
      secret = (await (await browser.see('main code')).text()).replaceAll(/\s/g, '');
      await browser.type('[name=code]', code());
      await primary();
      await browser.see('h1', 'recovery codes');
      await picture('recovery-codes');
      await browser.press('a, button', 'I’ve saved my codes');
      await signOut();
      await browser.open(`${issuer}/account`);
      await signIn();
      await browser.type('[name=code]', await nextCode(code));
      await primary();
      await browser.see('h1', 'Your account');
      return 'a sign-in with password and code';
    },
    async passkey() {
      const remove = await browser.addAuthenticator().catch(() => undefined);
      if (!remove) return 'not tried: this engine has no virtual authenticator';
      await browser.open(`${issuer}/account/factors`);
      await browser.press('a, button', 'Add a passkey');
      await browser.type('[name=name]', 'My phone');
      await browser.press('main button', 'Create passkey');
      await browser.see('main', 'My phone');
      await signOut();
      await browser.open(`${issuer}/account`);
      // Some engines offer the passkey by themselves.
      await Promise.any([browser.press('button', 'Sign in with a passkey'), browser.see('h1', 'Your account')]);
      await browser.see('h1', 'Your account');
      await remove();
      return 'a sign-in with the passkey alone';
    },
    async 'console: role, group, application'() {
      await signOut();
      await browser.open(`${issuer}/admin/roles/new`);
      await signIn(admin, PASSWORD);
      await browser.type('[name=name]', 'instruments');
      await primary();
      await browser.see('h1', 'instruments');
      await browser.open(`${issuer}/admin/groups/new`);
      await browser.type('[name=name]', 'Lab');
      await primary();
      await browser.see('h1', 'Lab');
      await browser.open(`${issuer}/admin/applications/new/grafana`);
      await browser.type('[name=url]', 'https://grafana.example.com');
      await picture('new-application');
      await primary();
      await browser.see('h1', 'Grafana');
      await picture('application');
      return 'all three are there';
    },
    async 'sign-out everywhere'() {
      await signOut();
      await browser.open(`${issuer}/admin`);
      await browser.see('h1', 'Sign in');
      return 'the console asks for a sign-in';
    },
  };
  for (const [name, step] of Object.entries(steps)) {
    let result: string;
    try {
      result = await step();
    } catch (error) {
      failures += 1;
      result = `FAILED: ${(error as Error).message}`;
      await picture(`failed-${name.replaceAll(/\W+/g, '-')}`).catch(() => {});
    }
    process.stdout.write(`${browser.name}: ${name}: ${result}\n`);
  }
  await app.close();

  async function picture(name: string): Promise<void> {
    if (!options.pictures) return;
    mkdirSync(options.pictures, { recursive: true });
    await browser.screenshot(path.join(options.pictures, `${engine}-${name}.png`));
  }
}

/** A code is accepted once, so a second proof waits for the next. */
async function nextCode(code: () => string): Promise<string> {
  const used = code();
  while (code() === used) await new Promise((resolve) => setTimeout(resolve, 500));
  return code();
}
