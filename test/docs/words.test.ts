// The words that people read: texts of src, templates, scripts and documents. The glossary is in src/base/texts/README.md.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesUnder } from '../support/source/imports.ts';
import { literalsOf, proseOf, type TextAt, templateTextOf } from '../support/source/texts.ts';

/** A word that fails, and what to write instead. */
const banned: [RegExp, string][] = [
  [/\be-mails?\b/i, 'email'],
  [/\buser names?\b/i, 'username'],
  [/\bwho(m)?ever\b/i, 'name the actor'],
  [/\bsomebody\b/i, 'name the actor, or someone'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\banew\b/i, 'again'],
  [/\bplease\b/i, 'leave it out'],
  [/\bsuccessfully\b/i, 'leave it out'],
  [/\bone of ours\b|\bof theirs\b/i, 'name the owner'],
  [/\b(shown|displayed) (this|only) once\b/i, 'Copy … now. You won’t see it again.'],
  [/\b(organis|recognis|authoris|behaviour|colour|licence|cancelled|favourite|centre\b)/i, 'US spelling'],
  [/\bin case of need\b|\bin your name\b/i, 'on your behalf'],
  [/\bkindly\b|\bunfortunately\b|\boops\b|\bin order to\b|\butilize/i, 'leave it out, or say it plainly'],
  [/\blog(s|ged|ging)? (in|out)\b/i, 'sign in, sign out'],
  [/\b(black|white)list/i, 'blocked, allowed'],
  [/\banybody\b/i, 'anyone'],
  [/\bone a line\b/i, 'one per line'],
  [/\bby mail\b|\bmails\b|\b(a|the) mail\b(?! (server|queue|transport|job))/i, 'email'],
  [/\brights? in Gatehouse\b/i, 'permission in Gatehouse'],
  [/\bone-time passwords?\b/i, 'temporary password'],
  [/\bfor good\b/i, 'permanently'],
  [/\bthe other way round\b/i, 'the other way around'],
  [/\brefusals?\b/i, 'rejection'],
  [/[a-z]\(s\)|\(e?s\)$/, 'the right plural'],
];
/** Only in what the pages, mails, console and command line display, not in documents. */
const bannedOnPages: [RegExp, string][] = [
  [/\bsecond factors?\b/i, 'two-step verification'],
  [/\brequest number\b/i, 'request ID'],
  [/\bportal\b(?!\.)/i, 'app list'],
  [/\bswitched (on|off)\b/i, 'turned on, turned off, or disabled'],
  [/\b(any ?more|meanwhile)\b.*\bnobody\b|\bnobody can\b/i, 'people can’t'],
  [/\w!(\s|$)/, 'no exclamation mark'],
  [/\bany more\b(?! (than|[a-z]+s\b))/i, 'no longer'],
  [/\$\{\}[^.]*\b(they|them|their|theirs)\b/i, 'name the person again'],
];
/** Only in whole sentences on pages and in mails; the command line and SAML messages are ASCII. */
const bannedInSentences: [RegExp, string][] = [
  [/\w'(t|s|re|ll|ve|d|m)\b/, 'a typographic apostrophe'],
  [/\b(cannot|do not|does not|did not|is not|are not|was not|were not|has not|have not|will not)\b/i, 'a contraction'],
];
/** Reasons: a name that is a contract, a text of another program, or a term of a standard. */
const exceptions: { in: RegExp; text: RegExp; because: string }[] = [
  { in: /^src\/sign-in\/second-factor\/routes\.ts$/, text: /^sign-in second factor$/, because: 'the name of a span' },
  { in: /^src\/(base\/platform\/logger|core\/audit\/audit)\.ts$/, text: /bytes\]$/, because: 'a marker in the log' },
  { in: /^src\//, text: /characters, SHA-256/, because: 'a value of the audit log, which programs compare' },
  {
    in: /^src\/base\/config\//,
    text: /^(\$\{\}|at least).*(bytes|characters|keys)/,
    because: 'limits above one, in a folder that imports nothing',
  },
];
const isException = (name: string, text: string) =>
  exceptions.some((one) => one.in.test(name) && one.text.test(text.trim()));

function faultsIn(files: string[], textsOf: (source: string) => TextAt[], words: [RegExp, string][]): string[] {
  return files.flatMap((name) =>
    textsOf(readFileSync(name, 'utf8')).flatMap(({ line, text }) =>
      words.flatMap(([pattern, instead]) =>
        pattern.test(text) && !isException(name, text) ? [`${name}:${line} ${text.trim()} (${instead})`] : [],
      ),
    ),
  );
}

const sources = filesUnder('src', '.ts').filter((name) => !name.startsWith('src/generated'));
const scripts = filesUnder('views/assets', '.js');
const templates = filesUnder('views', '.eta');
const documents = [
  'README.md',
  'CHANGELOG.md',
  ...['.md', '.txt'].flatMap((end) => filesUnder('docs', end)),
  ...filesUnder('src', '.md'),
];
/** Files whose sentences are on pages, in mails and in error answers. */
const pages = sources.filter((name) =>
  /^src\/(account|admin|federation|sign-in|core\/mail|people\/mfa|protocols\/(logout|oidc\/pages)|base\/http\/errors\.ts)/.test(
    name,
  ),
);
const isSentence = ({ text }: TextAt) => /^(\$\{\}|[A-Z“])[^\n]*[a-z)”}][.?]$/.test(text.trim());
/** The texts of pages and emails for people, in English; a value in one is `{name}`. */
const messages = filesUnder('views/texts/en', '.json');
/** The values of a file of messages, one per line. */
/** Without the words by which a search finds a page: administrators type them, and no page displays them. */
const messagesOf = (source: string): TextAt[] =>
  source.split('\n').map((line, index) => {
    const [, key = '', text = ''] = /"(.*?)": "(.*)",?$/.exec(line) ?? [];
    return { line: index + 1, text: key.startsWith('console.search.words.') ? '' : text };
  });
/** A sentence or label, not an identifier. */
const displayed = (source: string) => {
  const known =
    read.get(source) ?? literalsOf(withoutDescriptions(source)).filter(({ text }) => /^[A-Z]|\s/.test(text));
  read.set(source, known);
  return known;
};
/** Descriptions of fields are sentences of the documents. */
const withoutDescriptions = (source: string) =>
  source.replace(/\.describe\(\s*(['"`])(?:\\.|(?!\1)[^\\])*\1,?\s*\)/g, (text) =>
    '\n'.repeat(text.split('\n').length - 1),
  );
/** Both tests read the same files. */
const read = new Map<string, TextAt[]>();

it('the texts of pages, mails, console and command line have no word of the list', () => {
  expect(faultsIn([...sources, ...scripts], displayed, [...banned, ...bannedOnPages])).toEqual([]);
  expect(faultsIn(templates, templateTextOf, [...banned, ...bannedOnPages, ...bannedInSentences])).toEqual([]);
  expect(faultsIn(pages, (source) => displayed(source).filter(isSentence), bannedInSentences)).toEqual([]);
  expect(faultsIn(messages, messagesOf, [...banned, ...bannedOnPages, ...bannedInSentences])).toEqual([]);
});

it('the documents have no word of the list', () => {
  expect(faultsIn(documents, proseOf, banned)).toEqual([]);
});
