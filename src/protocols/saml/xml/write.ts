// Writes XML directly in exclusive canonical form (xml-exc-c14n, RFC 3741), so that it can be hashed and signed without
// parsing it again: sorted attributes, each namespace declared where it is first visibly used, no empty-element tags, c14n
// escaping. The tests compare the result with two canonicalizers.
import { namespaces } from './names.ts';
import type { Prefix, QualifiedName } from './read.ts';

export interface XmlElement {
  readonly name: QualifiedName;
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly children: readonly XmlChild[];
}

/** The result of `canonical`, with its own namespace declarations. */
export interface CanonicalXml {
  readonly canonical: string;
  readonly declares: ReadonlySet<Prefix>;
}

export type XmlChild = XmlElement | CanonicalXml | string | undefined;

/** An element; undefined attributes and children are left out, strings are text. */
export function element(
  name: QualifiedName,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: XmlChild[]
): XmlElement {
  return { name, attributes, children };
}

/** The canonical form of the element as the root of a signed document. */
export function canonical(root: XmlElement): CanonicalXml {
  const declares = new Set<Prefix>();
  return { canonical: write(root, new Set(), declares), declares };
}

/**
 * The form to send: the canonical form with U+0085 and U+2028 as character references. Parsers that apply the line-end
 * rules of XML 1.1 (xmldom) would turn the characters into line feeds; the digest is the same.
 */
export function wireFormat(xml: CanonicalXml): string {
  return xml.canonical.replace(/[\u0085\u2028]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
}

/** xs:dateTime in UTC (SAML Core 1.3.3), in whole seconds. */
export function samlTime(time: Date, addSeconds = 0): string {
  return `${new Date(time.getTime() + addSeconds * 1000).toISOString().slice(0, 19)}Z`;
}

function write(node: XmlElement, scope: ReadonlySet<Prefix>, declares: Set<Prefix>): string {
  const names = Object.keys(node.attributes).filter((name) => node.attributes[name] !== undefined);
  const used = new Set([prefixOf(node.name), ...names.map(prefixOf)]);
  used.delete('');
  used.delete('xml');
  const newPrefixes = [...used].filter((prefix): prefix is Prefix => prefix !== '' && !scope.has(prefix)).sort();
  const inner = newPrefixes.length === 0 ? scope : new Set([...scope, ...newPrefixes]);
  let text = `<${node.name}`;
  for (const prefix of newPrefixes) {
    declares.add(prefix);
    text += ` xmlns:${prefix}="${namespaces[prefix]}"`;
  }
  if (names.length > 1) names.sort(byNamespaceThenName);
  for (const name of names) text += ` ${name}="${escapeAttribute(node.attributes[name] ?? '')}"`;
  text += '>';
  for (const child of node.children) text += writeChild(child, inner, declares);
  return `${text}</${node.name}>`;
}

function writeChild(child: XmlChild, scope: ReadonlySet<Prefix>, declares: Set<Prefix>): string {
  if (child === undefined) return '';
  if (typeof child === 'string') return escapeText(child);
  if (!('canonical' in child)) return write(child, scope, declares);
  for (const prefix of child.declares) {
    // Declared twice, the text would not be the canonical form of the whole.
    if (scope.has(prefix)) throw new Error(`canonical fragment declares ${prefix}, which is already in scope`);
  }
  return child.canonical;
}

function prefixOf(name: string): Prefix | '' {
  const colon = name.indexOf(':');
  if (colon < 0) return '';
  const prefix = name.slice(0, colon);
  if (!(prefix in namespaces)) throw new Error(`unknown namespace prefix in ${name}`);
  return prefix as Prefix;
}

function byNamespaceThenName(a: string, b: string): number {
  return sortKey(a) < sortKey(b) ? -1 : 1;
}

function sortKey(name: string): string {
  const prefix = prefixOf(name);
  // The separator sorts before every character of a URI; attributes without namespace come first.
  return prefix === '' ? `\u0000${name}` : `${namespaces[prefix]}\u0000${name.slice(prefix.length + 1)}`;
}

const textSpecial = /[&<>\r]/g;
const attributeSpecial = /[&<"\t\n\r]/g;
const references: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

function escapeText(text: string): string {
  return replaceForbiddenCharacters(text).replace(textSpecial, (character) => references[character] ?? '');
}

function escapeAttribute(value: string): string {
  return replaceForbiddenCharacters(value).replace(attributeSpecial, (character) => references[character] ?? '');
}

// XML 1.0 section 2.2, and lone surrogates, which have no UTF-8 form.
const unrepresentable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Replaces characters that XML cannot contain by U+FFFD: a control character in a name must not prevent a sign-in. */
export function replaceForbiddenCharacters(text: string): string {
  return text.replace(unrepresentable, '\ufffd');
}
