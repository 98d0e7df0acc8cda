// The documentation of this version: the chapters that build/docs.mjs rendered from docs/, and a search among their sections.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../base/platform/package.ts';
import { matchRank } from '../../people/accounts/names.ts';
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
  rank: number;
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

    /** The sections with a beginning of every word, those whose title is like the text first, then those with the words side by side. */
    search(text: string, limit: number): FoundSection[] {
      const words = foldedWords(text);
      if (words.length === 0) return [];
      const found = chapters().sections.flatMap(({ words: own, ...section }) => {
        if (words.some((word) => wordAt(own, word) < 0)) return [];
        const isApart = Number(wordAt(own, words.join(' ')) < 0);
        return [{ ...section, isApart, rank: matchRank(text, [section.title]) }];
      });
      return found
        .sort((a, b) => a.rank - b.rank || a.isApart - b.isApart || Number(a.isDecision) - Number(b.isDecision))
        .slice(0, limit)
        .map(({ body, ...section }) => ({ ...section, excerpt: excerptOf(body, words) }));
    },
  };
}

const foldedWords = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

/** Where a word begins with this; -1 where none does. */
function wordAt(text: string, beginning: string): number {
  let at = text.indexOf(beginning);
  while (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) at = text.indexOf(beginning, at + 1);
  return at;
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
        rank: 0,
        isDecision: name.includes('/'),
        body,
        words: `${chapter} ${title} ${body}`.toLowerCase(),
      };
    }),
  );
  return { all, sections };
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

function plainText(part: DocumentPart): string {
  if (!('html' in part)) return 'code' in part ? part.code : part.alt;
  return part.html.replace(/<[^>]*>/g, ' ').replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? '');
}
