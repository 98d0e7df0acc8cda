// Signs in and out over real identity providers at real applications, and prints a table (README.md). Not part of `npm test`, because
// it needs software that npm does not have; what is missing is skipped, with what it needs.
//   npx tsx test/peers/main.ts [--upstream keycloak-oidc] [--downstream mellon] …
import { parseArgs } from 'node:util';
import { aUser } from '../support/factories.ts';
import { startAuthOpenidc } from './downstream/auth-openidc.ts';
import { startMellon } from './downstream/mellon.ts';
import { startOpenidClient } from './downstream/openid-client.ts';
import { startShib } from './downstream/shib.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { type Downstream, STAFF, type StartDownstream, type StartUpstream, type Upstream } from './peer.ts';
import { Missing } from './programs.ts';
import {
  acceptsNewKey,
  local,
  type Pair,
  signsIn,
  signsOutAtApplication,
  signsOutAtPortal,
  signsOutAtUpstream,
  stepsUp,
  survivesOutage,
} from './scenarios.ts';
import { startDex } from './upstream/dex.ts';
import { startKeycloak } from './upstream/keycloak.ts';
import { startLemonldap } from './upstream/lemonldap.ts';
import { startPysaml2 } from './upstream/pysaml2.ts';
import { startActiveDirectory } from './upstream/samba.ts';
import { startSecondGatehouse } from './upstream/second-gatehouse.ts';
import { startSimplesamlphp } from './upstream/simplesamlphp.ts';
import { startDirectory } from './upstream/slapd.ts';

const upstreams: Record<string, StartUpstream> = {
  'keycloak-oidc': (gatehouse, id) => startKeycloak(gatehouse, id, 'oidc'),
  'keycloak-saml': (gatehouse, id) => startKeycloak(gatehouse, id, 'saml'),
  dex: startDex,
  simplesamlphp: startSimplesamlphp,
  lemonldap: startLemonldap,
  pysaml2: startPysaml2,
  samba: startActiveDirectory,
  slapd: startDirectory,
  'gatehouse-oidc': (gatehouse, id) => startSecondGatehouse(gatehouse, id, 'oidc'),
  'gatehouse-saml': (gatehouse, id) => startSecondGatehouse(gatehouse, id, 'saml'),
};
const downstreams: Record<string, StartDownstream> = {
  'openid-client': startOpenidClient,
  mellon: startMellon,
  'mod-auth-openidc': startAuthOpenidc,
  shib: startShib,
};
const scenarios: Record<string, (pair: Pair) => Promise<string>> = {
  'sign-in': signsIn,
  'sign-out at the application': signsOutAtApplication,
  'sign-out at the portal': signsOutAtPortal,
  'sign-out at the upstream': signsOutAtUpstream,
  'second factor': stepsUp,
};
/** Once for each upstream. */
const upstreamScenarios: Record<string, (pair: Pair) => Promise<string>> = {
  'new key at the upstream': acceptsNewKey,
  'upstream down': survivesOutage,
};

const { values: options } = parseArgs({
  options: {
    upstream: { type: 'string', multiple: true },
    downstream: { type: 'string', multiple: true },
    /** Prints the log of Gatehouse for what failed. */
    log: { type: 'boolean' },
  },
});

const CONNECTION = 'corp';
let failures = 0;
for (const [name, start] of chosen(upstreams, options.upstream)) await tryUpstream(name, start);
process.exit(failures > 0 ? 1 : 0);

async function tryUpstream(name: string, start: StartUpstream): Promise<void> {
  const gatehouse = await startGatehouse();
  await gatehouse.services.roles.create({ name: STAFF });
  await gatehouse.services.groups.create({ name: STAFF });
  await aUser(gatehouse.services, local);
  let upstream: Upstream | undefined;
  try {
    upstream = await start(gatehouse, CONNECTION);
    const group_mappings = upstream.connection.role_mappings ?? {};
    await gatehouse.connect({ id: CONNECTION, create_users: true, group_mappings, ...upstream.connection });
    await tryDownstreams(gatehouse, upstream);
  } catch (error) {
    notStarted(name, error);
  } finally {
    await upstream?.stop();
    await gatehouse.stop();
  }
}

async function tryDownstreams(gatehouse: Gatehouse, upstream: Upstream): Promise<void> {
  const started: Downstream[] = [];
  for (const [name, start] of chosen(downstreams, options.downstream)) {
    try {
      started.push(await start(gatehouse));
    } catch (error) {
      notStarted(name, error);
    }
  }
  const pairs = started.map((downstream) => ({ gatehouse, connectionId: CONNECTION, upstream, downstream }));
  for (const pair of pairs) await tryPair(pair, scenarios);
  if (pairs[0]) await tryPair(pairs[0], upstreamScenarios);
  for (const downstream of started) await downstream.stop();
}

async function tryPair(pair: Pair, tried: typeof scenarios): Promise<void> {
  const { upstream, downstream, gatehouse } = pair;
  for (const [title, scenario] of Object.entries(tried)) {
    const before = gatehouse.log.length;
    let result: string;
    try {
      result = `ok: ${await scenario(pair)}`;
    } catch (error) {
      failures += 1;
      result = `FAIL: ${error instanceof Error ? error.message : String(error)}`;
      if (options.log) for (const line of gatehouse.log.slice(before)) print(line.trim());
    }
    const names = `${upstream.name} ${upstream.version} | ${downstream.name} ${downstream.version}`;
    print(`| ${names} | ${title} | ${result} |`);
  }
}

function notStarted(name: string, error: unknown): void {
  if (!(error instanceof Missing)) failures += 1;
  print(`${name}: ${error instanceof Missing ? 'skipped, ' : ''}${error instanceof Error ? error.message : error}`);
}

function chosen<Peer>(peers: Record<string, Peer>, names: string[] | undefined): [string, Peer][] {
  return Object.entries(peers).filter(([name]) => !names || names.includes(name));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
