// Vault in development mode, configured by the commands of the guide in a shell. The trial is the login of its command line, without the
// browser that it opens.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { httpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, goVersion, Missing, needFile, newFolder, run, startProgram } from '../programs.ts';
import { open } from '../travel.ts';
import { aPerson, described, type Product, register, unmetDemands } from './product.ts';

const CALLBACK = 'http://localhost:8250/oidc/callback';

export async function startVault(gatehouse: Gatehouse): Promise<Product> {
  const program = process.env.VAULT;
  if (!program) throw new Missing('needs VAULT (README.md)');
  needFile(program, 'VAULT');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'vault', { url: origin });
  const server = await startProgram(
    program,
    ['server', '-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port}`],
    { env: { HOME: newFolder('vault') }, ready: `${origin}/v1/sys/health` },
  );
  const file = path.join(newFolder('vault-guide'), 'guide.sh');
  writeFileSync(file, `set -e\n${registered.guide.map(({ text }) => text).join('\n')}\n`);
  const env = {
    ...process.env,
    PATH: `${path.dirname(program)}:${process.env.PATH}`,
    VAULT_ADDR: origin,
    VAULT_TOKEN: 'root',
  };
  await run('bash', [file], { env });

  interface Auth {
    policies: string[];
    lease_duration: number;
  }
  async function login({ username, password }: Awaited<ReturnType<typeof aPerson>>): Promise<Auth> {
    const client_nonce = 'a-nonce-of-this-trial';
    const asked = await fetch(`${origin}/v1/auth/oidc/oidc/auth_url`, {
      method: 'PUT',
      body: JSON.stringify({ role: 'gatehouse', redirect_uri: CALLBACK, client_nonce }),
    });
    const { data } = (await asked.json()) as { data: { auth_url: string } };
    const browser = httpClient();
    const form = await open(browser, data.auth_url);
    const back = await browser.follow(await browser.submit(form, { username, password }), (url) =>
      url.startsWith(CALLBACK),
    );
    if (!back.location) throw new Error(described(back));
    const { searchParams } = new URL(back.location);
    const query = new URLSearchParams({
      client_nonce,
      state: searchParams.get('state') ?? '',
      code: searchParams.get('code') ?? '',
    });
    const answer = await fetch(`${origin}/v1/auth/oidc/oidc/callback?${query}`);
    const { auth, errors } = (await answer.json()) as { auth?: Auth; errors?: string[] };
    if (!auth) throw new Error(String(errors));
    return auth;
  }

  return {
    version: await goVersion(program),
    stop: () => server.stop(),
    trials: {
      'sign-in with its group': async () => {
        const { policies, lease_duration } = await login(await aPerson(gatehouse, { groups: ['vault-admin'] }));
        if (!policies.includes('admin')) throw new Error(`its policies are ${policies}`);
        if (lease_duration !== 3600) throw new Error(`its token lives for ${lease_duration} s`);
        return `policies ${policies}, for ${lease_duration} s`;
      },
      'a person in no group may do nothing, as the access check says': async () => {
        const user = await aPerson(gatehouse);
        const { policies } = await login(user);
        if (policies.join() !== 'default') throw new Error(`its policies are ${policies}`);
        return `policies ${policies}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
    },
  };
}
