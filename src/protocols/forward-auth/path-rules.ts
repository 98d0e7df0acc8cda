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

/**
 * The rule of the longest path that covers this one, for this method; undefined: the access rule alone counts. Letters count in either case,
 * and a slash at the end counts as none, as some websites read them, but nothing becomes public by that.
 */
export function ruleFor(rules: readonly PathRule[], method: string, path: string): PathRule | undefined {
  const normal = normalPath(path);
  const covers = (rule: string, asked: string) =>
    rule.endsWith('/') ? asked.startsWith(rule) || `${asked}/` === rule : asked === rule;
  const coversLoosely = (rule: string, asked: string) => covers(rule, asked) || asked === `${rule}/`;
  const found = rules
    .filter(({ methods }) => methods === undefined || methods.some((one) => one === method))
    .filter((rule) => coversLoosely(rule.path.toLowerCase(), normal.toLowerCase()))
    .filter((rule) => rule.rule !== 'public' || covers(rule.path, normal));
  return found.sort((one, other) => other.path.length - one.path.length)[0];
}

/** Whether the account has one of the roles, or is in one of the groups, of the rule. */
export function meetsRule({ rule }: PathRule, account: AccessSubject): boolean {
  if (typeof rule === 'string') return true;
  return (
    rule.roles.some((name) => account.roles.includes(name)) ||
    rule.groups.some((name) => account.groups.some((group) => group.name === name))
  );
}

/** A rule that does not allow the account, in a rejection: who it is, and who may open the part. */
export function brokenPathRule(
  { path, rule }: PathRule,
  { username, roles, groups }: AccessSubject & { username: string },
) {
  const held = [...roles, ...groups.map(({ name }) => name)].join(', ') || 'no roles';
  const wanted = typeof rule === 'string' ? rule : [...rule.roles, ...rule.groups].join(', ') || 'nobody';
  return { rule: 'path_rule', received: `${username}: ${held}`, expected: `${path}: ${wanted}` } as const;
}
