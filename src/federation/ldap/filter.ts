// Search filters (RFC 4515) from a template of the connection. The typed value is set in the parsed filter, so it is never parsed
// itself: no character in it is syntax. Pure.
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

function fill(filter: Filter, replace: (text: string) => string): void {
  if (filter instanceof AndFilter || filter instanceof OrFilter) for (const one of filter.filters) fill(one, replace);
  else if (filter instanceof NotFilter) fill(filter.filter, replace);
  else if (filter instanceof SubstringFilter) {
    filter.initial = replace(filter.initial);
    filter.any = filter.any.map(replace);
    filter.final = replace(filter.final);
  } else if (
    filter instanceof EqualityFilter ||
    filter instanceof ApproximateFilter ||
    filter instanceof GreaterThanEqualsFilter ||
    filter instanceof LessThanEqualsFilter ||
    filter instanceof ExtensibleFilter
  ) {
    if (typeof filter.value === 'string') filter.value = replace(filter.value);
  }
}
