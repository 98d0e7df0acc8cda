// What the pages of connections share: blocks of one connection, and what is wrong with it.

import { presetOf } from '../../connections/presets/presets.ts';
import { secretPurposesOf } from '../../connections/schema.ts';
import type { SecretInfo } from '../../connections/secrets.ts';
import type { Tries } from '../../federation/tries.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Action, Block, Cell, Mark } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import type { Frame } from '../console/frame.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import type { ConnectionAdmin } from './actions.ts';
import type { ConnectionDetails } from './manageable-connections.ts';

export const HOME = '/admin/connections';
export const READ = 'gatehouse.connections:read' as const;
export const WRITE = 'gatehouse.connections:write' as const;

export interface ConnectionPagesDependencies {
  frame: Frame;
  connections: ConnectionAdmin;
  tries: Tries;
  issuer: string;
  now: Clock;
  /** The path of the configuration file. */
  configFile: string | undefined;
}

export const pathOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

const kindNames = { oidc: 'OpenID Connect', saml: 'SAML 2.0', oauth2: 'OAuth 2.0', ldap: 'Directory' } as const;
export const purposeNames = {
  'client-secret': 'Client secret',
  'private-key': 'Private key',
  'bind-password': 'Bind password',
} as const;

export function vendorOf({ connection: { kind, preset } }: ConnectionDetails): string {
  const name = presetOf(preset, kind)?.name ?? preset;
  return preset === 'generic' ? kindNames[kind] : `${name} (${kindNames[kind]})`;
}

export function stateTags({ connection }: ConnectionDetails): Mark[] {
  return [
    connection.enabled ? { text: 'enabled', tone: 'good' } : { text: 'disabled', tone: 'bad' },
    ...(connection.source === 'file' ? [FILE_TAG] : []),
  ];
}

/** What the administrator enters at the vendor, with the steps there. */
export function vendorBlocks({
  connection: { kind, preset },
  values,
}: Pick<ConnectionDetails, 'values'> & {
  connection: Pick<ConnectionDetails['connection'], 'kind' | 'preset'>;
}): Block[] {
  const steps = presetOf(preset, kind)?.steps ?? [];
  return [
    ...(steps.length > 0
      ? [
          {
            kind: 'facts' as const,
            title: 'At the provider',
            rows: steps.map((value, at) => ({ label: `Step ${at + 1}`, value })),
          },
        ]
      : []),
    ...(values.length > 0
      ? [
          {
            kind: 'facts' as const,
            title: 'Values to enter there',
            rows: values.map(({ label, value }) => ({ label, value: { text: value, code: true, copy: label } })),
          },
        ]
      : []),
  ];
}

export function secretBlocks({ connection, secrets }: ConnectionDetails, mayChange: boolean, now: Date): Block[] {
  if (secretPurposesOf(connection.kind).length === 0) return [];
  const at = pathOf(connection.id);
  const rows = secrets.map((secret): Cell[] => [
    purposeNames[secret.purpose],
    secret.createdAt,
    expiryCell(secret.expiresAt, now) ?? 'No expiry date',
    ...(mayChange
      ? [{ action: { label: 'Remove', of: describeSecret(secret), href: `${at}/secrets/${secret.id}/remove` } }]
      : []),
  ]);
  return [
    {
      ...{
        kind: 'table',
        title: 'Secrets',
        caption: 'Stored secrets, newest first; Gatehouse uses the newest valid one',
      },
      ...{ columns: ['Secret', 'Stored', 'Expires', ...(mayChange ? ['Action'] : [])], rows, empty: 'No secrets.' },
    },
    ...actionsBlock(mayChange, [{ label: 'Add secret', href: `${at}/secret` }]),
  ];
}

export function domainBlocks({ connection, domains }: ConnectionDetails, mayChange: boolean): Block[] {
  if (domains.length === 0) return [];
  const at = pathOf(connection.id);
  const isDeclared = connection.source === 'file';
  return [
    {
      ...{ kind: 'table', title: 'Domains', caption: 'Email domains and their proof of ownership', empty: '' },
      columns: ['Domain', 'Proof', 'TXT record', 'Value'],
      rows: domains.map(({ domain, provenAt, checkedAt, record }) => [
        domain,
        provenAt
          ? { text: 'proven', tone: 'good', small: isDeclared ? 'by the configuration file' : 'by DNS' }
          : { text: checkedAt ? 'not found' : 'not checked yet', tone: 'warn' },
        { text: record.name, code: true, copy: `TXT record of ${domain}` },
        { text: record.value, code: true, copy: `value for ${domain}` },
      ]),
    },
    ...actionsBlock(
      mayChange,
      isDeclared
        ? []
        : domains.map(({ domain }) => ({
            label: `Check ${domain}`,
            post: `${at}/domains/${encodeURIComponent(domain)}/check`,
          })),
    ),
  ];
}

export function documentBlocks({ connection, documents }: ConnectionDetails, mayChange: boolean): Block[] {
  if (documents.length === 0 && connection.kind !== 'oidc' && connection.kind !== 'saml') return [];
  return [
    {
      ...{ kind: 'table', title: 'Documents', caption: 'Documents of the provider, updated every day' },
      columns: ['Document', 'Last update', 'Next', 'Error'],
      rows: documents.map(({ kind, hasContent, readAt, nextReadAt, failingSince, lastError }) => [
        kind,
        hasContent ? readAt : { text: 'never', tone: 'bad' },
        nextReadAt,
        failingSince ? { text: 'fails', tone: 'warn', small: lastError ?? undefined } : '',
      ]),
      empty: 'No documents yet.',
    },
    ...actionsBlock(mayChange, [{ label: 'Update documents', post: `${pathOf(connection.id)}/documents` }]),
  ];
}

export function mappingBlocks({ entry }: ConnectionDetails): Block[] {
  const mappings = Object.entries(entry.role_mappings as Record<string, string[]>);
  if (mappings.length === 0) return [];
  return [
    {
      ...{ kind: 'table', title: 'Roles by group', caption: 'Groups at the provider and their roles', empty: '' },
      columns: ['Group', 'Roles'],
      rows: mappings.map(([group, roles]) => [{ text: group, code: true }, roles.join(', ')]),
    },
  ];
}

function actionsBlock(mayChange: boolean, items: Action[]): Block[] {
  return mayChange && items.length > 0 ? [{ kind: 'actions', items }] : [];
}

const stored = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

/** `client secret stored on November 23, 2026 at 2:51 PM UTC`. */
export function describeSecret({ purpose, createdAt }: SecretInfo): string {
  return `${purposeNames[purpose].toLowerCase()} stored on ${stored.format(createdAt)} UTC`;
}
