// The page of one connection: what it is, what can be done, and the state of its secrets, domains and documents.

import type { DomainProof } from '../../base/network/domains.ts';
import { present } from '../../base/platform/defined.ts';
import { describedFields, jsonSchemaOf } from '../../base/platform/described-fields.ts';
import { listOf, type PageText, sentences, t, textAt } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import type { DocumentKind } from '../../federation/connections/documents.ts';
import { type ConnectionSection, connectionFields } from '../../federation/connections/kinds/fields.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import { logoOf, type Preset, presetOf } from '../../federation/connections/presets/presets.ts';
import {
  entrySchemas,
  type SecretPurpose,
  secretPurposeByField,
  secretPurposesOf,
} from '../../federation/connections/schema.ts';
import { rejectedSecret } from '../../federation/connections/secrets.ts';
import type { Action, Block, Cell, Field, Mark } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { domainTable } from '../console/domain-proofs.ts';
import { expiryCell } from '../console/expiry.ts';
import { baseOf, type FieldSource, type FormKey, type KeySection, keyOf } from '../console/form-fields.ts';
import { tableOf } from '../console/lists.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';
import type { PageOfOne } from '../noun-pages.ts';
import type { ConnectionDetails } from './actions.ts';

export const HOME = '/admin/connections';

export const pathOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

/** The page of a connection. @param mayTry whether the administrator may change connections, and so try them */
export function connectionPage(details: ConnectionDetails, mayTry: boolean, now: Date): PageOfOne {
  const { connection } = details;
  const mayChange = mayTry && connection.source === 'local';
  return {
    logo: { name: connection.name, product: logoOf(connection) },
    tags: stateTags(details, now),
    actions: present([mayTry && tryAction(details), ...(mayChange ? changeActions(details) : [])]),
    blocks: present([
      ...rejectedBlocks(details, now),
      factsOf(details),
      ...secretBlocks(details, mayChange, now),
      ...domainBlocks(details, mayChange),
      ...mappingBlocks(details),
      ...documentBlocks(details, mayChange),
      ...vendorBlocks(details),
      mayChange && dangerZoneOf(details),
    ]),
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
  return present([
    { label: t('console.shared.edit'), href: `${at}/edit`, look: 'primary' },
    !connection.enabled && { label: t('console.shared.enable'), post: `${at}/enable` },
  ]);
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
export const documentName = (kind: DocumentKind): PageText => t(`console.connections.document.${kind}`);

export function vendorOf({ connection: { kind, preset } }: ConnectionDetails): PageText {
  const name = presetOf(preset, kind)?.name ?? preset;
  return preset === 'generic' ? kindNames[kind] : t('console.connections.vendor', { name, kind: kindNames[kind] });
}

export function stateTags({ connection, secrets }: ConnectionDetails, now: Date): Mark[] {
  const rejected = rejectedSecret(secrets, now);
  return present([
    connection.enabled
      ? { text: t('console.shared.enabled'), tone: 'good' }
      : { text: t('console.shared.disabled'), tone: 'bad' },
    rejected && {
      text: t(`console.connections.${rejected.purpose === 'bind-password' ? 'password' : 'client'}-rejected`),
      tone: 'bad',
    },
  ]);
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
  return present([
    steps.length > 0 && {
      kind: 'facts',
      title: t('console.connections.at-provider'),
      rows: steps.map((value, at) => ({ label: t('console.connections.step', { number: at + 1 }), value })),
    },
    values.length > 0 && {
      kind: 'facts',
      title: t('console.connections.values'),
      rows: values.map(({ label, value }) => ({ label, value: { text: value, code: true, copy: label } })),
    },
  ]);
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
        [t('console.connections.secret'), ({ purpose }) => t(`console.connections.purpose.${purpose}`)],
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
            label: t('console.shared.remove'),
            of: t('console.connections.secret-stored', { purpose: selectorOf(one.purpose), at: one.createdAt }),
            href: `${at}/secrets/${one.id}/remove`,
          }),
        ],
      ]),
      empty: t('console.connections.no-secrets'),
    },
  ];
}

function domainBlocks({ connection, domains }: ConnectionDetails, mayChange: boolean): Block[] {
  if (domains.length === 0) return [];
  const check = ({ domain }: DomainProof): Cell => ({
    label: t('console.connections.check-domain'),
    of: domain,
    post: `${pathOf(connection.id)}/domains/${encodeURIComponent(domain)}/check`,
  });
  return [
    {
      kind: 'table',
      title: t('console.connections.domains'),
      caption: t('console.connections.domains-caption'),
      ...domainTable(domains, connection.source === 'file', mayChange ? check : undefined),
    },
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
        [t('console.connections.document'), ({ kind }) => documentName(kind)],
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
      ? [{ label: documentName(kind), value: { text: lastError, code: true } }]
      : [],
  );
  return raw.length > 0 ? [{ kind: 'facts', title: t('error-page.details'), rows: raw, isClosed: true }] : [];
}

function mappingBlocks({ entry }: ConnectionDetails): Block[] {
  const tables = [
    { mapped: entry.role_mappings, of: 'mappings', column: t('console.navigation.roles') },
    { mapped: entry.group_mappings, of: 'group-mappings', column: t('console.navigation.groups') },
  ] as const;
  return tables.flatMap(({ mapped, of, column }): Block[] => {
    const rows = Object.entries(mapped as Record<string, string[]>);
    if (rows.length === 0) return [];
    return [
      {
        kind: 'table',
        title: t(`console.connections.${of}`),
        caption: t(`console.connections.${of}-caption`),
        columns: [t('console.connections.group'), column],
        rows: rows.map(([group, names]) => [{ text: group, code: true }, listOf(names)]),
      },
    ];
  });
}

/** As the messages name it: a selector has no hyphen. */
export const selectorOf = (purpose: SecretPurpose): string => purpose.replace('-', '_');

// The fields of a connection, made of the schema of its kind, in the form engine of the console (console/form-fields.ts). Maps are written one
// a line as `name => value, value`.

const titles = {
  upstream: t('console.connections.section.upstream'),
  button: t('console.connections.section.button'),
  users: t('console.connections.section.users'),
  roles: t('console.connections.section.roles'),
  assurance: t('console.connections.section.assurance'),
} as const satisfies Record<ConnectionSection, PageText>;

/** The sections of the form; fields of another vendor are left out. */
export function sectionsOf(kind: ConnectionKind, preset: string): KeySection[] {
  const { kind: _kind, ...shape } = entrySchemas[kind].shape;
  const own = describedFields(shape, connectionFields)
    // A constant is no choice.
    .filter(({ schema, about }) => (about.vendor ?? preset) === preset && !('const' in jsonSchemaOf(schema)));
  return (Object.keys(titles) as ConnectionSection[]).map((section) => ({
    title: titles[section],
    keys: own.filter(({ about }) => about.section === section).map(({ name }) => connectionKey(kind, name)),
  }));
}

/** The key of an entry of this kind. */
export function connectionKey(kind: ConnectionKind, name: string): FormKey {
  const { [name]: schema } = entrySchemas[kind].shape as Record<string, FieldSource['schema']>;
  const about = schema && connectionFields.get(schema);
  if (!about) throw new Error(`a connection (${kind}) has no field ${name}`);
  const { type } = jsonSchemaOf(schema);
  const source: FieldSource = { name, schema, about, texts: 'console.connection-field.' };
  if (name === 'certificates' || name === 'ca')
    return textAreaKey(source, { toText: joined, fromText: certificatesIn });
  if (type === 'object') return textAreaKey(source, mapText(name));
  // Both sides of a switch are stored: what an administrator chose stays, whatever the default becomes.
  const typed = {
    ...about,
    ...(type === 'boolean' && { switch: { on: true, off: false } }),
    ...(type === 'array' && { rows: 3 }),
  };
  const key = keyOf({ ...source, about: typed }, {});
  if (type === 'boolean' || schema.safeParse(undefined).success) return key;
  return { ...key, fields: (values) => key.fields(values).map((field) => ({ ...field, required: true })) };
}

interface Written {
  toText(value: unknown): string;
  fromText(text: string): unknown;
}

function textAreaKey(source: FieldSource, { toText, fromText }: Written): FormKey {
  const { name } = source;
  const field = { ...baseOf(source), type: 'textarea', rows: 3, isCode: true } as const;
  return {
    key: name,
    fields: (values) => [{ ...field, value: toText(values[name]) }],
    read: (sent) => fromText(sentValue(sent, name) ?? ''),
  };
}

const joined = (value: unknown) => ((value ?? []) as string[]).join('\n');

function certificatesIn(text: string): string[] {
  const pems = text.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[\s\S]*?-----END [A-Z0-9 ]*CERTIFICATE-----/g);
  // Base64 alone is one certificate, in however many lines.
  return pems ?? (text.trim() === '' ? [] : [text]);
}

/** The maps whose values are lists. */
const LISTED_MAPS = ['role_mappings', 'group_mappings', 'acr_values', 'trusted_acr', 'trusted_amr'];

const mapText = (key: string): Written => ({
  toText: (value) =>
    Object.entries((value ?? {}) as Record<string, unknown>)
      .map(([name, one]) => `${name} => ${Array.isArray(one) ? one.join(', ') : String(one)}`)
      .join('\n'),
  fromText(text) {
    if (text.trim() === '' && key === 'groups') return undefined;
    const entries = lines(text).map((line) => {
      const at = line.lastIndexOf('=>');
      const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 2).trim()];
      if (LISTED_MAPS.includes(key)) return [name, value.split(',').flatMap((one) => one.trim() || [])];
      return [name, key === 'groups' && /^(true|false)$/.test(value) ? value === 'true' : value];
    });
    return Object.fromEntries(entries);
  },
});

/** The form of a new connection: only what this vendor needs. */
export function presetFields({ kind, fields }: Preset): Field[] {
  return fields.map(({ key, label, hint, placeholder, isRequired = false, type }): Field => {
    const example = placeholder ? [t('console.preset.such-as', { example: placeholder })] : [];
    const hints = [...(hint ? [hint] : []), ...example];
    const own = { name: key, label, hint: hints.length > 0 ? sentences(hints) : undefined, required: isRequired };
    if (type === 'secret')
      return { ...own, ...(key === 'private_key' ? { type: 'textarea', rows: 6 } : { type: 'password' }) };
    if (type === 'date') return { ...own, type: 'date' };
    if (type === 'long') return { ...own, type: 'textarea', rows: 8 };
    const [field] = connectionKey(kind, key).fields({});
    return { ...field, ...own };
  });
}

/** What the form declares; fields that were left empty get the defaults of the preset. */
export function entryFrom({ kind, id: preset, fields }: Preset, sent: Sent): Record<string, unknown> {
  const keys = ['id', 'name', 'create_users', 'enabled', 'domains', ...fields.map(({ key }) => key)];
  const values = keys
    .filter((key) => !(key in secretPurposeByField) && !key.endsWith('_expires_at'))
    .map((key) => [key, connectionKey(kind, key).read(sent)] as const)
    .filter(([, value]) => value !== undefined && JSON.stringify(value) !== '[]');
  const secrets = Object.keys(secretPurposeByField).flatMap((key) => {
    const [value, end] = [sentValue(sent, key), sentValue(sent, `${key}_expires_at`)];
    return value ? [[key, [{ value, ...(end && { expires_at: end }) }]] as const] : [];
  });
  return { kind, preset, ...Object.fromEntries([...values, ...secrets]) };
}
