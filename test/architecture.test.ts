// The rules of the tree, read from its imports. A new folder or a new risky package gets a line in a table here;
// a broken rule is mended in src, not in the table.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, type Import, importsOf } from './support/imports.ts';

/** Imports point down this list, or stay on a line; what must point up is handed in by the composition root. */
const layers: string[][] = [
  ['main', 'server', 'services', 'cli', 'demo'],
  ['admin', 'access', 'self-service', 'rp'],
  ['logout'],
  ['saml'],
  ['oidc', 'signin'],
  ['credentials', 'mfa', 'rbac', 'applications', 'provisioning', 'consents', 'rate-limits'],
  ['accounts'],
  ['audit', 'mail', 'sms', 'keys', 'settings', 'refusals'],
  ['http', 'platform', 'limits', 'config'],
];

/** Who may import a package that we keep at arm's length. A trailing slash is a folder; types are free where said. */
const keepers: Record<string, { in: string[]; typesToo: boolean }> = {
  'oidc-provider': { in: ['oidc/library.ts', 'oidc/oidc-provider.d.ts'], typesToo: false },
  samlify: { in: ['saml/samlify.ts'], typesToo: true },
  'xml-crypto': { in: ['saml/'], typesToo: true },
  'xml-encryption': { in: ['saml/'], typesToo: true },
  '@xmldom/xmldom': { in: ['saml/'], typesToo: true },
  'libxml2-wasm': { in: ['saml/'], typesToo: true },
  argon2: { in: ['credentials/'], typesToo: true },
  bcryptjs: { in: ['credentials/'], typesToo: true },
  nodemailer: { in: ['mail/'], typesToo: true },
  '@prisma/': { in: ['platform/'], typesToo: true },
  'src/generated/': {
    in: ['platform/db.ts', 'platform/sqlite-adapter.ts', 'platform/postgres-adapter.ts'],
    typesToo: true,
  },
  'better-sqlite3': { in: ['platform/'], typesToo: true },
  otplib: { in: ['mfa/'], typesToo: true },
  '@simplewebauthn/server': { in: ['mfa/'], typesToo: true },
  'altcha-lib': { in: ['rate-limits/', 'credentials/', 'http/'], typesToo: true },
  pino: { in: ['platform/logger.ts'], typesToo: true },
  'prom-client': { in: ['platform/metrics.ts'], typesToo: true },
  eta: { in: ['http/', 'mail/'], typesToo: true },
};

/** Where Koa may be seen: the edges that speak HTTP. */
const httpEdges = ['http/', 'oidc/', 'self-service/', 'admin/', 'access/', 'rp/', 'server/', 'demo/'];
/** Where the process's environment may be read. The demo hands it on to the server it starts. */
const mayReadEnvironment = ['config.ts', 'config/', 'demo/'];
/** Where something is said past the log: command line, faults in the settings, the demo. */
const mayPrint = ['cli.ts', 'cli/', 'config/', 'main.ts', 'demo/'];
/** Who knows what time it is. The OIDC engine has its own clock, and its lifetimes are reckoned by that. */
const mayAskTheTime = ['platform/clock.ts', 'platform/logger.ts', 'oidc/configuration.ts', 'demo/'];
/** The rules of the service, testable in microseconds: nothing but types, limits and each other. */
const pureFiles = [
  'keys/rotation.ts',
  'signin/next-step.ts',
  'logout/next-hop.ts',
  'credentials/password-policy.ts',
  'mfa/policy.ts',
  'mfa/acr.ts',
];
const maxLines = 300;

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

/** One line for each import that the rule refuses. */
function refused(rule: (file: SourceFile, found: Import) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter((found) => rule(file, found))
      .map((found) => `src/${file.name}:${found.line} imports ${found.file ?? found.specifier}`),
  );
}

/** The edges between our own files, or between their folders. */
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

/** Every way round in the graph, once. */
function cyclesOf(graph: Map<string, Set<string>>): string[] {
  const cycles = new Set<string>();
  const done = new Set<string>();
  const walk = (node: string, trail: string[]) => {
    const start = trail.indexOf(node);
    if (start >= 0) {
      const round = trail.slice(start);
      const first = round.indexOf([...round].sort()[0] ?? '');
      cycles.add([...round.slice(first), ...round.slice(0, first)].join(' -> '));
      return;
    }
    if (done.has(node)) return;
    for (const target of graph.get(node) ?? []) walk(target, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) walk(node, []);
  return [...cycles];
}

describe('the import rule', () => {
  it('knows every folder and file at the top of src', () => {
    const unknown = files.map(({ name }) => areaOf(name)).filter((area) => layerOf(area) < 0);
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('lets imports only point down the layers', () => {
    const upward = refused(({ name }, { file }) => {
      if (!file?.startsWith('src')) return false;
      const target = layerOf(areaOf(inSrc(file)));
      return target >= 0 && target < layerOf(areaOf(name));
    });
    expect(upward).toEqual([]);
  });

  it('has no way round, neither between files nor between folders', () => {
    expect(cyclesOf(graphBy((name) => name))).toEqual([]);
    expect(cyclesOf(graphBy(areaOf))).toEqual([]);
  });

  it.each(Object.entries(keepers))('keeps %s in its place', (packageName, keeper) => {
    const isIt = ({ specifier, file }: Import) => {
      const found = file ?? specifier;
      return packageName.endsWith('/')
        ? found.startsWith(packageName)
        : found === packageName || found.startsWith(`${packageName}/`);
    };
    const elsewhere = refused(
      ({ name }, found) => isIt(found) && !(found.typeOnly && !keeper.typesToo) && !isIn(name, keeper.in),
    );
    expect(elsewhere).toEqual([]);
  });

  it('keeps Koa at the edges', () => {
    const isKoa = ({ specifier }: Import) => /^(@koa\/|koa($|[-/]))/.test(specifier);
    const inside = ({ name }: SourceFile) => !isIn(name, httpEdges) && !name.endsWith('routes.ts');
    expect(refused((file, found) => isKoa(found) && inside(file))).toEqual([]);
  });

  it('keeps the pure files pure', () => {
    const impure = refused(({ name }, { file, typeOnly }) => {
      const target = file && inSrc(file);
      return isIn(name, pureFiles) && !typeOnly && target !== 'limits.ts' && !isIn(target ?? '', pureFiles);
    });
    expect(impure).toEqual([]);
  });
});

describe('the house style', () => {
  const where = (pattern: RegExp, allowed: readonly string[] = []) =>
    files.flatMap(({ name, source }) =>
      isIn(name, allowed)
        ? []
        : source.split('\n').flatMap((line, at) => {
            const code = line.replace(/\/\/.*|^\s*\/?\*.*/, '');
            return pattern.test(code) ? [`src/${name}:${at + 1} ${line.trim()}`] : [];
          }),
    );

  it('has no file over 300 lines', () => {
    const long = files.filter(({ source }) => source.trimEnd().split('\n').length > maxLines);
    expect(long.map(({ name }) => name)).toEqual([]);
  });

  it('reads the environment in one place', () => {
    expect(where(/\bprocess\.env\b|\bimport.*\benv\b.*from 'node:process'/, mayReadEnvironment)).toEqual([]);
  });

  it('prints only from the command line', () => {
    expect(where(/\bconsole\.\w+\(|\bprocess\.(stdout|stderr)\.write\(/, mayPrint)).toEqual([]);
  });

  it('takes time and randomness from one place each', () => {
    expect(where(/\bDate\.now\(\)|\bnew Date\(\)/, mayAskTheTime)).toEqual([]);
    expect(where(/\bMath\.random\(/, ['platform/random.ts'])).toEqual([]);
  });

  it('has no barrels, no default exports, no any and no silenced checks', () => {
    expect(files.filter(({ name }) => path.basename(name) === 'index.ts').map(({ name }) => name)).toEqual([]);
    expect(where(/^\s*export default\b/)).toEqual([]);
    expect(where(/\bas any\b|:\s*any\b|<any>/)).toEqual([]);
    expect(
      files.filter(({ source }) => /@ts-(ignore|nocheck|expect-error)/.test(source)).map(({ name }) => name),
    ).toEqual([]);
  });

  it('says at the top of each file what it is for', () => {
    expect(files.filter(({ source }) => !/^(#!.*\n)?(\/\/|\/\*)/.test(source)).map(({ name }) => name)).toEqual([]);
  });
});
