// The names of the uses of keys, and the list of those who verify SAML signatures.
import type { KeyUse } from '../../keys/rotation.ts';
import { plural } from '../../platform/plural.ts';
import type { Block, Cell } from '../console/blocks.ts';
import type { Verifier } from './readiness.ts';

export const TITLES: Record<KeyUse, string> = {
  oidc: 'OpenID Connect',
  saml: 'SAML',
  'saml-sp': 'SAML at upstream identity providers: signatures',
  'saml-sp-encryption': 'SAML at upstream identity providers: decryption',
};

export const LEADS: Record<KeyUse, string> = {
  oidc: 'Next keys are published before they sign, so that applications know them. Rotation is automatic.',
  saml: 'Service providers have to read the metadata again before the next certificate signs.',
  'saml-sp': 'Signs requests to identity providers, which read it from /saml/sp/metadata.',
  'saml-sp-encryption': 'Identity providers encrypt assertions for it.',
};

const UNKNOWN =
  'Gatehouse can’t see which certificate an application trusts, or when it last read the metadata of this server.';

/** The service providers, and what is known about each. */
export function verifierTable(verifiers: readonly Verifier[], isMore: boolean, hasNext: boolean): Block {
  const lead = hasNext
    ? `${UNKNOWN} Ask each owner before you activate the next certificate: sign-in breaks where only the active one is trusted.`
    : `${UNKNOWN} After you publish the next certificate, ask each owner to update the metadata.`;
  const count = plural(verifiers.length, 'application');
  return {
    kind: 'table',
    title: 'Applications that verify SAML signatures',
    lead,
    caption: 'SAML applications',
    columns: ['Application', 'Last sign-in', 'Its metadata', 'Contacts', 'Trusts the next certificate'],
    rows: verifiers.map((one) => rowOf(one, hasNext)),
    empty: 'No SAML applications.',
    count: isMore ? `The first ${count}` : count,
  };
}

function rowOf({ application, lastSignIn, nextReadAt, isWaiting }: Verifier, hasNext: boolean): Cell[] {
  const { id, name, metadata } = application;
  const contacts = 'contacts' in metadata ? (metadata.contacts ?? []) : [];
  const byUrl = 'metadata_url' in metadata && metadata.metadata_url !== undefined;
  const source: Cell = byUrl
    ? ['From its URL, again', nextReadAt ?? 'soon']
    : 'metadata_xml' in metadata && metadata.metadata_xml
      ? 'A pasted document'
      : 'Entered by hand';
  const waiting = { text: 'Change waits', href: `/admin/applications/${id}/metadata`, tone: 'warn' as const };
  return [
    { text: name, href: `/admin/applications/${id}`, logo: { name } },
    lastSignIn ?? 'None in 30 days',
    isWaiting ? [source, waiting] : source,
    contacts.join(', '),
    hasNext ? { text: 'Unknown', tone: 'warn' as const } : null,
  ];
}
