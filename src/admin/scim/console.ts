// /admin/scim: the SCIM connections, one of them with its tokens, a new one, and the deletion of one.
import { invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { check, type Fault } from '../../base/texts/faults.ts';
import { type PageText, sentences, t, textAt } from '../../base/texts/text.ts';
import { type Actor, directoryActor } from '../../core/audit/audit.ts';
import { maskedKey } from '../../people/api-keys/api-keys.ts';
import { scimApi } from '../../people/rbac/built-in.ts';
import { RELEASE } from '../../people/rbac/rights.ts';
import {
  declarationOf,
  type ScimConnection,
  type ScimDeclaration,
  type ScimToken,
  scimDeclaration,
} from '../../protocols/scim/connections.ts';
import { etagOf } from '../api/versions.ts';
import { eventItems } from '../audit/console-rows.ts';
import { type Action, type Block, type ConsolePage, selectField, VERSION, versionField } from '../console/blocks.ts';
import { deletionZone } from '../console/danger-zone.ts';
import { bodyOf, daysField, entriesKey, type FormKey, fieldKey, fieldsOf, groupKey } from '../console/form-fields.ts';
import { tableOf } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { longForm } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { type CreatedToken, newToken, scimNoun } from './scim.ts';

const HOME = '/admin/scim';
const AUDIT = 'gatehouse.audit:read' as const;
const WRITE = 'gatehouse.connections:write' as const;
const pathOf = ({ id }: { id: string }) => `${HOME}/${id}`;
const ADD: Action = { label: t('console.scim.add'), icon: 'plus', href: `${HOME}/new` };
const DAY_CHOICES = [30, 90, 180, 365, 730];

export function scimRoutes(services: ConsoleServices) {
  const { names } = services;
  const { audit, connections, scim } = services.admin;
  const { issuer } = services.config;
  const pages = pagesOf(services, scimNoun(scim));
  const { router, list, createForm, one, form, question, deletion } = pages;

  const mayChange = async ({ may, by }: { may(permission: typeof WRITE): boolean; by: Actor }) =>
    may(WRITE) && connections.mayChange(by);

  list(async (visit) => listPage(await scim.list(), await mayChange(visit)));
  createForm({
    title: () => t('console.scim.add'),
    purpose: t('console.scim.lead'),
    form: longForm,
    fields: () => KEYS,
    values: { may_create: true, adopt: 'never', delete_policy: 'disable' },
    button: t('console.scim.add'),
    async submit({ by }, sent) {
      const made = await scim.create(declaredBy(sent), by);
      return { to: `${pathOf(made)}/token`, notice: t('console.scim.added') };
    },
  });
  one('', {
    form: longForm,
    async page(visit, sent) {
      const { subject, may, by } = visit;
      const mayWrite = await mayChange(visit);
      const blocks = connectionBlocks(subject, sent, {
        issuer,
        tokens: await scim.tokens(subject.id),
        counts: await scim.counts(subject.id),
        history: may(AUDIT) ? await historyOf(subject, by) : [],
        mayWrite,
      });
      return pages.pageOf(visit, { blocks }, mayWrite && may(RELEASE));
    },
    async submit({ by, subject }, sent) {
      await scim.update(subject.id, declaredBy(sent), by, sentValue(sent, VERSION) ?? '');
      return { to: pathOf(subject), notice: t('console.scim.saved') };
    },
  });
  form('/token', {
    title: () => t('console.scim.token.new'),
    purpose: t('console.scim.token.lead'),
    fields: () => [daysField('expires_in_days', t('console.sign-up-codes.form.valid-for'), 365, DAY_CHOICES)],
    body: newToken,
    button: t('console.scim.token.new'),
    submit: async ({ by, subject }, { expires_in_days: days }) => ({
      result: createdPage(await scim.addToken(subject.id, days, by), {
        issuer,
        isOnly: (await scim.tokens(subject.id)).length === 1,
      }),
    }),
  });
  question('/tokens/:token/revoke', {
    title: () => t('console.scim.token.revoke'),
    lead: () => t('console.scim.token.revoke-lead'),
    button: t('console.scim.token.revoke'),
    async submit({ ctx, by, subject }) {
      await scim.revokeToken(subject.id, ctx.params.token ?? '', by);
      return { to: pathOf(subject), notice: t('console.scim.token.revoked') };
    },
  });
  deletion({
    title: ({ name }) => t('console.scim.delete', { name }),
    lead: async ({ subject }) => {
      const { leavers: count } = await scim.counts(subject.id);
      const { keepDeletedDays: days } = limits.scim;
      const kept = count > 0 ? [t('console.scim.delete-leavers', { count, days })] : [];
      return sentences([t('console.scim.delete-lead'), ...kept]);
    },
    run: scim.remove,
    done: t('console.scim.deleted'),
  });
  return router;

  /** The last changes and rejected requests. */
  async function historyOf({ id }: ScimConnection, by: Actor): Promise<Block[]> {
    const events = await audit.list({ actorApp: directoryActor(id), limit: 5 }, by);
    const all = (label: PageText, href: string, isSome: boolean): Action[] => (isSome ? [{ label, href }] : []);
    const rejected = await scim.rejected(id);
    return [
      {
        kind: 'events',
        title: t('console.scim.changes'),
        actions: all(t('console.scim.all-changes'), `/admin/audit?directory=${id}`, events.length > 0),
        items: await eventItems(events, names),
        empty: t('console.scim.no-changes'),
      },
      {
        kind: 'table',
        title: t('console.scim.rejected'),
        actions: all(t('console.scim.all-rejected'), `/admin/rejections?client=${id}`, rejected.length > 0),
        ...tableOf(rejected, [
          [
            t('console.rejections.reason'),
            ({ code, message, received, rules: [{ rule } = { rule: 'unstored' }] }) => ({
              text: textAt(`console.rejections.failed.${rule}`, { count: Number(received.count) }) ?? message,
              href: `/admin/rejections/${code}`,
            }),
          ],
          [t('console.rejections.when'), ({ at }) => at],
          [{ label: t('console.rejections.reference'), isShort: true }, ({ code }) => ({ text: code, code: true })],
        ]),
        empty: t('console.scim.no-rejected'),
      },
    ];
  }
}

function listPage(connections: readonly ScimConnection[], mayWrite: boolean): ConsolePage {
  return {
    title: t('console.navigation.scim'),
    lead: t('console.scim.lead'),
    actions: mayWrite ? [{ ...ADD, look: 'primary' }] : [],
    blocks: [
      {
        kind: 'table',
        ...tableOf(connections, [
          [t('console.shared.name'), (one) => ({ text: one.name, href: pathOf(one) })],
          [t('console.scim.domains'), ({ owned_domains: owned }) => owned.join(', ')],
          [t('console.scim.last-request'), ({ lastRequestAt }) => lastRequestAt ?? t('console.api-keys.never')],
          [t('console.roles.managed-by'), ({ source }) => (source === 'file' ? FILE_TAG : '')],
        ]),
        empty: {
          icon: 'refresh-cw',
          title: t('console.scim.none'),
          text: t('console.scim.none-text'),
          ...(mayWrite && { action: ADD }),
        },
      },
    ],
  };
}

interface PageOptions {
  issuer: string;
  tokens: readonly ScimToken[];
  counts: Awaited<ReturnType<ConsoleServices['admin']['scim']['counts']>>;
  history: readonly Block[];
  mayWrite: boolean;
}

function connectionBlocks(
  connection: ScimConnection,
  sent: Sent | undefined,
  { issuer, tokens, counts, history, mayWrite }: PageOptions,
): Block[] {
  const at = pathOf(connection);
  const mayEdit = mayWrite && connection.source !== 'file';
  const declared = declarationOf(connection);
  const facts: Block = {
    kind: 'facts',
    rows: present([
      { label: t('console.scim.address'), value: { text: scimApi(issuer), copy: t('console.scim.address-copy') } },
      { label: t('console.scim.last-request'), value: connection.lastRequestAt ?? t('console.api-keys.never') },
      { label: t('console.navigation.users'), value: counts.users },
      { label: t('console.navigation.groups'), value: counts.groups },
      counts.leavers > 0 && { label: t('console.scim.leavers'), value: counts.leavers },
    ]),
  };
  const table: Block = {
    kind: 'table',
    title: t('console.scim.tokens'),
    actions: mayWrite ? [{ label: t('console.scim.token.new'), icon: 'plus', href: `${at}/token` }] : [],
    ...tableOf(tokens, [
      [t('console.scim.token'), (token) => ({ text: maskedKey(token), code: true })],
      [t('console.api-keys.created-at'), ({ createdAt }) => createdAt],
      [t('console.api-keys.last-used'), ({ lastUsedAt }) => lastUsedAt ?? t('console.api-keys.never')],
      [t('console.api-keys.expires'), ({ expiresAt }) => expiresAt ?? t('console.sign-up-codes.never')],
      mayWrite && [
        t('console.api-keys.action'),
        ({ id, source }) =>
          source === 'file'
            ? FILE_TAG
            : {
                label: t('console.api-keys.revoke'),
                of: maskedKey({ id, lastFour: '' }),
                href: `${at}/tokens/${id}/revoke`,
              },
      ],
    ]),
    empty: t('console.scim.no-tokens'),
  };
  const edit: Block = {
    kind: 'form',
    title: t('console.scim.edit'),
    action: at,
    fields: [versionField((sent && sentValue(sent, VERSION)) ?? etagOf(declared)), ...fieldsOf(KEYS, declared, sent)],
    button: t('console.shared.save-changes'),
    cancel: HOME,
  };
  return [facts, ...history, table, ...(mayEdit ? [edit, deletionZone(at, t('console.scim.delete-lead'))] : [])];
}

/** A line for each entry of a map, such as `department = title`. */
const mapKey = (name: 'mappings.attributes' | 'mappings.groups', label: PageText, hint: PageText) =>
  entriesKey(
    { name, label, hint, rows: 3, isCode: true },
    {
      toText: ({ [name]: map = {} }) =>
        Object.entries(map as object)
          .map((pair) => pair.join(' = '))
          .join('\n'),
      fromLines: (lines) => Object.fromEntries(lines.map(pairIn)),
    },
  );

function pairIn(line: string): [string, string] {
  const [left = '', ...right] = line.split(/\s+=\s+/);
  return [left.trim(), right.join(' = ').trim()];
}

/** The fields of a connection. */
const KEYS: readonly FormKey[] = [
  fieldKey({ name: 'name', label: t('console.shared.name'), required: true, hint: t('console.scim.name-hint') }),
  entriesKey(
    {
      name: 'owned_domains',
      label: t('console.scim.domains'),
      hint: t('console.scim.domains-hint'),
      rows: 3,
      isCode: true,
    },
    {
      toText: ({ owned_domains: domains = [] }) => (domains as string[]).join('\n'),
      fromLines: (lines) => lines,
    },
  ),
  fieldKey({ name: 'may_create', label: t('console.scim.may-create'), type: 'checkbox' }),
  fieldKey({
    ...selectField('adopt', t('console.scim.adopt'), '', {
      never: t('console.scim.adopt.never'),
      owned_domains: t('console.scim.adopt.owned'),
    }),
    hint: t('console.scim.adopt-hint'),
  }),
  fieldKey(
    selectField('delete_policy', t('console.scim.delete-policy'), '', {
      disable: t('console.scim.delete-policy.disable'),
      delete: t('console.scim.delete-policy.delete'),
    }),
  ),
  groupKey('mappings', [
    mapKey('mappings.attributes', t('console.scim.attributes'), t('console.scim.attributes-hint')),
    mapKey('mappings.groups', t('console.scim.groups'), t('console.scim.groups-hint')),
  ]),
  fieldKey({ name: 'client_id', label: t('console.scim.client'), isCode: true, hint: t('console.scim.client-hint') }),
];

/** What the form declares. Throws invalid_input, with a fault of a mapping at its line. */
function declaredBy(sent: Sent): ScimDeclaration {
  const checked = check(scimDeclaration, { client_id: null, ...bodyOf(KEYS, sent) });
  if (checked.ok) return checked.value;
  throw invalidInput(checked.faults.map((one) => atLine(one, sent)));
}

function atLine(found: Fault, sent: Sent): Fault {
  const [first, kind, key] = found.path;
  if (first !== 'mappings' || key === undefined) return found;
  const line = lines(sentValue(sent, `mappings.${kind}`)).findIndex((one) => pairIn(one)[0] === key);
  return line < 0 ? found : { ...found, path: ['mappings', String(kind), line] };
}

function createdPage(
  { connection, text: token }: CreatedToken,
  { issuer, isOnly }: { issuer: string; isOnly: boolean },
): ConsolePage {
  const copyNow = t('console.scim.token.copy');
  return {
    title: t('console.scim.token.created'),
    back: { href: pathOf(connection), label: connection.name },
    blocks: [
      {
        kind: 'secret',
        label: t('console.scim.token'),
        copied: t('console.shared.copied.token'),
        text: token,
        lead: isOnly ? copyNow : sentences([copyNow, t('console.scim.token.old-one')]),
      },
      {
        kind: 'facts',
        rows: [
          { label: t('console.scim.address'), value: { text: scimApi(issuer), copy: t('console.scim.address-copy') } },
        ],
      },
      {
        kind: 'code',
        title: t('console.scim.token.try'),
        label: t('console.scim.token.try'),
        lead: t('console.scim.token.try-lead'),
        text: `read -rs TOKEN\ncurl -H "Authorization: Bearer $TOKEN" '${scimApi(issuer)}/Users?count=2'\n`,
      },
      {
        kind: 'actions',
        items: [{ label: t('console.sign-up-codes.created.done'), href: pathOf(connection), look: 'primary' }],
      },
    ],
  };
}
