// django-allauth, with which Paperless-ngx signs people in, configured by the environment of the guide (paperless_site.py).
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, newFolder, run, startProgram } from '../programs.ts';
import { open } from '../travel.ts';
import { aPerson, described, expectPage, guideText, type Product, register, signIn, signOutHere } from './product.ts';

const SITE = fileURLToPath(new URL('paperless_site.py', import.meta.url));

export async function startPaperless(gatehouse: Gatehouse): Promise<Product> {
  const python = process.env.ALLAUTH;
  if (!python) throw new Missing('needs ALLAUTH (README.md)');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'paperless-ngx', { url: origin });
  const variables = guideText(registered, 'Paperless-ngx')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  const env = { ...Object.fromEntries(variables), ALLAUTH_DATA: newFolder('allauth') };
  await run(python, [SITE, 'migrate'], { env: { ...process.env, ...env } });
  const server = await startProgram(python, [SITE, 'runserver', '--noreload', `127.0.0.1:${port}`], {
    env,
    ready: origin,
  });
  const version = (await run(python, ['-c', 'import allauth; print(allauth.__version__)'])).trim();
  const start = `${origin}/accounts/oidc/gatehouse/login/`;
  const userOf = async (browser: HttpClient) => /data-user="([^"]*)"/.exec((await browser.get(`${origin}/`)).text)?.[1];

  return {
    version: `(django-allauth ${version}, ${path.basename(SITE)})`,
    stop: () => server.stop(),
    trials: {
      'sign-in': async () => {
        const user = await aPerson(gatehouse);
        const { browser, page } = await signIn(gatehouse, start, user);
        expectPage('not signed in', page, (await userOf(browser)) === user.username);
        return 'signed in, with its username';
      },
      'sign-in with an unverified address': async () => {
        const { browser, page } = await signIn(gatehouse, start, await aPerson(gatehouse, { emailVerified: false }));
        expectPage('not signed in', page, Boolean(await userOf(browser)));
        return 'signed in';
      },
      'sign-in without an address': async () => {
        const { browser, page } = await signIn(
          gatehouse,
          start,
          await aPerson(gatehouse, { email: null, emailVerified: false }),
        );
        return (await userOf(browser)) ? 'signed in' : `asked for one at ${new URL(page.url).pathname}`;
      },
      'its sign-out ends the session here': async () => {
        const { browser } = await signIn(gatehouse, start, await aPerson(gatehouse));
        const asked = await open(browser, `${origin}/accounts/logout/`);
        const back = await browser.submit(asked, { logout: 'yes' });
        if (back.location !== `${origin}/`) throw new Error(`not sent back: ${described(back)}`);
        const form = await open(browser, start);
        expectPage('not asked to sign in', form, form.url.startsWith(gatehouse.issuer));
        return 'after a question';
      },
      'sign-out here': async () => {
        const { browser } = await signIn(gatehouse, start, await aPerson(gatehouse));
        await signOutHere(gatehouse, browser);
        return (await userOf(browser)) ? 'stays signed in there until its session ends' : 'ends the session there';
      },
    },
  };
}
