// The style sheet of a brand: the color tokens again, linked after people.css. Its address says its color, so that every instance
// can make it, also for a brand that is not stored yet; and its content, so that browsers can cache it permanently.
import { createHash } from 'node:crypto';
import { type BrandColors, brandColors, brandTokens } from './colors.ts';

export interface BrandSheet {
  /** `brand.<color><hash>.css`. */
  name: string;
  css: string;
  colors: BrandColors;
}

const NAME = /^brand\.([0-9a-f]{6})([0-9a-f]{10})\.css$/;
/** More than the brands of one server. A client that requests all colors gets each one calculated again. */
const MAX_SHEETS = 200;
const sheets = new Map<string, BrandSheet>();

/** @param hex `#rrggbb` */
export function brandSheet(hex: string): BrandSheet {
  const present = sheets.get(hex);
  if (present) return present;
  const colors = brandColors(hex);
  const set = (mode: 'light' | 'dark') => brandTokens.map((name) => `--${name}:${colors[mode][name]}`).join(';');
  // The selectors of tokens.css (build/styles.mjs).
  const css = `:root{${set('light')}}@media (prefers-color-scheme:dark){:root:not([data-theme="light"]){${set('dark')}}}:root[data-theme="dark"]{${set('dark')}}`;
  const hash = createHash('sha256').update(css).digest('hex').slice(0, 10);
  const sheet = { name: `brand.${hex.slice(1)}${hash}.css`, css, colors };
  if (sheets.size >= MAX_SHEETS) sheets.delete(sheets.keys().next().value as string);
  sheets.set(hex, sheet);
  return sheet;
}

/** The style sheet of this name, whose hash may be that of another version; undefined for another name. */
export function sheetNamed(name: string): BrandSheet | undefined {
  const [, hex] = NAME.exec(name) ?? [];
  return hex === undefined ? undefined : brandSheet(`#${hex}`);
}
