// /admin/apis: the APIs that access tokens are issued for, their scopes, and the permissions that scopes are tied to.

import { agentSources, type Resource } from '../../applications/resources.ts';
import type { Context } from '../../base/http/context.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { present } from '../../base/platform/defined.ts';
import { check, type Fault } from '../../base/texts/faults.ts';
import { type PageText, t, textAt } from '../../base/texts/text.ts';
import { resource as declaredResource, resourceInput, resourceRules } from '../../config-file/schema.ts';
import { etagOf } from '../api/versions.ts';
import { accessCell, accessChoices } from '../applications/console-parts.ts';
import { NO_CHOICES } from '../applications/form/own-keys.ts';
import { applicationKey } from '../applications/form/sections.ts';
import { type Action, type Block, type Cell, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { deletionZone } from '../console/danger-zone.ts';
import { bodyOf, entriesKey, type FormKey, fieldKey, fieldsOf, keyOf, type Values } from '../console/form-fields.ts';
import { listAt, sortedBy, tableOf } from '../console/lists.ts';
import { longForm, type Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { apiNoun } from './resources.ts';

const HOME = '/admin/apis';
const WRITE = 'gatehouse.applications:write' as const;
const pathOf = (identifier: string) => `${HOME}/${encodeURIComponent(identifier)}`;
const ADD: Action = { label: t('console.apis.add'), icon: 'plus', href: `${HOME}/new` };

const listIn = listAt(HOME, {}, ['identifier', '-identifier']);

export function apiRoutes(services: ConsoleServices) {
  const { admin } = services;
  const { resources } = admin;
  const noun = apiNoun(resources);
  /** What both forms have, with what this administrator may choose from. */
  const keysFor = async (visit: Visit<unknown>) => {
    const choices = { ...NO_CHOICES, ...(await accessChoices(visit, admin)) };
    return keysOf(applicationKey('oidc', 'access', choices), resources.signingAlgs());
  };
  const { router, list, createForm, one, deletion, pageOf } = pagesOf(services, noun);

  list(async ({ ctx, language, may }) => listPage(await resources.list(), { ctx, language, mayWrite: may(WRITE) }));
  createForm({
    title: () => t('console.apis.add'),
    purpose: t('console.apis.add-lead'),
    form: longForm,
    fields: async (visit) => [identifierKey, ...(await keysFor(visit))],
    button: t('console.apis.add'),
    async submit(visit, sent) {
      const declared = declaredBy([identifierKey, ...(await keysFor(visit))], sent);
      const { identifier } = await resources.create(declared, visit.by);
      return { to: pathOf(identifier), notice: t('console.apis.added') };
    },
  });
  one('', {
    form: longForm,
    page: async (visit, sent) =>
      pageOf(visit, {
        blocks: apiBlocks(visit.subject, {
          form: { keys: await keysFor(visit), values: noun.json(visit.subject) as Values, sent },
          mayWrite: visit.may(WRITE),
          warning: resources.warningOf(visit.subject),
        }),
      }),
    async submit(visit, sent) {
      const { identifier } = visit.subject;
      const { identifier: _same, ...changes } = declaredBy(await keysFor(visit), sent, { identifier });
      await resources.update(identifier, changes, visit.by, sentValue(sent, VERSION) ?? '');
      return { to: pathOf(identifier), notice: t('console.apis.saved') };
    },
  });
  deletion({
    title: ({ identifier }) => t('console.apis.delete-title', { identifier }),
    lead: () => t('console.apis.delete-lead'),
    run: resources.remove,
    done: t('console.apis.deleted'),
  });
  return router;
}

function listPage(
  apis: readonly Resource[],
  { ctx, language, mayWrite }: { ctx: Context; language: string; mayWrite: boolean },
): ConsolePage {
  const list = listIn(ctx);
  return {
    title: t('console.apis.title'),
    lead: t('console.apis.lead'),
    actions: mayWrite ? [{ ...ADD, look: 'primary' }] : [],
    blocks: [
      { kind: 'text', tone: 'small', text: t('console.apis.explanation') },
      {
        kind: 'table',
        caption: t('console.apis.caption'),
        ...tableOf(sortedBy(apis, list.given.sort, language, { identifier: ({ identifier }) => identifier }), [
          [
            list.column(t('console.apis.api'), 'identifier'),
            ({ identifier }) => ({ text: identifier, href: pathOf(identifier) }),
          ],
          [t('console.apis.scopes'), scopeCells],
          [t('console.apis.signed-with'), ({ signingAlg }) => signingAlg],
          [t('console.apis.access'), accessCell],
          [t('console.apis.clients.label'), clientsText],
          [
            t('console.apis.managed-by'),
            ({ source }) => (source === 'file' ? { text: t('console.page.configuration-file'), tone: 'plain' } : ''),
          ],
        ]),
        count: t('console.apis.count', { count: apis.length }),
        empty: {
          icon: 'braces',
          title: t('console.apis.none'),
          text: t('console.apis.none-text'),
          ...(mayWrite && { action: ADD }),
        },
      },
    ],
  };
}

/** One API: its scopes and, for an actor who may change it, the form. */
function apiBlocks(
  api: Resource,
  {
    form: { keys, values, sent },
    mayWrite,
    warning,
  }: {
    form: { keys: readonly FormKey[]; values: Values; sent: Sent | undefined };
    mayWrite: boolean;
    warning: PageText | undefined;
  },
): Block[] {
  const at = pathOf(api.identifier);
  const mayEdit = mayWrite && api.source !== 'file';
  const scopes: Block = {
    kind: 'table',
    title: t('console.apis.scopes'),
    caption: t('console.apis.scopes-caption'),
    ...tableOf(
      api.scopes.map((scope) => ({ scope, permission: permissionOfScope(api, scope) })),
      [
        [t('console.apis.scope'), ({ scope }) => ({ text: scope, code: true, small: own(api.scopeTitles, scope) })],
        [
          t('console.apis.users'),
          ({ permission }) =>
            permission === undefined
              ? t('console.apis.all-users')
              : { text: permission, code: true, small: t('console.apis.with-permission') },
        ],
        [
          t('console.apis.clients'),
          ({ permission }) => t(`console.apis.${permission === undefined ? 'allowed' : 'never'}`),
        ],
      ],
    ),
    empty: t('console.apis.no-scopes'),
  };
  const form: Block = {
    kind: 'form',
    title: t('console.apis.edit'),
    action: at,
    fields: [versionField((sent && sentValue(sent, VERSION)) ?? etagOf(api)), ...fieldsOf(keys, values, sent)],
    button: t('console.shared.save-changes'),
    cancel: HOME,
  };
  const facts: Block = {
    kind: 'facts',
    rows: [
      { label: t('console.apis.signing-alg.label'), value: api.signingAlg },
      { label: applicationKey('oidc', 'access').fields({})[0]?.label ?? '', value: accessCell(api) },
      { label: t('console.apis.clients.label'), value: clientsText(api) },
    ],
  };
  return present([
    warning !== undefined && { kind: 'text', tone: 'warning', text: warning },
    !mayEdit && facts,
    scopes,
    mayEdit && form,
    mayEdit && deletionZone(at, t('console.apis.delete-lead')),
  ]);
}

const identifierKey = fieldKey({
  name: 'identifier',
  label: t('console.apis.identifier'),
  required: true,
  hint: t('console.apis.identifier-hint'),
});

/** @param signingAlgs the setting `signing_algorithms`; the algorithm that the API has stays an option */
function keysOf(access: FormKey, signingAlgs: readonly string[]): FormKey[] {
  const about = { section: null, options: 'algorithms', text: 'signing-alg' };
  const signingAlg = { name: 'signing_alg', schema: declaredResource.shape.signing_alg, about, texts: 'console.apis.' };
  return [
    entriesKey(
      { name: 'scopes', label: t('console.apis.scopes'), hint: t('console.apis.scopes-hint'), rows: 4 },
      {
        toText: ({ scopes = [], scope_permissions = {} }) => textOf(scopes as string[], scope_permissions),
        fromLines: (lines) => lines.map((line) => scopeLine(line).scope),
      },
    ),
    // It is in the text area of the scopes.
    {
      key: 'scope_permissions',
      fields: () => [],
      read: (sent) =>
        Object.fromEntries(
          scopeLines(sent, 'scopes')
            .filter(({ rest }) => rest !== undefined)
            .map(({ scope, rest }) => [scope, rest]),
        ),
    },
    entriesKey(
      {
        name: 'scope_titles',
        label: t('console.apis.scope-titles'),
        hint: t('console.apis.scope-titles-hint'),
        rows: 4,
      },
      {
        toText: ({ scope_titles = {} }) => textOf(Object.keys(scope_titles as object), scope_titles),
        fromLines: (lines) => Object.fromEntries(lines.map(scopeLine).map(({ scope, rest = '' }) => [scope, rest])),
      },
    ),
    keyOf(signingAlg, { algorithms: signingAlgs.map((alg) => ({ value: alg, label: alg })) }),
    access,
    ...agentSources.map((source) => keyOf(source, {})),
  ];
}

/** A line for each scope, with what belongs to it. */
function textOf(scopes: readonly string[], ofScopes: unknown): string {
  const lines = scopes.map((scope) => {
    const rest = own(ofScopes as Record<string, string>, scope);
    return rest === undefined ? scope : `${scope} = ${rest}`;
  });
  return lines.join('\n');
}

const clientsText = ({ clients }: Resource) => textAt(`console.apis.clients.${clients}`) ?? clients;

/** A line such as `orders.read = orders:read`. A scope has no spaces, so the first equals sign between spaces ends it. */
function scopeLine(line: string): { scope: string; rest?: string | undefined } {
  const [, scope = line, rest] = /^(.*?)\s+=\s+(.*)$/.exec(line) ?? [];
  return { scope, rest };
}

const scopeLines = (sent: Sent, field: 'scopes' | 'scope_titles') => lines(sentValue(sent, field)).map(scopeLine);

function declaredBy(
  keys: readonly FormKey[],
  sent: Sent,
  given: { identifier?: string } = {},
): Omit<Resource, 'source'> {
  const checked = check(declaredResource, { ...bodyOf(keys, sent), ...given }, resourceRules);
  if (checked.ok) return resourceInput(checked.value.identifier, checked.value);
  throw invalidInput(checked.faults.map((one) => atLine(one, sent)));
}

/** A fault of the permission or the title of a scope, at the line of the text area that has both. */
function atLine(found: Fault, sent: Sent): Fault {
  const [key, scope] = found.path;
  if (key !== 'scope_permissions' && key !== 'scope_titles') return found;
  const field = key === 'scope_titles' ? key : 'scopes';
  const line = scopeLines(sent, field).findLastIndex((one) => one.scope === scope);
  return line < 0 ? found : { ...found, path: [field, line] };
}

const own = (ofScopes: Readonly<Record<string, string>>, scope: string): string | undefined =>
  Object.hasOwn(ofScopes, scope) ? ofScopes[scope] : undefined;

const permissionOfScope = ({ scopePermissions }: Resource, scope: string) => own(scopePermissions, scope);

function scopeCells(api: Resource): Cell[] {
  return api.scopes.map((scope) => {
    const permission = permissionOfScope(api, scope);
    return {
      text: scope,
      code: true,
      ...(permission !== undefined && { small: t('console.apis.only-with', { permission }) }),
    };
  });
}
