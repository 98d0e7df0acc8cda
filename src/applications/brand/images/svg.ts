// SVG: reads the file as XML and writes a new one with only the elements and attributes of the tables below. No script, no link, no
// address, no embedded page or picture, no animation, no entity; Anything else is removed. A link becomes a group of its shapes.

import { DOMParser } from '@xmldom/xmldom';
import { fault } from '../../../base/texts/faults.ts';
import { assertSize, type CheckedImage, damaged, ImageError } from './image-error.ts';

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

export const isSvg = (bytes: Buffer): boolean =>
  /^\s*<(\?xml|!--|!DOCTYPE|svg|\w+:svg)/i.test(textOf(bytes).slice(0, 200));

const textOf = (bytes: Buffer) => bytes.toString('utf8').replace(/^\ufeff/, '');

/** Throws ImageError. */
export function checkSvg(bytes: Buffer): CheckedImage {
  const root = rootOf(textOf(bytes));
  const size = sizeOf(root);
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
function sizeOf(root: Element): { width: number; height: number } {
  const box = (root.getAttribute('viewBox') ?? '')
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [width, height] =
    box.length === 4
      ? box.slice(2)
      : ['width', 'height'].map((name) => Number.parseFloat(root.getAttribute(name) ?? ''));
  if (!(Number.isFinite(width) && Number.isFinite(height) && Number(width) > 0 && Number(height) > 0))
    throw new ImageError(fault([], 'picture-view-box'));
  return { width: Number(width), height: Number(height) };
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
  const inside: string[] = [];
  for (let node = element.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === 3 || node.nodeType === 4) {
      if (TEXTS.has(name)) inside.push(escaped(node.nodeValue ?? ''));
    } else if (node.nodeType === 1 && isAllowed(node as Element))
      inside.push(safeMarkup(node as Element, { budget, drawn, depth: depth + 1, mayRefer }));
  }
  return inside.length === 0 ? `<${name}${attributes}/>` : `<${name}${attributes}>${inside.join('')}</${name}>`;
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
