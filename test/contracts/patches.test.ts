// The lists of patches: complete, with a contract test for each, and checked against the installed oidc-provider.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKED_RELEASE, providerPatches, requestPatches, responsePatches } from '../../src/protocols/oidc/patches.ts';

const patches = { provider: providerPatches, requests: requestPatches, responses: responsePatches };
/** With the folder of test/contracts/patches that has its test. */
const names = Object.entries(patches).flatMap(([folder, list]) => list.map(({ name }) => ({ folder, name })));
const filesIn = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort();
const filesOfPatches = (ending: string) => names.map(({ folder, name }) => path.join(folder, name + ending)).sort();

describe('the patches of oidc-provider', () => {
  it('were checked against the installed release', () => {
    const { version } = JSON.parse(readFileSync('node_modules/oidc-provider/package.json', 'utf8'));
    expect(CHECKED_RELEASE).toBe(version);
  });

  it('have one contract test each', () => {
    expect(filesIn('test/contracts/patches', '.test.ts')).toEqual(filesOfPatches('.test.ts'));
  });

  it('are all in the list that gives their reasons', () => {
    const list = readFileSync('src/protocols/oidc/patches/README.md', 'utf8');
    expect(names.filter(({ name }) => !list.includes(`\`${name}\``))).toEqual([]);
  });

  it('are the only replacements of methods of the engine', () => {
    const replacing = /\b(prototype|Client|Session|Claims|DeviceCode|sessions|provider)\.\w+ = /;
    const elsewhere = readdirSync('src/protocols/oidc', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('patches'))
      .filter((file) =>
        replacing.test(readFileSync(path.join('src/protocols/oidc', file), 'utf8').replace('provider.proxy = ', '')),
      );
    expect(elsewhere).toEqual([]);
  });
});
