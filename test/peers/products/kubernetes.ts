// kube-apiserver on etcd, with the arguments of the guide and an issuer with https whose certificate is of a private authority; kubectl
// with the plugin kubelogin, set up by the guide's commands. No kubelet and no controller: only requests to the API.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, needFile, newFolder, startProgram } from '../programs.ts';
import {
  aPerson,
  described,
  eventually,
  guideText,
  type Product,
  register,
  signIn,
  signOutHere,
  unmetDemands,
} from './product.ts';

/** Where kubelogin waits for the browser, unless something else is there already. */
const KUBELOGIN = 'http://localhost:8000';
const ADMIN_TOKEN = 'the-token-of-the-administrator';

export async function startKubernetes(gatehouse: Gatehouse): Promise<Product> {
  const { KUBE: programs } = process.env;
  const { authority } = gatehouse;
  if (!programs) throw new Missing('needs KUBE (README.md)');
  if (!authority) throw new Error('needs an issuer with https');
  const program = (name: string) => needFile(path.join(programs, name), 'KUBE');
  const bin = newFolder('kubernetes-bin');
  symlinkSync(program('kubectl'), path.join(bin, 'kubectl'));
  symlinkSync(program('kubelogin'), path.join(bin, 'kubectl-oidc_login'));

  const registered = await register(gatehouse, 'kubernetes', { name: 'trial' });
  const cluster = await startCluster(program('etcd'), program('kube-apiserver'), [
    ...guideText(registered, 'kube-apiserver').split('\n'),
    `--oidc-ca-file=${authority}`,
  ]);

  /** A computer with a kubeconfig and a cache of tokens of its own: runs commands in a shell. Throws with what they printed. */
  async function aComputer() {
    const home = newFolder('kubernetes-home');
    mkdirSync(path.join(home, '.kube'));
    const env = { HOME: home, PATH: `${bin}:${process.env.PATH}` };
    const shell = async (commands: string) => {
      const running = promisify(execFile)('bash', ['-ec', commands], { env, cwd: home });
      const { stdout } = await running.catch(({ stdout, stderr }) => Promise.reject(new Error(`${stdout}${stderr}`)));
      return stdout;
    };
    await shell(`kubectl config set-cluster trial --server=${cluster.origin} --certificate-authority=${cluster.authority}
kubectl config set-context trial --cluster=trial
kubectl config use-context trial`);
    return shell;
  }
  type Shell = Awaited<ReturnType<typeof aComputer>>;

  /** The commands of the guide, with the authority where kubelogin takes it, and without the download of the plugin. */
  const guide = guideText(registered, 'kubectl')
    .replace(/^kubectl krew .*\n/, '')
    .replace('--exec-arg=--oidc-pkce-method', `--exec-arg=--certificate-authority=${authority} \\\n  $&`);
  const getToken = `kubectl ${[...guide.matchAll(/--exec-arg=(\S+)/g)].map(([, word]) => word).join(' ')}`;
  /** A new ID token, as kubelogin gets it when the old one has expired. Nobody is at the browser. */
  const renew = (shell: Shell) => shell(`${getToken} --force-refresh --authentication-timeout-sec=1`);

  const administrator = await aComputer();
  await administrator(`kubectl config set-credentials admin --token=${ADMIN_TOKEN}
kubectl config set-context --current --user=admin
${guideText(registered, 'Administrators')}
kubectl create role pod-reader --verb=get,list --resource=pods
kubectl create rolebinding pod-readers --role=pod-reader --group=gatehouse:pod-reader`);

  /** Runs commands on a new computer, and signs the person in when kubelogin sends the browser. */
  async function signedIn(
    person: Awaited<ReturnType<typeof aPerson>>,
    commands: string,
    browser: HttpClient = httpClient(undefined, { authority: readFileSync(authority ?? '', 'utf8') }),
  ) {
    const shell = await aComputer();
    await shell(guide);
    let ended = false;
    const done = shell(commands)
      .then(
        (output) => ({ output, rejection: '' }),
        (error: Error) => ({ output: '', rejection: error.message }),
      )
      .finally(() => {
        ended = true;
      });
    await eventually('kubelogin waits for the browser', async () => ended || (await answers(KUBELOGIN)));
    if (ended) throw new Error((await done).rejection || 'kubelogin asked nobody to sign in');
    const { page } = await signIn(gatehouse, KUBELOGIN, person, browser);
    if (!page.url.startsWith(KUBELOGIN)) throw new Error(`not back at kubelogin: ${described(page)}`);
    return { shell, browser, ...(await done) };
  }

  const { serverVersion } = JSON.parse(await administrator('kubectl version --output=json'));
  return {
    version: serverVersion.gitVersion.replace(/^v/, ''),
    stop: () => cluster.stop(),
    trials: {
      'sign-in with its group': async () => {
        const person = await aPerson(gatehouse, { groups: ['kubernetes-admin'] });
        const { shell, rejection } = await signedIn(person, 'kubectl get namespaces');
        if (rejection) throw new Error(rejection);
        const { status } = JSON.parse(await shell('kubectl auth whoami --output=json'));
        const { username, groups } = status.userInfo;
        if (username !== `gatehouse:${person.username}` || !groups.includes('gatehouse:kubernetes-admin'))
          throw new Error(JSON.stringify(status));
        await shell('kubectl create namespace made-by-an-administrator');
        return `${username}, groups ${groups.join(' ')}`;
      },
      'a person in no group may do nothing, as the access check says': async () => {
        const person = await aPerson(gatehouse);
        const { rejection } = await signedIn(person, 'kubectl get namespaces');
        if (!rejection.includes('Forbidden')) throw new Error(`not forbidden: ${rejection}`);
        return `403; access check: ${await unmetDemands(gatehouse, registered, person)}`;
      },
      'another group has the rights of its binding': async () => {
        const person = await aPerson(gatehouse, { groups: ['pod-reader'] });
        const { shell, rejection } = await signedIn(person, 'kubectl get pods');
        if (rejection) throw new Error(rejection);
        const change = await shell('kubectl create configmap one').catch((error: Error) => error.message);
        if (!change.includes('forbidden')) throw new Error(`may change: ${change}`);
        return `reads, and may not change; access check: ${await unmetDemands(gatehouse, registered, person)}`;
      },
      'the token is renewed without a browser, and not for a disabled person': async () => {
        const person = await aPerson(gatehouse, { groups: ['kubernetes-admin'] });
        const { shell } = await signedIn(person, 'kubectl get namespaces');
        await renew(shell);
        await shell('kubectl get namespaces');
        await gatehouse.services.accounts.setActive(person.account.id, false);
        await shell('kubectl get namespaces');
        const rejection = await renew(shell).catch((error: Error) => error.message);
        if (!/timeout|context deadline/.test(rejection)) throw new Error(`not asked to sign in: ${rejection}`);
        return 'the disabled person keeps the last token until it expires, and is asked to sign in then';
      },
      'sign-out here': async () => {
        const person = await aPerson(gatehouse, { groups: ['kubernetes-admin'] });
        const { shell, browser } = await signedIn(person, 'kubectl get namespaces');
        await signOutHere(gatehouse, browser);
        return renew(shell).then(
          () => 'kubectl stays signed in, and renews its token',
          () => 'kubectl renews its token no more',
        );
      },
      'without the private authority there is no sign-in': async () => {
        const shell = await aComputer();
        const rejection = await shell(getToken.replace(/--certificate-authority=\S+/, '')).catch(
          (error: Error) => error.message,
        );
        if (!rejection.includes('unknown authority')) throw new Error(rejection);
        return 'kubelogin: certificate signed by unknown authority';
      },
    },
  };
}

const answers = (url: string) =>
  fetch(url, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );

/** etcd and kube-apiserver with these arguments beside those that it always needs. */
async function startCluster(etcdProgram: string, apiserverProgram: string, args: readonly string[]) {
  const folder = newFolder('kubernetes');
  const at = (name: string) => path.join(folder, name);
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()];
  const store = `http://127.0.0.1:${client}`;
  const etcd = await startProgram(
    etcdProgram,
    [
      ...[`--data-dir=${at('etcd')}`, `--listen-client-urls=${store}`, `--advertise-client-urls=${store}`],
      ...[`--listen-peer-urls=http://127.0.0.1:${peer}`, `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`],
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ],
    { ready: `${store}/health` },
  );
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(at('accounts.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(at('accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(at('tokens.csv'), `${ADMIN_TOKEN},administrator,administrator,"system:masters"\n`);
  const authority = at('certificates/apiserver.crt');
  const apiserver = await startProgram(
    apiserverProgram,
    [
      ...[`--etcd-servers=${store}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
      ...[`--cert-dir=${at('certificates')}`, '--service-cluster-ip-range=10.0.0.0/24', '--authorization-mode=RBAC'],
      ...['--service-account-issuer=https://kubernetes.default.svc', `--token-auth-file=${at('tokens.csv')}`],
      ...[
        `--service-account-key-file=${at('accounts.pub')}`,
        `--service-account-signing-key-file=${at('accounts.key')}`,
      ],
      ...args,
    ],
    { ready: authority, seconds: 300 },
  ).catch(async (error) => {
    await etcd.stop();
    throw error;
  });
  const origin = `https://127.0.0.1:${port}`;
  const stop = async () => {
    await apiserver.stop();
    await etcd.stop();
  };
  const ready = httpClient(undefined, {
    authority: readFileSync(authority, 'utf8'),
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  await eventually(
    'kube-apiserver is ready',
    () =>
      ready.get(`${origin}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    300,
  ).catch(async (error) => {
    await stop();
    throw new Error(`${error.message}\n${apiserver.output()}`);
  });
  return { origin, authority, stop };
}
