// What the documents point at is there: files, routes, metrics.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/base/platform/metrics.ts';
import { routes } from '../../src/protocols/oidc/engine/routes.ts';

const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...['docs', 'src', 'bench'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(folder, name)),
  ),
];
const read = (name: string) => readFileSync(name, 'utf8');
const headingId = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');

describe.each(documents)('%s', (name) => {
  it('links to files and headings that exist', () => {
    const targets = [
      ...read(name).matchAll(/\]\(([^)\s]+)\)/g),
      ...read(name).matchAll(/(?:src|srcset)="([^"]+)"/g),
    ].map((match) => match[1] ?? '');
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [file = '', fragment] = target.split('#');
      const full = file === '' ? name : path.join(path.dirname(name), file);
      if (!existsSync(full)) return true;
      const headings = [...read(full).matchAll(/^#+ (.+)$/gm)].map((match) => headingId(match[1] ?? ''));
      return fragment !== undefined && !headings.includes(fragment);
    });
    expect(broken).toEqual([]);
  });
});

it('docs/architecture.md names files and folders that exist', () => {
  const names = [...read('docs/architecture.md').matchAll(/`((?:[\w-]+\/)*[\w-]+(?:\.(?:ts|eta)|\/))`/g)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(60);
  expect(
    names.filter(
      (name) => !['src', '', 'src/protocols/saml', 'test'].some((folder) => existsSync(path.join(folder, name))),
    ),
  ).toEqual([]);
});

it('docs/api.md describes every OpenID Connect route', () => {
  const api = read('docs/api.md');
  const paths = [
    '/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server',
    ...Object.values(routes),
  ];
  expect(paths.filter((route) => !api.includes(`${route}\``))).toEqual([]);
});

it('docs/operating.md lists every metric of Gatehouse', async () => {
  const operating = read('docs/operating.md');
  const names = (await createMetrics().registry.getMetricsAsArray()).map(({ name }) => name);
  const ownNames = names.filter((name) => name.startsWith('gatehouse_'));
  expect(ownNames.filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
});

it('docs/decisions has one file a number and an index that names them all', () => {
  const files = readdirSync('docs/decisions').filter((name) => /^\d{4}-/.test(name));
  const numbers = files.map((name) => name.slice(0, 4));
  expect(new Set(numbers).size).toBe(files.length);
  expect(files.filter((name) => !read('docs/decisions/README.md').includes(`](${name})`))).toEqual([]);
});

const folders = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'generated')
  .map(({ name }) => `src/${name}`);
const protocols = ['oidc', 'saml', 'logout', 'authzen'].map((name) => `src/protocols/${name}`);

describe.each([...folders, ...protocols].map((folder) => `${folder}/README.md`))('%s', (name) => {
  it('tells purpose, routes and neighbors in at most 120 words, with links and names of files that exist', () => {
    const text = read(name);
    expect(text.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(120);
    expect(text).toMatch(/routes/i);
    expect(text).toMatch(/neighbors/i);
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((to) => !/^https:/.test(to));
    const named = [...text.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)]
      .map(([, target = '']) => target)
      .filter((to) => !to.startsWith('/'));
    const folder = path.dirname(name);
    const missing = [...links, ...named].filter(
      (to) => ![folder, path.dirname(folder), 'src', ''].some((from) => existsSync(path.join(from, to))),
    );
    expect(missing).toEqual([]);
  });
});
