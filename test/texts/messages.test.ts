import { readFileSync } from 'node:fs';
import { IntlMessageFormat } from 'intl-messageformat';
import { describe, expect, it } from 'vitest';
import { applicationFields } from '../../src/applications/fields/application-field.ts';
import { oidcClient } from '../../src/applications/fields/oidc-client.ts';
import { serviceProvider } from '../../src/applications/fields/service-provider.ts';
import { describedFields } from '../../src/base/platform/described-fields.ts';
import {
  acceptedLanguages,
  bestLanguage,
  consoleLanguages,
  directionOf,
  languageNames,
  languages,
  nameOf,
} from '../../src/base/texts/languages.ts';
import { withoutBadBreaksInMail } from '../../src/base/texts/line-breaks.ts';
import { formatHtml, formatPlain, readMessages, tagNames } from '../../src/base/texts/messages.ts';
import { enumeration, inLanguage, listOf, sentences, t } from '../../src/base/texts/text.ts';
import { settingSchemas } from '../../src/core/settings/settings.ts';
import { settingFields } from '../../src/core/settings/value-schemas.ts';
import { presets } from '../../src/federation/connections/presets/presets.ts';
import { entrySchemas } from '../../src/federation/connections/schema.ts';
import { textClaims } from '../../src/people/accounts/profile-fields.ts';
import { filesUnder } from '../support/source/imports.ts';

const english = { ...readMessages('en'), ...readMessages('en', 'console') };
const templates = filesUnder('views', '.eta').map((file) => ({ file, source: readFileSync(file, 'utf8') }));
const sources = [...templates.map(({ source }) => source), ...filesUnder('src', '.ts').map(sourceOf)].join('\n');

function sourceOf(file: string): string {
  return file.includes('generated') ? '' : readFileSync(file, 'utf8');
}

interface Parts {
  values: Set<string>;
  tags: Set<string>;
  /** Of each plural, the categories that it has. */
  plurals: string[][];
}

type Elements = ReturnType<IntlMessageFormat['getAst']>;
const [LITERAL, PLURAL, TAG] = [0, 6, 8];

function partsOf(message: string, language: string): Parts {
  const parts: Parts = { values: new Set(), tags: new Set(), plurals: [] };
  const collect = (elements: Elements) => {
    for (const element of elements) {
      if (!('value' in element) || element.type === LITERAL) continue;
      (element.type === TAG ? parts.tags : parts.values).add(element.value);
      if ('options' in element) {
        if (element.type === PLURAL) parts.plurals.push(Object.keys(element.options));
        for (const option of Object.values(element.options)) collect(option.value);
      }
      if ('children' in element) collect(element.children);
    }
  };
  collect(new IntlMessageFormat(message, language).getAst());
  return parts;
}

/** The keys that code puts together, with the beginnings that it writes. */
const families = [...sources.matchAll(/`([a-z-]+(?:\.[\w-]+)*[.-])\$\{/g)]
  .map(([, start = '']) => start)
  .filter((start) => !/^(console\.(field(-section)?|connection-field)|profile)\.$/.test(start));

/** Those of fields and of the parts of forms, whose names code takes from the schemas. */
const fields = [oidcClient.shape, serviceProvider.shape].flatMap((shape) => describedFields(shape, applicationFields));
const products = filesUnder('views/products', '.yaml')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const ofProducts = [
  ...[...products.matchAll(/\$\{text:([\w.-]+)/g)].map(([, key]) => `console.preset.${key}`),
  ...[...products.matchAll(/(?:title|label|hint): (console\.[\w.-]+)/g)].map(([, key = '']) => key),
  ...[...products.matchAll(/^- id: (\S+)/gm)].map(([, id]) => `console.preset.${id}.text`),
];
const vendors = readFileSync('views/connections/presets.yaml', 'utf8');
const ofVendors = [
  ...[...vendors.matchAll(/(?:\$|text: )([a-z][\w.-]+)/g)].map(([, key]) => `console.${key}`),
  ...presets().map(({ id }) => `console.connection-preset.${id}.step-`),
];
const ofConnections = Object.values(entrySchemas).flatMap(({ shape }) =>
  Object.keys(shape).map((name) => `console.connection-field.${name}.`),
);
const ofClaims = textClaims.map((claim) => `profile.${claim}`);
const ofFields = fields.flatMap(({ name, about }) => [
  `console.field.${about.text ?? name}.`,
  `console.field-section.${about.section}.`,
]);

describe('the texts in English', () => {
  it('are all used', () => {
    const quoted = new Set(sources.match(/(?<=')[\w.-]+(?=')/g));
    const isUsed = (key: string) =>
      quoted.has(key) ||
      ofProducts.includes(key) ||
      [...families, 'console.event-streams.field.', ...ofFields, ...ofConnections, ...ofVendors, ...ofClaims].some(
        (start) => key.startsWith(start),
      );
    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });

  it('have the label of each field of a form', () => {
    const settings = describedFields(settingSchemas, settingFields);
    // Provisioning and the languages have forms of their own.
    const ofForm = (field: { about: { section: string | null } }) =>
      ![null, 'provisioning', 'languages'].includes(field.about.section);
    const shown = [
      ...fields.filter(ofForm).map(({ name, about }) => `field.${about.text ?? name}`),
      ...settings.filter(ofForm).map(({ name }) => `setting.${name}`),
    ];
    expect(shown.filter((name) => english[`console.${name}.label`] === undefined)).toEqual([]);
  });

  it('include all that the templates name, with all their values', () => {
    const faults = templates.flatMap(({ file, source }) =>
      [...source.matchAll(/\bt\('([^']+)'(?:, \{ (.*?) \})?\)/g)].flatMap(([, key = '', givenValues = '']) => {
        const message = english[key];
        if (message === undefined) return [`${file}: ${key}`];
        const { values, tags } = partsOf(message, 'en');
        const wanted = [
          ...values,
          ...(tags.has('a') ? ['href'] : []),
          ...(tags.has('datetime') || tags.has('moment') ? ['at'] : []),
        ];
        return wanted
          .filter((name) => !new RegExp(`(^|[ ,])${name}\\b`).test(givenValues))
          .map((name) => `${file}: ${key} ${name}`);
      }),
    );
    expect(faults).toEqual([]);
  });
});

const sets = [
  ...languages.map((language) => [language, 'people'] as const),
  ...consoleLanguages.map((language) => [language, 'console'] as const),
];

describe.each(sets)('the texts in %s for %s', (language, part) => {
  const messages = readMessages(language, part);
  const source = readMessages('en', part);
  const expected = new Set(new Intl.PluralRules(language).resolvedOptions().pluralCategories);

  it('have the same keys, values and tags as in English', () => {
    expect(Object.keys(messages).sort()).toEqual(Object.keys(source).sort());
    expect(Object.keys(messages).filter((key) => key.startsWith('console.') !== (part === 'console'))).toEqual([]);
    const faults = Object.entries(messages).filter(([key, message]) => {
      const { values, tags } = partsOf(message, language);
      const original = partsOf(source[key] ?? '', 'en');
      return (
        [...values].sort().join() !== [...original.values].sort().join() ||
        [...tags].sort().join() !== [...original.tags].sort().join() ||
        [...tags].some((tag) => !tagNames.includes(tag)) ||
        [...values].some((name) => tagNames.includes(name))
      );
    });
    expect(faults).toEqual([]);
  });

  it('have every form of a plural that a whole number can need', () => {
    // `many` of French, Spanish, Italian and Portuguese is for millions, `other` of Polish for fractions.
    const optional = /^(fr|es|it|pt)/.test(language) ? ['many'] : [];
    const faults = Object.entries(messages).flatMap(([key, message]) =>
      partsOf(message, language).plurals.flatMap((forms) =>
        [...expected].filter((form) => !forms.includes(form) && !optional.includes(form)).map((form) => [key, form]),
      ),
    );
    expect(faults).toEqual([]);
  });
});

describe('a text', () => {
  it('escapes its values in HTML and not in plain text, and has the tags of its message in HTML only', () => {
    const text = t('sign-in.to-continue', { app: '<b>Wiki & "Docs"</b>' });
    expect(text.toHtml()).toBe('to continue to <strong>&lt;b&gt;Wiki &amp; &quot;Docs&quot;&lt;/b&gt;</strong>');
    expect(String(text)).toBe('to continue to <b>Wiki & "Docs"</b>');
    const link = t('sign-in.register', { href: '/sign-up?a=1&b="><script>' });
    expect(link.toHtml()).toContain('<a href="/sign-up?a=1&amp;b=&quot;&gt;&lt;script&gt;">');
    expect(sentences(['a < b.', text]).toHtml()).toContain('a &lt; b. to continue to <strong>&lt;b&gt;');
  });

  it('becomes words in the language that is current, also inside of another text', () => {
    const text = t('sign-in.too-many-tries', { time: t('duration.seconds', { count: 30 }) });
    expect(JSON.stringify(text)).toBe('"Too many attempts. Wait 30 seconds, then try again."');
    expect(formatPlain('en', 'duration.seconds', { count: 1 })).toBe('1 second');
    expect(formatHtml('en', 'password.too-long', { count: 1000 })).toBe('Use at most 1,000 characters.');
  });

  it('separates the names of a list, also in Japanese, and has no Arabic letter at a name in Latin letters', () => {
    const names = ['Wiki', 'Field Notes', 'Payroll'];
    const inEach = (language: string) =>
      inLanguage(language, () => [String(listOf(names)), enumeration(names.slice(0, 2)).toHtml()]);
    expect(inEach('ja')).toEqual(['Wiki、Field Notes、Payroll', 'Wiki、Field Notes']);
    expect(inEach('ar')).toEqual(['Wiki، Field Notes، Payroll', 'Wiki، Field Notes']);
    expect(inEach('en')).toEqual(['Wiki, Field Notes, Payroll', 'Wiki, Field Notes']);
  });
});

describe('a line of a page or mail does not end', () => {
  const htmlOf = (language: string, key: string, values = {}) => formatHtml(language, key, values);

  it('at a part of one letter', () => {
    expect(htmlOf('de', 'email.new')).toBe('Neue E-\u2060Mail-Adresse');
    expect(htmlOf('nl', 'email.new')).toBe('Nieuw e-\u2060mailadres');
    expect(htmlOf('pt-BR', 'mail.registered.text', { host: 'x', user: 'a-b' })).toMatch(/a-b.*redefina-\u2060a:/);
    expect(formatPlain('de', 'email.new')).toBe('Neue E-Mail-Adresse');
  });

  it('except in the console, whose names of headers are copied', () => {
    expect(formatHtml('de', 'console.access-check.way.email')).toBe('einem Code per E-\u2060Mail');
  });

  it('in the word e-mail of a mail, but addresses are unchanged', () => {
    const inMail = (text: string) => withoutBadBreaksInMail(text, 'nl');
    expect(inMail('Je e-mailadres e-mail@example.com')).toBe('Je e\u2011mailadres e-mail@example.com');
    expect(inMail('E-Mail-Adresse j-e-mail x.e-mail')).toBe('E\u2011Mail-Adresse j-e-mail x.e-mail');
  });

  it('inside of the time of a mail', () => {
    const inMail = (text: string) => withoutBadBreaksInMail(text, 'en');
    expect(inMail('May 1, 2026 at 9:45 AM UTC')).toBe('May 1, 2026 at 9:45\u00a0AM\u00a0UTC');
    expect(inMail('1. Mai 2026 um 09:45 UTC')).toBe('1. Mai 2026 um 09:45\u00a0UTC');
  });

  it('after a Polish word of one letter', () => {
    expect(htmlOf('pl', 'authenticator.code')).toBe('Kod z\u00a0aplikacji');
    expect(htmlOf('it', 'consents.lead')).not.toContain('\u00a0');
  });

  it('between a number and its Japanese counter', () => {
    expect(htmlOf('ja', 'factors.heading')).toBe('2\u00a0段階認証とパスキー');
  });
});

describe('the choice of a language', () => {
  it.each([
    ['de-AT,en;q=0.5', 'de'],
    ['en;q=0.5, fr;q=0.9', 'fr'],
    ['pt', 'pt-BR'],
    ['sv, tlh;q=0.9, fr-CA;q=0.8', 'fr'],
    ['*', undefined],
    ['x'.repeat(5000), undefined],
    ['de;q=0', undefined],
  ])('leads from Accept-Language %s to %s', (header, found) => {
    expect(bestLanguage(acceptedLanguages(header), ['de', 'en', 'fr', 'pt-BR'])).toBe(found);
  });

  it('sorts the names of the same languages once', () => {
    expect(languageNames(['en', 'de'])).toBe(languageNames(['en', 'de']));
    expect(languageNames(['en', 'de']).map(({ name }) => name)).toEqual(['Deutsch', 'English']);
  });

  it('names a language in itself, and knows its direction', () => {
    expect(nameOf('pt-BR')).toBe('Português (Brasil)');
    expect([directionOf('ar'), directionOf('de')]).toEqual(['rtl', 'ltr']);
  });
});
