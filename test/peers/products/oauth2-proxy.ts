// oauth2-proxy before a page of its own, with the guide as its configuration file.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, goVersion, Missing, needFile, newFolder, startProgram } from '../programs.ts';
import { open } from '../travel.ts';
import {
  aMember,
  aPerson,
  described,
  eventually,
  expectPage,
  guideText,
  type Product,
  register,
  signIn,
  signOutHere,
  unmetDemands,
} from './product.ts';

export async function startOauth2Proxy(gatehouse: Gatehouse): Promise<Product> {
  const program = process.env.OAUTH2_PROXY;
  if (!program) throw new Missing('needs OAUTH2_PROXY (README.md)');
  needFile(program, 'OAUTH2_PROXY');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'oauth2-proxy', { url: origin });
  const file = path.join(newFolder('oauth2-proxy'), 'oauth2-proxy.cfg');
  const guide = guideText(registered, 'oauth2-proxy.cfg')
    .replace(/^cookie_secret = .*$/m, 'cookie_secret = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="')
    // So that a renewal is seen: the guide's time is minutes.
    .replace(/^cookie_refresh = .*$/m, 'cookie_refresh = "1s"');
  const own = `http_address = "127.0.0.1:${port}"\nupstreams = ["static://202"]\ncookie_secure = false\n`;
  const startProxy = (changes: Record<string, string> = {}) => {
    let settings = guide;
    for (const [name, value] of Object.entries(changes))
      settings = `${settings.replace(new RegExp(`^${name} = .*\n`, 'm'), '')}\n${name} = ${value}`;
    writeFileSync(file, `${settings}\n${own}`);
    return startProgram(program, ['--config', file], { ready: `${origin}/ping` });
  };
  let proxy = await startProxy();
  const version = await goVersion(program);
  const isIn = async (browser: Parameters<typeof open>[0]) => (await browser.get(`${origin}/`)).status === 202;

  return {
    version,
    stop: () => proxy.stop(),
    trials: {
      'sign-in with a verified address': async () => {
        const { page } = await signIn(gatehouse, origin, await aPerson(gatehouse));
        expectPage('not signed in', page, page.status === 202);
        return 'signed in';
      },
      'an unverified address is rejected, as the access check says': async () => {
        const user = await aPerson(gatehouse, { emailVerified: false });
        const { page } = await signIn(gatehouse, origin, user);
        expectPage('signed in', page, page.status >= 400);
        return `${page.status}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
      'no address is rejected, as the access check says': async () => {
        const user = await aPerson(gatehouse, { email: null, emailVerified: false });
        const { page } = await signIn(gatehouse, origin, user);
        expectPage('signed in', page, page.status >= 400);
        return `${page.status}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
      'the session is renewed, and ends for a disabled person': async () => {
        const user = await aPerson(gatehouse);
        const { browser } = await signIn(gatehouse, origin, user);
        await new Promise((resolve) => setTimeout(resolve, 2000));
        if (!(await isIn(browser))) throw new Error('not renewed');
        await gatehouse.services.accounts.setActive(user.account.id, false);
        await eventually('the disabled person is out', async () => !(await isIn(browser)));
        return 'out at the next renewal';
      },
      'its sign-out ends the session here': async () => {
        const { browser } = await signIn(gatehouse, origin, await aPerson(gatehouse));
        const address = /https?:\/\/\S*\/oauth2\/sign_out\?rd=\S+/.exec(
          registered.guide.map(({ text }) => text).join('\n'),
        )?.[0];
        if (!address) throw new Error('the guide has no sign-out address');
        const asked = await open(browser, address);
        if (await isIn(browser)) throw new Error('still signed in at the proxy');
        const back = await browser.submit(asked, { logout: 'yes' });
        if (back.location !== `${origin}/`) throw new Error(`not sent back to the application: ${described(back)}`);
        const form = await open(browser, origin);
        expectPage('not asked to sign in', form, form.url.startsWith(gatehouse.issuer));
        return 'after a question, and back at the application';
      },
      'sign-out here': async () => {
        const { browser } = await signIn(gatehouse, origin, await aPerson(gatehouse));
        await signOutHere(gatehouse, browser);
        return (await isIn(browser))
          ? 'stays signed in at the proxy until its session ends'
          : 'ends the session of the proxy';
      },
      'a group admits until the end, also at a renewal': async () => {
        await proxy.stop();
        const scope = '"openid profile email groups offline_access"';
        proxy = await startProxy({ scope, oidc_groups_claim: '"groups"', allowed_groups: '["lab"]' });
        const outsider = await signIn(gatehouse, origin, await aPerson(gatehouse));
        expectPage('admitted without the group', outsider.page, outsider.page.status === 403);
        const { person, ended } = await aMember(gatehouse, 'lab');
        const { browser, page } = await signIn(gatehouse, origin, person);
        expectPage('not admitted', page, page.status === 202);
        await ended();
        const after = await signIn(gatehouse, origin, person);
        expectPage('admitted after the end', after.page, after.page.status === 403);
        await eventually('the person is out', async () => !(await isIn(browser)));
        return 'a sign-in after the end: 403; out at the next renewal';
      },
    },
  };
}
