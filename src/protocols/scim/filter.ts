// Filters and paths of SCIM (RFC 7644 3.4.2.2 and 3.5.2), read over the table of attributes. A name is never a key of an object.
import { scimError } from './errors.ts';
import type { Attribute, ResourceType } from './schemas.ts';

/** Longer filters, and parentheses below more others, are rejected. */
const MAX_LENGTH = 2048;
const MAX_DEPTH = 10;

/** An attribute, or one of its parts. */
export interface AttributePath {
  attribute: Attribute;
  sub?: Attribute;
}

export type CompareOp = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le' | 'pr';
const COMPARE_OPS: readonly string[] = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'];

export type Filter =
  | { kind: 'and' | 'or'; of: readonly Filter[] }
  | { kind: 'not'; of: Filter }
  | { kind: 'compare'; path: AttributePath; op: CompareOp; value: string | boolean | null }
  /** A value of the list that fits: `emails[type eq "work"]`. */
  | { kind: 'has'; attribute: Attribute; filter: Filter };

/** The target of an operation: an attribute, some of its values, or a part of them. */
export interface Path extends AttributePath {
  filter?: Filter;
}

/** Throws invalidFilter for what is no filter, and for an attribute that this server does not have. */
export function parseFilter(text: string, type: ResourceType): Filter {
  return read(text, 'invalidFilter', (tokens) => filterOf(tokens, type.attributes, type, 0));
}

/** Throws invalidPath. */
export function parsePath(text: string, type: ResourceType): Path {
  return read(text, 'invalidPath', (tokens) => {
    const path: Path = pathOf(tokens.word(), type.attributes, type, tokens);
    if (!tokens.takes('[')) return path;
    if (path.sub !== undefined || !path.attribute.multiValued) throw tokens.wrong(`${path.attribute.name} is no list`);
    const filter = filterOf(tokens, path.attribute.subAttributes, type, 1);
    tokens.expect(']');
    const dotted = tokens.peek()?.startsWith('.') ? tokens.word().slice(1) : undefined;
    if (dotted === undefined) return { ...path, filter };
    return { ...path, filter, sub: subOf(path.attribute, dotted, tokens) };
  });
}

type Tokens = ReturnType<typeof tokensOf>;

function read<Result>(text: string, scimType: 'invalidFilter' | 'invalidPath', parse: (tokens: Tokens) => Result) {
  const tokens = tokensOf(text, scimType);
  const result = parse(tokens);
  const rest = tokens.peek();
  if (rest !== undefined) throw tokens.wrong(`“${rest}” is not expected`);
  return result;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([^\s()[\]"]+))/y;

function tokensOf(text: string, scimType: 'invalidFilter' | 'invalidPath') {
  const wrong = (what: string) =>
    scimError(scimType, `The ${scimType === 'invalidFilter' ? 'filter' : 'path'} cannot be read: ${what}.`);
  if (text.length > MAX_LENGTH) throw wrong(`it is longer than ${MAX_LENGTH} characters`);
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const trimmed = text.trimEnd();
  while (TOKEN.lastIndex < trimmed.length) {
    const at = TOKEN.lastIndex;
    const [, ...found] = TOKEN.exec(trimmed) ?? [];
    const token = found.find((one) => one !== undefined);
    if (token === undefined) throw wrong(`the text from character ${at + 1} on is no filter`);
    tokens.push(token);
  }
  let next = 0;
  const peek = () => tokens[next];
  return {
    wrong,
    peek,
    takes(token: string): boolean {
      const is = peek()?.toLowerCase() === token;
      if (is) next += 1;
      return is;
    },
    expect(token: string): void {
      if (!this.takes(token)) throw wrong(`“${token}” is missing`);
    },
    word(): string {
      const token = tokens[next];
      if (token === undefined || /^["()[\]]/.test(token)) throw wrong('an attribute is missing');
      next += 1;
      return token;
    },
    value(): string | boolean | null {
      const token = tokens[next];
      if (token === undefined) throw wrong('a value is missing');
      next += 1;
      try {
        const value: unknown = JSON.parse(/^(true|false|null)$/i.test(token) ? token.toLowerCase() : token);
        if (typeof value === 'number') return token;
        if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
      } catch {
        // Not JSON.
      }
      throw wrong(`${token} is no value; texts stand in double quotes`);
    },
  };
}

function filterOf(tokens: Tokens, attributes: ResourceType['attributes'], type: ResourceType, depth: number): Filter {
  if (depth > MAX_DEPTH) throw tokens.wrong(`it has more than ${MAX_DEPTH} levels`);
  const all = (kind: 'and' | 'or', one: () => Filter): Filter => {
    const of = [one()];
    while (tokens.takes(kind)) of.push(one());
    const [first] = of;
    return of.length === 1 && first ? first : { kind, of };
  };
  return all('or', () => all('and', () => termOf(tokens, attributes, type, depth)));
}

function termOf(tokens: Tokens, attributes: ResourceType['attributes'], type: ResourceType, depth: number): Filter {
  const isNot = tokens.takes('not');
  if (isNot || tokens.peek() === '(') {
    tokens.expect('(');
    const of = filterOf(tokens, attributes, type, depth + 1);
    tokens.expect(')');
    return isNot ? { kind: 'not', of } : of;
  }
  const path = pathOf(tokens.word(), attributes, type, tokens);
  if (path.sub === undefined && path.attribute.multiValued && tokens.takes('[')) {
    const filter = filterOf(tokens, path.attribute.subAttributes, type, depth + 1);
    tokens.expect(']');
    const { attribute } = path;
    if (!tokens.peek()?.startsWith('.')) return { kind: 'has', attribute, filter };
    // Entra ID: `emails[type eq "work"].value eq "…"`.
    const compared = comparisonOf({ attribute: subOf(attribute, tokens.word().slice(1), tokens) }, tokens);
    return { kind: 'has', attribute, filter: { kind: 'and', of: [filter, compared] } };
  }
  return comparisonOf(comparable(path), tokens);
}

function comparisonOf(path: AttributePath, tokens: Tokens): Filter {
  const op = tokens.word().toLowerCase();
  if (!isCompareOp(op)) throw tokens.wrong(`“${op}” is no comparison`);
  return { kind: 'compare', path, op, value: op === 'pr' ? null : tokens.value() };
}

const isCompareOp = (op: string): op is CompareOp => COMPARE_OPS.includes(op);

/** `emails eq "…"` is `emails.value eq "…"` (RFC 7644 3.4.2.2). */
function comparable({ attribute, sub }: AttributePath): AttributePath {
  const value = sub ?? attribute.subAttributes.get('value');
  return value ? { attribute, sub: value } : { attribute };
}

/** The attribute of a name such as `userName`, `name.familyName` or a URN with either (RFC 7644 3.10). */
function pathOf(
  text: string,
  attributes: ResourceType['attributes'],
  type: ResourceType,
  tokens: Tokens,
): AttributePath {
  const name = text.toLowerCase();
  const extension = type.extension?.toLowerCase();
  if (extension !== undefined && name.startsWith(extension)) {
    const attribute = attributes.get(extension);
    if (attribute && name === extension) return { attribute };
    // The manager's own parts are not told apart: a path to one is one to the manager.
    const [own = '', part] = name.slice(extension.length + 1).split('.');
    const sub = name[extension.length] === ':' ? attribute?.subAttributes.get(own) : undefined;
    if (attribute && sub && (part === undefined || sub.subAttributes.has(part))) return { attribute, sub };
    throw tokens.wrong(`this server has no attribute ${text}`);
  }
  const core = `${type.schema.toLowerCase()}:`;
  const [own = '', part, ...more] = (name.startsWith(core) ? name.slice(core.length) : name).split('.');
  const attribute = attributes.get(own);
  if (!attribute || more.length > 0) throw tokens.wrong(`this server has no attribute ${text}`);
  return part === undefined ? { attribute } : { attribute, sub: subOf(attribute, part, tokens) };
}

function subOf(attribute: Attribute, name: string, tokens: Tokens): Attribute {
  const sub = attribute.subAttributes.get(name.toLowerCase());
  if (!sub) throw tokens.wrong(`${attribute.name} has no ${name}`);
  return sub;
}

/** Whether the filter looks at the attribute. */
export function mentions(filter: Filter, name: string): boolean {
  if (filter.kind === 'compare') return filter.path.attribute.name === name;
  if (filter.kind === 'has') return filter.attribute.name === name;
  return [filter.of].flat().some((one) => mentions(one, name));
}

/** The value of an attribute of a resource. */
export type Value = string | boolean | Complex | readonly Complex[];
export type Complex = ReadonlyMap<string, Value>;

/** A text as it is compared where case does not matter, as long as an index takes. */
export const textKey = (text: string): string => text.toLowerCase().slice(0, 500);

/** Whether a resource, or a value of a list, fits. @param of its attributes, by their names in the table */
export function fits(filter: Filter, of: Complex): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((one) => fits(one, of));
    case 'or':
      return filter.of.some((one) => fits(one, of));
    case 'not':
      return !fits(filter.of, of);
    case 'has':
      return listOf(of.get(filter.attribute.name)).some((one) => fits(filter.filter, one));
    default:
      return compares(filter, valuesAt(filter.path, of));
  }
}

export function listOf(value: Value | undefined): readonly Complex[] {
  return Array.isArray(value) ? value : [];
}

function valuesAt({ attribute, sub }: AttributePath, of: Complex): (string | boolean)[] {
  const value = of.get(attribute.name);
  const found = sub === undefined ? [value] : partsOf(value).map((part) => part.get(sub.name));
  return found.filter((one) => typeof one === 'string' || typeof one === 'boolean');
}

const partsOf = (value: Value | undefined): readonly Complex[] =>
  value instanceof Map ? [value as Complex] : listOf(value);

function compares(
  { path, op, value }: Extract<Filter, { kind: 'compare' }>,
  found: readonly (string | boolean)[],
): boolean {
  if (op === 'pr') return found.length > 0;
  if (op === 'ne') return !found.some((one) => isEqual(path, one, value));
  if (value === null) return op === 'eq' && found.length === 0;
  return found.some((one) => compare(path, op, one, value));
}

function compare(path: AttributePath, op: CompareOp, one: string | boolean, value: string | boolean): boolean {
  if (op === 'eq') return isEqual(path, one, value);
  const [text, wanted] = [textOf(path, one), textOf(path, value)];
  if (op === 'co') return text.includes(wanted);
  if (op === 'sw') return text.startsWith(wanted);
  if (op === 'ew') return text.endsWith(wanted);
  if (op === 'gt') return text > wanted;
  if (op === 'ge') return text >= wanted;
  return op === 'lt' ? text < wanted : text <= wanted;
}

const isEqual = (path: AttributePath, one: string | boolean, value: string | boolean | null): boolean =>
  value !== null && textOf(path, one) === textOf(path, value);

/** Booleans too, which Entra sends as texts. */
function textOf({ attribute, sub }: AttributePath, value: string | boolean): string {
  const { caseExact, type } = sub ?? attribute;
  if (type === 'dateTime' && !Number.isNaN(Date.parse(String(value)))) return new Date(String(value)).toISOString();
  return caseExact ? String(value) : String(value).toLowerCase();
}
