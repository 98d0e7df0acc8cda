// Parses XML. Markup that no SAML message needs is rejected before parsing: DOCTYPE, entities, CDATA, comments and
// processing instructions. That excludes entity expansion, external entities and values truncated by comments.
import { DOMParser } from '@xmldom/xmldom';
import { isAcceptedEncoding } from './encoding.ts';
import { SamlError } from './errors.ts';
import { elements } from './read.ts';
import { validateWellFormed, type XmlValidator } from './schema.ts';

export interface ParseOptions {
  /** Metadata may be larger, and may contain comments, which are removed first. */
  kind?: keyof typeof caps;
  /** Validates the text before the tree is built. Default: well-formedness alone. */
  validateXml?: XmlValidator;
}

// A message needs about 60 tags and 8 levels. At these limits the slowest message takes 2 ms (a Response 8 ms), so that unauthenticated
// senders cannot block the event loop.
const caps = {
  message: { tags: 400, attributes: 400, depth: 32 },
  response: { tags: 1600, attributes: 1600, depth: 32 }, // a user may be in hundreds of groups
  metadata: { tags: 4000, attributes: 4000, depth: 32 },
} as const;

export interface ParsedXml {
  root: Element;
  /** What was parsed: the text without byte order mark, declaration and dropped comments. */
  text: string;
}

/**
 * Parses one document.
 *
 * @throws SamlError not_xml, not_schema_valid, forbidden_markup, bad_encoding or too_large
 */
export function parseXml(
  text: string,
  { kind = 'message', validateXml = validateWellFormed }: ParseOptions = {},
): ParsedXml {
  const plain = withoutForbiddenMarkup(text, kind);
  const fault = validateXml(plain);
  if (fault) {
    throw new SamlError(fault.kind === 'not well-formed' ? 'not_xml' : 'not_schema_valid', { detail: fault.reason });
  }
  const reject = (message: unknown) => {
    throw new SamlError('not_xml', { detail: String(message) });
  };
  const parser = new DOMParser({ errorHandler: { warning: reject, error: reject, fatalError: reject } });
  const root = parser.parseFromString(plain, 'text/xml').documentElement;
  if (!root) throw new SamlError('not_xml', { detail: 'no root element' });
  if (isDeeper(root, caps[kind].depth)) throw new SamlError('too_large');
  return { root, text: plain };
}

const declaration = /^<\?xml\s+version\s*=\s*(["'])1\.0\1([^?<>]*)\?>/;
const encoding = /\bencoding\s*=\s*(["'])([A-Za-z0-9._-]*)\1/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 section 2.2 is about exactly these.
const forbiddenCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

function withoutForbiddenMarkup(text: string, kind: keyof typeof caps): string {
  let plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  const head = declaration.exec(plain);
  if (head) {
    const name = encoding.exec(head[2] ?? '')?.[2] ?? 'utf-8';
    if (!isAcceptedEncoding(name))
      throw new SamlError('bad_encoding', { detail: name, received: name, expected: 'UTF-8' });
    plain = plain.slice(head[0].length);
  }
  if (kind === 'metadata') plain = withoutComments(plain);
  // Both parsers ignore a second byte order mark.
  if (!/^[ \t\r\n]*</.test(plain)) throw new SamlError('not_xml', { detail: 'text before the root' });
  // `<!` only begins a DOCTYPE, an ENTITY, a comment or CDATA; text and attributes contain no `<`.
  if (plain.includes('<!') || plain.includes('<?')) throw new SamlError('forbidden_markup');
  if (forbiddenCharacter.test(plain)) throw new SamlError('forbidden_markup', { detail: 'control character' });
  const { tags, attributes } = caps[kind];
  if (count(plain, '<') > tags || count(plain, '=') > attributes) throw new SamlError('too_large');
  return plain;
}

/** In one pass: a regular expression would scan to the end for every comment that is not closed. */
function withoutComments(commented: string): string {
  let text = '';
  let from = 0;
  for (;;) {
    const start = commented.indexOf('<!--', from);
    const end = start < 0 ? -1 : commented.indexOf('-->', start + 4);
    if (end < 0) return text + commented.slice(from);
    text += commented.slice(from, start);
    from = end + 3;
  }
}

function isDeeper(element: Element, levels: number): boolean {
  return levels === 0 || elements(element).some((child) => isDeeper(child, levels - 1));
}

function count(text: string, character: string): number {
  let found = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) found += 1;
  return found;
}
