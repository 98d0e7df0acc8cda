// The styles of an SVG: declarations of a fixed list of properties, whose values name nothing outside of the picture.

/** Properties and presentation attributes that are the same in both places. */
export const PROPERTIES: ReadonlySet<string> = new Set(
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
export function safeValue(value: string): string | undefined {
  const text = value.trim();
  if (!VALUE.test(text) || /\/[/*]/.test(text)) return undefined;
  const called = [...text.matchAll(/([\w-]*)\s*\(/g)].map(([, name = '']) => name);
  if (!called.every((name) => FUNCTIONS.test(name))) return undefined;
  return /url\s*\(/i.test(text.replace(REFERENCE, '')) ? undefined : text;
}

/** The allowed declarations of a `style`. */
export function safeDeclarations(text: string): string {
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
export function withoutReferences(declarations: string): string {
  const others = declarations.split(';').filter((one) => one && !/^(mask|clip-path):/.test(one));
  return [...others, 'mask:none', 'clip-path:none'].join(';');
}

/** The allowed rules of a style element, without rules that begin with @. */
export function safeRules(text: string): string {
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
