// The rules for imports and risky calls in src. A new folder or a new risky package needs a line in a table here; a broken rule is fixed in
// src, not in the table.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { postgresqlInclude } from './support/database/postgresql-files.ts';
import { filesUnder, type Import, importsOf } from './support/source/imports.ts';

/** An import points down this list or stays on its line; the composition root passes in what a lower layer needs from above. */
const layers: string[][] = [
  ['main', 'cli', 'server'],
  ['diagnostics', 'test-bench'],
  ['admin'],
  ['account'],
  ['config-file'],
  ['federation'],
  ['sign-in'],
  ['protocols'],
  ['applications'],
  ['people'],
  ['core'],
  ['base'],
];

/** The same rule inside a folder; `*` is everything in it that the other lines do not name. */
const sublayers: Record<string, string[][]> = {
  account: [['*'], ['registration', 'recovery', 'rp'], ['mailed-links']],
  federation: [['*'], ['connections'], ['faults']],
  protocols: [['authzen', 'event-streams', 'provisioning', 'scim'], ['forward-auth'], ['logout'], ['saml'], ['oidc']],
  'protocols/saml': [['routes'], ['sso', 'slo'], ['metadata'], ['messages'], ['xml']],
  applications: [['*', 'brand', 'consents']],
  people: [
    ['people'],
    ['groups'],
    ['bulk-changes'],
    ['api-keys', 'credentials', 'mfa', 'rate-limits', 'rbac', 'sign-up-codes'],
    ['accounts'],
  ],
  core: [['core'], ['audit', 'keys', 'mail', 'rejections', 'settings', 'sms'], ['jobs']],
  base: [['base'], ['http', 'network'], ['storage'], ['schemas'], ['texts'], ['config', 'limits', 'platform']],
};

/** The files that may import a restricted package. A trailing slash is a folder; `typesToo: false` allows type imports anywhere. */
const restrictedPackages: Record<string, { in: string[]; typesToo: boolean }> = {
  'openid-client': { in: ['federation/oidc/'], typesToo: true },
  'oidc-provider': {
    in: ['protocols/oidc/engine/library.ts', 'protocols/oidc/engine/oidc-provider.d.ts'],
    typesToo: false,
  },
  '@peculiar/': { in: ['core/keys/make-certificate.ts'], typesToo: true },
  samlify: { in: ['protocols/saml/metadata/parse.ts'], typesToo: true },
  'xml-crypto': { in: ['protocols/saml/'], typesToo: true },
  'xml-encryption': { in: ['protocols/saml/'], typesToo: true },
  '@xmldom/xmldom': { in: ['protocols/saml/', 'applications/brand/images/'], typesToo: true },
  'libxml2-wasm': { in: ['protocols/saml/'], typesToo: true },
  argon2: { in: ['people/credentials/'], typesToo: true },
  bcryptjs: { in: ['people/credentials/'], typesToo: true },
  ldapts: { in: ['federation/ldap/', 'federation/connections/kinds/ldap.ts'], typesToo: true },
  nodemailer: { in: ['core/mail/'], typesToo: true },
  '@prisma/': { in: ['base/storage/'], typesToo: true },
  'src/generated/': {
    in: ['base/http/pages/render.ts', 'base/storage/', 'base/texts/text.ts'],
    typesToo: true,
  },
  'better-sqlite3': { in: ['base/storage/'], typesToo: true },
  otplib: { in: ['people/mfa/'], typesToo: true },
  '@simplewebauthn/server': { in: ['people/mfa/'], typesToo: true },
  'altcha-lib': { in: ['people/rate-limits/', 'people/credentials/', 'base/http/'], typesToo: true },
  pino: { in: ['base/platform/logger.ts'], typesToo: true },
  '@opentelemetry/': { in: ['base/platform/otlp.ts'], typesToo: true },
  'mmdb-lib': { in: ['base/network/'], typesToo: true },
  'prom-client': { in: ['base/platform/metrics.ts'], typesToo: true },
  'intl-messageformat': { in: ['base/texts/'], typesToo: true },
  eta: { in: ['base/http/', 'core/mail/', 'admin/applications/presets/'], typesToo: true },
};

/** The folders that may import Koa, because they speak HTTP. */
const httpEdges = [
  ...[
    'base/http/',
    'federation/',
    'sign-in/',
    'protocols/oidc/',
    'protocols/authzen/',
    'protocols/scim/',
    'account/',
    'admin/',
    'diagnostics/',
    'test-bench/',
  ],
  'server/',
];
/** The files that may read process.env. The authorities are in variables of OpenSSL. */
const mayReadEnvironment = ['base/config.ts', 'base/config/', 'federation/ldap/session.ts'];
/** The files that may print instead of logging: command line, configuration errors. */
const mayPrint = ['cli.ts', 'cli/', 'base/config/', 'main.ts'];
/** The files that may read the system time. The OIDC engine has its own clock, which its lifetimes use. */
const mayReadTheTime = ['base/platform/clock.ts', 'base/platform/logger.ts', 'protocols/oidc/engine/library.ts'];
/** Pure rules, which import only types, the limits and each other. */
const pureFiles = [
  'core/keys/rotation.ts',
  'sign-in/next-step.ts',
  'protocols/logout/front-channel/next-step.ts',
  'people/credentials/password-policy.ts',
  'people/credentials/password-policy.ts',
  'base/platform/plural.ts',
  'people/mfa/policy.ts',
  'people/mfa/acr.ts',
];
interface SourceFile {
  /** Below src, with slashes. */
  name: string;
  source: string;
  imports: Import[];
}

const files: SourceFile[] = filesUnder('src', '.ts')
  .filter((file) => !file.startsWith(path.join('src', 'generated')))
  .map((file) => ({ name: inSrc(file), source: readFileSync(file, 'utf8'), imports: importsOf(file) }));

function inSrc(file: string): string {
  return path.relative('src', file).split(path.sep).join('/');
}

const isIn = (name: string, places: readonly string[]) =>
  places.some((place) => (place.endsWith('/') ? name.startsWith(place) : name === place));
const areaOf = (name: string) => (name.split('/')[0] ?? '').replace(/\.ts$/, '');
const layerOf = (area: string) => layers.findIndex((layer) => layer.includes(area));

/** One line for each import that breaks the rule. */
function violations(rule: (file: SourceFile, found: Import) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter((found) => rule(file, found))
      .map((found) => `src/${file.name}:${found.line} imports ${found.file ?? found.specifier}`),
  );
}

/** The imports between the files of src, or between its folders. */
function graphBy(nodeOf: (name: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { name, imports } of files) {
    const targets = graph.get(nodeOf(name)) ?? new Set<string>();
    graph.set(nodeOf(name), targets);
    for (const { file } of imports) {
      const target = file?.startsWith('src') ? nodeOf(inSrc(file)) : undefined;
      if (target && target !== nodeOf(name) && target !== 'generated') targets.add(target);
    }
  }
  return graph;
}

/** Every cycle in the graph, once. */
function cyclesOf(graph: Map<string, Set<string>>): string[] {
  const cycles = new Set<string>();
  const done = new Set<string>();
  const visit = (node: string, path: string[]) => {
    const start = path.indexOf(node);
    if (start >= 0) {
      const cycle = path.slice(start);
      const first = cycle.indexOf([...cycle].sort()[0] ?? '');
      cycles.add([...cycle.slice(first), ...cycle.slice(0, first)].join(' -> '));
      return;
    }
    if (done.has(node)) return;
    for (const target of graph.get(node) ?? []) visit(target, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return [...cycles];
}

describe('src', () => {
  it('knows every folder and file at the top of src', () => {
    const unknown = files.map(({ name }) => areaOf(name)).filter((area) => layerOf(area) < 0);
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('lets imports only point down the layers', () => {
    const upward = violations(({ name }, { file }) => {
      if (!file?.startsWith('src')) return false;
      const target = layerOf(areaOf(inSrc(file)));
      return target >= 0 && target < layerOf(areaOf(name));
    });
    expect(upward).toEqual([]);
  });

  it.each(Object.entries(sublayers))('lets imports only point down inside %s', (folder, lines) => {
    const isInside = (name: string) => name.startsWith(`${folder}/`);
    const partOf = (name: string) => {
      const own = areaOf(name.slice(folder.length + 1));
      return lines.flat().includes(own) ? own : '*';
    };
    const lineOf = (name: string) => lines.findIndex((line) => line.includes(partOf(name)));
    const inside = files.map(({ name }) => name).filter(isInside);
    expect(inside.filter((name) => lineOf(name) < 0)).toEqual([]);
    const upward = violations(({ name }, { file }) => {
      const target = file?.startsWith('src') ? inSrc(file) : '';
      return isInside(name) && isInside(target) && lineOf(target) < lineOf(name);
    });
    expect(upward).toEqual([]);
    const nodeOf = (name: string) => (isInside(name) ? partOf(name) : 'outside');
    expect(cyclesOf(graphBy(nodeOf)).filter((cycle) => !cycle.includes('outside'))).toEqual([]);
  });

  it('has no import cycle, neither between files nor between folders', () => {
    expect(cyclesOf(graphBy((name) => name))).toEqual([]);
    expect(cyclesOf(graphBy(areaOf))).toEqual([]);
  });

  it.each(Object.entries(restrictedPackages))('allows imports of %s only in its files', (packageName, allowed) => {
    const isIt = ({ specifier, file }: Import) => {
      const found = file ?? specifier;
      return packageName.endsWith('/')
        ? found.startsWith(packageName)
        : found === packageName || found.startsWith(`${packageName}/`);
    };
    const elsewhere = violations(
      ({ name }, found) => isIt(found) && !(found.typeOnly && !allowed.typesToo) && !isIn(name, allowed.in),
    );
    expect(elsewhere).toEqual([]);
  });

  it('imports Koa only in the folders that speak HTTP', () => {
    const isKoa = ({ specifier }: Import) => /^(@koa\/|koa($|[-/]))/.test(specifier);
    const inside = ({ name }: SourceFile) => !isIn(name, httpEdges) && !name.endsWith('routes.ts');
    expect(violations((file, found) => isKoa(found) && inside(file))).toEqual([]);
  });

  it('imports only types and limits into the pure files', () => {
    const impure = violations(({ name }, { file, typeOnly }) => {
      const target = file && inSrc(file);
      return isIn(name, pureFiles) && !typeOnly && target !== 'base/limits.ts' && !isIn(target ?? '', pureFiles);
    });
    expect(impure).toEqual([]);
  });
});

describe('the source code', () => {
  const where = (pattern: RegExp, allowed: readonly string[] = []) =>
    files.flatMap(({ name, source }) =>
      isIn(name, allowed)
        ? []
        : source.split('\n').flatMap((line, at) => {
            const code = line.replace(/\/\/.*|^\s*\/?\*.*/, '');
            return pattern.test(code) ? [`src/${name}:${at + 1} ${line.trim()}`] : [];
          }),
    );

  it('has no file that the repository ignores', () => {
    const args = 'ls-files --others --ignored --cached --exclude-standard src test views bench'.split(' ');
    const { stdout, status } = spawnSync('git', args, { encoding: 'utf8' });
    // An archive of the sources has no repository; a clone does, and there an ignored file would be missing.
    const ignored = status === 0 ? stdout.split('\n').filter((file) => file !== '') : [];
    expect(ignored.filter((file) => !file.startsWith('src/generated/'))).toEqual([]);
  });

  it('reads the environment in one place', () => {
    expect(where(/\bprocess\.env\b|\bimport.*\benv\b.*from 'node:process'/, mayReadEnvironment)).toEqual([]);
  });

  it('prints only from the command line', () => {
    expect(where(/\bconsole\.\w+\(|\bprocess\.(stdout|stderr)\.write\(/, mayPrint)).toEqual([]);
  });

  it('takes time and randomness from one place each', () => {
    expect(where(/\bDate\.now\(\)|\bnew Date\(\)/, mayReadTheTime)).toEqual([]);
    expect(where(/\bMath\.random\(/, ['base/platform/random.ts'])).toEqual([]);
  });

  it('loads no CommonJS package with import(): in the bundle it has only a default export', () => {
    expect(where(/(?<!typeof )\bimport\((?!'(?:\.|node:|@simplewebauthn\/server(?:\/helpers)?'))/)).toEqual([]);
  });

  it('has no barrels, no default exports, no any and no silenced checks', () => {
    expect(files.filter(({ name }) => path.basename(name) === 'index.ts').map(({ name }) => name)).toEqual([]);
    expect(where(/^\s*export default\b/)).toEqual([]);
    expect(where(/\bas any\b|:\s*any\b|<any>/)).toEqual([]);
    expect(
      files.filter(({ source }) => /@ts-(ignore|nocheck|expect-error)/.test(source)).map(({ name }) => name),
    ).toEqual([]);
  });
});

describe('the lists of test files', () => {
  it('name files that exist, each once: those that run on PostgreSQL', () => {
    expect(postgresqlInclude.filter((file) => !existsSync(file))).toEqual([]);
    expect(new Set(postgresqlInclude).size).toBe(postgresqlInclude.length);
  });

  it('name every test that behaves differently on PostgreSQL', () => {
    const branching = filesUnder('test', '.test.ts').filter((file) =>
      /databaseKind\(\)|\.kind [!=]== '(sqlite|postgresql)'/.test(readFileSync(file, 'utf8')),
    );
    expect(branching.filter((file) => !postgresqlInclude.includes(file))).toEqual([]);
  });
});
