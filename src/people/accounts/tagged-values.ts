// Values in other languages (OpenID Connect Core 5.2): attributes of an account under tagged names, such as `name#ja` for the claim `name`
// and `department#ja` for the attribute `department`.
import { canonicalTag } from '../../base/texts/languages.ts';
import { textFields } from './profile-fields.ts';

/** The standard claims that have values in other languages. */
export const taggableClaims: ReadonlySet<string> = new Set(
  Object.values(textFields).flatMap(({ claim, isTaggable }) => (isTaggable ? [claim] : [])),
);

export interface TaggedName {
  /** The name without its tag. */
  base: string;
  /** A BCP 47 language tag, in the case in which it was written. */
  tag: string;
}

const TAGGED = /^([^#]+)#([a-z]{2,8}(?:-[a-z0-9]{1,8})*)$/i;

/** The parts of a tagged name; undefined for any other name. */
export function taggedName(name: string): TaggedName | undefined {
  const [, base, tag] = TAGGED.exec(name) ?? [];
  return base !== undefined && tag !== undefined && canonicalTag(tag) !== undefined ? { base, tag } : undefined;
}

/** The languages of values that a request asks for. */
export interface RequestedLanguages {
  /** `claims_locales`, in order of preference. */
  locales: readonly string[];
  /** The tagged names that are requested one by one. */
  names: readonly string[];
}

/**
 * The values of a claim in the requested languages, by the names under which they are delivered. Those of a single locale have no tag, because
 * the application then expects the claims in one language only.
 *
 * @param base the name of the values in `attributes`, without a tag
 */
export function valuesInLanguages(
  claim: string,
  { attributes, base }: { attributes: Readonly<Record<string, unknown>>; base: string },
  { locales, names }: RequestedLanguages,
): Record<string, unknown> {
  const tags = Object.keys(attributes).flatMap((name) => {
    const tagged = taggedName(name);
    return tagged?.base === base ? [tagged.tag] : [];
  });
  if (tags.length === 0) return {};
  const valueIn = (tag: string) => attributes[`${base}#${tag}`];
  const values: [string, unknown][] = [];
  for (const locale of locales) {
    const tag = tagWithin(locale, tags) ?? broaderTag(locale, tags);
    const name = locales.length === 1 ? claim : `${claim}#${tag}`;
    if (tag !== undefined) values.push([name, valueIn(tag)]);
  }
  for (const name of names) {
    const requested = taggedName(name);
    const tag = requested?.base === claim ? tagWithin(requested.tag, tags) : undefined;
    if (tag !== undefined) values.push([name, valueIn(tag)]);
  }
  return Object.fromEntries(values);
}

/** The tag itself, or the shortest one within it: `de` is `de-CH` where there is no `de` (RFC 4647, section 3.3.1). */
function tagWithin(wanted: string, tags: readonly string[]): string | undefined {
  const range = wanted.toLowerCase();
  const within = tags.filter((tag) => `${tag.toLowerCase()}-`.startsWith(`${range}-`));
  return within.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0];
}

/** The longest tag that the wanted one is within: `de-AT` is `de` (RFC 4647, section 3.4). */
function broaderTag(wanted: string, tags: readonly string[]): string | undefined {
  const broader = tags.filter((tag) => `${wanted.toLowerCase()}-`.startsWith(`${tag.toLowerCase()}-`));
  return broader.sort((a, b) => b.length - a.length)[0];
}
