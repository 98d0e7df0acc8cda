// English texts and documents have no comma before the last item of a list: `a, b and c` (docs/languages.md).
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allOf, oneOf } from '../../src/texts/text.ts';
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

/** In documents an item may be longer; it has no comma and no other `and`, which would need the comma. */
const DOCUMENT_WORD = '(?!(?:and|or) )[^\\s,;|()]+';
const LIST = new RegExp(
  `(?<!\\S)(${DOCUMENT_WORD}(?: ${DOCUMENT_WORD}){0,3}), (${DOCUMENT_WORD}(?: ${DOCUMENT_WORD}){0,5}), (?:and|or) (\\S+(?: \\S+)?)`,
  'g',
);
/** The middle part is an insertion, or begins another sentence. */
const NO_ITEM =
  /^(?:which|with|without|within|whatever|where|as|such|then|even|also|so|but|once|for|of|inside|here|it|they|you|there|this|that is)\b|[.:?!](?: |$)/;
/** The middle part has a subject and a verb, so that the comma is between main clauses. */
const CLAUSE =
  /^\S+(?: \S+){0,4} (?:is|are|was|were|has|have|had|can|may|could|get|lists|stops|changes|replaces|ends|share|runs|differ|continued|held|can’t|can't|must|does|doesn't|don't|isn't|sends|needs|goes|gets|gives|lead|leads|stopped|chose)\b/;
/** Of a document that repeats the titles of tests. */
const withTitles = ['docs/rules.md'];
const documentExceptions = [
  'separated by a comma, and restart',
  'Add groups claim, and set',
  'stops the browser there, and the rest',
  'the same for everyone, and carry',
  'some microseconds, and none',
  '2.0 s of CPU, and an installation',
  'masculine as on large platforms, and neutral',
  'not for the public, and so',
  'collector, or to a',
  'in a secret store, and keep backups',
  'the address of the present one, and',
];

/** Paragraphs, items and cells without code blocks, addresses of links and bold type. */
function paragraphsOf(document: string): string[] {
  const prose = document
    .replace(/```[\s\S]*?```/g, '')
    .replaceAll('**', '')
    .replace(/\]\([^)]*\)/g, ']');
  return prose.split(/\n\n|\n(?=\s*(?:- |\d+\. |\|))|\|/).map((text) => text.replace(/\s+/g, ' '));
}

it('the documents have no serial comma', () => {
  const documents = ['README.md', 'CHANGELOG.md', ...filesUnder('docs', '.md')];
  const found = documents
    .filter((file) => !withTitles.includes(file))
    .flatMap((file) =>
      paragraphsOf(readFileSync(file, 'utf8')).flatMap((text) =>
        [...text.matchAll(LIST)]
          .filter(
            ([, first = '', middle = '']) => !NO_ITEM.test(middle) && !/[.:?!]$/.test(first) && !CLAUSE.test(middle),
          )
          .map(([list]) => `${file}: ${list}`),
      ),
    );
  expect(found.filter((text) => !documentExceptions.some((exception) => text.includes(exception)))).toEqual([]);
});

it('lists of names in a sentence have no serial comma', () => {
  const names = ['Editor', 'Support', 'Viewer'];
  expect(String(oneOf(names))).toBe('Editor, Support or Viewer');
  expect(String(allOf(names))).toBe('Editor, Support and Viewer');
});
