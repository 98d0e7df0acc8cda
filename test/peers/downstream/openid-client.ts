// A relying party on openid-client, notified of logouts by back channel.
import { readFileSync } from 'node:fs';
import { oidcApp } from '../../logout/support/oidc-app.ts';
import type { Gatehouse } from '../gatehouse.ts';
import type { Application, Downstream } from '../peer.ts';

export async function startOpenidClient(gatehouse: Gatehouse): Promise<Downstream> {
  const [plain, demanding] = await Promise.all([
    oidcApp(gatehouse, 'back', 'App'),
    oidcApp(gatehouse, 'back', 'Vault', { acr_values: 'urn:gatehouse:acr:mfa' }),
  ]);
  const application = (app: typeof plain): Application => ({
    name: app.name,
    url: `${app.origin}/sign-in`,
    signOutUrl: `${app.origin}/sign-out`,
    userOn: (page) => (page.url.startsWith(app.origin) ? /data-user="([^"]*)"/.exec(page.text)?.[1] : undefined),
    levelOn: (page) => /data-acr="([^"]*)"/.exec(page.text)?.[1],
  });
  const file = new URL('../../../node_modules/openid-client/package.json', import.meta.url);
  return {
    name: 'openid-client',
    version: JSON.parse(readFileSync(file, 'utf8')).version,
    kind: 'oidc',
    plain: application(plain),
    demanding: application(demanding),
    stop: async () => void (await Promise.all([plain.close(), demanding.close()])),
  };
}
