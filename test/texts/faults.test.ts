// The messages of faults: the console recognizes each one, with its values, and has a sentence for it in every language that it has.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ConsolePage } from '../../src/admin/console/blocks.ts';
import { knownFault, pageFaults } from '../../src/admin/console/fault-sentences.ts';
import { faultEntries, faultMessage } from '../../src/base/platform/fault-messages.ts';
import { faultsOf, sentence } from '../../src/base/platform/faults.ts';
import { formatPlain, hasMessage, readMessages } from '../../src/base/texts/messages.ts';
import { inLanguage, type PageText, t } from '../../src/base/texts/text.ts';

/** For the values whose words are of one kind; any text for others. */
const samples: Record<string, [words: string, value: string | number]> = {
  type: ['a whole number', 'int'],
  types: ['text or a list', 'text or a list'],
  kind: ['a list', 'a list'],
  characters: ['1,000 characters', 1000],
  entries: ['1 entry', 1],
  days: ['365 days', 365],
  bound: ['-5', -5],
  key: ['metadata_url', 'metadata_url'],
  value: ['everyone', 'everyone'],
  instead: [', not "a b"', ', not "a b"'],
  advice: ['; did you mean scope?', '; did you mean scope?'],
};
const sampleOf = (name: string) => samples[name] ?? [`a ${name}`, `a ${name}`];
const namesIn = (message: string) => [...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

describe.each(faultEntries)('the message %s', (key, message) => {
  it('is recognized with its values, and has a sentence', () => {
    const names = namesIn(message);
    const words = Object.fromEntries(names.map((name) => [name, sampleOf(name)[0]]));
    const values = Object.fromEntries(names.map((name) => [name, sampleOf(name)[1]]));
    const written = faultMessage(key as 'type', words as { type: string; kind: string });
    expect(knownFault(written)).toEqual({ key, values });
    expect(hasMessage(`console.fault.${key}`)).toBe(true);
    const allValues = { field: 'Name', name: 'name', sentence: 'Name is wrong.', ...values };
    for (const language of ['en', 'de'])
      expect(formatPlain(language, `console.fault.${key}`, allValues), language).toMatch(/^[A-ZÄÖÜ“„][^{}]*\.$/s);
  });
});

it('the console has no sentence for a message that does not exist', () => {
  const keys = new Set<string>(faultEntries.map(([key]) => `console.fault.${key}`));
  const others = Object.keys(readMessages('en', 'console')).filter(
    (key) => key.startsWith('console.fault.') && !keys.has(key),
  );
  expect(others).toEqual(['console.fault.choose', 'console.fault.select', 'console.fault.the-name']);
});

describe('the faults of a form in German', () => {
  const page: Pick<ConsolePage, 'blocks'> = {
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
  const inGerman = (field: string, message: PageText) =>
    inLanguage('de', () => pageFaults(page, [{ field, message }]).map((one) => [String(one.message), one.language]));

  it('says what a schema rejects, with the numbers of the language', () => {
    const schema = z.object({ hours: z.int().max(10_000), mode: z.enum(['a', 'b']) });
    const { error } = schema.safeParse({ hours: 20_000, mode: 'c' }, { error: sentence });
    const faults = (error?.issues ?? []).flatMap(faultsOf);
    expect(faults.map(({ message }) => message)).toEqual([
      'must be at most 10000, not 20000',
      'must be one of a, b, not "c"',
    ]);
    expect(faults.flatMap(({ path, message }) => inGerman(path.join('.'), message))).toEqual([
      ['Dauer: Der größte erlaubte Wert ist 10.000.', undefined],
      ['Wählen Sie eine der Möglichkeiten für „Modus“ aus.', undefined],
    ]);
  });

  it('names another field by its label, and explains a fault inside of another one', () => {
    expect(inGerman('hours', faultMessage('needs-key', { key: 'metadata_url' }))).toEqual([
      ['Dauer: Dazu ist Metadaten-URL erforderlich.', undefined],
    ]);
    const inner = faultMessage('bad-name', { fault: faultMessage('visible-ascii') });
    expect(inGerman('hours', faultMessage('in-profile', { fault: inner, profile: 'fapi2' }))).toEqual([
      [
        'Dauer, Name: Nur sichtbare ASCII-Zeichen ohne Leerzeichen sind erlaubt. Das ist eine Regel des Profils fapi2.',
        undefined,
      ],
    ]);
  });

  it('are a sentence each, or the rest of one after the label', () => {
    expect(inGerman('hours', t('console.languages.choose'))).toEqual([
      [inLanguage('de', () => String(t('console.languages.choose'))), undefined],
    ]);
    const half = t('console.text-fault.empty');
    expect(inGerman('hours', half)).toEqual([['Dauer darf nicht leer sein.', undefined]]);
    expect(pageFaults(page, [{ field: 'hours', message: half }])[0]?.message).toBe('Dauer must not be empty.');
  });

  it('is in English, and says so, where the message has no text', () => {
    expect(inGerman('hours', 'must rhyme')).toEqual([['Dauer must rhyme.', 'en']]);
  });
});
