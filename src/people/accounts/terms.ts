// The terms and the privacy notice that people accept by their version: what the settings ask for, and of whom.

import { type Fault, fault } from '../../base/texts/faults.ts';
import type { SettingValues } from '../../core/settings/settings.ts';
import type { Account } from './account.ts';

export interface Terms {
  version: string;
  /** In the kinds of the links of the brand. */
  documents: { kind: 'terms' | 'privacy'; href: string }[];
}

/** The settings that belong together. */
export const termsSettings = ['terms_version', 'brand_terms_url', 'brand_privacy_url'] as const;
type TermsSettings = Partial<SettingValues>;

/** A version without a document to read would ask nobody. */
export const termsFaults = (settings: TermsSettings): Fault[] =>
  settings.terms_version === undefined || termsIn(settings) ? [] : [fault(['terms_version'], 'terms-address')];

/** What people accept; undefined without a version, or a document. */
export function termsIn(settings: TermsSettings): Terms | undefined {
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
