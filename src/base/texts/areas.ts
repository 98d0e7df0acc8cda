// The texts for people by the file that they are in.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { SOURCE_LANGUAGE, textsDir } from './languages.ts';

/** The names of the files, in the order in which a person sees their pages. */
export const textAreas = [
  'sign-in',
  'mailed-links',
  'account',
  'activity',
  'device',
  'logout',
  'errors',
  'mail',
  'page',
] as const;
export type TextArea = (typeof textAreas)[number];

let keys: ReadonlyMap<TextArea, readonly string[]> | undefined;

/** The keys of the texts for people; those of all areas by default. Read once. */
export function textKeys(area?: TextArea): readonly string[] {
  keys ??= new Map(textAreas.map((one) => [one, keysOf(one)]));
  return area ? (keys.get(area) ?? []) : [...keys.values()].flat();
}

function keysOf(area: TextArea): string[] {
  return Object.keys(JSON.parse(readFileSync(path.join(textsDir, SOURCE_LANGUAGE, `${area}.json`), 'utf8')));
}
