// /admin/connections: the upstream identity providers at which users sign in: added by vendor, changed, tried, maintained and deleted.

import type { Notice } from '../../account/account-page-helpers.ts';
import { notFound } from '../../base/http/errors.ts';
import { bodyLimit } from '../../base/http/input.ts';
import { inLanguage, listOf, type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import { logoOf, type Preset, pasteValuesOf, presets } from '../../federation/connections/presets/presets.ts';
import { secretPurposesOf } from '../../federation/connections/schema.ts';
import { RELEASE } from '../../people/rbac/rights.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, type Field, VERSION, versionField } from '../console/blocks.ts';
import { changedValues, formSections } from '../console/form-fields.ts';
import { listAt, sortedBy, tableOf } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { addPage, addQuestion, longForm, type Next, type Visit } from '../console/pages.ts';
import { asTyped, type Sent, sentValue } from '../console/row-buttons.ts';
import { MAX_FORM_BYTES } from '../console/typed-form.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { endedNotice } from '../sessions/console.ts';
import { type ConnectionDetails, connectionVersion } from './actions.ts';
import { connectionNoun, newSecret } from './api.ts';
import {
  connectionKey,
  connectionPage,
  documentName,
  entryFrom,
  HOME,
  inWords,
  kindNames,
  pathOf,
  presetFields,
  sectionsOf,
  selectorOf,
  stateTags,
  vendorBlocks,
  vendorOf,
} from './console-page.ts';
import { addTryPages } from './console-try.ts';

const ADD = { label: t('console.connections.add'), icon: 'plus', href: `${HOME}/new` };
const listIn = listAt(HOME, {}, ['', 'name', '-name', 'provider', '-provider']);
const toOne = ({ connection: { id, name } }: ConnectionDetails) => ({ href: pathOf(id), label: name });

/** All pages below /admin/connections. */
export function connectionRoutes(services: ConsoleServices) {
  const { frame, now } = services;
  const { connections } = services.admin;
  const { issuer } = services.config;
  const noun = connectionNoun(connections);
  const { router, list, one, change, form, question, pageOf } = pagesOf(services, noun);

  const pageFor = async (visit: Visit<ConnectionDetails>) => {
    const mayTry = await connections.mayChange(visit.by);
    return pageOf(visit, connectionPage(visit.subject, mayTry, now()), mayTry && visit.may(RELEASE));
  };

  /** To the page of the connection, after its client ID and secret, or its directory, were tried: what is wrong is said now. */
  async function saved(connection: Connection, notice: PageText): Promise<Next> {
    const { id, kind, name } = connection;
    const { outcome, error } = (await connections.tryNow(connection)) ?? {};
    const warn = (text: PageText): Next => ({ to: pathOf(id), notice: text, tone: 'warn' });
    if (kind === 'ldap' && error !== undefined) {
      const fault = outcome === 'rejected' ? 'password-rejected' : 'unusable';
      return warn(t(`console.connections.saved-${fault}`, { name, error: inWords(error) }));
    }
    if (outcome === 'rejected') return warn(t('console.connections.saved-rejected', { name }));
    return { to: pathOf(id), notice };
  }

  list(async ({ ctx, by, language }) => {
    const asked = listIn(ctx);
    const { sort } = asked.given;
    const [all, forged, mayChange] = [
      await connections.list(),
      await connections.forged(),
      await connections.mayChange(by),
    ];
    const sorted = sortedBy(all, sort, language, { name: ({ connection }) => connection.name, provider: vendorOf });
    return listPage(sorted, asked, { forged, mayChange, now: now() });
  });

  addPage(router, frame, '/new', { needs: noun.write, page: vendorsPage });
  addPage(router, frame, '/new/:kind/:preset', {
    needs: noun.write,
    async load({ params: { kind, preset: id } }) {
      const preset = presets().find((vendor) => vendor.kind === kind && vendor.id === id);
      if (!preset) throw notFound();
      return preset;
    },
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: longForm,
    page: (visit, sent) => newPage(visit, issuer, sent),
    async submit({ by, subject }, sent) {
      const { connection } = await connections.create(entryFrom(subject, sent), by);
      return saved(connection, t('console.connections.added'));
    },
  });

  one('', { page: pageFor });

  change('/edit', {
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: longForm,
    page: ({ subject }, sent) => editPage(subject, sent),
    async submit({ by, subject: { connection, entry } }, sent) {
      const keys = sectionsOf(connection.kind, connection.preset).flatMap((section) => section.keys);
      const changes = changedValues(keys, entry, sent);
      const after = await connections.update(connection.id, changes, by, sentValue(sent, VERSION) ?? '');
      return saved(after.connection, t('console.connections.saved'));
    },
  });

  addTryPages(router, services);

  form('/secret', {
    title: () => t('console.connections.add-secret'),
    lead: () => t('console.connections.add-secret-lead'),
    fields: ({ subject: { connection } }) => secretFields(connection),
    body: newSecret,
    button: t('console.connections.add-secret'),
    async submit({ by, subject: { connection } }, { purpose, ...secret }) {
      await connections.addSecret(connection.id, purpose, secret, by);
      return saved(connection, t('console.connections.secret-added'));
    },
  });

  addQuestion(router, frame, '/:id/secrets/:secret/remove', {
    needs: noun.write,
    async load({ params: { id = '', secret: secretId } }, by) {
      const details = await (noun.getForChange ?? noun.get)(id, by);
      const secret = details.secrets.find((stored) => stored.id === secretId);
      if (!secret) throw notFound();
      return { details, secret, name: details.connection.name };
    },
    title: ({ secret: { purpose, createdAt: at }, name }) =>
      t('console.connections.remove-secret-title', { purpose: selectorOf(purpose), at, name }),
    back: ({ details }) => toOne(details),
    lead({ subject: { details, secret, name } }) {
      const isOnly = !details.secrets.some(({ id, purpose }) => id !== secret.id && purpose === secret.purpose);
      return isOnly
        ? t('console.connections.remove-only-secret', { name })
        : t('console.connections.remove-one-of-secrets');
    },
    button: t('console.connections.remove-secret'),
    async submit({ by, subject: { details, secret } }) {
      const { id } = details.connection;
      await connections.removeSecret(id, secret.id, by);
      return { to: pathOf(id), notice: t('console.connections.secret-removed') };
    },
  });

  change('/domains/:domain/check', {
    async submit({ ctx, by, subject: { connection } }) {
      const { domain = '' } = ctx.params;
      const result = await connections.checkDomain(connection.id, domain, by);
      const notice = t(`console.connections.check.${result}`, { domain });
      return { to: pathOf(connection.id), notice, tone: result === 'proven' ? 'good' : 'warn' };
    },
  });

  change('/documents', {
    async submit(visit) {
      const { id } = visit.subject.connection;
      const read = await connections.readDocuments(id, visit.by);
      const failed = read.find(({ error }) => error !== undefined);
      if (!failed) return { to: pathOf(id), notice: t('console.connections.documents-updated') };
      const fault = { document: documentName(failed.kind), error: inWords(failed.error ?? '') };
      const page = await pageFor({ ...visit, subject: await connections.get(id) });
      return { page: { ...page, error: t('console.connections.document-fault', fault) }, status: 502 };
    },
  });

  change('/enable', {
    async submit({ by, subject: { connection } }) {
      await connections.setEnabled(connection.id, true, by);
      return { to: pathOf(connection.id), notice: t('console.connections.enabled-notice') };
    },
  });

  question('/disable', {
    title: ({ connection: { name } }) => t('console.connections.disable-title', { name }),
    lead: () => t('console.connections.disable-lead'),
    fields: async ({ subject: { connection } }) => [endSessionsField(await connections.countSessions(connection.id))],
    button: t('console.shared.disable'),
    async submit({ by, subject: { connection } }, sent) {
      const { id } = connection;
      await connections.setEnabled(id, false, by);
      const ended = endsSessions(sent) ? await connections.endSessions(id, by) : undefined;
      return { to: pathOf(id), notice: withEnded(t('console.connections.disabled-notice'), ended) };
    },
  });

  // Names the ID, because a row that another program wrote has no name that could be trusted.
  addQuestion(router, frame, '/:id/delete', {
    needs: noun.write,
    async load({ params: { id = '' } }, by) {
      if (!(await connections.forged()).includes(id)) await (noun.getForChange ?? noun.get)(id, by);
      return id;
    },
    title: (id) => t('console.connections.delete-title', { id }),
    back: () => ({ href: HOME, label: t('console.navigation.connections') }),
    lead: () => t('console.connections.delete-lead'),
    fields: async ({ subject: id }) => [endSessionsField(await connections.countSessions(id))],
    typedName: (id) => id,
    async submit({ by, subject: id }, sent) {
      // First: afterwards nothing says which sessions began there.
      const ended = endsSessions(sent) ? await connections.endSessions(id, by) : undefined;
      await connections.remove(id, by);
      return { to: HOME, notice: withEnded(t('console.connections.deleted'), ended) };
    },
  });
  return router;
}

function listPage(
  found: readonly ConnectionDetails[],
  list: ReturnType<typeof listIn>,
  { forged, mayChange, now }: { forged: readonly string[]; mayChange: boolean; now: Date },
): ConsolePage {
  return {
    title: t('console.navigation.connections'),
    lead: t('console.connections.lead'),
    actions: mayChange ? [{ ...ADD, look: 'primary' }] : [],
    blocks: [
      ...forgedBlocks(forged, mayChange),
      {
        kind: 'table',
        caption: list.given.sort ? t('console.navigation.connections') : t('console.connections.in-order'),
        ...tableOf(found, [
          [
            list.column(t('console.connections.connection'), 'name'),
            ({ connection }) => ({
              text: connection.name,
              href: pathOf(connection.id),
              small: connection.id,
              logo: { name: connection.name, product: logoOf(connection) },
            }),
          ],
          [list.column(t('console.connections.provider'), 'provider'), vendorOf],
          [
            t('console.shared.state'),
            (one) => [
              ...stateTags(one, now).map((tag) => ({ tone: 'plain' as const, ...tag })),
              ...(one.connection.source === 'file' ? [{ tone: 'plain' as const, ...FILE_TAG }] : []),
              ...(hasFault(one) ? [{ text: t('console.connections.needs-attention'), tone: 'warn' as const }] : []),
            ],
          ],
          [
            t('console.connections.domains'),
            ({ domains }) => (domains.length > 0 ? listOf(domains.map(({ domain }) => domain)) : null),
          ],
        ]),
        empty: {
          icon: 'plug',
          title: t('console.connections.empty.title'),
          text: t('console.connections.empty.text'),
          ...(mayChange && { action: ADD }),
        },
      },
    ],
  };
}

/** Rows that another program wrote. */
function forgedBlocks(forged: readonly string[], mayRemove: boolean): Block[] {
  if (forged.length === 0) return [];
  const text = t('console.connections.forged', { ids: listOf(forged) });
  const items = forged.map((id) => ({
    label: t('console.connections.remove-one', { id }),
    href: `${pathOf(id)}/delete`,
  }));
  return [{ kind: 'text', tone: 'alert', text }, ...(mayRemove ? [{ kind: 'actions' as const, items }] : [])];
}

function hasFault({ documents, domains }: ConnectionDetails): boolean {
  return (
    documents.some(({ failingSince }) => failingSince !== null) || domains.some(({ provenAt }) => provenAt === null)
  );
}

const addressOf = ({ kind, id }: Preset) => `${HOME}/new/${kind}/${id}`;

/** Choose the vendor. */
function vendorsPage(): ConsolePage {
  const isSeparate = ({ id }: Preset) => id === 'generic' || id === 'active-directory';
  const tile = (preset: Preset) => ({
    title: preset.name,
    text: preset.kind === 'ldap' ? 'LDAP' : kindNames[preset.kind],
    href: addressOf(preset),
    product: preset.logo,
  });
  const [vendors, protocols] = [presets().filter((one) => !isSeparate(one)), presets().filter(isSeparate)];
  return {
    title: t('console.connections.add'),
    lead: t('console.connections.new-lead'),
    back: { href: HOME, label: t('console.navigation.connections') },
    blocks: [
      { kind: 'tiles', title: t('console.connections.providers'), items: vendors.map(tile) },
      { kind: 'tiles', title: t('console.connections.by-protocol'), items: protocols.map(tile) },
    ],
  };
}

/** Enter the values of the vendor, and copy those of this server to it. */
function newPage({ subject: preset, language }: Visit<Preset>, issuer: string, sent: Sent = {}): ConsolePage {
  const { kind, id: vendor, name } = preset;
  const suggested = vendor === 'generic' ? `my-${kind}` : vendor;
  const connection = { id: sentValue(sent, 'id') ?? suggested, kind, preset: vendor };
  const fields: Field[] = [
    {
      name: 'name',
      label: t('console.shared.name'),
      hint: t('console.connection-field.name.hint'),
      // As the connection is called unless the administrator changes it.
      value: inLanguage(language, () => String(name)),
      required: true,
    },
    {
      name: 'id',
      label: t('console.shared.id'),
      value: suggested,
      isInAddresses: true,
      required: true,
      hint: t('console.connections.id-hint'),
    },
    ...presetFields(preset),
    ...connectionKey(kind, 'domains')
      .fields({})
      .map((field) => ({ ...field, rows: 2, hint: t('console.connections.domains-hint') })),
    ...createUsersFields(kind),
    { name: 'enabled', label: t('console.connections.enable-now'), type: 'checkbox', checked: true },
  ];
  return {
    title: t('console.connections.add-title', { name }),
    lead: t('console.connections.add-lead', {
      name: vendor === 'generic' ? t('console.connections.the-provider') : name,
    }),
    back: { href: `${HOME}/new`, label: t('console.connections.add') },
    blocks: [
      ...vendorBlocks({ connection, values: pasteValuesOf(connection, issuer) }),
      {
        kind: 'form',
        title: t('console.connections.here'),
        action: addressOf(preset),
        fields: Object.keys(sent).length > 0 ? asTyped(fields, sent) : fields,
        button: t('console.connections.add'),
        cancel: HOME,
      },
    ],
  };
}

/** Asked, because either answer surprises some: strangers get accounts, or the first sign-in fails. */
function createUsersFields(kind: Preset['kind']): Field[] {
  const choices = { on: t('console.connections.creates-users.yes'), off: t('console.connections.creates-users.no') };
  return connectionKey(kind, 'create_users')
    .fields({})
    .map(({ name, label, hint }) => ({
      name,
      label,
      hint,
      type: 'select',
      required: true,
      value: '',
      options: [{ value: '', label: '–' }, ...Object.entries(choices).map(([value, text]) => ({ value, label: text }))],
    }));
}

function editPage(details: ConnectionDetails, sent?: Sent): ConsolePage {
  const { kind, preset, name } = details.connection;
  const { href: at, label } = toOne(details);
  const version = (sent && sentValue(sent, VERSION)) ?? etagOf(connectionVersion(details));
  return {
    title: t('console.connections.edit-title', { name }),
    back: { href: at, label },
    blocks: [
      {
        kind: 'form',
        action: `${at}/edit`,
        fields: [versionField(version)],
        sections: formSections(sectionsOf(kind, preset), details.entry, { isLocked: false, sent }),
        button: t('console.shared.save-changes'),
        cancel: at,
      },
    ],
  };
}

function secretFields({ kind }: Connection): Field[] {
  const options = secretPurposesOf(kind).map((value) => ({ value, label: t(`console.connections.purpose.${value}`) }));
  const [first] = options;
  return [
    { name: 'purpose', label: t('console.connections.secret'), type: 'select', options, value: first?.value },
    { name: 'value', label: t('console.shared.value'), type: 'password', required: true },
    {
      name: 'expires_at',
      label: t('console.connections.expires-on'),
      type: 'date',
      hint: t('console.connections.expires-on-hint'),
    },
  ];
}

const END_SESSIONS = 'end_sessions';
const endsSessions = (sent: Sent) => sentValue(sent, END_SESSIONS) === 'on';

function endSessionsField(count: number): Field {
  return {
    name: END_SESSIONS,
    type: 'checkbox',
    label: t('console.connections.end-sessions'),
    hint: t('console.connections.end-sessions-hint', { count }),
  };
}

function withEnded(sentence: PageText, ended: readonly EndResult[] | undefined): Notice {
  if (ended === undefined) return { text: sentence, tone: 'good' };
  const count = t('console.connections.sessions-ended', { count: ended.length });
  return endedNotice(sentences([sentence, count]), ended);
}
