// What an application would receive about a person, without a sign-in: no NameID and no token is created.

import type { Application, OidcApplication } from '../../applications/application.ts';
import { clientKeyFaults } from '../../applications/fields/client-keys.ts';
import { signsUsersIn } from '../../applications/fields/oidc-client.ts';
import { faultText } from '../../base/texts/faults.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { userHeaders } from '../../protocols/forward-auth/user-headers.ts';
import type { AccessTokenPreview, ClaimsPreview } from '../../protocols/oidc/claims/claims-preview.ts';
import { userScopes } from '../../protocols/oidc/claims/scopes.ts';
import type { AssertionPreview } from '../../protocols/saml/sso/assertion-previews.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Block } from '../console/blocks.ts';

export interface ApplicationPreview {
  oidc?: ClaimsPreview & { accessTokens: AccessTokenPreview[] };
  /** For a SAML application: the assertion as XML, its NameID or why it has none yet, and its attributes. */
  saml?: { assertion: string; nameId: PageText; attributes: Record<string, string[]> };
  /** Of a website behind a proxy. */
  headers?: Record<string, string>;
  /** The application receives nothing, because its registration is not complete. */
  error?: PageText;
}

/** Makes the preview with every scope that the application may request. */
export function createApplicationPreviews(services: AdminServices) {
  const { previews: assertionPreviews } = services.saml;
  const { claimsPreview, registrationFaultOf } = services.oidc;
  return async (account: Account, application: Application): Promise<ApplicationPreview> => {
    if (application.protocol === 'oidc') {
      if (!signsUsersIn(application.metadata))
        return { error: t('console.access-check.no-grant', { app: application.name }) };
      const fault = await registrationFaultOf(application.clientId);
      if (fault !== undefined) return { error: describeRegistrationFault(application, fault).text };
      const { scope = userScopes(application.metadata).join(' ') } = application.metadata;
      const oidc = await claimsPreview.preview(application.clientId, account, scope);
      return oidc ? { oidc } : {};
    }
    if (application.protocol === 'proxy') return { headers: userHeaders({ account }, application.metadata) };
    const saml = await assertionPreviews(account, application);
    if ('invalid' in saml) return { error: saml.invalid };
    const { xml: assertion, attributes } = saml;
    return { saml: { assertion, nameId: saml.nameId ?? nameIdNote(saml), attributes } };
  };
}

/** Why there is no NameID yet. */
function nameIdNote({ missing, format }: AssertionPreview): PageText {
  if (missing === 'verified-email') return t('console.applications.preview.no-email');
  if (missing === 'allow-create') return t('console.applications.preview.allow-create');
  return format === 'transient'
    ? t('console.applications.preview.transient')
    : t('console.applications.preview.persistent');
}

/** The preview as parts of a page; `head` is the title of the first part, and then the others are closed. */
export function previewBlocks(
  { oidc, saml, headers, error }: ApplicationPreview,
  head?: { title: PageText; lead: PageText },
): Block[] {
  if (error) {
    const sentence = sentences([t('console.applications.preview.incomplete'), error]);
    return [{ kind: 'text', tone: 'warning', text: sentence }];
  }
  const isClosed = head !== undefined;
  const code = (title: PageText, value: object) =>
    ({ kind: 'code', title, label: title, text: JSON.stringify(value, undefined, 2) }) as const;
  if (oidc)
    return [
      { ...code(t('console.applications.preview.id-token'), oidc.idToken), ...head },
      { ...code('UserInfo', oidc.userinfo), isClosed },
      ...oidc.accessTokens.map(({ api, claims }) => accessTokenBlock(api, claims, isClosed)),
    ];
  if (headers)
    return [
      {
        kind: 'facts',
        title: t('console.applications.preview.headers'),
        ...head,
        rows: Object.entries(headers).map(([label, value]) => ({ label, value })),
      },
    ];
  if (!saml) return [];
  const attributes = Object.entries(saml.attributes).map(([label, value]) => ({ label, value }));
  return [
    {
      kind: 'facts',
      title: t('console.applications.preview.assertion'),
      ...head,
      rows: [{ label: 'NameID', value: saml.nameId }, ...attributes],
    },
    {
      kind: 'code',
      title: t('console.applications.preview.assertion-xml'),
      label: t('console.applications.preview.assertion-xml'),
      text: saml.assertion,
      isClosed: true,
    },
  ];
}

function accessTokenBlock(api: string | undefined, claims: object, isClosed: boolean): Block {
  const title =
    api === undefined
      ? t('console.applications.preview.access-token')
      : t('console.applications.preview.access-token-for', { api });
  const lead = api === undefined ? t('console.applications.preview.opaque') : t('console.applications.preview.jwt');
  return { kind: 'code', title, lead, label: title, text: JSON.stringify(claims, undefined, 2), isClosed };
}

// What is wrong with a registration that the engine rejects, in words, and the tab where it is changed.

export interface RegistrationFault {
  /** Sentences. */
  text: PageText;
  /** The page of the application. */
  tab: 'claims' | 'credentials' | 'settings';
}

/** @param reason what the engine says in English */
export function describeRegistrationFault({ metadata }: OidcApplication, reason: string): RegistrationFault {
  const [key] = metadata.jwks ? clientKeyFaults(metadata.jwks) : [];
  if (key) return { text: t('console.applications.error.keys', { text: faultText(key, 'jwks') }), tab: 'credentials' };
  // Everything but the document at this address was checked when the registration was stored.
  const { sector_identifier_uri: uri } = metadata;
  return uri === undefined
    ? { text: t('console.applications.error.incomplete', { reason }), tab: 'settings' }
    : { text: t('console.applications.error.sector', { uri, reason }), tab: 'claims' };
}
