// From text to a tree, refusing before parsing whatever has no place in a SAML message: DOCTYPE, entities, CDATA,
// comments and processing instructions. Entity expansion, external entities and truncation of values by comments
// have nothing left to work with.
import { DOMParser } from '@xmldom/xmldom';
import { SamlError } from '../errors.ts';
import { elements } from './read.ts';
import { judgeWellFormed, type XmlJudge } from './schema.ts';

export interface ParseOptions {
  /** Metadata may be larger, and may hold comments, which are taken out before anything is read. */
  kind?: keyof typeof caps;
  /** Judges the text after the policy and before the tree is built. Default: well-formedness. */
  judge?: XmlJudge;
}

// Far above what a message needs (about 60 tags, 8 levels), far below what is felt: a stranger must not be able to hold
// up the event loop, and at these caps the worst message costs 2 ms.
const caps = {
  message: { tags: 400, attributes: 400, depth: 32 },
  metadata: { tags: 4000, attributes: 4000, depth: 32 },
} as const;

export interface ParsedXml {
  root: Element;
  /** What was parsed: the text without byte order mark, declaration and dropped comments. */
  text: string;
}

/** The one document in `text`. */
export function parseXml(text: string, { kind = 'message', judge = judgeWellFormed }: ParseOptions = {}): ParsedXml {
  const plain = withoutForbiddenMarkup(text, kind);
  const fault = judge(plain);
  if (fault) {
    throw new SamlError(fault.kind === 'not well-formed' ? 'not_xml' : 'not_schema_valid', { detail: fault.reason });
  }
  const refuse = (message: unknown) => {
    throw new SamlError('not_xml', { detail: String(message) });
  };
  const parser = new DOMParser({ errorHandler: { warning: refuse, error: refuse, fatalError: refuse } });
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
    // A parser that believed another encoding would read other characters than we do.
    if (!/^(utf-8|us-ascii)$/i.test(name)) throw new SamlError('bad_encoding', { detail: name });
    plain = plain.slice(head[0].length);
  }
  if (kind === 'metadata') plain = withoutComments(plain);
  // Both parsers read past a second byte order mark.
  if (!/^[ \t\r\n]*</.test(plain)) throw new SamlError('not_xml', { detail: 'text before the root' });
  // `<!` begins a DOCTYPE, an ENTITY, a comment or CDATA and nothing else; `<` stands in no text and no attribute.
  if (plain.includes('<!') || plain.includes('<?')) throw new SamlError('forbidden_markup');
  if (forbiddenCharacter.test(plain)) throw new SamlError('forbidden_markup', { detail: 'control character' });
  const { tags, attributes } = caps[kind];
  if (count(plain, '<') > tags || count(plain, '=') > attributes) throw new SamlError('too_large');
  return plain;
}

/** In one pass: a lazy pattern would search to the end again for every comment that is never closed. */
function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const start = text.indexOf('<!--', from);
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4);
    if (end < 0) return kept + text.slice(from);
    kept += text.slice(from, start);
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
