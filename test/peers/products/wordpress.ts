// WordPress with the two plugins of the guide, on SQLite and PHP's own web server, with the constants of the guide in wp-config.php.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, newFolder, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';
import {
  aPerson,
  expectPage,
  guideText,
  type Product,
  register,
  signIn,
  signOutHere,
  unmetDemands,
} from './product.ts';

const PLUGINS = {
  database: 'sqlite-database-integration',
  signIn: 'daggerhart-openid-connect-generic/openid-connect-generic.php',
  pkce: 'openid-connect-generic-pkce-addon/openid-connect-generic-pkce-addon.php',
};

export async function startWordPress(gatehouse: Gatehouse): Promise<Product> {
  const { WORDPRESS: core, WORDPRESS_PLUGINS: plugins } = process.env;
  if (!core || !plugins) throw new Missing('needs WORDPRESS and WORDPRESS_PLUGINS (README.md)');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'wordpress', { url: origin });
  const site = newFolder('wordpress');
  cpSync(core, site, { recursive: true, dereference: true });
  const content = (name: string) => path.join(site, 'wp-content', name);
  cpSync(plugins, content('plugins'), { recursive: true });
  mkdirSync(content('database'), { recursive: true });
  const folder = content(`plugins/${PLUGINS.database}`);
  const dropIn = readFileSync(path.join(folder, 'db.copy'), 'utf8')
    .replaceAll('{SQLITE_IMPLEMENTATION_FOLDER_PATH}', folder)
    .replaceAll('{SQLITE_PLUGIN}', `${PLUGINS.database}/load.php`);
  writeFileSync(content('db.php'), dropIn);
  writeFileSync(
    path.join(site, 'wp-config.php'),
    `<?php
define( 'DB_NAME', 'trial' ); define( 'DB_USER', '' ); define( 'DB_PASSWORD', '' ); define( 'DB_HOST', '' );
define( 'DB_DIR', '${content('database')}/' );
define( 'WP_HOME', '${origin}' ); define( 'WP_SITEURL', '${origin}' );
define( 'AUTH_KEY', 'a' ); define( 'SECURE_AUTH_KEY', 'b' ); define( 'LOGGED_IN_KEY', 'c' ); define( 'NONCE_KEY', 'd' );
define( 'AUTH_SALT', 'e' ); define( 'SECURE_AUTH_SALT', 'f' ); define( 'LOGGED_IN_SALT', 'g' ); define( 'NONCE_SALT', 'h' );
define( 'DISABLE_WP_CRON', true ); define( 'WP_HTTP_BLOCK_EXTERNAL', false );
$table_prefix = 'wp_';
${guideText(registered, 'wp-config.php')}
if ( ! defined( 'ABSPATH' ) ) define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
`,
  );
  mkdirSync(content('mu-plugins'));
  writeFileSync(content('mu-plugins/gatehouse.php'), guideText(registered, 'mu-plugins'));
  const [, identityKey] = /Identity Key: (\S+)/.exec(guideText(registered, 'OpenID Connect Client')) ?? [];
  const php = (code: string) =>
    run('php', ['-r', `$_SERVER['HTTP_HOST'] = '127.0.0.1:${port}'; ${code}`], { cwd: site });
  await php(`define('WP_INSTALLING', true); require 'wp-load.php'; require 'wp-admin/includes/upgrade.php';
wp_install('Trial', 'root', 'root@example.com', false, '', 'a-password-of-a-trial');`);
  await php(`require 'wp-load.php';
update_option('active_plugins', array('${PLUGINS.signIn}', '${PLUGINS.pkce}'));
update_option('openid_connect_generic_settings', array('identity_key' => '${identityKey}'));`);
  const version = (await php(`require 'wp-includes/version.php'; echo $wp_version;`)).trim();
  const plugin = readFileSync(content(`plugins/${PLUGINS.signIn}`), 'utf8');
  const server = await startProgram('php', ['-S', `127.0.0.1:${port}`, '-t', site], {
    cwd: site,
    env: { PHP_CLI_SERVER_WORKERS: '4' },
    ready: `${origin}/wp-login.php`,
  });

  /** The address behind the button of its sign-in page. */
  async function start(): Promise<string> {
    const { text, status } = await fetch(`${origin}/wp-login.php`).then(async (response) => ({
      text: await response.text(),
      status: response.status,
    }));
    const address = new RegExp(`href="(${gatehouse.issuer}/authorize[^"]*)"`).exec(text)?.[1];
    if (!address) throw new Error(`no button: ${status} ${text.slice(0, 500)}`);
    return address.replaceAll('&#038;', '&').replaceAll('&amp;', '&');
  }
  const profile = (browser: HttpClient) => browser.get(`${origin}/wp-admin/profile.php`);
  const isIn = async (browser: HttpClient) => (await profile(browser)).status === 200;

  return {
    version: `${version} with the plugin ${/Version:\s+(\S+)/.exec(plugin)?.[1]}`,
    stop: () => server.stop(),
    trials: {
      'sign-in with PKCE': async () => {
        const address = await start();
        if (!address.includes('code_challenge_method=S256')) throw new Error(`no challenge: ${address}`);
        const person = await aPerson(gatehouse);
        const { browser, page } = await signIn(gatehouse, address, person);
        expectPage('not signed in', page, (await profile(browser)).text.includes(`value="${person.username}"`));
        return `signed in as ${person.username}`;
      },
      'a person without an address is rejected, as the access check says': async () => {
        const person = await aPerson(gatehouse, { email: null, emailVerified: false });
        const { browser, page } = await signIn(gatehouse, await start(), person);
        expectPage('signed in', page, !(await isIn(browser)) && page.url.includes('incomplete-user-claim'));
        return `User claim incomplete; access check: ${await unmetDemands(gatehouse, registered, person)}`;
      },
      'its sign-out ends the session here': async () => {
        const { browser } = await signIn(gatehouse, await start(), await aPerson(gatehouse));
        const [, out = ''] = /href="([^"]*action=logout[^"]*)"/.exec((await profile(browser)).text) ?? [];
        const back = await travel(browser, await browser.get(out.replaceAll('&amp;', '&').replaceAll('&#038;', '&')));
        expectPage('not back', back, back.url.startsWith(origin));
        const form = await open(browser, await start());
        expectPage('not asked to sign in', form, form.url.startsWith(gatehouse.issuer));
        return 'without a question, and back at WordPress';
      },
      'sign-out and a disabled person here': async () => {
        const person = await aPerson(gatehouse);
        const { browser } = await signIn(gatehouse, await start(), person);
        await signOutHere(gatehouse, browser);
        await gatehouse.services.accounts.setActive(person.account.id, false);
        return (await isIn(browser)) ? 'stays signed in there until its session ends' : 'ends the session there';
      },
    },
  };
}
