// The task of the worker thread that checks pictures and writes them again (image-store.ts): inflating and compressing the pixels of a PNG takes
// up to a second. No WebP: some mail programs do not show it.
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { DOMParser } from '@xmldom/xmldom';
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { assertSize, type CheckedImage, damaged, ImageError } from './image-error.ts';

export interface ImageTask {
  bytes: Uint8Array;
}

export type ImageResult = { image: Omit<CheckedImage, 'bytes'> & { bytes: Uint8Array } } | { fault: Fault };

/** Its content decides what it is, neither its name nor the type that a browser sent. */
export function perform({ bytes }: ImageTask): ImageResult {
  try {
    return { image: checked(Buffer.from(bytes)) };
  } catch (error) {
    if (error instanceof ImageError) return { fault: error.fault };
    // A number beyond the end of a damaged file.
    if (error instanceof RangeError) return { fault: fault([], 'picture-damaged') };
    throw error;
  }
}

function checked(bytes: Buffer): CheckedImage {
  if (isPng(bytes)) return checkPng(bytes);
  if (isJpeg(bytes)) return checkJpeg(bytes);
  if (isSvg(bytes)) return checkSvg(bytes);
  throw new ImageError(fault([], 'picture-kind'));
}

// JPEG (ITU-T T.81): keeps the segments that decoders need and the compressed pixels as they are. Nothing else of the file is left: no
// comments, no EXIF with its place and thumbnail, no color profiles, and nothing behind the end.

const [SOI, EOI, SOS, DQT, DHT, DRI, ADOBE, COMMENT] = [0xd8, 0xd9, 0xda, 0xdb, 0xc4, 0xdd, 0xee, 0xfe];
/** Baseline, extended and progressive; every browser decodes them. */
const FRAMES = [0xc0, 0xc1, 0xc2];
/** More are a bomb: each can be some bytes that go through the whole picture. */
const MAX_SCANS = 40;

const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff;

/** Throws ImageError. */
function checkJpeg(bytes: Buffer): CheckedImage {
  const kept = [bytes.subarray(0, 2)];
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  for (const { code, data, whole } of segmentsOf(bytes)) {
    if (FRAMES.includes(code)) {
      if (size) throw damaged('JPEG');
      size = sizeOf(data);
    }
    if (code === SOS) {
      scans += 1;
      if (!size || scans > MAX_SCANS) throw damaged('JPEG');
    }
    if (isNeeded(code, data)) kept.push(whole);
  }
  if (!size || scans === 0) throw damaged('JPEG');
  return { kind: 'jpg', bytes: Buffer.concat([...kept, Buffer.from([0xff, EOI])]), ...size };
}

/** `whole`: with the marker and, behind the header of a scan, the compressed data. */
interface Segment {
  code: number;
  data: Buffer;
  whole: Buffer;
}

/** The segments in front of the end of the image, which has to be there (B.1.1). */
function* segmentsOf(bytes: Buffer): Generator<Segment> {
  for (let at = 2; at + 2 <= bytes.length; ) {
    const code = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) break;
    if (code === EOI) return;
    if (code === 0xff) {
      at += 1; // a marker may follow fill bytes
      continue;
    }
    const length = at + 4 <= bytes.length ? bytes.readUInt16BE(at + 2) : 0;
    const data = bytes.subarray(at + 4, at + 2 + length);
    if (length < 2 || data.length !== length - 2) break;
    const end = code === SOS ? endOfScan(bytes, at + 2 + length) : at + 2 + length;
    yield { code, data, whole: bytes.subarray(at, end) };
    at = end;
  }
  throw damaged('JPEG');
}

function isNeeded(code: number, data: Buffer): boolean {
  if ([...FRAMES, SOS, DQT, DHT, DRI].includes(code)) return true;
  // It says how the colors are stored; without it some pictures have wrong ones.
  if (code === ADOBE && data.length === 12 && data.toString('latin1', 0, 5) === 'Adobe') return true;
  if ((code >= 0xe0 && code <= 0xef) || code === COMMENT) return false;
  throw new ImageError(fault([], 'picture-jpeg'));
}

/** The size that a frame header says (B.2.2). */
function sizeOf(data: Buffer): { width: number; height: number } {
  const count = data[5] ?? 0;
  if (data[0] !== 8 || ![1, 3, 4].includes(count) || data.length !== 6 + 3 * count) throw damaged('JPEG');
  const [height, width] = [data.readUInt16BE(1), data.readUInt16BE(3)];
  assertSize(width, height);
  return { width, height };
}

/** The next marker behind the compressed data, in which 0xff is followed by 0 or is a restart (B.1.1.5). */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  throw damaged('JPEG');
}

// PNG (W3C PNG, third edition): reads the lines of pixels, checks them, and writes them again. Nothing else of the file is left:
// no text, no profile, no animation, and nothing behind its end.

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Color type -> values of a pixel, and the allowed depths of each. */
const COLOR_TYPES: Record<number, { values: number; depths: readonly number[] }> = {
  0: { values: 1, depths: [1, 2, 4, 8, 16] },
  2: { values: 3, depths: [8, 16] },
  3: { values: 1, depths: [1, 2, 4, 8] },
  4: { values: 2, depths: [8, 16] },
  6: { values: 4, depths: [8, 16] },
};
/** Adam7 (section 8.1): the first column and row of each pass, and the steps between. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;
/** In front of the pixels: the palette and the transparent color. */
const COLOR_CHUNKS = ['PLTE', 'tRNS'];

const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(SIGNATURE);

/** Throws ImageError. */
function checkPng(bytes: Buffer): CheckedImage {
  const chunks = chunksOf(bytes);
  const header = chunks[0];
  if (header?.type !== 'IHDR' || header.data.length !== 13) throw damaged('PNG');
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  assertSize(width, height);
  const lengths = lineLengths(header.data, width, height);
  const expected = lengths.reduce((sum, [lines, length]) => sum + lines * (length + 1), 0);
  const lines = inflated(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)), expected);
  assertFilters(lines, lengths);
  const colorChunks = COLOR_CHUNKS.flatMap((type) => chunks.find((chunk) => chunk.type === type) ?? []);
  if (header.data[9] === 3 && colorChunks[0]?.type !== 'PLTE') throw damaged('PNG');
  if (colorChunks.some(({ data }) => data.length > 768)) throw damaged('PNG');
  const written = [header, ...colorChunks, { type: 'IDAT', data: deflateSync(lines, { level: 9 }) }];
  const all = [...written, { type: 'IEND', data: Buffer.alloc(0) }].map(chunkBytes);
  return { kind: 'png', bytes: Buffer.concat([SIGNATURE, ...all]), width, height };
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 8 + length;
    if (end + 4 > bytes.length) throw damaged('PNG');
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (crcOf(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw damaged('PNG');
    if (type === 'IEND') return chunks;
    chunks.push({ type, data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  throw damaged('PNG');
}

/** For each pass the number of lines and the bytes of a line. */
function lineLengths(header: Buffer, width: number, height: number): [number, number][] {
  const [depth = 0, colorType = 0, compression, filter, interlace] = header.subarray(8);
  const color = COLOR_TYPES[colorType];
  if (!color?.depths.includes(depth) || compression !== 0 || filter !== 0) throw damaged('PNG');
  const bytesOf = (columns: number) => Math.ceil((columns * color.values * depth) / 8);
  if (interlace === 0) return [[height, bytesOf(width)]];
  if (interlace !== 1) throw damaged('PNG');
  return PASSES.flatMap(([x, y, dx, dy]): [number, number][] => {
    const [columns, rows] = [Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)];
    return columns > 0 && rows > 0 ? [[rows, bytesOf(columns)]] : [];
  });
}

/** Never more than the picture has: a small file can hold gigabytes of zeros. */
function inflated(data: Buffer, expected: number): Buffer {
  try {
    const lines = inflateSync(data, { maxOutputLength: expected });
    if (lines.length === expected) return lines;
  } catch {
    // Falls through to the same error.
  }
  throw damaged('PNG');
}

/** The first byte of each line is its filter, 0 to 4 (section 9.1). */
function assertFilters(lines: Buffer, lengths: readonly [number, number][]): void {
  let at = 0;
  for (const [count, length] of lengths)
    for (let line = 0; line < count; line += 1) {
      if ((lines[at] ?? 5) > 4) throw damaged('PNG');
      at += length + 1;
    }
}

function chunkBytes({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  crc.writeUInt32BE(crcOf(body));
  return Buffer.concat([length, body, crc]);
}

const crcOf = (bytes: Buffer): number => crc32(bytes);

// SVG (SVG 2, W3C): written again with the elements and attributes of these tables.

const NAMESPACE = 'http://www.w3.org/2000/svg';
const SHAPES = ['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon'];
const CONTAINERS = ['svg', 'g', 'defs', 'linearGradient', 'radialGradient', 'clipPath', 'mask', 'text', 'tspan'];
const ELEMENTS: ReadonlySet<string> = new Set([...SHAPES, ...CONTAINERS, 'stop', 'style', 'title']);
const TEXTS: ReadonlySet<string> = new Set(['text', 'tspan', 'title']);
/** Elements whose removal would change the picture, so a picture with one is rejected. */
const REJECTED: ReadonlySet<string> = new Set(['use', 'image', 'foreignObject']);
/** Elements that must not contain references to other elements. */
const NO_REFERENCES: ReadonlySet<string> = new Set(['mask', 'clipPath']);
const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'id class viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points pathLength dx dy rotate offset textLength ' +
    'lengthAdjust gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits preserveAspectRatio version'
  ).split(' '),
);
/** Elements whose content is not drawn where it stands. */
const NOT_DRAWN: ReadonlySet<string> = new Set(['defs', 'linearGradient', 'radialGradient', 'clipPath', 'mask']);
const DRAWN: ReadonlySet<string> = new Set([...SHAPES, 'text']);
const MAX_ELEMENTS = 5000;
const MAX_DEPTH = 64;
const MAX_VALUE = 100_000;

const isSvg = (bytes: Buffer): boolean => /^\s*<(\?xml|!--|!DOCTYPE|svg|\w+:svg)/i.test(textOf(bytes).slice(0, 200));

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/^\ufeff/, '');

/**
 * Throws ImageError. Reads the file as XML and writes a new one with only the elements and attributes of the tables below: no script, link, address, embedded page
 * or picture, animation or entity. A link becomes a group of its shapes.
 */
function checkSvg(bytes: Buffer): CheckedImage {
  const root = rootOf(textOf(bytes));
  const size = svgSizeOf(root);
  assertSize(Math.max(1, Math.ceil(size.width)), Math.max(1, Math.ceil(size.height)));
  const budget = { elements: MAX_ELEMENTS };
  const drawn = { shapes: 0 };
  const text = safeMarkup(root, { budget, drawn, depth: 0, mayRefer: true }).replace(
    /^<svg/,
    `<svg xmlns="${NAMESPACE}"`,
  );
  if (drawn.shapes === 0) throw new ImageError(fault([], 'picture-empty'));
  return { kind: 'svg', bytes: Buffer.from(text), width: Math.round(size.width), height: Math.round(size.height) };
}

function rootOf(text: string): Element {
  // A DOCTYPE without an internal subset only names the SVG version, and is removed.
  const plain = text.replace(/<!DOCTYPE[^[\]<>]*>/i, '');
  if (/<!(DOCTYPE|ENTITY)/i.test(plain)) throw new ImageError(fault([], 'picture-entities'));
  const reject = () => {
    throw damaged('SVG');
  };
  const parser = new DOMParser({ errorHandler: { warning: reject, error: reject, fatalError: reject } });
  const root = parser.parseFromString(plain.trim(), 'image/svg+xml').documentElement as Element | null;
  if (root?.localName !== 'svg' || (root.namespaceURI ?? NAMESPACE) !== NAMESPACE) throw damaged('SVG');
  return root;
}

/** The size from the view box, else from width and height; browsers need one of them. */
function svgSizeOf(root: Element): { width: number; height: number } {
  const box = (root.getAttribute('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const declared = () => ['width', 'height'].map((name) => Number.parseFloat(root.getAttribute(name) ?? ''));
  const [width = 0, height = 0] = box.length === 4 ? box.slice(2) : declared();
  if (!(Number.isFinite(width) && Number.isFinite(height) && width > 0 && height > 0))
    throw new ImageError(fault([], 'picture-view-box'));
  return { width, height };
}

interface Place {
  budget: { elements: number };
  /** Counts the shapes that are drawn; undefined inside of an element that isn't. */
  drawn: { shapes: number } | undefined;
  depth: number;
  mayRefer: boolean;
}

/** The element as this server writes it again. Throws ImageError for one that is rejected. */
function safeMarkup(element: Element, place: Place): string {
  const { budget, depth } = place;
  budget.elements -= 1;
  if (budget.elements < 0 || depth > MAX_DEPTH) throw new ImageError(fault([], 'picture-complex'));
  const name = element.localName === 'a' ? 'g' : element.localName;
  if (REJECTED.has(name)) throw new ImageError(fault([], 'picture-element', { element: name }));
  const mayRefer = place.mayRefer && !NO_REFERENCES.has(name);
  const drawn = NOT_DRAWN.has(name) ? undefined : place.drawn;
  if (drawn && DRAWN.has(name)) drawn.shapes += 1;
  const attributes = attributesOf(element, mayRefer);
  if (name === 'style') {
    const rules = safeRules(element.textContent ?? '');
    return rules ? `<style>${escaped(rules)}</style>` : '';
  }
  const inside = contentOf(element, TEXTS.has(name), { budget, drawn, depth: depth + 1, mayRefer });
  return inside === undefined ? `<${name}${attributes}/>` : `<${name}${attributes}>${inside}</${name}>`;
}

/** The allowed elements inside of an element, and its text where it `hasText`; undefined without any. */
function contentOf(element: Element, hasText: boolean, place: Place): string | undefined {
  const parts: string[] = [];
  for (let node = element.firstChild; node; node = node.nextSibling) {
    const isText = node.nodeType === 3 || node.nodeType === 4; // with CDATA sections
    if (isText && hasText) parts.push(escaped(node.nodeValue ?? ''));
    if (node.nodeType === 1 && isAllowed(node as Element)) parts.push(safeMarkup(node as Element, place));
  }
  return parts.length === 0 ? undefined : parts.join('');
}

const isAllowed = ({ localName, namespaceURI }: Element) =>
  (ELEMENTS.has(localName) || REJECTED.has(localName) || localName === 'a') &&
  (namespaceURI === NAMESPACE || namespaceURI === null);

function attributesOf(element: Element, mayRefer: boolean): string {
  const attributes = new Map<string, string>();
  for (const { name, value } of Array.from(element.attributes)) {
    const safe = safeAttribute(name, value);
    if (safe !== undefined) attributes.set(name, safe);
  }
  if (!mayRefer) attributes.set('style', withoutReferences(attributes.get('style') ?? ''));
  return [...attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
}

/** The value of an allowed attribute; undefined for any other, and for one that refers to something outside of the picture. */
function safeAttribute(name: string, value: string): string | undefined {
  if (value.length > MAX_VALUE) throw new ImageError(fault([], 'picture-complex'));
  if (name === 'style') return safeDeclarations(value) || undefined;
  if (PROPERTIES.has(name)) return safeValue(value);
  if (!ATTRIBUTES.has(name)) return undefined;
  return /^[\w\s#%.,()+:*/-]*$/.test(value) ? value : undefined;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replace(/[\p{Cc}\ufffe\uffff]/gu, ' ').replace(/[&<>"]/g, (one) => ENTITIES[one] ?? '');
}

// The styles of an SVG: declarations of a fixed list of properties, whose values name nothing outside of the picture.

/** Properties and presentation attributes that are the same in both places. */
const PROPERTIES: ReadonlySet<string> = new Set(
  (
    'fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit ' +
    'stroke-dasharray stroke-dashoffset opacity color display visibility stop-color stop-opacity clip-path clip-rule mask ' +
    'mask-type paint-order shape-rendering text-rendering vector-effect font-family font-size font-weight font-style ' +
    'font-variant letter-spacing word-spacing text-anchor dominant-baseline isolation mix-blend-mode transform ' +
    'transform-origin color-interpolation'
  ).split(' '),
);

/** Only a part of the same picture. */
const REFERENCE = /url\(\s*(["']?)(#[A-Za-z_][\w.:-]{0,99})\1\s*\)/gi;
/** Not `!important`, with which a rule would win over `withoutReferences`. */
const VALUE = /^[\w\s#%.,()+\-"'/]{0,500}$/;
const FUNCTIONS = /^(rgba?|hsla?|matrix|translate[XY]?|rotate|scale[XY]?|skew[XY]|url)$/i;
const SELECTOR = /^[\w\s.#,*>:-]{1,300}$/;

/** The value if it names nothing outside of the picture. */
function safeValue(value: string): string | undefined {
  const text = value.trim();
  if (!VALUE.test(text) || /\/[/*]/.test(text)) return undefined;
  const called = [...text.matchAll(/([\w-]*)\s*\(/g)].map(([, name = '']) => name);
  if (!called.every((name) => FUNCTIONS.test(name))) return undefined;
  return /url\s*\(/i.test(text.replace(REFERENCE, '')) ? undefined : text;
}

/** The allowed declarations of a `style`. */
function safeDeclarations(text: string): string {
  return text
    .split(';')
    .flatMap((declaration) => {
      const [name = '', ...rest] = declaration.split(':');
      const property = name.trim().toLowerCase();
      const value = PROPERTIES.has(property) ? safeValue(rest.join(':')) : undefined;
      return value ? [`${property}:${value}`] : [];
    })
    .join(';');
}

/** The declarations of what is inside of a mask: a chain of masks in a small file could take hours to draw. */
function withoutReferences(declarations: string): string {
  const others = declarations.split(';').filter((one) => one && !/^(mask|clip-path):/.test(one));
  return [...others, 'mask:none', 'clip-path:none'].join(';');
}

/** The allowed rules of a style element, without rules that begin with @. */
function safeRules(text: string): string {
  return withoutComments(text)
    .split('}')
    .flatMap((rule) => {
      const [selector = '', body = '', ...nested] = rule.split('{');
      const declarations = nested.length === 0 ? safeDeclarations(body) : '';
      return declarations && SELECTOR.test(selector.trim()) ? [`${selector.trim()}{${declarations}}`] : [];
    })
    .join('');
}

/** In one pass: a regular expression would scan to the end for every comment that is not closed. */
function withoutComments(text: string): string {
  const [first = '', ...rest] = text.split('/*');
  return first + rest.map((part) => part.split('*/').slice(1).join('')).join('');
}
