// Debian's Apache with one module that signs users in, and two applications on ports of their own.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from '../../support/http.ts';
import type { Application } from '../peer.ts';
import { freePort, Missing, needFile, newFolder, type Program, packageVersion, startProgram } from '../programs.ts';

const MODULES = '/usr/lib/apache2/modules';
const base = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'mime', 'dir', 'env', 'headers', 'socache_shmcb'];

export interface Site {
  port: number;
  origin: string;
  name: string;
  /** Whether its requests demand a second factor. */
  isDemanding: boolean;
  /** For its keys and metadata. */
  folder: string;
}

export interface ApacheModule {
  /** The Debian package and the module in it. */
  package: string;
  module: string;
  /** Its name inside Apache, where it differs. */
  symbol?: string;
  /** Directives outside of the sites. */
  global?: string;
  /** The directives of a site. */
  site(site: Site): string;
  /** Expressions of Apache for the address of the user and the acr. */
  user: string;
  level: string;
  /** An expression for its groups, with a comma or semicolon between them. */
  groups: string;
  /** The path where a sign-out begins. */
  signOutPath(site: Site): string;
}

/** Free ports for the two sites, with a folder each. */
export async function newSites(): Promise<[Site, Site]> {
  const folder = newFolder('apache');
  chmodSync(folder, 0o755); // its workers run as www-data
  const site = async (name: string, isDemanding: boolean): Promise<Site> => {
    const port = await freePort();
    mkdirSync(path.join(folder, name));
    return { port, origin: `http://127.0.0.1:${port}`, name, isDemanding, folder: path.join(folder, name) };
  };
  return [await site('app', false), await site('vault', true)];
}

/** The version of the module's package. Throws Missing without it. */
export async function needModule(module: Pick<ApacheModule, 'package' | 'module'>): Promise<string> {
  needFile('/usr/sbin/apache2', 'apt-get install apache2');
  const version = await packageVersion(module.package);
  if (!version) throw new Missing(`needs apt-get install ${module.package}`);
  return version;
}

export async function startApache(module: ApacheModule, sites: readonly Site[]): Promise<Program> {
  const folder = path.dirname(sites[0]?.folder ?? '');
  mkdirSync(path.join(folder, 'www'));
  writeFileSync(path.join(folder, 'www', 'index.html'), '<!doctype html><title>App</title><h1>Application</h1>');
  const load = (name: string, symbol = `${name}_module`) => `LoadModule ${symbol} ${MODULES}/mod_${name}.so`;
  const modules = [...base.map((name) => load(name)), load(module.module, module.symbol)];
  const hosts = sites.map(
    (site) => `Listen 127.0.0.1:${site.port}
<VirtualHost 127.0.0.1:${site.port}>
ServerName 127.0.0.1:${site.port}
UseCanonicalName On
${module.site(site)}
Header always set X-App-User "expr=${module.user}"
Header always set X-App-Level "expr=${module.level}"
Header always set X-App-Groups "expr=${module.groups}"
</VirtualHost>`,
  );
  const conf = path.join(folder, 'apache.conf');
  writeFileSync(
    conf,
    `ServerRoot ${folder}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/error.log
LogLevel info
ServerName 127.0.0.1
User www-data
Group www-data
TypesConfig /etc/mime.types
DocumentRoot ${folder}/www
DirectoryIndex index.html
${modules.join('\n')}
${module.global ?? ''}
${hosts.join('\n')}
`,
  );
  return startProgram('/usr/sbin/apache2', ['-f', conf, '-DFOREGROUND'], {
    ready: `http://127.0.0.1:${sites[0]?.port}/`,
    seconds: 20,
  });
}

export function applicationOf(module: ApacheModule, site: Site): Application {
  const header = (page: Page, name: string) => {
    const value = page.url.startsWith(site.origin) && page.status === 200 ? page.headers[name] : undefined;
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return {
    name: site.name,
    url: `${site.origin}/index.html`,
    signOutUrl: `${site.origin}${module.signOutPath(site)}`,
    userOn: (page) => header(page, 'x-app-user'),
    levelOn: (page) => header(page, 'x-app-level'),
    groupsOn: (page) => header(page, 'x-app-groups')?.split(/[,;]/).sort() ?? [],
  };
}
