// Lets each proxy check the configuration of examples/websites, and other programs the files for Compose and Kubernetes (README.md).
//   npx tsx test/peers/website-examples.ts
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, Missing, needFile, newFolder, run, startProgram } from './programs.ts';

const INSTALLED = process.env.PROXIES ?? '/opt/peers/proxies';
const wheel = (name: string) => needFile(path.join(INSTALLED, 'v/bin', name), 'README.md');
const folder = newFolder('examples');
const at = (name: string) => path.join(folder, name);
cpSync('examples/websites', folder, { recursive: true });
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=wiki.example.com'],
    ...['-keyout', at('privkey.pem'), '-out', at('fullchain.pem')],
  ],
  { stdio: 'ignore' },
);
writeFileSync(
  at('certificate.pem'),
  readFileSync(at('fullchain.pem'), 'utf8') + readFileSync(at('privkey.pem'), 'utf8'),
);

/** The file with what only exists in its container: the files, and the addresses of the other containers. */
function here(name: string, change: (text: string) => string = (text) => text): string {
  const text = readFileSync(at(name), 'utf8').replaceAll(
    /\/(?:etc|usr\/local\/etc)\/(?:nginx|haproxy|envoy|traefik)\//g,
    `${folder}/`,
  );
  writeFileSync(at(name), change(text).replaceAll(/\b(gatehouse|wiki)(?=:\d)/g, '127.0.0.1'));
  return at(name);
}

const checks: Record<string, () => Promise<string>> = {
  Caddy: () => run(wheel('caddy'), ['validate', '--config', here('Caddyfile'), '--adapter', 'caddyfile']),
  'Caddy 2.6': () =>
    run(needFile(path.join(INSTALLED, 'caddy26/usr/bin/caddy'), 'README.md'), [
      'validate',
      '--config',
      at('Caddyfile'),
      '--adapter',
      'caddyfile',
    ]),
  nginx() {
    writeFileSync(at('main.conf'), `pid ${folder}/pid;\nevents {}\nhttp { include ${here('nginx.conf')}; }\n`);
    return run(needFile('/usr/sbin/nginx', 'apt-get install nginx'), ['-t', '-c', at('main.conf'), '-e', 'stderr']);
  },
  HAProxy() {
    here('gatehouse.lua');
    return run(needFile('/usr/sbin/haproxy', 'apt-get install haproxy'), ['-c', '-f', here('haproxy.cfg')]);
  },
  Envoy: () => run(wheel('envoy'), ['--mode', 'validate', '-c', here('envoy.yaml')]),
  async Traefik() {
    const [web, websecure] = [await freePort(), await freePort()];
    here('dynamic.yaml');
    const file = here('traefik.yaml', (text) =>
      text.replace(':80', `127.0.0.1:${web}`).replace(':443', `127.0.0.1:${websecure}`).replace('/data/', `${folder}/`),
    );
    const program = await startProgram(wheel('traefik'), [`--configfile=${file}`], {
      ready: `http://127.0.0.1:${web}/`,
    });
    await program.stop();
    if (/error/i.test(program.output().replaceAll(/.*(?:acme|ACME).*/g, ''))) throw new Error(program.output());
    return 'starts';
  },
  Compose() {
    const compose = process.env.COMPOSE;
    if (!compose) throw new Missing('needs COMPOSE, the command of github.com/compose-spec/compose-go/v2/cmd');
    return run(compose, ['compose.yaml'], { cwd: folder });
  },
  Kubernetes() {
    const { KUBECTL_VALIDATE: program, CRDS: crds } = process.env;
    if (!program || !crds) throw new Missing('needs KUBECTL_VALIDATE and CRDS (README.md)');
    return run(program, [at('kubernetes'), '--local-crds', crds]);
  },
};
let failures = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    process.stdout.write(`${name}: accepted\n`);
  } catch (error) {
    if (!(error instanceof Missing)) failures += 1;
    process.stdout.write(
      `${name}: ${error instanceof Missing ? 'skipped, ' : 'FAILED: '}${(error as Error).message}\n`,
    );
  }
}
process.exit(failures > 0 ? 1 : 0);
