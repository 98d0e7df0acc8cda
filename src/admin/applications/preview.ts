// What an application would receive about a person, without a sign-in: no NameID and no token is created.
import type { Account } from '../../accounts/account.ts';
import { attributesFor, claimsByScope } from '../../accounts/claims.ts';
import { withVisibleRoles } from '../../accounts/visible-roles.ts';
import type { Application } from '../../applications/application.ts';
import { ownScopes } from '../../applications/fields/claim-settings.ts';
import type { AccessTokenPreview, ClaimsPreview, ClaimsPreviews } from '../../oidc/claims/claims-preview.ts';
import { assertionPreview } from '../../saml/messages/assertion-preview.ts';
import type { NameIdField } from '../../saml/messages/name-id.ts';
import { type NameIdFormatName, nameIdFormats } from '../../saml/xml/names.ts';
import type { Db } from '../../storage/database.ts';
import { type PageText, sentences, t } from '../../texts/text.ts';
import type { Block } from '../console/blocks.ts';
import { registrationProblem } from './tabs/registration-problem.ts';

export interface ApplicationPreview {
  oidc?: ClaimsPreview & { accessTokens: AccessTokenPreview[] };
  /** For a SAML application: the assertion as XML, its NameID or why it has none yet, and its attributes. */
  saml?: { assertion: string; nameId: PageText; attributes: Record<string, string[]> };
  /** The application receives nothing, because its registration is not complete. */
  problem?: PageText;
}

export type ApplicationPreviews = (account: Account, application: Application) => Promise<ApplicationPreview>;

export interface ApplicationPreviewsDependencies {
  db: Db;
  /** The public address of this server. */
  issuer: string;
  claimsPreview: Pick<ClaimsPreviews, 'preview'>;
  /** Why the engine rejects a registered client. */
  registrationFaultOf(clientId: string): Promise<string | undefined>;
}

/** Makes the preview with every scope that the application may request. */
export function createApplicationPreviews(dependencies: ApplicationPreviewsDependencies): ApplicationPreviews {
  const { db, claimsPreview, registrationFaultOf } = dependencies;
  const samlEntityId = `${dependencies.issuer}/saml/metadata`;
  return async (account, application) => {
    if (application.protocol === 'oidc') {
      const fault = await registrationFaultOf(application.clientId);
      if (fault !== undefined) return { problem: registrationProblem(application, fault).text };
      const { scope = [...Object.keys(claimsByScope), ...ownScopes(application.metadata)].join(' ') } =
        application.metadata;
      const oidc = await claimsPreview.preview(application.clientId, account, scope);
      return oidc ? { oidc } : {};
    }
    const { metadata, id, clientId } = application;
    const stored = await db.samlNameId.findUnique({
      where: { userId_applicationId: { userId: account.id, applicationId: id } },
      select: { value: true },
    });
    const format = metadata.name_id_format ?? 'persistent';
    const field = format === 'persistent' || format === 'unspecified' ? metadata.name_id_field : undefined;
    const value = nameIdValue(format, field, account, stored?.value);
    const qualifiers =
      format === 'persistent' || format === 'transient'
        ? { nameQualifier: samlEntityId, spNameQualifier: clientId }
        : {};
    const attributes = attributesFor(withVisibleRoles(account, metadata), metadata.attributes);
    const assertion = assertionPreview({
      issuer: samlEntityId,
      audience: clientId,
      nameId: { value: value ?? '…', format: nameIdFormats[format], ...qualifiers },
      attributes,
    });
    return { saml: { assertion, nameId: value ?? nameIdNotes[field ? 'emailAddress' : format], attributes } };
  };
}

/** The value of the NameID; undefined when it does not exist yet. `stored` is the persistent one that the account has. */
function nameIdValue(
  format: NameIdFormatName,
  field: NameIdField | undefined,
  account: Account,
  stored: string | undefined,
): string | undefined {
  const email = account.email && account.emailVerified ? account.email : undefined;
  const fields: Record<NameIdField, string | undefined> = { sub: account.id, username: account.username, email };
  const values: Record<NameIdFormatName, string | undefined> = {
    persistent: stored,
    transient: undefined,
    emailAddress: email,
    unspecified: account.username,
  };
  return field ? fields[field] : values[format];
}

/** Why there is no value. */
const nameIdNotes: Record<NameIdFormatName, PageText> = {
  persistent: t('console.applications.preview.persistent'),
  transient: t('console.applications.preview.transient'),
  emailAddress: t('console.applications.preview.no-email'),
  unspecified: '',
};

/** The preview as parts of a page; `head` is the title of the first part, and then the others are closed. */
export function previewBlocks(
  { oidc, saml, problem }: ApplicationPreview,
  head?: { title: PageText; lead: PageText },
): Block[] {
  if (problem) {
    const sentence = sentences([t('console.applications.preview.incomplete'), problem]);
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
