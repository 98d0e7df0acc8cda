// The page of one connection: what it is, what can be done, and the state of its secrets, domains and documents.

import { listOf, type PageText, t, textAt } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import type { DocumentKind } from '../../federation/connections/documents.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import { presetOf } from '../../federation/connections/presets/presets.ts';
import { type SecretPurpose, secretPurposesOf } from '../../federation/connections/schema.ts';
import { rejectedSecret } from '../../federation/connections/secrets.ts';
import type { Action, Block, ConsolePage, Mark } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { expiryCell } from '../console/expiry.ts';
import { tableOf } from '../console/lists.ts';
import { FILE_TAG, fileNotice } from '../console/managed-by-file.ts';
import type { Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { ConnectionDetails } from './actions.ts';

export const HOME = '/admin/connections';

export const pathOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

export async function connectionPage(
  { admin: { connections }, now, config: { configFile } }: ConsoleServices,
  { by, subject: details }: Visit<ConnectionDetails>,
): Promise<ConsolePage> {
  const { connection } = details;
  const mayTry = await connections.mayChange(by);
  const mayChange = mayTry && connection.source === 'local';
  return {
    title: connection.name,
    logo: { name: connection.name },
    back: { href: HOME, label: t('console.navigation.connections') },
    tags: stateTags(details, now()),
    actions: [...(mayTry ? [tryAction(details)] : []), ...(mayChange ? changeActions(details) : [])],
    blocks: [
      ...(connection.source === 'file' ? [fileNotice(configFile, 'connection')] : []),
      ...rejectedBlocks(details, now()),
      factsOf(details),
      ...secretBlocks(details, mayChange, now()),
      ...domainBlocks(details, mayChange),
      ...mappingBlocks(details),
      ...documentBlocks(details, mayChange),
      ...vendorBlocks(details),
      ...(mayChange ? [dangerZoneOf(details)] : []),
    ],
  };
}

/** A directory has no page of its own to sign in at: a form asks for the login. */
function tryAction({ connection }: ConnectionDetails): Action {
  const at = `${pathOf(connection.id)}/test`;
  const label = t('console.connections.try');
  return connection.kind === 'ldap' ? { label, href: at } : { label, post: at };
}

function changeActions({ connection }: ConnectionDetails): Action[] {
  const at = pathOf(connection.id);
  return [
    { label: t('console.shared.edit'), href: `${at}/edit`, look: 'primary' },
    ...(connection.enabled ? [] : [{ label: t('console.shared.enable'), post: `${at}/enable` }]),
  ];
}

function dangerZoneOf({ connection }: ConnectionDetails): Block {
  const at = pathOf(connection.id);
  const disable = {
    text: t('console.connections.disable-lead'),
    action: { label: t('console.shared.disable'), href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    text: t('console.connections.delete-lead'),
    action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' as const },
  };
  return dangerZone(connection.enabled ? [disable, remove] : [remove]);
}

function factsOf(details: ConnectionDetails): Block {
  const { entry, connection } = details;
  const text = (key: string) => (typeof entry[key] === 'string' ? entry[key] : undefined);
  const upstream =
    text('issuer') ?? text('entity_id') ?? text('metadata_url') ?? text('authorization_url') ?? text('url');
  return {
    kind: 'facts',
    rows: [
      { label: t('console.shared.id'), value: { text: connection.id, code: true } },
      { label: t('console.connections.provider'), value: vendorOf(details) },
      { label: t('console.connections.upstream'), value: upstream ? { text: upstream, code: true } : null },
      {
        label: t('console.connections.new-accounts'),
        value: t('console.connections.new-accounts.value', { creates: entry.create_users ? 'yes' : 'no' }),
      },
      {
        label: t('console.connections.email-addresses'),
        value: textAt(`console.connection-field.trusted_email.${entry.trusted_email}`) ?? '',
      },
      {
        label: t('console.connections.sign-out'),
        value: textAt(`console.connection-field.logout.${entry.logout}`) ?? '',
      },
    ],
  };
}

export const kindNames: Record<ConnectionKind, PageText> = {
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
function rejectedBlocks({ connection, secrets }: ConnectionDetails, now: Date): Block[] {
  const rejected = rejectedSecret(secrets, now);
  if (!rejected) return [];
  const error = inWords(rejected.rejectedText ?? '');
  const text =
    rejected.purpose === 'bind-password'
      ? t('console.connections.rejected-notice', { error })
      : t('console.connections.client-rejected-notice', { name: connection.name, error });
  return [{ kind: 'text', tone: 'alert', text }];
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

function secretBlocks({ connection, secrets }: ConnectionDetails, mayChange: boolean, now: Date): Block[] {
  if (secretPurposesOf(connection.kind).length === 0) return [];
  const at = pathOf(connection.id);
  return [
    {
      kind: 'table',
      title: t('console.connections.secrets'),
      actions: mayChange ? [{ label: t('console.connections.add-secret'), href: `${at}/secret` }] : [],
      caption: t('console.connections.secrets-caption'),
      ...tableOf(secrets, [
        [t('console.connections.secret'), ({ purpose }) => purposeNames[purpose]],
        [t('console.connections.stored'), ({ createdAt }) => createdAt],
        [
          t('console.connections.expires'),
          ({ rejectedAt, expiresAt }) =>
            rejectedAt
              ? { text: t('console.connections.secret-rejected', { at: rejectedAt }), tone: 'bad' }
              : (expiryCell(expiresAt, now) ?? t('console.connections.no-expiry-date')),
        ],
        mayChange && [
          t('console.shared.action'),
          (one) => ({
            action: {
              label: t('console.shared.remove'),
              of: t('console.connections.secret-stored', { purpose: selectorOf(one.purpose), at: one.createdAt }),
              href: `${at}/secrets/${one.id}/remove`,
            },
          }),
        ],
      ]),
      empty: t('console.connections.no-secrets'),
    },
  ];
}

function domainBlocks({ connection, domains }: ConnectionDetails, mayChange: boolean): Block[] {
  if (domains.length === 0) return [];
  const at = pathOf(connection.id);
  const isDeclared = connection.source === 'file';
  return [
    {
      kind: 'table',
      title: t('console.connections.domains'),
      caption: t('console.connections.domains-caption'),
      empty: '',
      ...tableOf(domains, [
        [t('console.connections.domain'), ({ domain }) => domain],
        [
          t('console.connections.proof'),
          ({ provenAt, checkedAt }) =>
            provenAt
              ? {
                  text: t('console.connections.proven'),
                  tone: 'good',
                  small: t('console.connections.proven-by', { by: isDeclared ? 'file' : 'dns' }),
                }
              : { text: t('console.connections.unproven', { checked: checkedAt ? 'yes' : 'no' }), tone: 'warn' },
        ],
        [
          t('console.connections.txt-record'),
          ({ domain, record }) => ({
            text: record.name,
            code: true,
            copy: t('console.connections.copy-record', { domain }),
          }),
        ],
        [
          t('console.shared.value'),
          ({ domain, record }) => ({
            text: record.value,
            code: true,
            copy: t('console.connections.copy-value', { domain }),
          }),
        ],
      ]),
    },
    ...(mayChange
      ? [
          {
            kind: 'actions' as const,
            items: domains.map(({ domain }) => ({
              label: t('console.connections.check-domain', { domain }),
              post: `${at}/domains/${encodeURIComponent(domain)}/check`,
            })),
          },
        ]
      : []),
  ];
}

function documentBlocks({ connection, documents }: ConnectionDetails, mayChange: boolean): Block[] {
  if (documents.length === 0 && connection.kind !== 'oidc' && connection.kind !== 'saml') return [];
  return [
    {
      kind: 'table',
      title: t('console.connections.documents'),
      actions: mayChange
        ? [{ label: t('console.connections.update-documents'), post: `${pathOf(connection.id)}/documents` }]
        : [],
      caption: t('console.connections.documents-caption'),
      ...tableOf(documents, [
        [t('console.connections.document'), ({ kind }) => documentNames[kind]],
        [
          t('console.connections.last-update'),
          ({ hasContent, readAt }) =>
            hasContent ? readAt : { text: t('console.connections.never'), tone: 'bad' as const },
        ],
        [t('console.connections.next'), ({ nextReadAt }) => nextReadAt],
        [
          t('console.connections.error'),
          ({ failingSince, lastError }) =>
            failingSince
              ? {
                  text: t('console.connections.fails'),
                  tone: 'warn',
                  small: lastError ? inWords(lastError) : undefined,
                }
              : '',
        ],
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

function mappingBlocks({ entry }: ConnectionDetails): Block[] {
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

/** As the messages name it: a selector has no hyphen. */
export const selectorOf = (purpose: SecretPurpose): string => purpose.replace('-', '_');
