// What is wrong with a registration that the engine rejects, in words, and the tab where it is changed.

import type { OidcApplication } from '../../../applications/application.ts';
import { clientKeyFaults } from '../../../applications/fields/client-keys.ts';
import { faultText } from '../../../base/texts/faults.ts';
import { type PageText, t } from '../../../base/texts/text.ts';

export interface RegistrationProblem {
  /** Sentences. */
  text: PageText;
  /** The page of the application. */
  tab: 'claims' | 'credentials' | 'settings';
}

/** @param reason what the engine says in English */
export function registrationProblem(
  { metadata }: Pick<OidcApplication, 'metadata'>,
  reason: string,
): RegistrationProblem {
  if (/sector_identifier_uri/.test(reason)) {
    const values = { uri: metadata.sector_identifier_uri ?? '', reason };
    return { text: t('console.applications.problem.sector', values), tab: 'claims' };
  }
  if (!/jwks|JSON Web Key/.test(reason))
    return { text: t('console.applications.problem.incomplete', { reason }), tab: 'settings' };
  const [found] = metadata.jwks ? clientKeyFaults(metadata.jwks) : [];
  const text = found ? faultText(found, 'jwks') : reason;
  return { text: t('console.applications.problem.keys', { text }), tab: 'credentials' };
}
