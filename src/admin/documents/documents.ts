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

    /** The sections that have every word, those whose title is like the text first. */
    search(text: string, limit: number): FoundSection[] {
      const words = foldedWords(text);
      if (words.length === 0) return [];
      const found = chapters().sections.flatMap(({ words: own, ...section }) =>
        words.every((word) => own.includes(word)) ? [{ ...section, rank: matchRank(text, [section.title]) }] : [],
      );
      return found.sort((a, b) => a.rank - b.rank || Number(a.isDecision) - Number(b.isDecision)).slice(0, limit);
    },
  };
}

const foldedWords = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

function readChapters(file: string) {
  const all: Chapter[] = JSON.parse(readFileSync(file, 'utf8'));
  const sections = all.flatMap(({ name, title: chapter, sections }) =>
    sections.map(({ id, title, parts }) => ({
      title: title || chapter,
      chapter,
      href: documentPath(name, id),
      rank: 0,
      isDecision: name.includes('/'),
      words: `${chapter} ${title} ${parts.map(plainText).join(' ')}`.toLowerCase(),
    })),
  );
  return { all, sections };
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

function plainText(part: DocumentPart): string {
  if (!('html' in part)) return 'code' in part ? part.code : part.alt;
  return part.html.replace(/<[^>]*>/g, ' ').replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? '');
}
