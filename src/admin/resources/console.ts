// /admin/apis: the APIs that access tokens are issued for, their scopes, and the permissions that scopes are tied to.

import { z } from 'zod';
import { agentSources, type Resource } from '../../applications/resources.ts';
import type { Context } from '../../base/http/context.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { check, type Fault } from '../../base/texts/faults.ts';
import { type PageText, t, textAt } from '../../base/texts/text.ts';
import { resource as declaredResource, resourceInput, resourceRules } from '../../config-file/schema.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import { RELEASE } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import { accessCell, accessChoices } from '../applications/console-parts.ts';
import { NO_CHOICES } from '../applications/form/own-keys.ts';
import { applicationKey } from '../applications/form/sections.ts';
import {
  type Action,
  type Block,
  type Cell,
  type ConsolePage,
  type Field,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { bodyOf, type FormKey, keyOf } from '../console/form-fields.ts';
import { listAt, sortedBy, tableOf } from '../console/lists.ts';
import { FILE_TAG, fileNotice, releaseQuestion } from '../console/managed-by-file.ts';
import type { Visit } from '../console/pages.ts';
import { toSent } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../resource.ts';
import { apiNoun } from './resources.ts';

const HOME = '/admin/apis';
const WRITE = 'gatehouse.applications:write' as const;
const pathOf = (identifier: string) => `${HOME}/${encodeURIComponent(identifier)}`;
const ADD: Action = { label: t('console.apis.add'), icon: 'plus', href: `${HOME}/new` };

const listIn = listAt(HOME, {}, ['identifier', '-identifier']);
const names = z.array(z.string().max(100)).max(1000).default([]);
/** Which clients beside the registered ones may ask for it. */
const agentKeys = agentSources.map((source) => keyOf(source, {}));
const apiForm = z.object({
  identifier: z.string().trim().max(255).default(''),
  scopes: z.string().max(50_000).default(''),
  scope_titles: z.string().max(200_000).default(''),
  signing_alg: z.string().max(20).default('RS256'),
  access: z.string().max(20).default('everyone'),
  'access.roles': names,
  'access.groups': names,
  clients: z.string().max(20).default('registered'),
  document_hosts: z.string().max(30_000).default(''),
  agent_scopes: z.string().max(50_000).default(''),
  [VERSION]: z.string().max(100).default(''),
});
type ApiForm = z.output<typeof apiForm>;
const LISTS = ['access.roles', 'access.groups'];

export function apiRoutes(services: ConsoleServices) {
  const { frame, admin } = services;
  const { configFile } = services.config;
  const { resources } = admin;
  const optionsOf = async (visit: Visit<unknown>): Promise<FormOptions> => ({
    access: applicationKey('oidc', 'access', { ...NO_CHOICES, ...(await accessChoices(visit, admin)) }),
    signingAlgs: resources.signingAlgs(),
  });
  const { router, list, create, one, question } = pagesOf(frame, apiNoun(resources));

  list(async ({ ctx, language, may }) => listPage(await resources.list(), { ctx, language, mayWrite: may(WRITE) }));
  create({
    form: apiForm,
    lists: LISTS,
    page: async (visit, given = apiForm.parse({})) => newPage(given, await optionsOf(visit)),
    async submit({ by }, given) {
      const { identifier } = await resources.create(declaredBy(given.identifier, given), by);
      return { to: pathOf(identifier), notice: t('console.apis.added') };
    },
  });
  one('', {
    form: apiForm,
    lists: LISTS,
    page: async (visit, given = formOf(visit.subject)) =>
      apiPage(visit.subject, given, {
        mayWrite: visit.may(WRITE),
        mayRelease: visit.may(WRITE) && visit.may(RELEASE),
        configFile,
        warning: resources.warningOf(visit.subject),
        options: await optionsOf(visit),
      }),
    async submit({ by, subject }, given) {
      const { identifier, ...changes } = declaredBy(subject.identifier, given);
      await resources.update(identifier, changes, by, given[VERSION]);
      return { to: pathOf(identifier), notice: t('console.apis.saved') };
    },
  });
  question(
    '/release',
    releaseQuestion(services, [WRITE], {
      entriesOf: ({ identifier }: Resource) => [{ section: 'resources', name: identifier }],
      home: ({ identifier }) => ({ href: pathOf(identifier), label: identifier }),
    }),
  );
  question('/delete', {
    title: ({ identifier }) => t('console.apis.delete-title', { identifier }),
    back: ({ identifier }) => ({ href: pathOf(identifier), label: identifier }),
    lead: () => t('console.apis.delete-lead'),
    typedName: ({ identifier }) => identifier,
    async submit({ by, subject }) {
      await resources.remove(subject.identifier, by);
      return { to: HOME, notice: t('console.apis.deleted') };
    },
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

function newPage(given: ApiForm, options: FormOptions): ConsolePage {
  const identifier: Field = {
    name: 'identifier',
    label: t('console.apis.identifier'),
    value: given.identifier,
    required: true,
    hint: t('console.apis.identifier-hint'),
  };
  return {
    title: t('console.apis.add'),
    lead: t('console.apis.add-lead'),
    back: { href: HOME, label: t('console.apis.title') },
    blocks: [
      {
        kind: 'form',
        action: `${HOME}/new`,
        fields: [identifier, ...fieldsOf(given, options)],
        button: t('console.apis.add'),
        look: 'primary',
        cancel: HOME,
      },
    ],
  };
}

/** One API: its scopes and, for an actor who may change it, the form. */
function apiPage(
  api: Resource,
  given: ApiForm,
  {
    mayWrite,
    mayRelease,
    configFile,
    warning,
    options,
  }: {
    mayWrite: boolean;
    mayRelease: boolean;
    configFile: string | undefined;
    warning: PageText | undefined;
    options: FormOptions;
  },
): ConsolePage {
  const at = pathOf(api.identifier);
  const mayEdit = mayWrite && api.source !== 'file';
  const scopes: Block = {
    kind: 'table',
    title: t('console.apis.scopes'),
    caption: t('console.apis.scopes-caption'),
    ...tableOf(
      api.scopes.map((scope) => ({ scope, permission: permissionOfScope(api, scope) })),
      [
        [t('console.apis.scope'), ({ scope }) => ({ text: scope, code: true, small: titleOf(api, scope) })],
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
    fields: [versionField(given[VERSION]), ...fieldsOf(given, options)],
    button: t('console.shared.save-changes'),
    cancel: HOME,
  };
  const facts: Block = {
    kind: 'facts',
    rows: [
      { label: t('console.apis.signing-alg'), value: api.signingAlg },
      { label: options.access.fields({})[0]?.label ?? '', value: accessCell(api) },
      { label: t('console.apis.clients.label'), value: clientsText(api) },
    ],
  };
  const danger = dangerZone([
    {
      text: t('console.apis.delete-lead'),
      action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' },
    },
  ]);
  return {
    title: api.identifier,
    back: { href: HOME, label: t('console.apis.title') },
    tags: api.source === 'file' ? [FILE_TAG] : [],
    blocks: [
      ...(api.source === 'file' ? [fileNotice(configFile, 'api', mayRelease && at)] : []),
      ...(warning ? [{ kind: 'text' as const, tone: 'warning' as const, text: warning }] : []),
      ...(mayEdit ? [] : [facts]),
      scopes,
      ...(mayEdit ? [form, danger] : []),
    ],
  };
}

/** What the fields offer. */
interface FormOptions {
  access: FormKey;
  /** The setting `signing_algorithms`; the algorithm that the API has stays an option. */
  signingAlgs: readonly string[];
}

function fieldsOf(given: ApiForm, { access, signingAlgs }: FormOptions): Field[] {
  const { scopes, scope_titles, signing_alg } = given;
  const named = { roles: given['access.roles'], groups: given['access.groups'] };
  const algs = keyAlgs.filter((alg) => signingAlgs.includes(alg) || alg === signing_alg);
  return [
    {
      name: 'scopes',
      label: t('console.apis.scopes'),
      type: 'textarea',
      rows: Math.max(4, lines(scopes).length + 1),
      value: scopes,
      hint: t('console.apis.scopes-hint'),
    },
    {
      name: 'scope_titles',
      label: t('console.apis.scope-titles'),
      type: 'textarea',
      rows: Math.max(4, lines(scope_titles).length + 1),
      value: scope_titles,
      hint: t('console.apis.scope-titles-hint'),
    },
    {
      name: 'signing_alg',
      label: t('console.apis.signing-alg'),
      type: 'select',
      value: signing_alg,
      options: algs.map((alg) => ({ value: alg, label: alg })),
    },
    ...access.fields({ access: given.access === 'everyone' ? 'everyone' : named }),
    ...agentKeys.flatMap((key) => key.fields(bodyOf(agentKeys, sentOf(given)))),
  ];
}

const clientsText = ({ clients }: Resource) => textAt(`console.apis.clients.${clients}`) ?? clients;

const sentOf = ({ clients, document_hosts, agent_scopes }: ApiForm) =>
  toSent({ clients, document_hosts, agent_scopes });

interface ScopeLine {
  scope: string;
  rest: string | undefined;
}

/** A scope has no spaces, so the first equals sign between spaces separates it from its permission, or from its title. */
function scopeLines(text: string): ScopeLine[] {
  return lines(text).map((typed) => {
    const [scope = '', ...rest] = typed.split(/\s+(=)\s+/);
    return { scope, rest: rest.length > 0 ? rest.slice(1).join(' ') : undefined };
  });
}

function declaredBy(identifier: string, given: ApiForm): Omit<Resource, 'source'> {
  const entries = scopeLines(given.scopes);
  const titles = scopeLines(given.scope_titles);
  const tied = entries.flatMap(({ scope, rest }) => (rest === undefined ? [] : [[scope, rest]]));
  const declaration = {
    identifier,
    scopes: entries.map(({ scope }) => scope),
    scope_permissions: Object.fromEntries(tied),
    scope_titles: Object.fromEntries(titles.map(({ scope, rest = '' }) => [scope, rest])),
    signing_alg: given.signing_alg,
    access: applicationKey('oidc', 'access').read(
      toSent({ access: given.access, 'access.roles': given['access.roles'], 'access.groups': given['access.groups'] }),
    ),
    ...bodyOf(agentKeys, sentOf(given)),
  };
  const checked = check(declaredResource, declaration, resourceRules);
  if (checked.ok) return resourceInput(identifier, checked.value);
  throw invalidInput(checked.faults.map((one) => atLine(one, { scope_permissions: entries, scope_titles: titles })));
}

/** A fault of the permission or the title of a scope, at the line of the text area that has both. */
function atLine(
  found: Fault,
  typed: Readonly<Record<'scope_permissions' | 'scope_titles', readonly ScopeLine[]>>,
): Fault {
  const [key, scope] = found.path;
  if (key !== 'scope_permissions' && key !== 'scope_titles') return found;
  const line = typed[key].findLastIndex((one) => one.scope === scope);
  return line < 0 ? found : { ...found, path: [key === 'scope_titles' ? key : 'scopes', line] };
}

function formOf(api: Resource): ApiForm {
  const scopes = api.scopes.map((scope) => [scope, permissionOfScope(api, scope) ?? []].flat().join(' = '));
  const { identifier, signingAlg, access } = api;
  const rule = access === 'everyone' ? { roles: [] } : access;
  return {
    identifier,
    scopes: scopes.join('\n'),
    scope_titles: Object.entries(api.scopeTitles)
      .map((entry) => entry.join(' = '))
      .join('\n'),
    signing_alg: signingAlg,
    access: access === 'everyone' ? 'everyone' : 'roles',
    'access.roles': rule.roles,
    'access.groups': rule.groups ?? [],
    clients: api.clients,
    document_hosts: api.documentHosts.join('\n'),
    agent_scopes: api.agentScopes.join('\n'),
    [VERSION]: etagOf(api),
  };
}

const titleOf = ({ scopeTitles }: Resource, scope: string): string | undefined =>
  Object.hasOwn(scopeTitles, scope) ? scopeTitles[scope] : undefined;

function permissionOfScope({ scopePermissions }: Resource, scope: string): string | undefined {
  return Object.hasOwn(scopePermissions, scope) ? scopePermissions[scope] : undefined;
}

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
