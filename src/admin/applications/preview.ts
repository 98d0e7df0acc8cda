// What an application would receive about a person, without a sign-in: no NameID and no token is created.
import type { Account } from '../../accounts/account.ts';
import { attributesFor, claimsByScope } from '../../accounts/claims.ts';
import { withVisibleRoles } from '../../accounts/visible-roles.ts';
import type { Application } from '../../applications/application.ts';
import { ownScopes } from '../../applications/fields/claim-settings.ts';
import type { ClaimsPreview, ClaimsPreviews } from '../../oidc/claims/claims-preview.ts';
import type { Db } from '../../storage/database.ts';
import type { Block } from '../console/blocks.ts';

export interface ApplicationPreview {
  oidc?: ClaimsPreview;
  /** For a SAML application. */
  saml?: { nameId: string; attributes: Record<string, string[]> };
}

export type ApplicationPreviews = (account: Account, application: Application) => Promise<ApplicationPreview>;

export interface ApplicationPreviewsDependencies {
  db: Db;
  claimsPreview: Pick<ClaimsPreviews, 'preview'>;
}

/** Makes the preview with every scope that the application may request. */
export function createApplicationPreviews(dependencies: ApplicationPreviewsDependencies): ApplicationPreviews {
  const { db, claimsPreview } = dependencies;
  return async (account, application) => {
    if (application.protocol === 'oidc') {
      const { scope = [...Object.keys(claimsByScope), ...ownScopes(application.metadata)].join(' ') } =
        application.metadata;
      const oidc = await claimsPreview.preview(application.clientId, account, scope);
      return oidc ? { oidc } : {};
    }
    const { metadata, id } = application;
    const stored = await db.samlNameId.findUnique({
      where: { userId_applicationId: { userId: account.id, applicationId: id } },
      select: { value: true },
    });
    return {
      saml: {
        nameId: nameIdPreview(metadata.name_id_format ?? 'persistent', account, stored?.value),
        attributes: attributesFor(withVisibleRoles(account, metadata), metadata.attributes),
      },
    };
  };
}

/** The NameID that the account would get; `stored` is the persistent one that it has. */
function nameIdPreview(format: string, account: Account, stored: string | undefined): string {
  const nameIds: Record<string, string> = {
    persistent: stored ?? 'a random one, created at the first sign-in',
    transient: 'a new random one at each sign-in',
    emailAddress: account.email && account.emailVerified ? account.email : 'none: the email address is not verified',
    unspecified: account.username,
  };
  return `${nameIds[format] ?? ''} (${format})`;
}

/** The preview as parts of a page; `head` is the title of the first part, and then the others are closed. */
export function previewBlocks({ oidc, saml }: ApplicationPreview, head?: { title: string; lead: string }): Block[] {
  const code = (label: string, value: object) =>
    ({ kind: 'code', title: label, label, text: JSON.stringify(value, undefined, 2) }) as const;
  if (oidc)
    return [
      { ...code('ID token', oidc.idToken), ...head },
      { ...code('UserInfo', oidc.userinfo), isClosed: head !== undefined },
    ];
  return saml ? [{ ...code('Assertion', { NameID: saml.nameId, ...saml.attributes }), ...head }] : [];
}
