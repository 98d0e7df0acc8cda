// What the lists of the console do in another language: the order of names, counts, and what the navigation, connections and settings are called.
import { describe, expect, it } from 'vitest';
import { sectionsOf } from '../../src/admin/connections/console-page.ts';
import { countText, sortedBy } from '../../src/admin/console/lists.ts';
import { fieldsOf } from '../../src/admin/settings/console-fields.ts';
import { inLanguage, t } from '../../src/base/texts/text.ts';
import { defaultSettings } from '../../src/core/settings/settings.ts';
import { connectionKinds } from '../../src/federation/connections/connection.ts';

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

describe('a connection', () => {
  it('has a label for every field of its kind', () => {
    for (const kind of connectionKinds) {
      const fields = sectionsOf(kind, 'generic').flatMap(({ keys }) => keys.flatMap((key) => key.fields({})));
      expect(fields.filter(({ name, label }) => name === label)).toEqual([]);
    }
  });

  it('says in the language of the page, in UTC, when a secret was stored', () => {
    const at = new Date('2026-11-23T14:51:00Z');
    const title = t('console.connections.remove-secret-title', { purpose: 'client_secret', at, name: 'Okta' });
    expect(String(title).replace('\u202f', ' ')).toBe(
      'Remove the client secret stored on November 23, 2026 at 2:51 PM UTC of Okta?',
    );
    expect(inLanguage('de', () => String(title))).toBe(
      'Das am 23. November 2026 um 14:51 UTC gespeicherte Client-Secret von Okta entfernen?',
    );
  });
});

describe('a setting', () => {
  it('says what its default is, whichever choice that is', () => {
    for (const name of ['mfa', 'admin_mfa', 'first_factor'] as const) {
      const entry = { name, value: defaultSettings[name], source: 'default' } as const;
      const [{ options = [], hint } = { hint: '' }] = fieldsOf({ entry, lock: undefined }, {}, [entry]);
      const ends = options.map(({ label }) => `Default: ${String(label).toLowerCase()}.`);
      expect(ends.filter((end) => String(hint).endsWith(end))).toHaveLength(1);
    }
  });
});
