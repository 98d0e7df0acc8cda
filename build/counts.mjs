// `npm run counts`: how much there is to hold in one's head, beside the target of each count. Prints JSON with --json.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const tracked = execFileSync('git', ['ls-files', 'src', 'test', 'docs', '*.md'], { encoding: 'utf8' }).split('\n');
const files = new Map(
  tracked.filter(Boolean).map((name) => [name, name.endsWith('.png') ? '' : readFileSync(name, 'utf8')]),
);
const named = (pattern) => [...files].filter(([name]) => pattern.test(name));
const sources = named(/^src\/.*\.ts$/);
const lines = (list) => list.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
const matches = (pattern) => sources.reduce((sum, [, text]) => sum + [...text.matchAll(pattern)].length, 0);

/** Interfaces that a create function of the same file names as its result. */
const restating = sources.reduce((sum, [, text]) => {
  const create =
    /^export (?:async )?function create\w+\((?:[^\n]*|(?:\n {2}[^\n]*)+\n[^\n]*)\): (?:Promise<)?(\w+)>? \{$/gm;
  const isHere = ([, name]) => new RegExp(`^(?:export )?interface ${name}\\b`, 'm').test(text);
  return sum + [...text.matchAll(create)].filter(isHere).length;
}, 0);

const importers = new Map();
for (const [name, text] of sources)
  for (const [, from] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = path.posix.join(path.posix.dirname(name), from);
    importers.set(target, (importers.get(target) ?? new Set()).add(name));
  }
const words = named(/^(docs\/.*|[A-Z]+)\.md$/).reduce(
  (sum, [, text]) => sum + text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length,
  0,
);

const counts = [
  ['lines of src', lines(sources), 80_000],
  ['files of src', sources.length, 760],
  ['lines of src/admin', lines(named(/^src\/admin\/.*\.ts$/)), 15_000],
  [
    'folders below src',
    new Set(sources.map(([name]) => name.split('/')[1]).filter((name) => !name.endsWith('.ts'))).size,
    16,
  ],
  ['…Dependencies types', matches(/^(?:export )?(?:interface|type) \w+Dependencies\b/gm), 50],
  ['Pick<', matches(/\bPick</g), 120],
  ['interfaces that restate what a create function returns', restating, 0],
  ['files imported by one other file', sources.filter(([name]) => importers.get(name)?.size === 1).length, 120],
  [
    'files that name MACs of rows',
    named(/^src\/.*\.ts$/).filter(([, text]) => /protected-rows\.ts'/.test(text)).length,
    15,
  ],
  ['object literals spread into an object', matches(/\.\.\.\(?\{ /g), 0],
  ['lines of test', lines(named(/^test\/.*\.ts$/)), null],
  ['words of the documents', words, 40_000],
].map(([name, count, target]) => ({ name, count, target }));

const lineOf = ({ name, count, target }) =>
  `${String(count).padStart(7)}  ${name}${target === null ? '' : ` (target ${target}${count > target ? ', missed' : ''})`}`;
const text = process.argv.includes('--json') ? JSON.stringify(counts, null, 1) : counts.map(lineOf).join('\n');
process.stdout.write(`${text}\n`);
