// English texts have no comma before the last item of a list: `a, b and c` (docs/languages.md).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesUnder } from '../support/source/imports.ts';

const WORD = '[\\w`“”’.*:/{}<>-]+';
const ITEM = `${WORD}(?: ${WORD}){0,3}`;
/** Two short items and the comma in front of the last one. */
const SERIAL = new RegExp(`${ITEM}, ${ITEM}, (?:and|or) ${WORD}`, 'g');
/** The comma joins two sentences, or ends an insertion. */
const exceptions = [
  'email, firstName and lastName, and a',
  'passkeys and recovery codes, and ends',
  'Entra sends none, and no',
  'OAuth Apps, and register',
  'Clients, and create',
  'including from the console, and notifies',
];

it('have no serial comma', () => {
  const found = filesUnder('views/texts/en', '.json').flatMap((file) =>
    (readFileSync(file, 'utf8').match(SERIAL) ?? []).map((text) => `${file}: ${text}`),
  );
  expect(found.filter((text) => !exceptions.some((exception) => text.includes(exception)))).toEqual([]);
});
