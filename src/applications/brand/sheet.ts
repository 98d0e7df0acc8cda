// The style sheet of a brand: the color tokens again, linked after people.css. Its address says its color, so that every instance
// can make it, also for a brand that is not stored yet; and its content, so that browsers can cache it permanently.

import { createHash } from 'node:crypto';
import { color, type Token } from '../../base/http/pages/tokens.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';

export interface BrandSheet {
  /** `brand.<color><hash>.css`. */
  name: string;
  css: string;
  colors: BrandColors;
}

const NAME = /^brand\.([0-9a-f]{6})([0-9a-f]{10})\.css$/;
/** More than the brands of one server. A client that requests all colors gets each one calculated again. */
const MAX_SHEETS = 200;
const sheets = new BoundedMap<string, BrandSheet>(MAX_SHEETS);

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
  sheets.set(hex, sheet);
  return sheet;
}

/** The style sheet of this name, whose hash may be that of another version; undefined for another name. */
export function sheetNamed(name: string): BrandSheet | undefined {
  const [, hex] = NAME.exec(name) ?? [];
  return hex === undefined ? undefined : brandSheet(`#${hex}`);
}

// The colors of a brand, from the one color that an administrator chose: readable in both modes, whatever it is (WCAG 2.2, 1.4.3
// and 1.4.11).

type Mode = 'light' | 'dark';

/** The tokens that a brand replaces. */
const brandTokens = ['brand', 'brand-strong', 'on-brand', 'brand-ink', 'brand-tint'] as const satisfies Token[];
type BrandToken = (typeof brandTokens)[number];
type BrandColors = Record<Mode, Record<BrandToken, string>>;

const TEXT = 4.5;
/** A button against the page. */
const SHAPE = 3;
const WHITE = '#ffffff';
const BLACK = '#14130f';

/** @param hex `#rrggbb` */
export function brandColors(hex: string): BrandColors {
  const chosen = oklchOf(hex);
  return { light: colorsIn('light', chosen), dark: colorsIn('dark', chosen) };
}

function colorsIn(mode: Mode, chosen: Oklch): Record<BrandToken, string> {
  const isLight = mode === 'light';
  const grounds = [color('surface', mode), color('page', mode)];
  const isSeen = (fill: string) => grounds.every((ground) => contrast(fill, ground) >= SHAPE);
  // As close to the chosen color as it can be; its text is white or nearly black, whichever changes the color less.
  const fills = [WHITE, BLACK].flatMap((on) => {
    const fill = nearest(chosen, chosen.l, (one) => isSeen(one) && contrast(one, on) >= TEXT);
    return fill === undefined ? [] : [{ on, fill, distance: Math.abs(oklchOf(fill).l - chosen.l) }];
  });
  const { fill, on } = fills.sort((one, other) => one.distance - other.distance)[0] ?? { fill: BLACK, on: WHITE };
  const isTextOn = (one: string) => contrast(one, on) >= TEXT;
  const strongLightness = oklchOf(fill).l + (on === WHITE ? -0.05 : 0.05);
  const tint = hexOf({ ...chosen, l: isLight ? 0.96 : 0.26, c: Math.min(chosen.c, isLight ? 0.02 : 0.035) });
  const inkLightness = isLight ? Math.min(chosen.l, 0.5) : Math.max(chosen.l, 0.78);
  const isInk = (one: string) =>
    [...grounds, color('raised', mode), tint].every((ground) => contrast(one, ground) >= TEXT);
  return {
    brand: fill,
    'brand-strong': nearest(chosen, strongLightness, (one) => isTextOn(one) && one !== fill) ?? fill,
    'on-brand': on,
    'brand-ink': nearest(chosen, inkLightness, isInk) ?? color('ink', mode),
    'brand-tint': tint,
  };
}

/** The color with the lightness nearest to the wished one that is accepted. */
function nearest(chosen: Oklch, wished: number, accepts: (hex: string) => boolean): string | undefined {
  for (let step = 0; step <= 100; step += 1)
    for (const l of step === 0 ? [wished] : [wished - step / 100, wished + step / 100]) {
      if (l < 0.05 || l > 0.98) continue;
      const hex = hexOf({ ...chosen, l });
      if (accepts(hex)) return hex;
    }
  return undefined;
}

// Colors in OKLCH (CSS Color 4, section 9), whose lightness is what people see, and the contrast of WCAG 2.2.

interface Oklch {
  /** Lightness, 0 to 1. */
  l: number;
  /** Chroma; 0 is gray. */
  c: number;
  /** Hue in radians. */
  h: number;
}

type Triple = readonly [number, number, number];

/** `#1f6650` as OKLCH. */
export function oklchOf(hex: string): Oklch {
  const [r, g, b] = linearOf(hex);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return { l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, c: Math.hypot(a, bb), h: Math.atan2(bb, a) };
}

/** The color as `#rrggbb`; with less chroma where the screen cannot display it. */
export function hexOf(color: Oklch): string {
  if (isDisplayable(rgbOf(color))) return hexOfRgb(rgbOf(color));
  let [low, high] = [0, color.c];
  for (let step = 0; step < 16; step += 1) {
    const c = (low + high) / 2;
    if (isDisplayable(rgbOf({ ...color, c }))) low = c;
    else high = c;
  }
  return hexOfRgb(rgbOf({ ...color, c: low }));
}

/** The contrast ratio of two colors, 1 to 21 (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = linearOf(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function linearOf(hex: string): Triple {
  const value = Number.parseInt(hex.slice(1), 16);
  const linear = (shift: number) => {
    const part = ((value >> shift) & 255) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return [linear(16), linear(8), linear(0)];
}

/** The parts of sRGB, outside of 0 to 1 where the screen cannot display the color. */
function rgbOf({ l: lightness, c, h }: Oklch): Triple {
  const [a, b] = [c * Math.cos(h), c * Math.sin(h)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (part: number) => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const isDisplayable = (rgb: Triple) => rgb.every((part) => part >= -0.0005 && part <= 1.0005);

function hexOfRgb(rgb: Triple): string {
  const parts = rgb.map((part) => Math.round(Math.min(1, Math.max(0, part)) * 255));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
