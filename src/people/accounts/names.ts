// Usernames and email addresses: which are accepted, and the canonical form that decides whether two are the same.
// Alice, ALICE, ａlice (full width) and аlice (with a Cyrillic letter) are the same name.
import { domainOf } from '../../base/network/domains.ts';
import { type Text, t } from '../../base/texts/text.ts';

/** Why a name is rejected; `nameAdvice` has the texts. */
export type NameFault = 'empty' | 'too_long' | 'invisible_characters' | 'spaces' | 'mixed_scripts' | 'at_sign';
export type EmailFault = 'empty' | 'too_long' | 'syntax';

const MAX_USERNAME = 64;
const MAX_EMAIL = 254; // RFC 5321 4.5.3.1.3, less the angle brackets

// Letters of other alphabets that look like a Latin letter, in either case. A subset of UTS 39: those on common keyboards.
// All are lower case, because the key is.
const LOOK_ALIKES = new Map(
  Object.entries({
    a: 'аα',
    b: 'вβ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еε',
    g: 'ɡ',
    h: 'һнη',
    i: 'іιıɩ',
    j: 'јϳ',
    k: 'кκ',
    l: 'ӏ',
    m: 'мμ',
    o: 'оοօ',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕς',
    t: 'тτ',
    u: 'υս',
    v: 'ѵν',
    w: 'ԝ',
    x: 'хχ',
    y: 'уγү',
    z: 'ζ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);
const LOOK_ALIKE = new RegExp(`[${[...LOOK_ALIKES.keys()].join('')}]`, 'gu');
// A name that mixes two of these alphabets is rejected: it only serves to deceive.
const SCRIPTS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee'].map(
  (script) => new RegExp(`\\p{Script=${script}}`, 'u'),
);

/** The canonical form of a username, email address or typed login: equal keys are the same name. */
export function nameKey(value: string): string {
  return value
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replaceAll('i\u0307', 'i') // the Turkish capital I with its dot
    .replaceAll('σ', 'ς') // one sigma, wherever it stands in the word
    .replace(LOOK_ALIKE, (letter) => LOOK_ALIKES.get(letter) ?? letter);
}

/** The columns that name a person on a page, with the picture beside the name. */
export const NAMED_PERSON = {
  id: true,
  username: true,
  name: true,
  givenName: true,
  familyName: true,
  picture: true,
} as const;

/** The user as these columns say. */
export type NamedPerson = Record<Exclude<keyof typeof NAMED_PERSON, 'id' | 'username'>, string | null> & {
  id: string;
  username: string;
};

/** How well a name matches what was typed, from the best on. */
export const MATCHES = { equal: 0, begins: 1, word: 2, inside: 3, none: 4 } as const;

/** Of the best of these names. Case and letters that look alike do not matter. */
export function matchRank(text: string, names: readonly (string | null)[]): number {
  const key = nameKey(text);
  return Math.min(...names.map((name) => rankOf(key, nameKey(name ?? ''))), MATCHES.none);
}

function rankOf(key: string, name: string): number {
  if (name === key) return MATCHES.equal;
  if (name.startsWith(key)) return MATCHES.begins;
  if (name.split(/[\s/_.:-]+/).some((word) => word.startsWith(key))) return MATCHES.word;
  return name.includes(key) ? MATCHES.inside : MATCHES.none;
}

/** The domains whose addresses may be usernames; `any` where the caller has checked that, or nothing changes. */
export type NameDomains = readonly string[] | 'any';

/** What is wrong with `username`, or undefined. With an @ it must be the account's own email address, or in one of `domains`. */
export function usernameFault(
  username: string,
  email?: string | null,
  domains: NameDomains = [],
): NameFault | undefined {
  const name = username.normalize('NFKC').trim();
  if (name === '') return 'empty';
  if ([...name].length > MAX_USERNAME && !name.includes('@')) return 'too_long';
  if (/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(name)) return 'invisible_characters';
  if (/\s/u.test(name)) return 'spaces';
  if (SCRIPTS.filter((script) => script.test(name)).length > 1) return 'mixed_scripts';
  // Otherwise a user could take the email address of another as username and receive that user's sign-ins.
  if (name.includes('@') && (!email || nameKey(email) !== nameKey(name)) && !isAddressIn(name, domains))
    return 'at_sign';
  return undefined;
}

function isAddressIn(name: string, domains: NameDomains): boolean {
  if (emailFault(name)) return false;
  return domains === 'any' || domains.includes(domainOf(name));
}

const typedForm = (text: string): string => text.normalize('NFKC').trim().toLowerCase();

/** Whether the address is in one of these domains, or there are none. A subdomain is another domain, and so is a look-alike. */
export const isInDomains = (address: string, domains: readonly string[]): boolean =>
  domains.length === 0 || domains.includes(domainOf(address));

/** Whether two addresses are one mailbox, whatever their case; look-alikes are two. */
export const isSameAddress = (one: string | null, other: string | null): boolean =>
  typedForm(one ?? '') === typedForm(other ?? '');

/** What is wrong with an email address, or undefined. Only its syntax; a mailed link verifies it. */
export function emailFault(email: string): EmailFault | undefined {
  const address = email.normalize('NFKC').trim();
  if (address === '') return 'empty';
  if (address.length > MAX_EMAIL) return 'too_long';
  return LOCAL_AT_DOMAIN.test(address) && !/[\p{C}\p{Default_Ignorable_Code_Point}]/u.test(address)
    ? undefined
    : 'syntax';
}

// RFC 5322 dot-atom (with Unicode, RFC 6532) at a host name; no quoted local parts, which no mail provider issues.
const ATOM = String.raw`[^\s"(),.:;<>@[\\\]]+`;
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?`;
const LOCAL_AT_DOMAIN = new RegExp(String.raw`^(?=[^@]{1,64}@)${ATOM}(?:\.${ATOM})*@${LABEL}(?:\.${LABEL})*$`, 'u');

/** One sentence for the user who typed the name. */
export function nameAdvice(fault: NameFault | EmailFault): Text {
  const advice: Record<NameFault | EmailFault, Text> = {
    empty: t('name.empty'),
    too_long: t('name.too-long'),
    invisible_characters: t('name.invisible'),
    spaces: t('name.spaces'),
    mixed_scripts: t('name.mixed-scripts'),
    at_sign: t('name.at-sign'),
    syntax: t('registration.invalid-email'),
  };
  return advice[fault];
}
