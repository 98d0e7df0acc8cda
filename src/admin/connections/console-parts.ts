// What the pages of connections share: blocks of one connection, and what is wrong with it.

import type { Context } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { listOf, type PageText, t } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import type { DocumentKind } from '../../federation/connections/documents.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import { presetOf } from '../../federation/connections/presets/presets.ts';
import { type SecretPurpose, secretPurposesOf } from '../../federation/connections/schema.ts';
import { rejectedSecret, type SecretInfo } from '../../federation/connections/secrets.ts';
import type { Tries } from '../../federation/tries.ts';
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

/** Throws owned_by_file for a connection that the configuration file declares, so that no form for a change is offered. */
export async function assertChangeable({ connections }: { connections: ConnectionAdmin }, id: string): Promise<void> {
  const all = await connections.list();
  if (all.some(({ connection }) => connection.id === id && connection.source === 'file'))
    throw forbidden('owned_by_file');
}

export const pathOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

const kindNames: Record<ConnectionKind, PageText> = {
  oidc: 'OpenID Connect',
  saml: 'SAML 2.0',
  oauth2: 'OAuth 2.0',
  ldap: t('console.connections.directory'),
};
export const purposeNames = {
  'client-secret': t('console.connections.purpose.client-secret'),
  'private-key': t('console.connections.purpose.private-key'),
  'bind-password': t('console.connections.purpose.bind-password'),
} as const;
export const documentNames: Record<DocumentKind, PageText> = {
  discovery: t('console.connections.document.discovery'),
  jwks: t('console.connections.document.jwks'),
  metadata: t('console.connections.document.metadata'),
};

export function vendorOf({ connection: { kind, preset } }: ConnectionDetails): PageText {
  const name = presetOf(preset, kind)?.name ?? preset;
  return preset === 'generic' ? kindNames[kind] : t('console.connections.vendor', { name, kind: kindNames[kind] });
}

export function stateTags({ connection, secrets }: ConnectionDetails, now: Date): Mark[] {
  const rejected = rejectedSecret(secrets, now);
  return [
    connection.enabled
      ? { text: t('console.shared.enabled'), tone: 'good' }
      : { text: t('console.shared.disabled'), tone: 'bad' },
    ...(rejected
      ? [
          {
            text: t(`console.connections.${rejected.purpose === 'bind-password' ? 'password' : 'client'}-rejected`),
            tone: 'bad' as const,
          },
        ]
      : []),
    ...(connection.source === 'file' ? [FILE_TAG] : []),
  ];
}

/** Above everything else on the page of a directory that rejects the account that searches. */
export function rejectedBlocks({ connection, secrets }: ConnectionDetails, now: Date): Block[] {
  const rejected = rejectedSecret(secrets, now);
  if (!rejected) return [];
  const error = inWords(rejected.rejectedText ?? '');
  const text =
    rejected.purpose === 'bind-password'
      ? t('console.connections.rejected-notice', { error })
      : t('console.connections.client-rejected-notice', { name: connection.name, error });
  return [{ kind: 'text', tone: 'alert', text }];
}

/** To the page of the connection, after its client ID and secret, or its directory, were tried: what is wrong is said now. */
export async function redirectSaved(
  { frame, connections }: { frame: Frame; connections: Pick<ConnectionAdmin, 'tryNow' | 'get'> },
  ctx: Context,
  id: string,
  saved: PageText,
): Promise<void> {
  const trial = await connections.tryNow(id, frame.actor(ctx));
  const { kind, name } = (await connections.get(id)).connection;
  const warn = (text: PageText) => frame.redirect(ctx, pathOf(id), text, 'warn');
  if (kind === 'ldap' && trial?.error !== undefined) {
    const values = { name, error: inWords(trial.error) };
    if (trial.outcome === 'rejected') return warn(t('console.connections.saved-password-rejected', values));
    return warn(t('console.connections.saved-unusable', values));
  }
  if (trial?.outcome === 'rejected') return warn(t('console.connections.saved-rejected', { name }));
  frame.redirect(ctx, pathOf(id), saved);
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
            title: t('console.connections.at-provider'),
            rows: steps.map((value, at) => ({ label: t('console.connections.step', { number: at + 1 }), value })),
          },
        ]
      : []),
    ...(values.length > 0
      ? [
          {
            kind: 'facts' as const,
            title: t('console.connections.values'),
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
    secret.rejectedAt
      ? { text: t('console.connections.secret-rejected', { at: secret.rejectedAt }), tone: 'bad' }
      : (expiryCell(secret.expiresAt, now) ?? t('console.connections.no-expiry-date')),
    ...(mayChange
      ? [
          {
            action: {
              label: t('console.shared.remove'),
              of: describeSecret(secret),
              href: `${at}/secrets/${secret.id}/remove`,
            },
          },
        ]
      : []),
  ]);
  return [
    {
      kind: 'table',
      title: t('console.connections.secrets'),
      actions: mayChange ? [{ label: t('console.connections.add-secret'), href: `${at}/secret` }] : [],
      caption: t('console.connections.secrets-caption'),
      columns: [
        ...[t('console.connections.secret'), t('console.connections.stored'), t('console.connections.expires')],
        ...(mayChange ? [t('console.shared.action')] : []),
      ],
      rows,
      empty: t('console.connections.no-secrets'),
    },
  ];
}

export function domainBlocks({ connection, domains }: ConnectionDetails, mayChange: boolean): Block[] {
  if (domains.length === 0) return [];
  const at = pathOf(connection.id);
  const isDeclared = connection.source === 'file';
  return [
    {
      kind: 'table',
      title: t('console.connections.domains'),
      caption: t('console.connections.domains-caption'),
      empty: '',
      columns: [
        t('console.connections.domain'),
        t('console.connections.proof'),
        t('console.connections.txt-record'),
        t('console.shared.value'),
      ],
      rows: domains.map(({ domain, provenAt, checkedAt, record }) => [
        domain,
        provenAt
          ? {
              text: t('console.connections.proven'),
              tone: 'good',
              small: t('console.connections.proven-by', { by: isDeclared ? 'file' : 'dns' }),
            }
          : { text: t('console.connections.unproven', { checked: checkedAt ? 'yes' : 'no' }), tone: 'warn' },
        { text: record.name, code: true, copy: t('console.connections.copy-record', { domain }) },
        { text: record.value, code: true, copy: t('console.connections.copy-value', { domain }) },
      ]),
    },
    ...actionsBlock(
      mayChange,
      isDeclared
        ? []
        : domains.map(({ domain }) => ({
            label: t('console.connections.check-domain', { domain }),
            post: `${at}/domains/${encodeURIComponent(domain)}/check`,
          })),
    ),
  ];
}

export function documentBlocks({ connection, documents }: ConnectionDetails, mayChange: boolean): Block[] {
  if (documents.length === 0 && connection.kind !== 'oidc' && connection.kind !== 'saml') return [];
  return [
    {
      kind: 'table',
      title: t('console.connections.documents'),
      actions: mayChange
        ? [{ label: t('console.connections.update-documents'), post: `${pathOf(connection.id)}/documents` }]
        : [],
      caption: t('console.connections.documents-caption'),
      columns: [
        t('console.connections.document'),
        t('console.connections.last-update'),
        t('console.connections.next'),
        t('console.connections.error'),
      ],
      rows: documents.map(({ kind, hasContent, readAt, nextReadAt, failingSince, lastError }) => [
        documentNames[kind],
        hasContent ? readAt : { text: t('console.connections.never'), tone: 'bad' },
        nextReadAt,
        failingSince
          ? { text: t('console.connections.fails'), tone: 'warn', small: lastError ? inWords(lastError) : undefined }
          : '',
      ]),
      empty: t('console.connections.no-documents'),
    },
    ...detailsOf(documents),
  ];
}

/** The error as a sentence: those of the network have codes. */
export const inWords = (error: PageText): PageText => networkSentence(String(error)) ?? error;

/** The errors that the table has in other words, as they were received. */
function detailsOf(documents: ConnectionDetails['documents']): Block[] {
  const raw = documents.flatMap(({ kind, lastError }) =>
    lastError && networkSentence(String(lastError))
      ? [{ label: documentNames[kind], value: { text: lastError, code: true } }]
      : [],
  );
  return raw.length > 0 ? [{ kind: 'facts', title: t('error-page.details'), rows: raw, isClosed: true }] : [];
}

export function mappingBlocks({ entry }: ConnectionDetails): Block[] {
  const mappings = Object.entries(entry.role_mappings as Record<string, string[]>);
  if (mappings.length === 0) return [];
  return [
    {
      kind: 'table',
      title: t('console.connections.mappings'),
      caption: t('console.connections.mappings-caption'),
      empty: '',
      columns: [t('console.connections.group'), t('console.navigation.roles')],
      rows: mappings.map(([group, roles]) => [{ text: group, code: true }, listOf(roles)]),
    },
  ];
}

function actionsBlock(mayChange: boolean, items: Action[]): Block[] {
  return mayChange && items.length > 0 ? [{ kind: 'actions', items }] : [];
}

/** As the messages name it: a selector has no hyphen. */
export const selectorOf = (purpose: SecretPurpose): string => purpose.replace('-', '_');

/** `client secret stored on November 23, 2026 at 2:51 PM UTC`. */
function describeSecret({ purpose, createdAt }: SecretInfo): PageText {
  return t('console.connections.secret-stored', { purpose: selectorOf(purpose), at: createdAt });
}
