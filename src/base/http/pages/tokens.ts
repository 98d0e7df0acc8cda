// The only place where a color is written, and below how pages write a person: initials, name and picture. build/styles.mjs turns the table
// of colors into custom properties (`--ink`); mails and the color of the browser's own bars read it directly.

/** Name -> the color in light and in dark mode. */
export const tokens = {
  page: ['#f8f7f5', '#111210'],
  surface: ['#ffffff', '#181a17'],
  raised: ['#f3f2ee', '#20221f'],
  line: ['#e7e4de', '#2c2f2a'],
  // The edge of a control: 3:1 on every ground (WCAG 1.4.11).
  edge: ['#8f8a80', '#777b72'],
  ink: ['#1c1b18', '#ecebe6'],
  soft: ['#625e56', '#a5a79f'],
  brand: ['#1f6650', '#2b7a60'],
  'brand-strong': ['#18523f', '#26705a'],
  'on-brand': ['#ffffff', '#ffffff'],
  'brand-ink': ['#1f6650', '#86cfae'],
  'brand-tint': ['#e7f1ec', '#1c2b25'],
  // On `bad-fill`, whatever the brand is.
  'on-bad': ['#ffffff', '#ffffff'],
  ok: ['#1a6a42', '#7fd0a0'],
  'ok-tint': ['#e4f3e9', '#182a20'],
  warn: ['#7c4d03', '#e3b65c'],
  'warn-tint': ['#fdf2d9', '#2b2414'],
  bad: ['#a4251c', '#ff9c92'],
  'bad-fill': ['#b3261e', '#b5362d'],
  'bad-tint': ['#fdecea', '#301c1a'],
  info: ['#1c5888', '#8fc3ef'],
  'info-tint': ['#e8f1f9', '#17242f'],
  // The initials of people and applications, chosen by name.
  'hue-1': ['#8f3d0c', '#f3a983'],
  'hue-2': ['#1b57a8', '#93bdf5'],
  'hue-3': ['#5f3bb8', '#b9a4f5'],
  'hue-4': ['#0f665f', '#7accc3'],
  'hue-5': ['#9a2a56', '#f29dbd'],
  'hue-6': ['#565f12', '#c3cd7c'],
  // Paper: QR codes and printed pages.
  paper: ['#ffffff', '#ffffff'],
  print: ['#000000', '#000000'],
  veil: ['rgb(0 0 0 / 45%)', 'rgb(0 0 0 / 60%)'],
  shade: ['0 1px 2px rgb(30 26 18 / 5%)', '0 1px 2px rgb(0 0 0 / 40%)'],
  'shade-card': ['0 1px 2px rgb(40 36 28 / 4%), 0 8px 24px rgb(40 36 28 / 5%)', '0 1px 2px rgb(0 0 0 / 30%)'],
  'shade-pop': ['0 8px 28px rgb(30 26 18 / 14%)', '0 8px 28px rgb(0 0 0 / 60%)'],
} as const satisfies Record<string, readonly [light: string, dark: string]>;

export type Token = keyof typeof tokens;

/** The color in one mode. */
export function color(name: Token, mode: 'light' | 'dark'): string {
  return tokens[name][mode === 'light' ? 0 : 1];
}

/** How many hues initials have. */
const HUES = 6;

/** The class of the initials of this name, `hue-1` to `hue-6`: the same name always has the same. */
export function hueOf(name: string): string {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973;
  return `hue-${(sum % HUES) + 1}`;
}

/** The first letters of the first and last word of a person's name, or of the one word of a username. */
export function initials(name: string): string {
  const words = name.split(/[\s._@-]+/).filter(Boolean);
  const ends = words.length > 1 && name.includes(' ') ? [words[0], words.at(-1)] : [words[0] ?? name];
  return ends.map((word) => [...(word ?? '')][0] ?? '').join('');
}

interface Person {
  name?: string | null;
  givenName?: string | null;
  familyName?: string | null;
  picture?: string | null;
}

/** The name of a person: without one, given and family name together; null without any of them. */
export function fullName({ name, givenName, familyName }: Person): string | null {
  return name || [givenName, familyName].filter(Boolean).join(' ') || null;
}

/** What pages call a person: the name, else the username. */
export function displayName(person: Person & { username: string }): string {
  return fullName(person) ?? person.username;
}

/** A person in a question, on a button or in a mail: the displayed name, with the username after it, because two can have the same name. */
export function nameAndUsername(person: Person & { username: string }): string {
  const name = fullName(person);
  return name === null || name === person.username ? person.username : `${name} (${person.username})`;
}

/** Below which the pictures of people are served. */
export const PERSON_PICTURE_PATH = '/assets/person-';
const PERSON_PICTURE = new RegExp(`${PERSON_PICTURE_PATH}[0-9a-f]{32}\\.(?:png|jpg)$`);

/** Where pages read the picture of a person: from this server only; undefined: initials. */
export function pictureOf({ picture }: Person): string | undefined {
  return picture ? PERSON_PICTURE.exec(picture)?.[0] : undefined;
}
