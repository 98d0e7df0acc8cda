// The documentation of this version: the chapters that build/docs.mjs rendered from docs/, and a search among their sections.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../base/platform/package.ts';
import type { DocumentPart } from '../console/cells.ts';

export interface Chapter {
  /** Its file below docs/, without `.md`. */
  name: string;
  title: string;
  sections: readonly { id: string; title: string; level: number; parts: readonly DocumentPart[] }[];
}

export interface FoundSection {
  title: string;
  chapter: string;
  href: string;
  /** The part of its text with what was looked for. */
  excerpt: string;
}

export type Documents = ReturnType<typeof createDocuments>;

/** The page of a chapter, or of a heading in it. */
export const documentPath = (name: string, id = ''): string =>
  `/docs${name === 'README' ? '' : `/${name}`}${id ? `#${id}` : ''}`;

/** Read at the first use: most requests need no documents. */
export function createDocuments(file = path.join(packageRoot, 'dist', 'documents.json')) {
  let read: ReturnType<typeof readChapters> | undefined;
  const chapters = () => {
    read ??= readChapters(file);
    return read;
  };
  return {
    /** In the order of the table of contents: those that it names, then the decisions. */
    list: (): readonly Chapter[] => chapters().all,
    find: (name: string): Chapter | undefined => chapters().all.find((one) => one.name === name),

    /**
     * The sections with these words in the heading, those with beginnings of words there, then those with the words side by side in the text.
     * Only where there is none: those with a beginning of each word anywhere. The section about a command of that name has its name, after those
     * with the words in the title.
     *
     * @param hasOthers something else was found: then only whole words
     */
    search(text: string, limit: number, { hasOthers = false } = {}): FoundSection[] {
      const words = foldedWords(text);
      if (words.length === 0) return [];
      const { sections } = chapters();
      const command = `gatehouse ${words.join(' ').replace(/^gatehouse /, '')}`;
      const about = sectionAbout(command, sections);
      const hasWords = (folded: Folded) => words.every((word) => hasWord(allOf(folded), word));
      const found = sections
        .filter(({ folded }) => !hasOthers || hasWords(folded))
        .flatMap((section) => {
          const place = placeOf(words, section.folded);
          if (section === about && place !== 'title')
            return [{ ...section, title: command, chapter: section.title, place: 'command' as const }];
          return place === undefined ? [] : [{ ...section, place }];
        });
      const best = found.filter(({ place }) => place !== 'apart');
      return (best.length > 0 ? best : found)
        .sort(
          (a, b) => PLACES.indexOf(a.place) - PLACES.indexOf(b.place) || Number(a.isInternal) - Number(b.isInternal),
        )
        .slice(0, limit)
        .map(({ title, chapter, href, body }) => ({ title, chapter, href, excerpt: excerptOf(body, words) }));
    },
  };
}

const foldedWords = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Of a section, in lower case. */
interface Folded {
  title: string;
  /** With the name of the chapter. */
  heading: string;
  text: string;
}

/** The best first. */
const PLACES = ['title', 'command', 'heading', 'beginning', 'text', 'apart'] as const;

/** The section that names the command most often; undefined where none does. In a sentence, Gatehouse has a capital letter. */
function sectionAbout<Section extends { body: string }>(
  command: string,
  sections: readonly Section[],
): Section | undefined {
  const counted = sections.map((section) => ({ section, count: countOf(section.body, command) }));
  const [most] = counted.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count);
  return most?.section;
}

function countOf(text: string, word: string): number {
  const parts = text.split(word);
  return parts.slice(1).filter((rest) => !IN_WORD.test(rest[0] ?? '')).length;
}

/** Where a section has these words; undefined where it has not all of them. */
function placeOf(words: readonly string[], folded: Folded): (typeof PLACES)[number] | undefined {
  const { title, heading, text } = folded;
  if (words.every((word) => hasWord(title, word))) return 'title';
  if (words.every((word) => hasWord(heading, word))) return 'heading';
  if (words.every((word) => wordAt(heading, word) >= 0)) return 'beginning';
  if (hasWord(text, words.join(' '))) return 'text';
  return words.every((word) => wordAt(allOf(folded), word) >= 0) ? 'apart' : undefined;
}

const allOf = ({ heading, text }: Folded): string => `${heading} ${text}`;

/** A part of an address or of a name is no word. */
const IN_WORD = /[\p{L}\p{N}@_]/u;

/** Where a word begins with this; -1 where none does. */
function wordAt(text: string, beginning: string, from = 0): number {
  let at = text.indexOf(beginning, from);
  while (at > 0 && IN_WORD.test(text[at - 1] ?? '')) at = text.indexOf(beginning, at + 1);
  return at;
}

/** Whether the text has this as a whole word. */
function hasWord(text: string, word: string): boolean {
  let at = wordAt(text, word);
  while (at >= 0 && IN_WORD.test(text[at + word.length] ?? '')) at = wordAt(text, word, at + 1);
  return at >= 0;
}

/** Characters. Few of them before the words, because the dialog of the search cuts the line. */
const EXCERPT = { before: 12, length: 140 };

/** From a word before the first of these that the text has. */
function excerptOf(body: string, words: readonly string[]): string {
  const folded = body.toLowerCase();
  const at = [words.join(' '), ...words].map((one) => wordAt(folded, one)).find((one) => one >= 0) ?? 0;
  const from = at <= EXCERPT.before ? 0 : Math.min(at, body.indexOf(' ', at - EXCERPT.before) + 1);
  const rest = body.slice(from, from + EXCERPT.length);
  const isWhole = from + EXCERPT.length >= body.length;
  return `${from > 0 ? '… ' : ''}${isWhole ? rest : `${rest.slice(0, rest.lastIndexOf(' '))} …`}`;
}

function readChapters(file: string) {
  const all: Chapter[] = JSON.parse(readFileSync(file, 'utf8'));
  const sections = all.flatMap(({ name, title: chapter, sections }) =>
    sections.map(({ id, title, parts }) => {
      const body = parts.map(plainText).join(' ').replace(/\s+/g, ' ').trim();
      return {
        title: title || chapter,
        chapter,
        href: documentPath(name, id),
        isInternal: name === 'architecture' || name.includes('/'),
        body,
        folded: { title: title.toLowerCase(), heading: `${chapter} ${title}`.toLowerCase(), text: body.toLowerCase() },
      };
    }),
  );
  return { all, sections };
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Tags inside of a sentence: no space stands for them. */
const INLINE = /<\/?(?:a|code|em|strong)\b[^>]*>/g;

function plainText(part: DocumentPart): string {
  if (!('html' in part)) return 'code' in part ? part.code : part.alt;
  const text = part.html.replace(INLINE, '').replace(/<[^>]*>/g, ' ');
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? '');
}
