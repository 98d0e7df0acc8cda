// The texts for people that the page lists: those of an area, those that hold some words, those that were changed.
import { z } from 'zod';
import { type TextArea, textAreas, textKeys } from '../../../base/texts/areas.ts';
import { languages, SOURCE_LANGUAGE } from '../../../base/texts/languages.ts';
import { peopleMessage } from '../../../base/texts/messages.ts';
import type { TextValues } from '../../../base/texts/overrides.ts';
import { listPath } from '../../console/frame.ts';

const TEXTS_HOME = '/admin/branding/texts';
const PAGE_SIZE = 20;

/** What the page lists. */
export const textsQuery = z.object({
  language: z.enum(languages).optional().catch(undefined),
  area: z.enum(textAreas).optional().catch(undefined),
  q: z.string().max(200).catch(''),
  changed: z.literal('on').optional().catch(undefined),
  page: z.coerce.number().int().min(1).max(1000).catch(1),
});
export type TextsQuery = z.output<typeof textsQuery> & { language: string };

export interface ListedText {
  key: string;
  area: TextArea;
  /** That of this version. */
  original: string;
  /** What the administrator wrote. */
  own: string | undefined;
}

export interface TextList {
  texts: ListedText[];
  count: number;
  previous?: string | undefined;
  next?: string | undefined;
}

/** The address of the page with these filters. */
export function textsPath({ language, area, q, changed, page }: TextsQuery, at = page): string {
  return listPath(TEXTS_HOME, { language, area, q, changed, page: at > 1 ? String(at) : undefined });
}

/** The message of views/texts in this language. */
export const originalOf = (language: string, key: string): string =>
  peopleMessage(language, key) ?? peopleMessage(SOURCE_LANGUAGE, key) ?? '';

/** One page of the list. Words are found in the key, in both texts and in the English one. */
export function listTexts(query: TextsQuery, values: TextValues): TextList {
  const { language, area, q, changed } = query;
  const own = new Map(Object.entries(values[language] ?? {}));
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (area ? [area] : textAreas)
    .flatMap((one) => textKeys(one).map((key) => ({ key, area: one })))
    .map((text) => ({ ...text, original: originalOf(language, text.key), own: own.get(text.key) }))
    .filter((text) => (changed ? text.own !== undefined : true) && hasWords(text, words));
  const page = Math.min(query.page, Math.max(1, Math.ceil(found.length / PAGE_SIZE)));
  return {
    texts: found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    count: found.length,
    previous: page > 1 ? textsPath(query, page - 1) : undefined,
    next: page * PAGE_SIZE < found.length ? textsPath(query, page + 1) : undefined,
  };
}

function hasWords({ key, original, own = '' }: ListedText, words: readonly string[]): boolean {
  const text = [key, original, own, originalOf(SOURCE_LANGUAGE, key)].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}
