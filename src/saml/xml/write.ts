// Writes XML that is exclusive canonical XML already (xml-exc-c14n, RFC 3741), so that we can hash and sign our own
// bytes instead of parsing them back: attributes in order, each namespace declared where it is first visibly used,
// no empty-element tags, c14n escaping. Checked against two canonicalizers in the tests.
import { namespaces } from '../names.ts';
import type { Prefix, QualifiedName } from './read.ts';

export interface XmlElement {
  readonly name: QualifiedName;
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly children: readonly XmlChild[];
}

/** Text that `canonical` made; it brings its own namespace declarations along. */
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

/** The canonical form of the element as the root of what is signed. */
export function canonical(root: XmlElement): CanonicalXml {
  const declares = new Set<Prefix>();
  return { canonical: write(root, new Set(), declares), declares };
}

/**
 * The form to send. Equal to the canonical form but for U+0085 and U+2028, which parsers that apply the line-end rules
 * of XML 1.1 (xmldom) would turn into line feeds; as references they arrive intact, and no digest changes.
 */
export function wireForm(xml: CanonicalXml): string {
  return xml.canonical.replace(/[\u0085\u2028]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
}

function write(node: XmlElement, scope: ReadonlySet<Prefix>, declares: Set<Prefix>): string {
  const names = Object.keys(node.attributes).filter((name) => node.attributes[name] !== undefined);
  const used = new Set([prefixOf(node.name), ...names.map(prefixOf)]);
  used.delete('');
  used.delete('xml');
  const fresh = [...used].filter((prefix): prefix is Prefix => prefix !== '' && !scope.has(prefix)).sort();
  const inner = fresh.length === 0 ? scope : new Set([...scope, ...fresh]);
  let text = `<${node.name}`;
  for (const prefix of fresh) {
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
    // It would be declared twice, and no longer be the canonical form of the whole.
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
  return representable(text).replace(textSpecial, (character) => references[character] ?? '');
}

function escapeAttribute(value: string): string {
  return representable(value).replace(attributeSpecial, (character) => references[character] ?? '');
}

// XML 1.0 section 2.2. Lone surrogates count, because they have no UTF-8 form either.
const unrepresentable = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** What XML cannot carry becomes U+FFFD: a display name with a control character must not stop a sign-in. */
export function representable(text: string): string {
  return text.replace(unrepresentable, '\ufffd');
}
