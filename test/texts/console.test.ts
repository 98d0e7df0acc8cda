// What the lists of the console do in another language: the order of names, counts, and what the navigation and settings are called.
import { describe, expect, it } from 'vitest';
import { countText, sortedBy } from '../../src/admin/console/lists.ts';
import { settingTexts } from '../../src/admin/settings/console-texts.ts';
import { inLanguage, t } from '../../src/texts/text.ts';

describe('a list of the console', () => {
  it('sorts names, and texts that are different words in each language, in the order of the language', () => {
    const names = ['Zoo', 'Öl', 'Apfel'];
    expect(sortedBy(names, 'name', 'de', { name: (name) => name })).toEqual(['Apfel', 'Öl', 'Zoo']);
    expect(sortedBy(names, '-name', 'sv', { name: (name) => name })).toEqual(['Öl', 'Zoo', 'Apfel']);
    const texts = [t('console.navigation.users'), t('console.navigation.overview'), t('console.navigation.roles')];
    const sortedIn = (language: string) =>
      sortedBy(texts, 'label', language, { label: (text) => text }).map((text) => text.key.split('.').at(-1));
    expect(sortedIn('en')).toEqual(['overview', 'roles', 'users']);
    expect(sortedIn('de')).toEqual(['users', 'roles', 'overview']);
  });

  it('writes a count with the separators and the words of the language', () => {
    const many = countText(10_000, 'users', true);
    expect([String(many), String(countText(1, 'members', false))]).toEqual(['10,000+ users', '1 member']);
    expect(inLanguage('de', () => String(many))).toBe('Mehr als 10.000 Benutzer');
  });
});

describe('a setting', () => {
  it('a choice says what its default is, whichever value that is', () => {
    for (const name of ['mfa', 'admin_mfa', 'first_factor'] as const) {
      const { choices = {}, standard } = settingTexts[name];
      const labels = Object.values(choices).map(({ label }) => `Default: ${String(label).toLowerCase()}.`);
      expect(labels).toContain(String(standard));
    }
  });
});
