// The colors of a brand, from the one color that an administrator chose: readable in both modes, whatever it is (WCAG 2.2, 1.4.3
// and 1.4.11).
import { color, type Token } from '../http/pages/tokens.ts';
import { contrast, hexOf, type Oklch, oklchOf } from './oklch.ts';

type Mode = 'light' | 'dark';

/** The tokens that a brand replaces. */
export const brandTokens = ['brand', 'brand-strong', 'on-brand', 'brand-ink', 'brand-tint'] as const satisfies Token[];
export type BrandToken = (typeof brandTokens)[number];
export type BrandColors = Record<Mode, Record<BrandToken, string>>;

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
