// The names of the uses of keys, and the list of those who verify SAML signatures.

import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { KeyUse } from '../../core/keys/rotation.ts';
import type { Block, Cell } from '../console/blocks.ts';
import type { Verifier } from './readiness.ts';

export const TITLES: Record<KeyUse, PageText> = {
  oidc: 'OpenID Connect',
  saml: 'SAML',
  'saml-sp': t('console.keys.title.saml-sp'),
  'saml-sp-encryption': t('console.keys.title.saml-sp-encryption'),
};

export const LEADS: Record<KeyUse, PageText> = {
  oidc: t('console.keys.lead.oidc'),
  saml: t('console.keys.lead.saml'),
  'saml-sp': t('console.keys.lead.saml-sp'),
  'saml-sp-encryption': t('console.keys.lead.saml-sp-encryption'),
};

/** The service providers, and what is known about each. */
export function verifierTable(verifiers: readonly Verifier[], isMore: boolean, hasNext: boolean): Block {
  const advice = hasNext ? t('console.keys.verifiers-before-activation') : t('console.keys.verifiers-after-publishing');
  const count = verifiers.length;
  return {
    kind: 'table',
    title: t('console.keys.verifiers'),
    lead: sentences([t('console.keys.verifiers-unknown'), advice]),
    caption: t('console.keys.verifiers-caption'),
    columns: [
      t('console.keys.application'),
      t('console.keys.last-sign-in'),
      t('console.keys.its-metadata'),
      t('console.keys.contacts'),
      t('console.keys.trusts-next'),
    ],
    rows: verifiers.map((one) => rowOf(one, hasNext)),
    empty: t('console.keys.no-verifiers'),
    count: isMore ? t('console.keys.first-count', { count }) : t('console.keys.count', { count }),
  };
}

function rowOf({ application, lastSignIn, nextReadAt, isWaiting }: Verifier, hasNext: boolean): Cell[] {
  const { id, name, metadata } = application;
  const contacts = 'contacts' in metadata ? (metadata.contacts ?? []) : [];
  const byUrl = 'metadata_url' in metadata && metadata.metadata_url !== undefined;
  const source: Cell = byUrl
    ? [t('console.keys.from-url'), nextReadAt ?? t('console.keys.soon')]
    : 'metadata_xml' in metadata && metadata.metadata_xml
      ? t('console.keys.pasted')
      : t('console.keys.by-hand');
  const waiting = {
    text: t('console.keys.change-waits'),
    href: `/admin/applications/${id}/metadata`,
    tone: 'warn' as const,
  };
  return [
    { text: name, href: `/admin/applications/${id}`, logo: { name } },
    lastSignIn ?? t('console.keys.no-sign-in'),
    isWaiting ? [source, waiting] : source,
    contacts.join(', '),
    hasNext ? { text: t('console.keys.unknown'), tone: 'warn' as const } : null,
  ];
}
