// /admin/roles: the roles, their permissions as a matrix, and each role with its permissions, members and applications.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { bodyLimit, parseForm, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { inLanguage, type PageText, t } from '../../base/texts/text.ts';
import { missingReads } from '../../people/rbac/rights.ts';
import type { Role } from '../../people/rbac/role.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { assertTypedName, dangerZone, deletionForm, readTypedName } from '../console/danger-zone.ts';
import { quotedPermissions } from '../console/permission-words.ts';
import { asTyped, isRowButton, type Sent, sentValue, toSent } from '../console/row-buttons.ts';
import type { RoleAdmin } from './actions.ts';
import { roleList } from './console-lists.ts';
import { type MemberPagesDependencies, memberPages } from './console-members.ts';
import { type RoleValues, roleSections, sentRole } from './role-form.ts';
import { applicationsBlock, isOpenTab, mayChangeRole, pathOf, READ, roleTabPage, WRITE } from './role-page.ts';
import { permissionQuery, permissionSearch, searchedSections, searchNotice } from './role-search.ts';

const HOME = '/admin/roles';
const MAX_FORM_BYTES = 256 * 1024;
const form = z.record(z.string(), z.array(z.string().max(20_000)));
export interface RolePagesDependencies extends MemberPagesDependencies {
  roles: RoleAdmin;
}

/** All pages below /admin/roles. */
export function roleRoutes(dependencies: RolePagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  roleList(router, dependencies);
  // `/new` and `/permissions` first: they would match `/:id`.
  newRolePages(router, dependencies);
  rolePages(router, dependencies);
  memberPages(router, dependencies);
  roleDeletion(router, dependencies);
  return router;
}

async function readSent(ctx: Context): Promise<Sent> {
  return toSent(await parseForm(ctx, form, { lists: 'every field' }));
}

function newRolePages(router: Router<State, Extras>, dependencies: RolePagesDependencies): void {
  const { frame, roles } = dependencies;
  const empty = { name: '', description: '', permissions: [] };
  const page = async (sent?: Sent): Promise<ConsolePage> => ({
    title: t('console.roles.create'),
    lead: t('console.roles.create-lead'),
    back: { href: HOME, label: t('console.roles.title') },
    blocks: await formBlocks(dependencies, {
      action: `${HOME}/new`,
      values: empty,
      sent,
      button: t('console.roles.create'),
    }),
  });

  router.get('/new', ...frame.page(WRITE), async (ctx) => frame.show(ctx, await page()));

  router.post('/new', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const sent = await readSent(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await page(sent));
    await frame.attempt(
      ctx,
      async () => {
        const role = await roles.create(
          { ...sentRole(sent), permissions: [...sentRole(sent).permissions] },
          frame.actor(ctx),
        );
        frame.redirect(ctx, pathOf(role), t('console.roles.created'));
      },
      () => page(sent),
    );
  });
}

function rolePages(router: Router<State, Extras>, dependencies: RolePagesDependencies): void {
  const { frame, roles } = dependencies;

  const page = (ctx: Context, role: Role, sent?: Sent) => permissionsPage(dependencies, ctx, role, sent);

  router.get('/:id', ...frame.page(READ), async (ctx) =>
    frame.show(ctx, await page(ctx, await roles.get(ctx.params.id ?? ''))),
  );

  router.post('/:id', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const sent = await readSent(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await page(ctx, role, sent));
    await frame.attempt(
      ctx,
      async () => {
        const values = sentRole(sent);
        const changes = { ...values, permissions: [...values.permissions] };
        await roles.update(role.id, changes, frame.actor(ctx), sentValue(sent, VERSION) ?? '');
        frame.redirect(ctx, pathOf(role), t('console.roles.saved'));
      },
      () => page(ctx, role, sent),
    );
  });

  router.get('/:id/applications', ...frame.page(READ), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const missing: Block = { kind: 'text', text: t('console.roles.no-applications-right') };
    const { applications, isMore } = await roles.applications(role.id);
    const block = isOpenTab(dependencies, ctx, 'applications')
      ? applicationsBlock(role.name, applications, isMore)
      : missing;
    frame.show(ctx, roleTabPage(role, 'applications', ctx, dependencies, { blocks: [block] }));
  });
}

/** The first tab: the form, and what deletes the role. */
async function permissionsPage(
  dependencies: RolePagesDependencies,
  ctx: Context,
  role: Role,
  sent: Sent | undefined,
): Promise<ConsolePage> {
  const mayChange = await mayChangeRole(dependencies, ctx, role);
  const path = pathOf(role);
  const version = (sent && sentValue(sent, VERSION)) ?? etagOf(role);
  const values = { ...role, version };
  const button = mayChange ? { button: t('console.shared.save-changes') } : {};
  const search = { text: sent ? '' : parseQuery(ctx, permissionQuery).q, language: dependencies.frame.language(ctx) };
  const blocks = await formBlocks(dependencies, { action: path, values, sent, search, ...button });
  const text = t('console.roles.delete-consequence');
  const deletion = dangerZone([
    {
      title: t('console.roles.delete'),
      text,
      action: { label: t('console.shared.delete'), href: `${path}/delete`, look: 'danger' },
    },
  ]);
  const warnings = missingReads(role.permissions).map(
    ({ read, neededBy }): Block => ({
      kind: 'text',
      tone: 'warning',
      text: t('console.roles.missing-read', { read: quotedPermissions([read]), needed: quotedPermissions(neededBy) }),
    }),
  );
  const all = [...warnings, ...blocks];
  return roleTabPage(role, '', ctx, dependencies, { blocks: mayChange ? [...all, deletion] : all });
}

interface RoleFormInput {
  action: string;
  values: RoleValues & { version?: string };
  sent: Sent | undefined;
  /** Only boxes with this are displayed: their words in this language, or their codes. */
  search?: { text: string; language: string };
  /** Without it the form is only displayed. */
  button?: PageText;
}

async function formBlocks(
  { roles }: RolePagesDependencies,
  { action, values, sent, search: { text: search, language } = { text: '', language: '' }, button }: RoleFormInput,
): Promise<Block[]> {
  const known = (await roles.permissions()).map(({ permission }) => permission);
  const isLocked = button === undefined;
  const all = roleSections(values, known, isLocked);
  const { sections, hidden } = inLanguage(language, () => searchedSections(all, search));
  const version = values.version !== undefined && button ? [versionField(values.version)] : [];
  const form: Block = {
    kind: 'form',
    action,
    fields: [...version, ...(isLocked ? [] : hidden)],
    sections: sent ? sections.map((one) => ({ ...one, fields: asTyped(one.fields, sent) })) : sections,
    ...(button && { button, cancel: HOME }),
  };
  const searches = values.version === undefined ? [] : permissionSearch(action, all, search);
  return [...searches, ...searchNotice(sections, search, isLocked ? 0 : hidden.length), form];
}

function roleDeletion(
  router: Router<State, Extras>,
  dependencies: MemberPagesDependencies & { roles: RoleAdmin },
): void {
  const { frame, roles } = dependencies;
  const page = async (role: Role, typed?: string): Promise<ConsolePage> => {
    const count = (await roles.members()).get(role.id) ?? 0;
    const { counted } = limits.lists;
    const members = { count: Math.min(count, counted), more: count > counted ? 'yes' : 'no' };
    const lead = count === 0 ? t('console.roles.no-members-yet') : t('console.roles.delete-lead', members);
    return {
      title: t('console.roles.delete-title', { role: role.name }),
      back: { href: pathOf(role), label: role.name },
      blocks: [deletionForm({ at: pathOf(role), name: role.name, lead, typed })],
    };
  };

  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    if (!(await mayChangeRole(dependencies, ctx, role))) throw forbidden('forbidden');
    frame.show(ctx, await page(role));
  });

  router.post('/:id/delete', ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, role.name);
        await roles.remove(role.id, frame.actor(ctx));
        frame.redirect(ctx, '/admin/roles', t('console.roles.deleted'));
      },
      () => page(role, typed),
    );
  });
}
