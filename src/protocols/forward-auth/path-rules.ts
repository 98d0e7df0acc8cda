// Which rule of a website counts for a path. Servers read some paths in two ways, so with rules those are rejected first; what is left is
// compared in a normal form.

import type { AccessSubject } from '../../applications/access-decision.ts';
import { type PathRule, pathMethods } from '../../applications/fields/proxied-application.ts';

/**
 * Segments of dots (to Windows also of dots and spaces), empty segments, parameters, streams of NTFS (`::$DATA`), and encoded separators,
 * percent signs or control characters (CVE-2021-32637, CVE-2026-134802 and their kind).
 */
const AMBIGUOUS = /\/\/|\\|;|:\$|%(2f|5c|25|3b|23|3f|7f|[01][0-9a-f])|\/[\s.]+(\/|$)/i;
/** The same in a path that is decoded, with characters that look like a separator or are one in a code page of Windows. */
const AMBIGUOUS_TEXT = /\/\/|[\\;%?#¥₩∕⁄∖⧵⧸⧹⟋⟍╱╲]|:\$|\/[\s.]+(\/|$)/;

/** Whether two servers could read this path differently. */
export function isAmbiguous(path: string): boolean {
  const text = textOf(path);
  if (text === undefined || AMBIGUOUS.test(normalPath(path))) return true;
  const read = compatible(text);
  return AMBIGUOUS_TEXT.test(read) || read.split('/').length !== text.split('/').length;
}

/** The decoded path; undefined unless every percent sign begins a byte, and all of them are UTF-8: `%c0%af` is a slash to some servers (RFC 3629 10). */
function textOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Backends decode each visible character, so a rule for `/@me/` counts for `/%40me/`. What separates stays as it was sent. */
function normalPath(path: string): string {
  return path.replace(/%([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[^\s/\\;%?#\x7f]/.test(character) ? character : encoded;
  });
}

/** Without invisible characters, and compatible ones alike: `K` is also the sign of Kelvin, and a full-width slash is one to some servers. */
const compatible = (text: string) => text.normalize('NFKC').replace(/[\p{Cf}\p{DI}]/gu, '');

/** What some websites do before they compare: Windows ends no name with a dot or a space, and `i` has a capital with a dot besides. */
const STEPS: readonly ((text: string) => string)[] = [
  compatible,
  (text) => text.replace(/(?<![\s.])[\s.]+(?=\/|$)/g, ''),
  (text) => text.toUpperCase().toLowerCase().replaceAll('\u0307', ''),
];

/** A path as websites read it: as it is, and after each subset of the steps, in this order. */
function readingsOf(path: string): string[] {
  let readings = [path];
  for (const step of STEPS) readings = readings.flatMap((reading) => [reading, step(reading)]);
  return readings;
}

interface PreparedRule {
  rule: PathRule;
  /** Its path in each reading, in the order of `readingsOf`. */
  readings: string[];
}

/** Of each list of rules: the longest path first. */
const prepared = new WeakMap<readonly PathRule[], PreparedRule[]>();

function longestFirst(rules: readonly PathRule[]): PreparedRule[] {
  const known = prepared.get(rules);
  if (known) return known;
  const sorted = [...rules].sort((one, other) => other.path.length - one.path.length);
  const made = sorted.map((rule) => ({ rule, readings: readingsOf(rule.path) }));
  prepared.set(rules, made);
  return made;
}

// Whether the path of a rule covers one that is asked for. Websites do it in each of these ways.
/** A path with a slash at the end covers all below it. */
const covers = (path: string, asked: string) =>
  path.endsWith('/') ? asked.startsWith(path) || `${asked}/` === path : asked === path;
/** Also a file with a slash at the end. */
const coversWithoutSlash = (path: string, asked: string) => covers(path, asked) || asked === `${path}/`;
/** Also what is below a file: a program gets what follows its name as PATH_INFO (RFC 3875 4.1.5). It opens nothing. */
const coversPathInfo = (path: string, asked: string, { rule }: PathRule) =>
  coversWithoutSlash(path, asked) || (rule !== 'public' && asked.startsWith(`${path}/`));
const WAYS_TO_COVER = [covers, coversWithoutSlash, coversPathInfo];

/**
 * The methods whose rules count too, next to `own`, that of the method itself: what no rule can name, such as PROPFIND, opens nothing that a rule
 * closes for any method. Nor does OPTIONS, which some programs answer like GET, unless its rule names it.
 */
function methodsBesides(method: string, own: PathRule | undefined): readonly string[] {
  if (method === 'HEAD') return ['GET'];
  const isNamed = method === 'OPTIONS' ? own?.methods !== undefined : pathMethods.some((one) => one === method);
  return isNamed ? [] : pathMethods;
}

/**
 * The rules that count for a path which is not ambiguous, by this method: that of the longest path that covers it, in each way in which websites
 * read it. Some take letters in either case, a dot or a slash at the end for none, what is below a file for the file, or HEAD for GET. Each of them
 * must be met; undefined: the access rule alone counts.
 */
export function rulesFor(rules: readonly PathRule[], method: string, path: string): (PathRule | undefined)[] {
  if (rules.length === 0) return [undefined];
  const found = new Set<PathRule | undefined>();
  for (const [at, asked] of readingsOf(textOf(path) ?? path).entries()) {
    for (const isCovered of WAYS_TO_COVER) {
      const covering = longestFirst(rules).filter(({ rule, readings }) => isCovered(readings[at] ?? '', asked, rule));
      const own = ruleFor(method, covering);
      found.add(own);
      for (const other of methodsBesides(method, own)) found.add(ruleFor(other, covering));
    }
  }
  return [...found];
}

/** The first of these rules that names this method, or no method. */
const ruleFor = (method: string, rules: readonly PreparedRule[]): PathRule | undefined =>
  rules.find(({ rule: { methods } }) => !methods || methods.some((one) => one === method))?.rule;

/** The first of these rules that names roles and groups of which the account has none. */
export function brokenRule(
  rules: readonly (PathRule | undefined)[],
  { roles, groups }: AccessSubject,
): PathRule | undefined {
  const isMet = ({ rule }: PathRule) =>
    typeof rule === 'string' ||
    rule.roles.some((name) => roles.includes(name)) ||
    rule.groups.some((name) => groups.some((group) => group.name === name));
  return rules.find((rule) => rule !== undefined && !isMet(rule));
}

/** A rule that does not allow the account, in a rejection: who it is, and who may open the part. */
export function rejectionBy(
  { path, rule }: PathRule,
  { username, roles, groups }: AccessSubject & { username: string },
) {
  const held = [...roles, ...groups.map(({ name }) => name)].join(', ') || 'no roles';
  const wanted = typeof rule === 'string' ? rule : [...rule.roles, ...rule.groups].join(', ') || 'nobody';
  return { rule: 'path_rule', received: `${username}: ${held}`, expected: `${path}: ${wanted}` } as const;
}
