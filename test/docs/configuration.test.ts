// docs/configuration.md, docs/connections.md and docs/events.md can not lie: their tables are compared with the schemas that read the settings.
// `npm run docs` brings the documents up to date; a row whose schema has no `describe()` keeps the meaning that is written there.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/admin/api/documents.ts';
import { applicationEndpoints } from '../../src/admin/applications/api.ts';
import { variables } from '../../src/base/config/variables.ts';
import { connectionTables, eventTables, keysAsForClients, type Row, sentences, tables } from './reference.ts';

const documents = {
  'docs/configuration.md': tables,
  'docs/connections.md': connectionTables,
  'docs/events.md': eventTables,
};
const all = { ...tables, ...connectionTables, ...eventTables };
const escaped = (cell: string) => cell.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The rows of the table under a heading, cell by cell. */
function rowsUnder(heading: string, text: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => line.slice(2, -2).split(/ \| /));
}

function withCurrentRows(heading: string, rows: Row[], text: string): string {
  const meanings = new Map(rowsUnder(heading, text).map((cells) => [cells[0], cells.at(-1) ?? '']));
  const lines = rows.map(({ cells, meaning }) => {
    const words = meaning === undefined ? (meanings.get(escaped(cells[0])) ?? '') : escaped(meaning);
    return `| ${[...cells.map(escaped), words].join(' | ')} |`;
  });
  return text.replace(
    new RegExp(`(^## ${heading}\\n[\\s\\S]*?\\n\\|[-| ]+\\|\\n)(?:\\|.*\\n)*`, 'm'),
    (_, head: string) => `${head}${lines.join('\n')}\n`,
  );
}

if (process.env.UPDATE_DOCS) {
  for (const [document, entries] of Object.entries(documents)) {
    const before = readFileSync(document, 'utf8');
    writeFileSync(
      document,
      Object.entries(entries).reduce((text, [heading, rows]) => withCurrentRows(heading, rows, text), before),
    );
  }
  for (const { document, begins, names } of sentences) {
    const before = readFileSync(document, 'utf8');
    writeFileSync(document, before.replace(new RegExp(`^${begins}: .*$`, 'm'), `${begins}: ${names.join(', ')}.`));
  }
}

const text = Object.keys(documents)
  .map((document) => readFileSync(document, 'utf8'))
  .join('\n');

describe('docs/configuration.md', () => {
  it.each(Object.entries(all))('lists all of %s with its default and what is allowed', (heading, rows) => {
    const written = rowsUnder(heading, text);
    expect(written.map((cells) => cells.slice(0, -1))).toEqual(rows.map(({ cells }) => cells.map(escaped)));
    const known = rows.map(({ meaning }, at) => (meaning === undefined ? written[at]?.at(-1) : escaped(meaning)));
    expect(written.map((cells) => cells.at(-1))).toEqual(known);
  });

  it.each(Object.keys(all))('says what each entry of %s means', (heading) => {
    const silent = rowsUnder(heading, text).filter((cells) => (cells.at(-1) ?? '').trim().length < 5);
    expect(silent).toEqual([]);
  });

  it.each(Object.entries(keysAsForClients))('names the keys of %s that are as for clients', (heading, keys) => {
    const [, named = ''] =
      new RegExp(`^## ${heading}\\n[\\s\\S]*?As for \\[clients\\]\\(#clients\\): (.*?)\\.$`, 'ms').exec(text) ?? [];
    expect(named.split(/,\s+/)).toEqual(keys.map((key) => `\`${key}\``));
  });

  it.each(sentences)('$document: $begins …', ({ document, begins, names }) => {
    expect(readFileSync(document, 'utf8').split('\n')).toContain(`${begins}: ${names.join(', ')}.`);
  });

  it('names each variable that may hold a secret in a file', () => {
    for (const [name, variable] of Object.entries(variables)) {
      expect(text.includes(`\`${name}_FILE\``), name).toBe('file' in variable);
    }
  });
});

describe('the API document', () => {
  it.each(['OidcClient', 'ServiceProvider'])(
    'says what each field of %s means, without links of the documents',
    (name) => {
      const { components } = openApiDocument(applicationEndpoints({} as never, {} as never), {
        issuer: 'https://id.example.com',
        version: '1',
      }) as {
        components: { schemas: Record<string, { properties: Record<string, { description?: string }> }> };
      };
      const fields = Object.entries(components.schemas[name]?.properties ?? {}).filter(
        ([field]) => field !== 'protocol',
      );
      expect(fields.length).toBeGreaterThan(20);
      expect(fields.filter(([, { description = '](' }]) => description.includes(']('))).toEqual([]);
    },
  );
});
