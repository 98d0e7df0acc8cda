// The terms and the privacy notice that people accept by their version: what the settings ask for, and of whom.

import type { SettingValues } from '../../core/settings/settings.ts';
import type { Account } from './account.ts';

export interface Terms {
  version: string;
  /** In the kinds of the links of the brand. */
  documents: { kind: 'terms' | 'privacy'; href: string }[];
}

/** What people accept; undefined without a version, and without a document to read. */
export function termsIn(settings: SettingValues): Terms | undefined {
  const { terms_version: version, brand_terms_url: terms, brand_privacy_url: privacy } = settings;
  if (version === undefined || !(terms || privacy)) return undefined;
  const documents = [
    { kind: 'terms' as const, href: terms },
    { kind: 'privacy' as const, href: privacy },
  ];
  return { version, documents: documents.flatMap(({ kind, href }) => (href ? [{ kind, href }] : [])) };
}

/** What this person has to accept before a sign-in goes on; undefined: nothing. */
export function termsDue(settings: SettingValues, { termsVersion }: Account): Terms | undefined {
  const terms = termsIn(settings);
  return terms?.version === termsVersion ? undefined : terms;
}
