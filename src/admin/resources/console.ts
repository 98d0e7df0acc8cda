// /admin/apis: the APIs that access tokens are issued for, their scopes, and the permissions that scopes are tied to.
import Router from '@koa/router';
import { z } from 'zod';
import { type Resource, scopePermissionFaults } from '../../applications/resources.ts';
import { check, formatPath } from '../../applications/validation.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest, type FieldFault } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import type { Fault } from '../../base/platform/faults.ts';
import { inLanguage, t } from '../../base/texts/text.ts';
import { resource as declaredResource, resourceInput } from '../../config-file/schema.ts';
import { keyAlgs } from '../../core/keys/rotation.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type Cell, type ConsolePage, type Field, VERSION, versionField } from '../console/blocks.ts';
import { assertTypedName, dangerZone, deletionForm, readTypedName } from '../console/danger-zone.ts';
import { faultText } from '../console/fault-sentences.ts';
import { sortColumn, sortedBy } from '../console/lists.ts';
import { FILE_TAG, fileNotice } from '../console/managed-by-file.ts';
import { lines } from '../console/text-area.ts';
import { readTypedForm } from '../console/typed-form.ts';
import type { ResourceAdmin } from './actions.ts';
import { type ApiPagesDependencies, HOME, pathOf, READ, WRITE } from './console-parts.ts';

const query = z.object({ sort: z.enum(['identifier', '-identifier']).default('identifier') });
const apiForm = z.object({
  identifier: z.string().trim().max(255).default(''),
  scopes: z.string().max(50_000).default(''),
  signing_alg: z.string().max(20).default('RS256'),
  [VERSION]: z.string().max(100).default(''),
});
type ApiForm = z.output<typeof apiForm>;

/** All pages below /admin/apis. */
export function apiRoutes(dependencies: ApiPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  addListRoute(router, dependencies);
  // `/new` first: it would match `/:identifier`.
  addNewRoutes(router, dependencies);
  addEditRoutes(router, dependencies);
  apiDeletion(router, dependencies);
  return router;
}

const found = (resources: ResourceAdmin, ctx: Context & { params: Record<string, string> }) =>
  resources.get(ctx.params.identifier ?? '');

function addListRoute(router: Router<State, Extras>, { frame, resources }: ApiPagesDependencies): void {
  router.get('/', ...frame.page(READ), async (ctx) => {
    const { sort } = parseQuery(ctx, query);
    const list = { path: HOME, filters: {}, sort, defaultSort: 'identifier' };
    const all = sortedBy(await resources.list(), sort, frame.language(ctx), {
      identifier: ({ identifier }) => identifier,
    });
    const explanation = t('console.apis.explanation');
    frame.show(ctx, {
      title: t('console.apis.title'),
      lead: t('console.apis.lead'),
      actions: frame.may(ctx, WRITE)
        ? [{ label: t('console.apis.add'), icon: 'plus', href: `${HOME}/new`, look: 'primary' }]
        : [],
      blocks: [
        { kind: 'text', tone: 'small', text: explanation },
        {
          kind: 'table',
          caption: t('console.apis.caption'),
          columns: [
            sortColumn(t('console.apis.api'), 'identifier', list),
            t('console.apis.scopes'),
            t('console.apis.signed-with'),
            t('console.apis.managed-by'),
          ],
          rows: all.map((api) => [
            { text: api.identifier, href: pathOf(api.identifier) },
            scopeCells(api),
            api.signingAlg,
            api.source === 'file' ? { text: t('console.page.configuration-file'), tone: 'plain' } : '',
          ]),
          count: t('console.apis.count', { count: all.length }),
          empty: {
            icon: 'braces',
            title: t('console.apis.none'),
            text: t('console.apis.none-text'),
            ...(frame.may(ctx, WRITE) && {
              action: { label: t('console.apis.add'), icon: 'plus', href: `${HOME}/new` },
            }),
          },
        },
      ],
    });
  });
}

function addNewRoutes(router: Router<State, Extras>, { frame, resources }: ApiPagesDependencies): void {
  const empty: ApiForm = { identifier: '', scopes: '', signing_alg: 'RS256', [VERSION]: '' };
  router.get('/new', ...frame.page(WRITE), (ctx) => frame.show(ctx, newPage(empty, resources.signingAlgs())));

  router.post('/new', ...frame.change(WRITE), async (ctx) => {
    const { given, check } = await readTypedForm(ctx, apiForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        const made = await resources.create(declaredBy(given.identifier, given, frame.language(ctx)), frame.actor(ctx));
        frame.redirect(ctx, pathOf(made.identifier), t('console.apis.added'));
      },
      () => newPage(given, resources.signingAlgs()),
    );
  });
}

function addEditRoutes(router: Router<State, Extras>, { frame, resources, configFile }: ApiPagesDependencies): void {
  router.get('/:identifier', ...frame.page(READ), async (ctx) => {
    const api = await found(resources, ctx);
    const options = { mayWrite: frame.may(ctx, WRITE), configFile, signingAlgs: resources.signingAlgs() };
    frame.show(ctx, apiPage(api, formOf(api), options));
  });

  router.post('/:identifier', ...frame.change(WRITE), async (ctx) => {
    const api = await found(resources, ctx);
    const { given, check } = await readTypedForm(ctx, apiForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        const { identifier, ...changes } = declaredBy(api.identifier, given, frame.language(ctx));
        await resources.update(identifier, changes, frame.actor(ctx), given[VERSION]);
        frame.redirect(ctx, pathOf(identifier), t('console.apis.saved'));
      },
      () => apiPage(api, given, { mayWrite: true, configFile, signingAlgs: resources.signingAlgs() }),
    );
  });
}

function newPage(given: ApiForm, signingAlgs: readonly string[]): ConsolePage {
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
        fields: [identifier, ...fieldsOf(given, signingAlgs)],
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
    configFile,
    signingAlgs,
  }: { mayWrite: boolean; configFile: string | undefined; signingAlgs: readonly string[] },
): ConsolePage {
  const at = pathOf(api.identifier);
  const mayEdit = mayWrite && api.source !== 'file';
  const scopes: Block = {
    kind: 'table',
    title: t('console.apis.scopes'),
    caption: t('console.apis.scopes-caption'),
    columns: [t('console.apis.scope'), t('console.apis.users'), t('console.apis.clients')],
    rows: api.scopes.map((scope) => {
      const permission = permissionOfScope(api, scope);
      return [
        { text: scope, code: true },
        permission === undefined
          ? t('console.apis.all-users')
          : { text: permission, code: true, small: t('console.apis.with-permission') },
        permission === undefined ? t('console.apis.allowed') : t('console.apis.never'),
      ];
    }),
    empty: t('console.apis.no-scopes'),
  };
  const form: Block = {
    kind: 'form',
    title: t('console.apis.edit'),
    action: at,
    fields: [versionField(given[VERSION]), ...fieldsOf(given, signingAlgs)],
    button: t('console.shared.save-changes'),
    cancel: HOME,
  };
  const signing: Block = { kind: 'facts', rows: [{ label: t('console.apis.signing-alg'), value: api.signingAlg }] };
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
      ...(api.source === 'file' ? [fileNotice(configFile, 'api')] : []),
      ...(mayEdit ? [] : [signing]),
      scopes,
      ...(mayEdit ? [form, danger] : []),
    ],
  };
}

/** @param listed the setting `signing_algorithms`; the algorithm that the API has stays an option */
function fieldsOf({ scopes, signing_alg }: ApiForm, listed: readonly string[]): Field[] {
  const algs = keyAlgs.filter((alg) => listed.includes(alg) || alg === signing_alg);
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
      name: 'signing_alg',
      label: t('console.apis.signing-alg'),
      type: 'select',
      value: signing_alg,
      options: algs.map((alg) => ({ value: alg, label: alg })),
    },
  ];
}

interface ScopeLine {
  /** In the text area, from 1 on. */
  line: number;
  scope: string;
  permission: string | undefined;
}

/** A scope has no spaces, so the equals sign between spaces separates it from its permission. */
function scopeLines(text: string): ScopeLine[] {
  return text.split(/\r?\n/).flatMap((typed, index) => {
    const [scope = '', permission] = typed.trim().split(/\s+=\s+/, 2);
    return scope === '' ? [] : [{ line: index + 1, scope, permission }];
  });
}

/** @param language of the page that displays the faults */
function declaredBy(identifier: string, given: ApiForm, language: string): Omit<Resource, 'source'> {
  const entries = scopeLines(given.scopes);
  const tied = entries.flatMap(({ scope, permission }) => (permission === undefined ? [] : [[scope, permission]]));
  const declaration = {
    identifier,
    scopes: entries.map(({ scope }) => scope),
    scope_permissions: Object.fromEntries(tied),
    signing_alg: given.signing_alg,
  };
  const checked = check(declaredResource, declaration, ({ scopes, scope_permissions: scopePermissions }) =>
    scopePermissionFaults({ scopes, scopePermissions }),
  );
  if (checked.ok) return resourceInput(identifier, checked.value);
  const fields = inLanguage(language, () => checked.faults.map((fault) => fieldFault(fault, entries)));
  throw badRequest('invalid_input', { fields });
}

/** Of a scope or its permission: at the text area that has both, with the number of the line. */
function fieldFault({ path, message }: Fault, entries: readonly ScopeLine[]): FieldFault {
  const [key, at] = path;
  const entry = key === 'scopes' ? entries[Number(at)] : entries.findLast(({ scope }) => scope === at);
  if (at === undefined || !entry) return { field: formatPath(path), message };
  const { line } = entry;
  const label =
    key === 'scopes' ? t('console.apis.scope-of-line', { line }) : t('console.apis.permission-of-line', { line });
  return { field: 'scopes', message: faultText(message, String(label)) };
}

function formOf(api: Resource): ApiForm {
  const scopes = api.scopes.map((scope) => [scope, permissionOfScope(api, scope) ?? []].flat().join(' = '));
  const { identifier, signingAlg } = api;
  return { identifier, scopes: scopes.join('\n'), signing_alg: signingAlg, [VERSION]: etagOf(api) };
}

function permissionOfScope(
  { scopePermissions }: Pick<Resource, 'scopePermissions'>,
  scope: string,
): string | undefined {
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

function apiDeletion(router: Router<State, Extras>, { frame, resources }: ApiPagesDependencies): void {
  router.get('/:identifier/delete', ...frame.page(WRITE), async (ctx) => {
    const { identifier } = await resources.get(ctx.params.identifier ?? '');
    frame.show(ctx, deletionPage(identifier));
  });

  router.post('/:identifier/delete', ...frame.change(WRITE), async (ctx) => {
    const { identifier } = await resources.get(ctx.params.identifier ?? '');
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, identifier);
        await resources.remove(identifier, frame.actor(ctx));
        frame.redirect(ctx, HOME, t('console.apis.deleted'));
      },
      () => deletionPage(identifier, typed),
    );
  });
}

function deletionPage(identifier: string, typed?: string): ConsolePage {
  const at = pathOf(identifier);
  return {
    title: t('console.apis.delete-title', { identifier }),
    back: { href: at, label: identifier },
    blocks: [deletionForm({ at, name: identifier, lead: t('console.apis.delete-lead'), typed })],
  };
}
