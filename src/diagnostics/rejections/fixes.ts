// What fixes a broken rule, where a fix is safe: the change that an administrator would make by hand, so it takes the same
// permission and is audited like it.

import { leastPowerfulFirst } from '../../admin/applications/presets/demands.ts';
import { mergePatch } from '../../admin/applications/saml-declarations.ts';
import type { RoleOrGroup } from '../../admin/console/new-administrators.ts';
import { missingRoles } from '../../applications/access-decision.ts';
import type { Application, OidcApplication, SamlApplication } from '../../applications/application.ts';
import { metadataOf, oidcClient } from '../../applications/fields/oidc-client.ts';
import { serviceProvider, serviceProviderRules, settingsOf } from '../../applications/fields/service-provider.ts';
import { groupsThatAdmit } from '../../applications/groups-to-choose.ts';
import { oidcRules } from '../../applications/oidc-rules.ts';
import { rightsOfApplication } from '../../applications/rules/field-rights.ts';
import { withProfileFields } from '../../applications/security-profile.ts';
import { AppError } from '../../base/http/errors.ts';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { check } from '../../base/texts/faults.ts';
import { concatenated, listOf, type PageText, t } from '../../base/texts/text.ts';
import { applicationEntry } from '../../config-file/sections/applications.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { RuleId } from '../../core/rejections/rules.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { Account } from '../../people/accounts/account.ts';
import { EVERYTHING_SCOPE, OWN_PREFIX } from '../../people/rbac/built-in.ts';
import { grantOf } from '../../protocols/oidc/engine/requests/request-rules.ts';
import { samlSideOf } from '../../protocols/saml/metadata/service-providers.ts';
import { type NameIdFormatName, nameIdFormatOf } from '../../protocols/saml/xml/names.ts';
import { roleInFile } from '../role-in-file.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Case, oidcTrial, samlTrial } from './evaluation.ts';

/** A change of the fields of an application. */
interface Change {
  id: string;
  label: PageText;
  effect: PageText;
  /** The address that it registers, and those that the application has. */
  address?: { added: string; registered: readonly string[] };
  /** What to find out before it. */
  warning?: PageText;
  patch: Record<string, unknown>;
}

/** So many roles get a button, and so many groups. */
const MAX_ROLES = 5;
const MAX_GROUPS = 3;

/**
 * The fixes of a broken rule with which a trial run of the request passes, PKCE aside; of an application none where the configuration file
 * declares it.
 */
export async function fixesOf(rule: RuleId, about: Case, services: DiagnosticServices): Promise<ApplicableFix[]> {
  const { applications } = services.admin;
  const { application, account, connection, rejection } = about;
  if (connection) return upstreamFixesOf(rule, rejection, { connection, account }, services);
  if (!application || application.source === 'file') return [];
  const { id, name } = application;
  const needs = 'gatehouse.applications:write';
  if (rule === 'client') {
    if (application.enabled) return [];
    const label = t('console.rejections.enable', { name });
    const effect = t('console.rejections.effect.enable', { name });
    return [{ id: 'enable', label, effect, needs, apply: (by) => applications.setEnabled(id, true, by) }];
  }
  if (rule === 'access') return account ? accessFixes(application, account, services) : [];
  // Its document, its registration and the APIs decide the others.
  if (about.agent) return [];
  if (application.protocol === 'saml' && isSetByMetadata(rule, application)) {
    if (!(await passesWithNewMetadata(rule, application, about, services))) return [];
    const label = t('console.rejections.update-metadata');
    const effect = t('console.rejections.effect.metadata', { name });
    return [{ id: 'metadata', label, effect, needs, apply: (by) => applications.readMetadataAgain(id, by) }];
  }
  return changesFor(rule, application, about)
    .map((change) => untilItPasses(change, rule, application, about))
    .filter((change) => change !== undefined)
    .map(({ id: changeId, address, warning, label, effect, patch }) => ({
      id: changeId,
      label,
      effect,
      needs,
      adds: address?.added,
      warning: (address && newOriginWarning(name, address.added, address.registered)) ?? warning,
      apply: (by: Actor) => applications.update(id, patch, by),
    }));
}

/** The roles and groups that would let the person in. */
async function accessFixes(
  application: Application,
  account: Account,
  { admin: { groups, users }, db }: DiagnosticServices,
): Promise<ApplicableFix[]> {
  const user = nameAndUsername(account);
  const missing = account.source === 'file' ? [] : missingRoles(application.access, account);
  const roles = leastPowerfulFirst(application, missing).slice(0, MAX_ROLES);
  const named = leastPowerfulFirst(application, await groupsThatAdmit(application, account, db)).slice(0, MAX_GROUPS);
  const admitting = await Promise.all(named.map((group) => groups.find(group)));
  return [
    ...roles.map(
      (role): ApplicableFix => ({
        id: `role ${role}`,
        label: t('console.rejections.give-role', { user, role }),
        effect: t('console.rejections.effect.role', { user }),
        gives: { kind: 'role', name: role },
        needs: 'gatehouse.roles:write',
        apply: (by) => users.setRoles(account.id, [...account.roles, role], by),
      }),
    ),
    ...admitting
      .filter((group) => group !== undefined)
      .map(
        (group): ApplicableFix => ({
          id: `group ${group.name}`,
          label: t('console.rejections.add-to-group', { user, group: group.name }),
          effect: concatenated([
            t('console.rejections.effect.group', { user, group: group.name }),
            ...(group.description ? [' ', group.name, ': ', group.description] : []),
          ]),
          gives: { kind: 'group', name: group.name },
          needs: 'gatehouse.groups:write',
          apply: (by) => users.join(group.id, { userId: account.id }, by),
        }),
      ),
  ];
}

function changesFor(rule: RuleId, application: Application, about: Case): Change[] {
  if (rule === 'resource' && about.missingApis.length > 0) return [];
  if (application.protocol === 'proxy') return [];
  if (application.protocol === 'saml' && isSetByMetadata(rule, application)) return [];
  const changes =
    application.protocol === 'oidc' ? [oidcChange(rule, application, about)] : samlChanges(rule, application, about);
  return changes.filter((change) => change !== undefined && !givesRights(application, change, about)) as Change[];
}

/** A request can be wrong in so many ways at once. */
const MAX_CHANGES = 3;

/**
 * The change, with those that the request needs beside it; undefined where a trial run fails with all of them, or the changed declaration
 * is not accepted. Beside an address, the missing PKCE is left to the application.
 */
function untilItPasses(first: Change, rule: RuleId, application: Application, about: Case): Change | undefined {
  let change = first;
  for (let made = 1; made <= MAX_CHANGES; made += 1) {
    const broken = brokenWith(change.patch, rule, application, about);
    if (broken === 'nothing') return change;
    // Anyone can send both at once, so no button registers an address and turns PKCE off.
    if (change.address && broken === 'pkce') {
      const missing = t('console.rejections.effect.lacks-pkce', { name: application.name });
      return { ...change, effect: concatenated([change.effect, ' ', missing]) };
    }
    const next = broken && broken !== rule ? changesFor(broken, application, about)[0] : undefined;
    if (!next) return undefined;
    const address = change.address ?? next.address;
    const warning = change.warning ?? next.warning;
    if (address && warning) return undefined;
    change = {
      id: `${change.id} ${next.id}`,
      label: listOf([change.label, next.label]),
      effect: concatenated([change.effect, ' ', next.effect]),
      patch: { ...change.patch, ...next.patch },
      ...(address && { address }),
      ...(warning && { warning }),
    };
  }
  return undefined;
}

/** The rule that the request breaks with this change in a trial run; undefined when the declaration is not accepted. */
function brokenWith(
  patch: Record<string, unknown>,
  rule: RuleId,
  application: Application,
  about: Case,
): RuleId | 'nothing' | undefined {
  const declared = mergePatch(applicationEntry(application), patch);
  if (application.protocol === 'oidc') {
    const checked = check(oidcClient, withProfileFields(declared), oidcRules);
    return checked.ok ? oidcTrial(about, metadataOf(checked.value)) : undefined;
  }
  if (application.protocol === 'proxy') return undefined;
  const checked = check(serviceProvider, declared, serviceProviderRules);
  if (!checked.ok) return undefined;
  const settings = settingsOf(checked.value, application.metadata.metadata_xml);
  return samlTrial(rule, about.rejection, samlSideOf(application.clientId, settings));
}

/** The trial run with the metadata that its URL has now. */
async function passesWithNewMetadata(
  rule: RuleId,
  { clientId, metadata }: SamlApplication,
  { rejection }: Case,
  { admin: { applications } }: DiagnosticServices,
): Promise<boolean> {
  const { metadata_url, metadata_certificate } = metadata;
  if (metadata_url === undefined) return false;
  try {
    const { acs, nameIdFormats, signingCertificates, entityId } = await applications.readMetadata({
      metadata_url,
      metadata_certificate,
    });
    const side = { ...samlSideOf(clientId, metadata), acs, offered: nameIdFormats };
    const certificates = signingCertificates.map(({ pem }) => pem);
    return entityId === clientId && samlTrial(rule, rejection, { ...side, certificates }) === 'nothing';
  } catch (error) {
    if (error instanceof AppError) return false; // its page says why it cannot be read
    throw error;
  }
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
  const scopes = id === 'scope' ? String(patch.scope).split(' ') : [];
  if (scopes.some((one) => isOwnScope(one) && !allowed.includes(one))) return true;
  const held = rightsOfApplication(application);
  const after = { ...application, metadata: { ...application.metadata, ...patch } };
  return rightsOfApplication(after).some((right) => !held.includes(right));
}

const isOwnScope = (scope: string) => scope === EVERYTHING_SCOPE || scope.startsWith(OWN_PREFIX);

const isAddress = (rule: RuleId) => ['redirect_uri', 'post_logout_redirect_uri', 'acs'].includes(rule);

/** Why no fix is offered, or what the fix cannot know. */
export function noteOn(rule: RuleId, about: Case, hasFix: boolean): PageText | undefined {
  const { application, account } = about;
  if (rule === 'access') return application && account?.isActive ? roleInFile(application, account) : undefined;
  if (!application) return undefined;
  const isByMetadata = application.protocol === 'saml' && isSetByMetadata(rule, application);
  // Which of the two addresses is wrong, the request does not say.
  if (isAddress(rule) && !isByMetadata) return t('console.rejections.or-at-application', { name: application.name });
  if (application.protocol === 'oidc') return oidcNote(rule, application, about);
  return isByMetadata && application.source !== 'file' ? metadataNote(rule, application, hasFix) : undefined;
}

/** Why no button lets the application have what it asks for. */
function oidcNote(rule: RuleId, application: OidcApplication, about: Case): PageText | undefined {
  if (rule === 'resource' && about.missingApis.length > 0)
    return t('console.rejections.no-api', { apis: listOf(about.missingApis) });
  const change = oidcChange(rule, application, about);
  if (!change || !givesRights(application, change, about)) return undefined;
  return t('console.rejections.asks-rights', { name: application.name });
}

/** What the request still breaks after the fix of this rule: no fix of an address turns PKCE off. */
export function noteOnFixed(rule: RuleId, about: Case): PageText | undefined {
  const { application } = about;
  if (!application || brokenWith({}, rule, application, about) !== 'pkce') return undefined;
  return t('console.rejections.effect.lacks-pkce', { name: application.name });
}

/** Why new metadata does not help, or whose metadata says it. */
function metadataNote(rule: RuleId, { name, metadata }: SamlApplication, hasFix: boolean): PageText {
  const { metadata_url: url } = metadata;
  const isAddressRule = rule === 'acs';
  if (url === undefined)
    return isAddressRule
      ? t('console.rejections.pasted-acs', { name })
      : t('console.rejections.pasted-certificates', { name });
  if (!hasFix) return t('console.rejections.metadata-no-help', { name, url });
  return isAddressRule
    ? t('console.rejections.metadata-acs', { name, url })
    : t('console.rejections.metadata-certificates', { name, url });
}

/** Only new metadata fixes what metadata says: the next refresh would undo any other change. */
export function isSetByMetadata(rule: RuleId, { metadata }: SamlApplication): boolean {
  return ['acs', 'certificate', 'signing_key', 'signature'].includes(rule) && metadata.acs === undefined;
}

function oidcChange(rule: RuleId, { name, metadata }: OidcApplication, { rejection }: Case): Change | undefined {
  const { redirect_uri, post_logout_redirect_uri, scope = '', resource } = rejection.received;
  const grant = grantOf(rejection);
  if (rule === 'redirect_uri' && redirect_uri) {
    const patch = { redirect_uris: [...metadata.redirect_uris, redirect_uri] };
    const address = { added: redirect_uri, registered: metadata.redirect_uris };
    return {
      id: 'redirect-uri',
      label: t('console.rejections.add-redirect-uri'),
      effect: t('console.rejections.effect.redirect-uri', { name }),
      address,
      patch,
    };
  }
  if (rule === 'post_logout_redirect_uri' && post_logout_redirect_uri) {
    const patch = { post_logout_redirect_uris: [...metadata.post_logout_redirect_uris, post_logout_redirect_uri] };
    const registered = [...metadata.redirect_uris, ...metadata.post_logout_redirect_uris];
    const address = { added: post_logout_redirect_uri, registered };
    return {
      id: 'post-logout-redirect-uri',
      label: t('console.rejections.add-post-logout'),
      effect: t('console.rejections.effect.post-logout-redirect-uri', { name }),
      address,
      patch,
    };
  }
  // Of a public client the changed declaration is not accepted.
  if (rule === 'pkce' && metadata.require_pkce !== false)
    return {
      id: 'no-pkce',
      label: t('console.rejections.allow-no-pkce'),
      effect: t('console.rejections.effect.no-pkce', { name }),
      warning: t('console.rejections.no-pkce-warning', { name }),
      patch: { require_pkce: false },
    };
  if (rule === 'grant') {
    const patch = { grant_types: [...metadata.grant_types, grant] };
    return {
      id: 'grant',
      label: t('console.rejections.allow-grant', { grant }),
      effect: t('console.rejections.effect.grant', { name }),
      patch,
    };
  }
  if (rule === 'scope' && metadata.scope) {
    const scopes = [...new Set([...metadata.scope.split(' '), ...scope.split(' ')])].filter(Boolean);
    return {
      id: 'scope',
      label: t('console.rejections.allow-scopes'),
      effect: t('console.rejections.effect.scope', { name }),
      patch: { scope: scopes.join(' ') },
    };
  }
  if (rule === 'resource' && resource) {
    const resources = [...new Set([...(metadata.resources ?? []), ...resource.split(' ')])];
    return {
      id: 'resource',
      label: t('console.rejections.allow-api'),
      effect: t('console.rejections.effect.resource', { name }),
      patch: { resources },
    };
  }
  return undefined;
}

function samlChanges(
  rule: RuleId,
  { name, metadata }: SamlApplication,
  { rejection, side }: Case,
): (Change | undefined)[] {
  const { AssertionConsumerServiceURL: acs, certificate, NameIDPolicy = '' } = rejection.received;
  if (rule === 'name_id') return [keepFormat(name, side), useFormat(name, nameIdFormatOf(NameIDPolicy))];
  if (rule === 'context') {
    const effect = t('console.rejections.effect.ignore-context', { name });
    const patch = { ignore_requested_authn_context: true };
    return [{ id: 'ignore-context', label: t('console.rejections.ignore-context'), effect, patch }];
  }
  if (rule === 'acs' && acs) {
    const address = { added: acs, registered: (metadata.acs ?? []).map(({ url }) => url) };
    const effect = t('console.rejections.effect.acs', { name });
    // The others keep their index, and one of them stays the default.
    const patch = { acs_url: [...(metadata.acs ?? []), { url: acs, index: nextIndex(metadata.acs ?? []) }] };
    return [{ id: 'acs', label: t('console.rejections.add-acs'), effect, address, patch }];
  }
  if ((rule === 'certificate' || rule === 'signing_key') && certificate) {
    const patch = { certificates: [...(metadata.certificates ?? []), { use: 'signing', pem: certificate }] };
    const effect = t('console.rejections.effect.certificate', { name });
    return [{ id: 'certificate', label: t('console.rejections.add-certificate'), effect, patch }];
  }
  return [];
}

const nextIndex = (registered: readonly { index: number }[]) =>
  Math.max(-1, ...registered.map(({ index }) => index)) + 1;

/** The format that is configured goes to everybody, whatever a request asks for. */
function keepFormat(name: string, side: Case['side']): Change | undefined {
  if (side?.configured === undefined) return undefined;
  return {
    id: 'force-name-id',
    label: t('console.rejections.force-name-id', { format: side.configured }),
    effect: t('console.rejections.effect.force-name-id', { name }),
    patch: { force_name_id_format: true },
  };
}

function useFormat(name: string, format: NameIdFormatName | undefined): Change | undefined {
  if (format === undefined) return undefined;
  return {
    id: 'name-id',
    label: t('console.rejections.use-name-id', { format }),
    effect: t('console.rejections.effect.name-id', { name, format }),
    patch: { name_id_format: format },
  };
}

function upstreamFixesOf(
  rule: RuleId,
  { received }: Rejection,
  { connection, account }: { connection: Connection; account: Account | undefined },
  { admin: { connections, users } }: DiagnosticServices,
): ApplicableFix[] {
  const { id, name, enabled, source } = connection;
  const needs = 'gatehouse.connections:write';
  if (rule === 'connection' && !enabled && source !== 'file')
    return [
      {
        id: 'enable',
        label: t('console.rejections.enable', { name }),
        effect: t('console.rejections.effect.enable', { name }),
        needs,
        apply: (by) => connections.setEnabled(id, true, by),
      },
    ];
  const { subject } = received;
  if (rule === 'address' && account && account.source !== 'file' && subject !== undefined) {
    const user = nameAndUsername(account);
    return [
      {
        id: 'relink',
        label: t('console.rejections.relink', { user }),
        effect: t('console.rejections.effect.relink', { user }),
        warning: t('console.rejections.relink-warning', { user, name }),
        needs: 'gatehouse.users:write',
        apply: (by) => users.update(account.id, { ssoId: subject, ssoConnection: id }, by),
      },
    ];
  }
  // Whether newer documents would verify an answer, only the next sign-in tells: the answer is not stored.
  return [];
}

// A change that fixes a broken rule.

export interface Fix {
  id: string;
  label: PageText;
  /** What it changes for others: the other users of the application. */
  effect: PageText;
  /** The address that it registers. */
  adds?: string | undefined;
  /** What to find out before it. */
  warning?: PageText | undefined;
  /** What it gives to the user of the request: with permissions in Gatehouse, the page asks first. */
  gives?: RoleOrGroup;
  /** The permission for the change. */
  needs:
    | 'gatehouse.applications:write'
    | 'gatehouse.groups:write'
    | 'gatehouse.roles:write'
    | 'gatehouse.connections:write'
    | 'gatehouse.users:write';
}

export interface ApplicableFix extends Fix {
  apply(by: Actor): Promise<unknown>;
}
