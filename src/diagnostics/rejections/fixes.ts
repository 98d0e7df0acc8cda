// What fixes a broken rule, where a fix is safe: the change that an administrator would make by hand, so it takes the same
// permission and is audited like it.
import type { ApplicationAdmin } from '../../admin/applications/actions.ts';
import { nameAndUsername } from '../../admin/console/names.ts';
import type { UserAdmin } from '../../admin/users/actions.ts';
import { missingRoles } from '../../applications/access-decision.ts';
import type { Application, OidcApplication, SamlApplication } from '../../applications/application.ts';
import { rightsOfApplication } from '../../applications/rules/field-rights.ts';
import type { Actor } from '../../audit/audit.ts';
import { EVERYTHING_SCOPE, OWN_PREFIX } from '../../rbac/built-in.ts';
import type { RuleId } from '../../rejections/rules.ts';
import { listOf, type PageText, t } from '../../texts/text.ts';
import { roleInFile } from '../role-in-file.ts';
import { type Case, isRegistered } from './evaluation.ts';
import type { ApplicableFix } from './fix.ts';
import { type UpstreamFixDependencies, upstreamFixesOf } from './upstream-fixes.ts';

export interface FixDependencies extends UpstreamFixDependencies {
  applicationAdmin: Pick<ApplicationAdmin, 'update' | 'setEnabled' | 'readMetadataAgain'>;
  userAdmin: Pick<UserAdmin, 'setRoles' | 'update'>;
}

/** A change of the fields of an application. */
interface Change {
  id: string;
  label: PageText;
  /** The address that it registers, and those that the application has. */
  address?: { added: string; registered: readonly string[] };
  patch: Record<string, unknown>;
}

/** So many roles get a button. */
const MAX_ROLES = 5;
const NAME_ID_FORMATS = ['persistent', 'transient', 'emailAddress', 'unspecified'];

/** The fixes of a broken rule; of an application none where the configuration file declares it. */
export function fixesOf(rule: RuleId, about: Case, dependencies: FixDependencies): ApplicableFix[] {
  const { applicationAdmin, userAdmin } = dependencies;
  const { application, account, connection, rejection } = about;
  if (connection) return upstreamFixesOf(rule, rejection, { connection, account }, dependencies);
  if (!application || application.source === 'file') return [];
  const { id, name } = application;
  const needs = 'gatehouse.applications:write';
  if (rule === 'client') {
    if (application.enabled) return [];
    return [
      {
        id: 'enable',
        label: t('console.rejections.enable', { name }),
        needs,
        apply: (by) => applicationAdmin.setEnabled(id, true, by),
      },
    ];
  }
  if (rule === 'access') {
    if (!account || account.source === 'file') return [];
    return missingRoles(application.access, account)
      .slice(0, MAX_ROLES)
      .map((role) => ({
        id: `role ${role}`,
        label: t('console.rejections.give-role', { user: nameAndUsername(account), role }),
        needs: 'gatehouse.roles:write',
        apply: (by) => userAdmin.setRoles(account.id, [...account.roles, role], by),
      }));
  }
  if (application.protocol === 'saml' && isSetByMetadata(rule, application)) {
    if (application.metadata.metadata_url === undefined) return [];
    const label = t('console.rejections.update-metadata');
    return [{ id: 'metadata', label, needs, apply: (by) => applicationAdmin.readMetadataAgain(id, by) }];
  }
  const change =
    application.protocol === 'oidc' ? oidcChange(rule, application, about) : samlChange(rule, application, about);
  if (!change || givesRights(application, change, about)) return [];
  if (rule === 'resource' && about.missingApis.length > 0) return [];
  const { address, label, patch } = change;
  const warning = address && newOriginWarning(name, address.added, address.registered);
  const apply = (by: Actor) => applicationAdmin.update(id, patch, by);
  return [{ id: change.id, label, adds: address?.added, warning, needs, apply }];
}

/** Anyone can send a request with an address of their own, and so have its fix offered. */
function newOriginWarning(name: string, added: string, registered: readonly string[]): PageText | undefined {
  const origin = originOf(added);
  if (registered.some((uri) => originOf(uri) === origin)) return undefined;
  return t('console.rejections.new-origin', { origin, name });
}

/** Scheme, host and port; the scheme alone for `com.example.app:/callback` (RFC 8252 7.1). */
function originOf(uri: string): string {
  if (!URL.canParse(uri)) return uri;
  const { protocol, host } = new URL(uri);
  return host ? `${protocol}//${host}` : protocol;
}

/**
 * A request can name any API and scope, so no button gives rights in Gatehouse, nor one half of them (its API without a scope, or
 * a scope without its API): that takes a deliberate change of the application.
 */
function givesRights(application: Application, { id, patch }: Change, { ownApis }: Case): boolean {
  if (application.protocol !== 'oidc') return false;
  if (id === 'resource' && ownApis.length > 0) return true;
  const allowed = application.metadata.scope?.split(' ') ?? [];
  if (
    id === 'scope' &&
    String(patch.scope)
      .split(' ')
      .some((one) => isOwnScope(one) && !allowed.includes(one))
  )
    return true;
  const held = rightsOfApplication(application);
  const after = { metadata: { ...application.metadata, ...patch } };
  return rightsOfApplication(after).some((right) => !held.includes(right));
}

const isOwnScope = (scope: string) => scope === EVERYTHING_SCOPE || scope.startsWith(OWN_PREFIX);

/** Why no fix is offered, or what the fix cannot know. */
export function noteOn(rule: RuleId, about: Case): PageText | undefined {
  const { application, account } = about;
  if (rule === 'access') return application && account?.isActive ? roleInFile(application, account) : undefined;
  if (application?.protocol === 'oidc') {
    if (rule === 'resource' && about.missingApis.length > 0)
      return t('console.rejections.no-api', { apis: listOf(about.missingApis) });
    const change = oidcChange(rule, application, about);
    if (!change || !givesRights(application, change, about)) return undefined;
    return t('console.rejections.asks-rights', { name: application.name });
  }
  if (application?.protocol !== 'saml' || application.source === 'file' || !isSetByMetadata(rule, application))
    return undefined;
  const { name } = application;
  const url = application.metadata.metadata_url;
  if (rule === 'acs')
    return url === undefined
      ? t('console.rejections.pasted-acs', { name })
      : t('console.rejections.metadata-acs', { name, url });
  return url === undefined
    ? t('console.rejections.pasted-certificates', { name })
    : t('console.rejections.metadata-certificates', { name, url });
}

/** Only new metadata fixes what metadata says: the next refresh would undo any other change. */
function isSetByMetadata(rule: RuleId, { metadata }: SamlApplication): boolean {
  return (rule === 'acs' || rule === 'certificate') && metadata.acs === undefined;
}

function oidcChange(rule: RuleId, { metadata }: OidcApplication, { rejection }: Case): Change | undefined {
  const { redirect_uri, post_logout_redirect_uri, grant_type, scope = '', resource } = rejection.received;
  if (rule === 'redirect_uri' && redirect_uri) {
    const patch = { redirect_uris: [...metadata.redirect_uris, redirect_uri] };
    const address = { added: redirect_uri, registered: metadata.redirect_uris };
    return { id: 'redirect-uri', label: t('console.rejections.add-redirect-uri'), address, patch };
  }
  if (rule === 'post_logout_redirect_uri' && post_logout_redirect_uri) {
    const patch = { post_logout_redirect_uris: [...metadata.post_logout_redirect_uris, post_logout_redirect_uri] };
    const registered = [...metadata.redirect_uris, ...metadata.post_logout_redirect_uris];
    const address = { added: post_logout_redirect_uri, registered };
    return { id: 'post-logout-redirect-uri', label: t('console.rejections.add-post-logout'), address, patch };
  }
  if (rule === 'grant' && grant_type) {
    const patch = { grant_types: [...metadata.grant_types, grant_type] };
    return { id: 'grant', label: t('console.rejections.allow-grant', { grant: grant_type }), patch };
  }
  if (rule === 'scope' && metadata.scope) {
    const scopes = [...new Set([...metadata.scope.split(' '), ...scope.split(' ')])].filter(Boolean);
    return { id: 'scope', label: t('console.rejections.allow-scopes'), patch: { scope: scopes.join(' ') } };
  }
  if (rule === 'resource' && resource) {
    const resources = [...new Set([...(metadata.resources ?? []), ...resource.split(' ')])];
    return { id: 'resource', label: t('console.rejections.allow-api'), patch: { resources } };
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
    return { id: 'name-id', label: t('console.rejections.use-name-id', { format }), patch: { name_id_format: format } };
  }
  if (rule === 'acs' && acs) {
    const registered = (metadata.acs ?? []).map(({ url }) => url);
    const address = { added: acs, registered };
    return { id: 'acs', label: t('console.rejections.add-acs'), address, patch: { acs_url: [...registered, acs] } };
  }
  // Named only when its key made the signature of the request (saml/sso/rejected-requests.ts).
  if (rule === 'certificate' && certificate && !isRegistered(certificate, certificates)) {
    const patch = { certificates: [...(metadata.certificates ?? []), { use: 'signing', pem: certificate }] };
    return { id: 'certificate', label: t('console.rejections.add-certificate'), patch };
  }
  return undefined;
}
