// Which rule of a website counts for a path. Servers read some paths in two ways, so with rules those are rejected first; what is left is
// compared in a normal form.

import type { AccessSubject } from '../../applications/access-decision.ts';
import type { PathRule } from '../../applications/fields/proxied-application.ts';

/** Dot segments, empty segments, parameters, and encoded separators, percent signs or control characters (CVE-2021-32637, CVE-2026-134802 and their kind). */
const AMBIGUOUS = /\/\/|\\|;|%(2f|5c|25|3b|23|3f|7f|[01][0-9a-f])|\/\.{1,2}(\/|$)/i;

/** Whether two servers could read this path differently. */
export function isAmbiguous(path: string): boolean {
  return AMBIGUOUS.test(normalPath(path)) || !isText(path);
}

/** Whether every percent sign begins a byte, and all of them are UTF-8: `%c0%af` is a slash to some servers (RFC 3629 10). */
function isText(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Backends decode each visible character, so a rule for `/@me/` counts for `/%40me/`. What separates stays as it was sent. */
function normalPath(path: string): string {
  return path.replace(/%([2-7][0-9a-f])/gi, (encoded, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[^\s/\\;%?#\x7f]/.test(character) ? character : encoded;
  });
}

/** Letters as a website may compare them: in one case, and compatible ones alike (`K` is also the sign of Kelvin). */
const folded = (path: string) => path.normalize('NFKC').toLowerCase();

const covers = (rule: string, asked: string) =>
  rule.endsWith('/') ? asked.startsWith(rule) || `${asked}/` === rule : asked === rule;
const coversWithoutSlash = (rule: string, asked: string) => covers(rule, asked) || asked === `${rule}/`;

/**
 * The rules that count for a path which is not ambiguous, by this method: that of the longest path that covers it, in each way in which websites
 * read it. Some take letters in either case, a slash at the end for none, or HEAD for GET. Each of them must be met; undefined: the access
 * rule alone counts.
 */
export function rulesFor(rules: readonly PathRule[], method: string, path: string): (PathRule | undefined)[] {
  if (rules.length === 0) return [undefined];
  const asked = isText(path) ? decodeURIComponent(path) : path;
  const longestFirst = [...rules].sort((one, other) => other.path.length - one.path.length);
  const found = new Set<PathRule | undefined>();
  for (const as of method === 'HEAD' ? ['HEAD', 'GET'] : [method]) {
    const ofMethod = longestFirst.filter(({ methods }) => methods === undefined || methods.some((one) => one === as));
    for (const reads of [covers, coversWithoutSlash]) {
      found.add(ofMethod.find((rule) => reads(rule.path, asked)));
      found.add(ofMethod.find((rule) => reads(folded(rule.path), folded(asked))));
    }
  }
  return [...found];
}

/** The first of these rules of which the account has no role and is in no group. */
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
