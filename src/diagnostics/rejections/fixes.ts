// What fixes a broken rule, where a fix is safe: the change that an administrator would make by hand, so it takes the same
// permission and is audited like it.
import type { ApplicationAdmin } from '../../admin/applications/actions.ts';
import type { UserAdmin } from '../../admin/users/actions.ts';
import { missingRoles } from '../../applications/access-decision.ts';
import type { Application, OidcApplication, SamlApplication } from '../../applications/application.ts';
import type { Actor } from '../../audit/audit.ts';
import type { RuleId } from '../../rejections/rules.ts';
import { type Case, isRegistered } from './evaluation.ts';

export interface Fix {
  id: string;
  label: string;
  /** The permission for the change. */
  needs: 'gatehouse.applications:write' | 'gatehouse.roles:write';
}

export interface ApplicableFix extends Fix {
  apply(by: Actor): Promise<unknown>;
}

export interface FixDependencies {
  applicationAdmin: Pick<ApplicationAdmin, 'update' | 'setEnabled' | 'readMetadataAgain'>;
  userAdmin: Pick<UserAdmin, 'setRoles'>;
}

/** A change of the fields of an application. */
interface Change {
  id: string;
  label: string;
  patch: Record<string, unknown>;
}

/** So many roles get a button. */
const MAX_ROLES = 5;
const NAME_ID_FORMATS = ['persistent', 'transient', 'emailAddress', 'unspecified'];

/** The fixes of a broken rule; none where the configuration file declares the application. */
export function fixesOf(rule: RuleId, about: Case, { applicationAdmin, userAdmin }: FixDependencies): ApplicableFix[] {
  const { application, account } = about;
  if (!application || application.source === 'file') return [];
  const { id, name } = application;
  const needs = 'gatehouse.applications:write';
  if (rule === 'client') {
    if (application.enabled) return [];
    return [{ id: 'enable', label: `Enable ${name}`, needs, apply: (by) => applicationAdmin.setEnabled(id, true, by) }];
  }
  if (rule === 'access') {
    if (!account) return [];
    return missingRoles(application.access, account)
      .slice(0, MAX_ROLES)
      .map((role) => ({
        id: `role ${role}`,
        label: `Give ${account.username} the role ${role}`,
        needs: 'gatehouse.roles:write',
        apply: (by) => userAdmin.setRoles(account.id, [...account.roles, role], by),
      }));
  }
  if (application.protocol === 'saml' && isSetByMetadata(rule, application)) {
    if (application.metadata.metadata_url === undefined) return [];
    const label = 'Read its metadata again now';
    return [{ id: 'metadata', label, needs, apply: (by) => applicationAdmin.readMetadataAgain(id, by) }];
  }
  const change =
    application.protocol === 'oidc' ? oidcChange(rule, application, about) : samlChange(rule, application, about);
  if (!change) return [];
  return [{ id: change.id, label: change.label, needs, apply: (by) => applicationAdmin.update(id, change.patch, by) }];
}

/** Why no fix is offered, or what the fix cannot know. */
export function noteOn(rule: RuleId, application: Application | undefined): string | undefined {
  if (application?.protocol !== 'saml' || application.source === 'file' || !isSetByMetadata(rule, application))
    return undefined;
  const what =
    rule === 'acs' ? 'which addresses answers may go to' : 'which certificates its requests may be signed with';
  const { metadata_url } = application.metadata;
  return metadata_url === undefined
    ? `${application.name} is registered by metadata that was pasted, and that says ${what}. So nothing is added here by itself: paste the new metadata of the application.`
    : `${application.name} is registered by its metadata at ${metadata_url}, which says ${what} and is read again each day. So nothing is added here by itself: the application has to publish it there, and then it can be read at once.`;
}

/** Only new metadata fixes what metadata says: the next refresh would undo any other change. */
function isSetByMetadata(rule: RuleId, { metadata }: SamlApplication): boolean {
  return (rule === 'acs' || rule === 'certificate') && metadata.acs === undefined;
}

function oidcChange(rule: RuleId, { metadata }: OidcApplication, { rejection }: Case): Change | undefined {
  const { redirect_uri, post_logout_redirect_uri, grant_type, scope = '', resource } = rejection.received;
  if (rule === 'redirect_uri' && redirect_uri) {
    const patch = { redirect_uris: [...metadata.redirect_uris, redirect_uri] };
    return { id: 'redirect-uri', label: 'Add this redirect URI', patch };
  }
  if (rule === 'post_logout_redirect_uri' && post_logout_redirect_uri) {
    const patch = { post_logout_redirect_uris: [...metadata.post_logout_redirect_uris, post_logout_redirect_uri] };
    return { id: 'post-logout-redirect-uri', label: 'Add this post-logout redirect URI', patch };
  }
  if (rule === 'grant' && grant_type) {
    const patch = { grant_types: [...metadata.grant_types, grant_type] };
    return { id: 'grant', label: `Allow the grant ${grant_type}`, patch };
  }
  if (rule === 'scope' && metadata.scope) {
    const scopes = [...new Set([...metadata.scope.split(' '), ...scope.split(' ')])].filter(Boolean);
    return { id: 'scope', label: 'Allow these scopes', patch: { scope: scopes.join(' ') } };
  }
  if (rule === 'resource' && resource && metadata.resources) {
    return {
      id: 'resource',
      label: 'Let it ask for this API',
      patch: { resources: [...metadata.resources, resource] },
    };
  }
  return undefined;
}

function samlChange(
  rule: RuleId,
  { metadata }: SamlApplication,
  { rejection, certificates }: Case,
): Change | undefined {
  const { AssertionConsumerServiceURL: acs, certificate, NameIDPolicy = '' } = rejection.received;
  const format = NameIDPolicy.split(':').at(-1) ?? '';
  if (rule === 'name_id' && NAME_ID_FORMATS.includes(format)) {
    return { id: 'name-id', label: `Give it ${format} identifiers`, patch: { name_id_format: format } };
  }
  if (rule === 'acs' && acs) {
    const patch = { acs_url: [...(metadata.acs ?? []).map(({ url }) => url), acs] };
    return { id: 'acs', label: 'Add this ACS URL', patch };
  }
  // Named only when its key made the signature of the request (saml/sso/rejected-requests.ts).
  if (rule === 'certificate' && certificate && !isRegistered(certificate, certificates)) {
    const patch = { certificates: [...(metadata.certificates ?? []), { use: 'signing', pem: certificate }] };
    return { id: 'certificate', label: 'Add this certificate', patch };
  }
  return undefined;
}
