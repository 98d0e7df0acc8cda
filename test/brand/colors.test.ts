// The colors of a brand are readable in both modes, whatever color was chosen.
import { describe, expect, it } from 'vitest';
import { brandColors, brandSheet, contrast, hexOf, oklchOf, sheetNamed } from '../../src/applications/brand/sheet.ts';
import { color } from '../../src/base/http/pages/tokens.ts';
import fc, { numRuns } from '../support/property.ts';

const hex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const ugly = ['#000000', '#ffffff', '#ffff00', '#ff0000', '#00ff00', '#0000ff', '#808080', '#2563eb'];

/** What is too faint in the brand of this color; empty where everything can be read. */
function tooFaint(chosen: string): string[] {
  return (['light', 'dark'] as const).flatMap((mode) => {
    const of = brandColors(chosen)[mode];
    const [surface, page, raised] = [color('surface', mode), color('page', mode), color('raised', mode)];
    const pairs: [string, string, string, number][] = [
      ['text of a button', of['on-brand'], of.brand, 4.5],
      ['text of a button under the pointer', of['on-brand'], of['brand-strong'], 4.5],
      ['a button on the card', of.brand, surface, 3],
      ['a button on the page', of.brand, page, 3],
      ...[surface, page, raised, of['brand-tint']].map((ground): [string, string, string, number] => [
        `a link on ${ground}`,
        of['brand-ink'],
        ground,
        4.5,
      ]),
      ['text on the tint', color('ink', mode), of['brand-tint'], 7],
    ];
    return pairs.flatMap(([what, one, other, least]) =>
      contrast(one, other) >= least ? [] : [`${mode}: ${what}, ${one} on ${other}`],
    );
  });
}

describe('the colors of a brand', () => {
  it('are readable in both modes for every color', () => {
    fc.assert(
      fc.property(hex, (chosen) => {
        expect(tooFaint(chosen)).toEqual([]);
      }),
      { numRuns: numRuns(200), examples: ugly.map((one): [string] => [one]) },
    );
  });

  it('are the chosen color where it can be read', () => {
    expect(brandColors('#2563eb').light.brand).toBe('#2563eb');
    expect(brandColors('#ffff00').dark.brand).toBe('#ffff00');
    expect(brandColors('#ffff00').dark['on-brand']).toBe('#14130f');
  });

  it('convert to OKLCH and back without a loss', () => {
    fc.assert(
      fc.property(hex, (chosen) => {
        expect(hexOf(oklchOf(chosen))).toBe(chosen);
      }),
    );
  });
});

describe('the style sheet of a brand', () => {
  it('is found by its name, and by that of another version', () => {
    const sheet = brandSheet('#2563eb');
    expect(sheet.name).toMatch(/^brand\.[0-9a-f]{16}\.css$/);
    expect(sheetNamed(sheet.name)).toBe(sheet);
    expect(sheetNamed('brand.2563eb0000000000.css')).toBe(sheet);
    expect(sheetNamed('brand.zz63eb0000000000.css')).toBeUndefined();
  });
});
