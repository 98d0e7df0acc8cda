// Faults: what a schema rejects as data, and what the console and programs say about it.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ConsolePage } from '../../src/admin/console/blocks.ts';
import { pageFaults } from '../../src/admin/console/faults.ts';
import { check, type Fault, fault, faultLine, publicFault, rule, textFault } from '../../src/base/texts/faults.ts';
import { readMessages } from '../../src/base/texts/messages.ts';
import { inLanguage, t } from '../../src/base/texts/text.ts';

const faultsOf = (schema: z.ZodType, value: unknown) => {
  const checked = check(schema, value);
  return checked.ok ? [] : checked.faults;
};

it.each(['en', 'de'])('every text of a fault in %s is a sentence', (language) => {
  const parts = [
    'console.fault.type-name',
    'console.fault.english',
    'console.fault.jwk-wrong',
    'console.fault.bad-name',
  ];
  const texts = Object.entries(readMessages(language, 'console')).filter(
    ([key]) => key.startsWith('console.fault.') && !parts.includes(key),
  );
  expect(texts.length).toBeGreaterThan(200);
  for (const [key, text] of texts) expect(text, key).toMatch(/^[A-ZÄÖÜ“„{][\s\S]*([.}]|FILE)$/);
});

describe('the faults of a schema', () => {
  const schema = z.strictObject({
    mode: z.enum(['a', 'b']),
    hours: z.int().max(10_000),
    names: z.array(z.string().min(1)).max(1).optional(),
    map: z.record(z.string().regex(/^[a-z]+$/, rule('visible-ascii')), z.string()).optional(),
    odd: z
      .number()
      .refine((value) => value % 2 === 1, rule('twice', { entry: 'it' }))
      .optional(),
    either: z.union([z.string(), z.array(z.string())]).optional(),
  });
  const sound = { mode: 'a', hours: 1 };

  it.each<[unknown, string]>([
    [{ ...sound, mode: 'c' }, 'mode must be one of a, b, not "c".'],
    [{ ...sound, mode: 'a secret value' }, 'mode must be one of a, b.'],
    [{ mode: 'a' }, 'hours is missing; it must be a number.'],
    [{ hours: 1 }, 'mode is missing; it must be one of a, b.'],
    [{ ...sound, hours: 20_000 }, 'hours must be at most 10,000, not 20000.'],
    [{ ...sound, hours: [] }, 'hours must be a number, not a list.'],
    [{ ...sound, names: [''] }, 'names[0] must not be empty.'],
    [{ ...sound, names: ['a', 'b'] }, 'names must have at most 1 entry.'],
    [{ ...sound, map: { A: '' } }, 'map.A has a wrong name: map.A must be visible ASCII characters without spaces.'],
    [{ ...sound, odd: 2 }, 'odd must not have it twice.'],
    [{ ...sound, either: 1 }, 'either must be text or a list.'],
    [{ ...sound, hous: 1 }, 'hous isn’t a known field. Did you mean hours?'],
    [{ ...sound, other: 1 }, 'other isn’t a known field. Known here: mode, hours, names, map, odd, either.'],
    [[], 'The value must be a group of keys, not a list.'],
  ])('%j: %s', (value, sentence) => {
    expect(faultsOf(schema, value).map(faultLine)).toEqual([sentence]);
  });

  it('are data, with the path and a code for programs', () => {
    const [found] = faultsOf(schema, { ...sound, odd: 2 });
    expect(found).toEqual({ path: ['odd'], code: 'twice', values: { entry: 'it' } });
    expect(publicFault(found as Fault)).toEqual({ path: 'odd', code: 'twice', message: 'odd must not have it twice.' });
  });
});

describe('the faults of a form in German', () => {
  const page: ConsolePage = {
    title: t('console.navigation.mail'),
    blocks: [
      {
        kind: 'form',
        action: '#',
        fields: [
          { name: 'hours', label: 'Dauer' },
          { name: 'metadata_url', label: 'Metadaten-URL' },
          { name: 'mode', label: 'Modus', type: 'select' },
        ],
      },
    ],
  };
  const inGerman = (...faults: Fault[]) =>
    inLanguage('de', () => pageFaults(page, faults).map((one) => [String(one.message), one.language]));

  it('name the field by its label, with the numbers of the language', () => {
    const schema = z.object({ hours: z.int().max(10_000), mode: z.enum(['a', 'b']) });
    expect(inGerman(...faultsOf(schema, { hours: 20_000, mode: 'c' }))).toEqual([
      ['Dauer: Der größte erlaubte Wert ist 10.000, nicht 20000.', undefined],
      ['Wählen Sie eine der Möglichkeiten für „Modus“ aus.', undefined],
    ]);
    expect(inGerman(...faultsOf(schema, {}))).toEqual([
      ['Geben Sie einen Wert für „Dauer“ ein.', undefined],
      ['Wählen Sie einen Wert für „Modus“ aus.', undefined],
    ]);
  });

  it('name another field by its label, and a fault inside of another one', () => {
    expect(inGerman(fault(['hours'], 'needs-key', { key: 'metadata_url' }))).toEqual([
      ['Dauer: Dazu ist Metadaten-URL erforderlich.', undefined],
    ]);
    const sentence = fault([], 'bad-name', { sentence: fault([], 'visible-ascii') });
    expect(inGerman(fault(['hours'], 'in-profile', { sentence, profile: 'fapi2' }))).toEqual([
      [
        'Dauer hat einen falschen Namen: Dauer: Nur sichtbare ASCII-Zeichen ohne Leerzeichen sind erlaubt. Das ist eine Regel des Profils fapi2.',
        undefined,
      ],
    ]);
  });

  it('begin with the label where a text of the pages for people does not name the field', () => {
    expect(inGerman(textFault(['hours'], t('name.empty')))).toEqual([
      [`Dauer: ${inLanguage('de', () => String(t('name.empty')))}`, undefined],
    ]);
  });

  it('are marked as English where a library or another server said so', () => {
    expect(inGerman(fault(['hours'], 'english', { english: 'It rhymes.' }))).toEqual([['Dauer: It rhymes.', 'en']]);
  });
});

it('reports twenty unknown keys of a value, and looks for no name that resembles a long one', () => {
  const schema = z.strictObject({ name: z.string().optional() });
  const many = check(schema, Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1])));
  expect(many.ok ? [] : many.faults).toHaveLength(20);
  const long = check(schema, { [`name${'e'.repeat(60_000)}`]: 1 });
  expect(long.ok ? [] : long.faults.map(({ values }) => values?.advice)).toEqual(['list']);
});
