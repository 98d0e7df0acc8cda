// Signs people in at real products, each registered with its preset and set up by its guide, and prints a table (README.md). Not part
// of `npm test`: what the machine lacks is skipped, with what it needs.
//   npx tsx test/peers/products.ts [--product oauth2-proxy] … [--log]
import { parseArgs } from 'node:util';
import { startAuthOpenidc } from './downstream/auth-openidc.ts';
import { startMellon } from './downstream/mellon.ts';
import { startShib } from './downstream/shib.ts';
import { startGatehouse } from './gatehouse.ts';
import { startApacheByGroup } from './products/apache.ts';
import { startGitea } from './products/gitea.ts';
import { startJupyterHub } from './products/jupyterhub.ts';
import { startKeycloakBroker } from './products/keycloak-broker.ts';
import { startKubernetes } from './products/kubernetes.ts';
import { startMiniflux } from './products/miniflux.ts';
import { startMinio } from './products/minio.ts';
import { startOauth2Proxy } from './products/oauth2-proxy.ts';
import { startPaperless } from './products/paperless.ts';
import { startPgAdmin } from './products/pgadmin.ts';
import type { StartProduct } from './products/product.ts';
import { startSynapse } from './products/synapse.ts';
import { startVault } from './products/vault.ts';
import { startWordPress } from './products/wordpress.ts';
import { Missing } from './programs.ts';

const products: Record<string, StartProduct> = {
  'oauth2-proxy': startOauth2Proxy,
  jupyterhub: startJupyterHub,
  synapse: startSynapse,
  'paperless-ngx': startPaperless,
  minio: startMinio,
  vault: startVault,
  kubernetes: startKubernetes,
  gitea: startGitea,
  wordpress: startWordPress,
  miniflux: startMiniflux,
  pgadmin: startPgAdmin,
  'keycloak-oidc': (gatehouse) => startKeycloakBroker(gatehouse, 'oidc'),
  'keycloak-saml': (gatehouse) => startKeycloakBroker(gatehouse, 'saml'),
  'mod-auth-openidc': (gatehouse) => startApacheByGroup(gatehouse, startAuthOpenidc),
  mellon: (gatehouse) => startApacheByGroup(gatehouse, startMellon),
  shib: (gatehouse) => startApacheByGroup(gatehouse, startShib),
};
/** Products that accept no issuer with http. */
const withHttps: ReadonlySet<string> = new Set(['kubernetes']);
const { values: options } = parseArgs({
  options: { product: { type: 'string', multiple: true }, log: { type: 'boolean' } },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

let failures = 0;
for (const [name, start] of Object.entries(products))
  if (!options.product || options.product.includes(name)) await tryProduct(name, start);
process.exit(failures > 0 ? 1 : 0);

async function tryProduct(name: string, start: StartProduct): Promise<void> {
  const gatehouse = await startGatehouse('localhost', withHttps.has(name) ? 'https' : 'http');
  try {
    const product = await start(gatehouse);
    for (const [title, trial] of Object.entries(product.trials)) {
      const before = gatehouse.log.length;
      const result = await trial().then(
        (note) => `ok: ${note}`,
        (error: unknown) => {
          failures += 1;
          if (options.log) for (const line of gatehouse.log.slice(before)) print(line.trim());
          return `FAIL: ${error instanceof Error ? error.message : String(error)}`;
        },
      );
      print(`| ${name} ${product.version} | ${title} | ${result} |`);
    }
    await product.stop();
  } catch (error) {
    if (!(error instanceof Missing)) failures += 1;
    print(`${name}: ${error instanceof Missing ? 'skipped, ' : ''}${error instanceof Error ? error.message : error}`);
  } finally {
    await gatehouse.stop();
  }
}
