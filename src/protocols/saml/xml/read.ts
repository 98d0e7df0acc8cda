// Reads a parsed tree by namespace and local name, never by prefix, and one level at a time.
import { namespaces } from './names.ts';

export type Prefix = keyof typeof namespaces;
export type QualifiedName = `${Prefix}:${string}`;

/** Whether the element has this name, whatever prefix its author chose. */
export function isElement(element: Element, name: QualifiedName): boolean {
  const colon = name.indexOf(':');
  return (
    element.localName === name.slice(colon + 1) && element.namespaceURI === namespaces[name.slice(0, colon) as Prefix]
  );
}

/** The child elements, in order. */
export function elements(parent: Element): Element[] {
  const found: Element[] = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === 1) found.push(node as Element);
  }
  return found;
}

/** The children of this name, in order. */
export function childrenOf(parent: Element, name: QualifiedName): Element[] {
  return elements(parent).filter((child) => isElement(child, name));
}

/** The first child of this name; the schema rejects a second one where only one is allowed. */
export function childOf(parent: Element, name: QualifiedName): Element | undefined {
  return childrenOf(parent, name)[0];
}

/** Every element of the tree, the root first. */
export function* everyElement(root: Element): Generator<Element> {
  yield root;
  for (const child of elements(root)) yield* everyElement(child);
}

/**
 * The attribute without namespace, or undefined, without the white space around it: every type that SAML has for an attribute but
 * xs:string collapses it (XML Schema 2 section 4.3.6), and documents are indented by hand.
 */
export function attribute(element: Element, name: string): string | undefined {
  const value = element.getAttributeNode(name)?.value;
  return value === undefined ? undefined : trimmed(value);
}

/** The text of an element, without the white space around it. */
export function textOf(element: Element): string {
  return trimmed(element.textContent ?? '');
}

function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  // A regular expression anchored at the end would take quadratic time for long runs of spaces.
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isWhiteSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** White space of XML 1.0 section 2.3, which is less than that of Unicode. */
function isWhiteSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** xs:boolean, which may also be written as `1` and `0`. */
export function booleanAttribute(element: Element, name: string): boolean | undefined {
  const value = attribute(element, name);
  return value === undefined ? undefined : value === 'true' || value === '1';
}

/** A whole number that is not negative. */
export function numberAttribute(element: Element, name: string): number | undefined {
  const value = attribute(element, name);
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}

const dateTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/;

/** xs:dateTime; SAML times are UTC (Core 1.3.3), also without a time zone. Undefined for an invalid time. */
export function timeAttribute(element: Element, name: string): Date | undefined {
  const match = dateTime.exec(attribute(element, name) ?? '');
  if (!match) return undefined;
  const time = new Date(`${match[1]}${(match[2] ?? '').slice(0, 4)}${match[3] ?? 'Z'}`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

const duration =
  /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,5})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})(?:\.\d+)?S)?)?$/;
const DURATION_SECONDS = [365 * 86_400, 30 * 86_400, 86_400, 3600, 60, 1];

/** xs:duration in seconds, with years of 365 and months of 30 days. Undefined for an invalid or negative one. */
export function durationAttribute(element: Element, name: string): number | undefined {
  const parts = duration.exec(attribute(element, name) ?? '')?.slice(1);
  if (!parts?.some((part) => part !== undefined)) return undefined;
  return parts.reduce((sum, part, position) => sum + Number(part ?? 0) * (DURATION_SECONDS[position] ?? 0), 0);
}
