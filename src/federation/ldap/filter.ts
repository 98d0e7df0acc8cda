// Search filters (RFC 4515) from a template of the connection. The typed value is set in the parsed filter, so it is never parsed
// itself: no character in it is syntax; and filters for one value. Pure.
import { randomBytes } from 'node:crypto';
import {
  AndFilter,
  ApproximateFilter,
  EqualityFilter,
  ExtensibleFilter,
  type Filter,
  FilterParser,
  GreaterThanEqualsFilter,
  LessThanEqualsFilter,
  NotFilter,
  OrFilter,
  SubstringFilter,
} from 'ldapts';

/**
 * The filter with a value in place of `{name}`, wherever that stands. Throws for a template that is no filter.
 * @param value raw: nothing is escaped by the caller
 */
export function filterWith(template: string, name: 'username' | 'dn', value: string): Filter {
  const mark = `gh${randomBytes(12).toString('hex')}`;
  const filter = FilterParser.parseString(template.replaceAll(`{${name}}`, mark));
  fill(filter, (text) => text.replaceAll(mark, () => value));
  return filter;
}

/** The attributes that the template compares with `{username}`, in lower case. */
export function attributesOfLogin(template: string): string[] {
  const found: string[] = [];
  fill(FilterParser.parseString(template.replaceAll('{username}', LOGIN)), (text, attribute) => {
    if (text.includes(LOGIN)) found.push(attribute.toLowerCase());
    return text;
  });
  return [...new Set(found)];
}

const LOGIN = 'gatehouse-login';

/** Every filter matches. */
export const allOf = (...filters: Filter[]): Filter => new AndFilter({ filters });
/** One of the filters matches; there is at least one. */
export const oneOf = (...filters: Filter[]): Filter => new OrFilter({ filters });
export const equals = (attribute: string, value: string | Buffer): Filter => new EqualityFilter({ attribute, value });

function fill(filter: Filter, replace: (text: string, attribute: string) => string): void {
  if (filter instanceof AndFilter || filter instanceof OrFilter) for (const one of filter.filters) fill(one, replace);
  else if (filter instanceof NotFilter) fill(filter.filter, replace);
  else if (filter instanceof SubstringFilter) {
    const { attribute } = filter;
    filter.initial = replace(filter.initial, attribute);
    filter.any = filter.any.map((text) => replace(text, attribute));
    filter.final = replace(filter.final, attribute);
  } else if (
    filter instanceof EqualityFilter ||
    filter instanceof ApproximateFilter ||
    filter instanceof GreaterThanEqualsFilter ||
    filter instanceof LessThanEqualsFilter
  ) {
    if (typeof filter.value === 'string') filter.value = replace(filter.value, filter.attribute);
  } else if (filter instanceof ExtensibleFilter) {
    if (typeof filter.value === 'string') filter.value = replace(filter.value, filter.matchType);
  }
}
