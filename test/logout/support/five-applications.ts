// Two OpenID Connect applications, two SAML service providers, and a fifth that is down when it matters.
import type { BrowserContext, Page } from 'playwright-core';
import { aUser, type TestUser } from '../../support/factories.ts';
import type { TestIdp } from '../../support/idp.ts';
import type { App } from './app.ts';
import { oidcApp } from './oidc-app.ts';
import { nodeSamlApp, samlifyApp } from './saml-apps.ts';

export interface FiveApplications {
  user: TestUser;
  /** Back channel, front channel, redirect, POST. */
  reachable: [App, App, App, App];
  dead: App;
  all: App[];
  close(): Promise<void>;
}

export async function fiveApplications(idp: TestIdp): Promise<FiveApplications> {
  const user = await aUser(idp.services);
  const back = await oidcApp(idp, 'back', 'Wiki');
  const front = await oidcApp(idp, 'front', 'Chat');
  const redirect = await nodeSamlApp(idp, 'Payroll');
  const post = await samlifyApp(idp, 'Library');
  const dead = await nodeSamlApp(idp, 'Archive');
  const all = [back, front, redirect, post, dead];
  return {
    user,
    reachable: [back, front, redirect, post],
    dead,
    all,
    close: async () => void (await Promise.all(all.map((app) => app.close()))),
  };
}

/** Opens each application, typing the password once. */
export async function signInToAll(context: BrowserContext, apps: readonly App[], user: TestUser): Promise<Page> {
  const page = await context.newPage();
  for (const app of apps) {
    await page.goto(`${app.origin}/sign-in`);
    if (app === apps[0]) {
      await page.fill('[name=username]', user.username);
      await page.fill('[name=password]', user.password);
      await page.click('button.btn-primary');
    }
    await page
      .getByText(`${app.name}: signed in`)
      .waitFor({ timeout: 60_000 })
      .catch(async (cause) => {
        throw new Error(`not signed in to ${app.name}: ${page.url()}\n${await page.textContent('body')}`, { cause });
      });
  }
  return page;
}

/** The audit log of the logout: `type clientId` for each application, and the end of the session. */
export async function logoutEvents(idp: TestIdp, { account }: TestUser): Promise<string[]> {
  const where = { subjectId: account.id, type: { in: ['logout.delivered', 'logout.failed', 'session.ended'] } };
  const events = await idp.services.db.auditEvent.findMany({ where });
  return events.map(({ type, clientId }) => (type === 'session.ended' ? type : `${type} ${clientId}`)).sort();
}
