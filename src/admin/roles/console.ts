// /admin/roles: the roles, their permissions as a matrix, and each role with its permissions, members and applications.
import { z } from 'zod';
import { forbidden, notFound } from '../../base/http/errors.ts';
import { bodyLimit, parse, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { inLanguage, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import { builtInRoles, OWN_PREFIX } from '../../people/rbac/built-in.ts';
import { parsePermission } from '../../people/rbac/names.ts';
import { missingReads, within } from '../../people/rbac/rights.ts';
import { descriptionOf, type Role } from '../../people/rbac/role.ts';
import { etagOf } from '../api/versions.ts';
import { productPresets } from '../applications/presets/products.ts';
import {
  type Action,
  type Block,
  type Cell,
  type ConsolePage,
  type Field,
  type FormSection,
  hiddenField,
  type Option,
  type Search,
  tabLinks,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { deletionZone } from '../console/danger-zone.ts';
import { listQuery } from '../console/frame.ts';
import { countText, listAt, searchField, sortedBy, tableOf } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { applicationCell, type NamedApplication, userMark } from '../console/names.ts';
import { newAdministratorsQuestion } from '../console/new-administrators.ts';
import { addPage, addQuestion, listForm, type Visit } from '../console/pages.ts';
import { permissionMark, permissionWords, quotedPermissions } from '../console/permission-words.ts';
import { asTyped, type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type PageOfOne, type Pages, pagesOf } from '../noun-pages.ts';
import { userNamed } from '../suggestions/typed-user.ts';
import { statusTags } from '../users/console-list.ts';
import { newRole, type OpenedApplication, type RoleAdmin, roleNoun } from './roles.ts';

const HOME = '/admin/roles';
const MATRIX = `${HOME}/permissions`;
const WRITE = 'gatehouse.roles:write' as const;
const MAX_FORM_BYTES = 256 * 1024;
/** Of a page with permissions. */
const permissionQuery = z.object({ q: z.string().trim().max(200).default('') });
const listIn = listAt(HOME, permissionQuery.shape, [
  'name',
  '-name',
  'members',
  '-members',
  'permissions',
  '-permissions',
]);
/** What each tab needs beside the right to read roles. The page of a tab that is not open says so. */
const TAB_NEEDS = { members: within('gatehouse.users:read'), applications: 'gatehouse.applications:read' } as const;
const SOURCES: Record<Role['source'], Cell> = {
  local: '',
  file: { ...FILE_TAG, text: t('console.page.configuration-file'), tone: 'plain' },
  'built-in': { text: t('console.roles.built-in'), tone: 'plain' },
};
const TICK: Cell = { text: t('console.roles.yes'), tone: 'good' };

const pathOf = ({ id }: { id: string }) => `${HOME}/${id}`;

/** One of them gives and takes roles, beside the right to manage the role. */
const ASSIGN = ['gatehouse.users:write', 'gatehouse.roles:write'] as const;
const CHANGE = within(...ASSIGN);
const NEEDS = ['gatehouse.roles:read', CHANGE] as const;
const memberForm = z.object({ user: z.string().trim().max(320).default('') });
const nameOf = ({ name, username }: { name: string | null; username: string }) => name ?? username;
const membersPath = (role: Role) => `${pathOf(role)}/members`;

/** All pages below /admin/roles. */
export function roleRoutes(services: ConsoleServices) {
  const { frame } = services;
  const { roles } = services.admin;
  const noun = roleNoun(roles);
  const pages = pagesOf(services, noun);
  const { router, list, create, one, deletion, pageOf } = pages;

  list(async (visit) => listPage(visit, '', await listBlock(visit, roles)));
  addPage(router, frame, '/permissions', {
    needs: noun.read,
    page: async (visit) => listPage(visit, 'permissions', matrix(await roles.list(), await roles.permissions(), visit)),
  });

  create({
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: listForm,
    page: async (_, sent) => ({
      title: t('console.roles.create'),
      lead: t('console.roles.create-lead'),
      back: { href: HOME, label: t('console.roles.title') },
      blocks: await formBlocks(roles, {
        action: `${HOME}/new`,
        values: { name: '', description: '', permissions: [] },
        sent,
        button: t('console.roles.create'),
      }),
    }),
    submit: async ({ by }, sent) => ({
      to: pathOf(await roles.create(parse(newRole, sentRole(sent)), by)),
      notice: t('console.roles.created'),
    }),
  });

  one('', {
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: listForm,
    page: async (visit, sent) => pageOf(visit, roleTab(visit, '', await permissionBlocks(visit, roles, sent))),
    async submit({ by, subject: { id } }, sent) {
      await roles.update(id, parse(newRole, sentRole(sent)), by, sentValue(sent, VERSION) ?? '');
      return { to: pathOf({ id }), notice: t('console.roles.saved') };
    },
  });

  one('/applications', {
    async page(visit) {
      const { id, name } = visit.subject;
      const { applications, isMore } = await roles.applications(id);
      const block: Block = visit.meets(TAB_NEEDS.applications)
        ? applicationsBlock(
            name,
            applications,
            await services.names.applicationsWithLogos(applications.map(({ clientId }) => clientId)),
            isMore,
          )
        : { kind: 'text', text: t('console.roles.no-applications-right') };
      return pageOf(visit, roleTab(visit, 'applications', [block]));
    },
  });

  addMemberPages(pages, services);

  deletion({
    async assertOpen(visit) {
      if (!(await mayChange(visit, roles))) throw forbidden('forbidden');
    },
    title: ({ name }) => t('console.roles.delete-title', { role: name }),
    async lead({ subject: { id, name } }) {
      const count = (await roles.members()).get(id) ?? 0;
      const { counted } = limits.lists;
      const members = { count: Math.min(count, counted), more: count > counted ? 'yes' : 'no' };
      const names = (await roles.applications(id)).applications.map(({ name }) => name);
      const apis = await roles.apis(id);
      const websites = await roles.websites(name);
      return sentences([
        count === 0 ? t('console.roles.no-members-yet') : t('console.roles.delete-lead', members),
        count > 0 && names.length > 0 && t('console.roles.delete-applications', { applications: names.join(', ') }),
        count > 0 && apis.length > 0 && t('console.roles.delete-apis', { apis: apis.join(', ') }),
        websites.length > 0 && t('console.roles.delete-websites', { names: websites.join(', ') }),
      ]);
    },
    run: roles.remove,
    done: t('console.roles.deleted'),
  });
  return router;
}

/** The list and the matrix, as tabs. */
function listPage({ may }: Visit<undefined>, current: '' | 'permissions', block: Block): ConsolePage {
  const create: Action = { label: t('console.roles.create'), icon: 'plus', href: `${HOME}/new`, look: 'primary' };
  return {
    title: t('console.roles.title'),
    lead: t('console.roles.lead'),
    actions: may(WRITE) ? [create] : [],
    tabs: tabLinks(HOME, current, { '': t('console.roles.title'), permissions: t('console.roles.matrix') }),
    blocks: [block],
  };
}

async function listBlock({ ctx, language }: Visit<undefined>, roles: RoleAdmin): Promise<Block> {
  const list = listIn(ctx);
  const { q, sort } = list.given;
  const [all, members] = await Promise.all([roles.list(), roles.members()]);
  const membersOf = ({ id }: Role) => members.get(id) ?? 0;
  const found = inLanguage(language, () => all.filter(matching(q)));
  const sorted = sortedBy(found, sort, language, {
    name: ({ name }) => name,
    members: membersOf,
    permissions: ({ permissions }) => permissions.length,
  });
  return {
    kind: 'table',
    filter: list.search([searchField(q, t('console.roles.search'))]),
    ...tableOf(sorted, [
      [
        list.column(t('console.roles.role'), 'name'),
        (role) => ({ text: role.name, href: pathOf(role), small: descriptionOf(role) || undefined }),
      ],
      [
        list.column(t('console.roles.members'), '-members', { isNumber: true }),
        (role) => membersCell(role, membersOf(role)),
      ],
      [
        list.column(t('console.roles.permissions'), '-permissions', { isNumber: true }),
        ({ permissions }) => permissions.length,
      ],
      [t('console.roles.managed-by'), ({ source }) => SOURCES[source]],
    ]),
    empty: t('console.roles.none'),
    count: t('console.roles.count', { count: sorted.length }),
  };
}

/** Which role has which permission. */
function matrix(
  all: readonly Role[],
  permissions: Awaited<ReturnType<RoleAdmin['permissions']>>,
  { ctx, language }: Visit<undefined>,
): Block {
  const { q } = parseQuery(ctx, permissionQuery);
  const wanted = q.toLowerCase();
  const isMatch = ({ permission }: { permission: string }) =>
    `${permission} ${permissionWords(permission)}`.toLowerCase().includes(wanted);
  const found = inLanguage(language, () => permissions.filter(isMatch));
  return {
    kind: 'table',
    caption: t('console.roles.matrix'),
    filter: searchForm(MATRIX, q),
    ...tableOf(found, [
      [t('console.roles.permission'), ({ permission }) => permissionMark(permission)],
      ...all.map(({ name }) => [name, ({ roles }: { roles: string[] }) => (roles.includes(name) ? TICK : '')] as const),
    ]),
    empty: t(q ? 'console.roles.no-permissions-match' : 'console.roles.no-permissions'),
    count: t('console.roles.permission-count', { count: found.length }),
  };
}

/** The roles whose name, description (in the language of the page) or permissions have this text. */
function matching(search: string): (role: Role) => boolean {
  const wanted = search.toLowerCase();
  return (role) =>
    [role.name, String(descriptionOf(role)), ...role.permissions].some((text) => text.toLowerCase().includes(wanted));
}

/** Leads to the members. */
function membersCell(role: Role, count: number): Cell {
  const { counted } = limits.lists;
  const text = t('console.shared.number-or-more', {
    value: Math.min(count, counted),
    more: count > counted ? 'yes' : 'no',
  });
  return count === 0 ? text : { text, href: `${pathOf(role)}/members` };
}

/** What the pages of a role have on each of its tabs. */
function roleTab(
  { subject: role, meets }: Visit<Role>,
  tab: '' | keyof typeof TAB_NEEDS,
  blocks: readonly Block[],
): PageOfOne {
  const isBuiltIn = role.source === 'built-in';
  return {
    ...(role.description && { lead: descriptionOf(role) }),
    tags: isBuiltIn ? [{ text: t('console.roles.built-in'), icon: 'lock' }] : [],
    tabs: tabLinks(pathOf(role), tab, {
      '': t('console.roles.permissions'),
      members: meets(TAB_NEEDS.members) && t('console.roles.members'),
      applications: meets(TAB_NEEDS.applications) && t('console.roles.applications'),
    }),
    blocks: present([
      isBuiltIn && tab === '' && { kind: 'text', tone: 'notice', text: t('console.roles.built-in-notice') },
      ...blocks,
    ]),
  };
}

/** Whether the administrator may change the role itself. */
async function mayChange({ by, may, subject: { source, name } }: Visit<Role>, roles: RoleAdmin): Promise<boolean> {
  return source === 'local' && may(WRITE) && (await roles.assignable(by)).includes(name);
}

/** The first tab: the form, and what deletes the role. */
async function permissionBlocks(visit: Visit<Role>, roles: RoleAdmin, sent: Sent | undefined): Promise<Block[]> {
  const { ctx, subject: role, language } = visit;
  const mayEdit = await mayChange(visit, roles);
  const path = pathOf(role);
  const form = await formBlocks(roles, {
    action: path,
    values: role,
    version: (sent && sentValue(sent, VERSION)) ?? etagOf(role),
    sent,
    search: { text: sent ? '' : parseQuery(ctx, permissionQuery).q, language },
    ...(mayEdit && { button: t('console.shared.save-changes') }),
  });
  const deletion = deletionZone(path, t('console.roles.delete-consequence'), t('console.roles.delete'));
  const warnings = missingReads(role.permissions).map(
    ({ read, neededBy }): Block => ({
      kind: 'text',
      tone: 'warning',
      text: t('console.roles.missing-read', { read: quotedPermissions([read]), needed: quotedPermissions(neededBy) }),
    }),
  );
  const count = mayEdit ? ((await roles.members()).get(role.id) ?? 0) : 0;
  const { counted } = limits.lists;
  const text = t('console.roles.reach', { count: Math.min(count, counted), more: count > counted ? 'yes' : 'no' });
  const reach: Block[] = count > 0 ? [{ kind: 'text', tone: 'notice', text }] : [];
  return present([...warnings, ...reach, ...form, mayEdit && deletion]);
}

interface RoleFormInput {
  action: string;
  values: RoleValues;
  /** Of a role that is there. */
  version?: string;
  sent: Sent | undefined;
  /** Only boxes with this are displayed: their words in this language, or their codes. */
  search?: { text: string; language: string };
  /** Without it the form is only displayed. */
  button?: PageText;
}

async function formBlocks(
  roles: RoleAdmin,
  {
    action,
    values,
    version,
    sent,
    search: { text: search, language } = { text: '', language: '' },
    button,
  }: RoleFormInput,
): Promise<Block[]> {
  const known = (await roles.permissions()).map(({ permission }) => permission);
  const isLocked = button === undefined;
  const all = roleSections(values, known, isLocked);
  const { sections, hidden } = inLanguage(language, () => searchedSections(all, search));
  const versions = version !== undefined && button ? [versionField(version)] : [];
  const form: Block = {
    kind: 'form',
    action,
    fields: [...versions, ...(isLocked ? [] : hidden)],
    sections: sent ? sections.map((one) => ({ ...one, fields: asTyped(one.fields, sent) })) : sections,
    ...(button && { button, cancel: HOME }),
  };
  const searches = version === undefined ? [] : permissionSearch(action, all, search);
  return [...searches, ...searchNotice(sections, search, isLocked ? 0 : hidden.length), form];
}

/** /admin/roles/:id/members: who has the role, a field to add a user, and the page that asks before one is removed. */
function addMemberPages({ router, one, pageOf }: Pages<Role>, services: ConsoleServices): void {
  const { frame, findUser } = services;
  const { roles, users } = services.admin;

  one('/members', {
    submitNeeds: NEEDS,
    form: memberForm,
    page: async (visit, given) =>
      pageOf(visit, roleTab(visit, 'members', await memberBlocks(visit, services, given?.user ?? ''))),
    async asks({ by, subject: { name } }, { user }) {
      const people = [await userNamed(findUser, user, by, ['user'])];
      return (await roles.isSensitive(name, by))
        ? newAdministratorsQuestion({ roles: [name], people, count: 1 })
        : undefined;
    },
    async submit({ by, subject: role }, { user }) {
      const account = await userNamed(findUser, user, by, ['user']);
      const isNew = !account.roles.includes(role.name);
      if (isNew) await users.giveRole(account.id, role.name, {}, by);
      const notice = t(`console.roles.member-${isNew ? 'added' : 'already'}`, { name: nameOf(account) });
      return { to: membersPath(role), notice, tone: isNew ? 'good' : 'warn' };
    },
  });

  addQuestion(router, frame, '/:id/members/:user/remove', {
    needs: NEEDS,
    async load({ params: { id = '', user = '' } }, by) {
      const role = await roles.get(id);
      const { account, reason } = await users.check(user, by, ASSIGN);
      if (!account.roles.includes(role.name))
        throw notFound({ message: t('console.roles.not-a-member', { name: nameOf(account) }) });
      return { role, account, reason };
    },
    assertOpen({ subject: { reason } }) {
      if (reason !== undefined) throw forbidden('forbidden', { message: reason });
    },
    title: ({ role, account }) => t('console.roles.remove-title', { name: nameOf(account), role: role.name }),
    back: ({ role }) => ({ href: membersPath(role), label: role.name }),
    lead: ({ subject: { account } }) => t('console.roles.remove-lead', { name: nameOf(account) }),
    button: t('console.roles.remove'),
    async submit({ by, subject: { role, account } }) {
      const isDone = await users.takeRole(account.id, role.name, by);
      const notice = t(`console.roles.${isDone ? 'member-removed' : 'role-by-connection'}`, { name: nameOf(account) });
      return { to: membersPath(role), notice, tone: isDone ? 'good' : 'warn' };
    },
  });
}

async function memberBlocks(visit: Visit<Role>, services: ConsoleServices, user: string): Promise<Block[]> {
  const { by, meets, subject: role } = visit;
  const mayAssign = meets(CHANGE) && (await services.admin.roles.assignable(by)).includes(role.name);
  const add: Block = {
    kind: 'form',
    title: t('console.roles.add-member-title'),
    action: membersPath(role),
    fields: [{ name: 'user', label: t('console.roles.user'), suggest: 'users', value: user, required: true }],
    button: t('console.roles.add-member'),
  };
  const list: Block = meets(TAB_NEEDS.members)
    ? await memberTable(visit, services, mayAssign)
    : { kind: 'text', text: t('console.roles.no-users-right') };
  return mayAssign ? [add, list] : [list];
}

async function memberTable(
  { ctx, by, subject: role }: Visit<Role>,
  services: ConsoleServices,
  mayAssign: boolean,
): Promise<Block> {
  const path = membersPath(role);
  const list = listAt(path, { q: listQuery.shape.q })(ctx);
  const { q: search, after } = list.given;
  const { users } = services.admin;
  const page = await users.list({ search, role: role.name, after, limit: limits.api.pageSize }, by);
  const found = await page.count();
  const tagOf = await statusTags(services);
  return {
    kind: 'table',
    caption: t('console.roles.members'),
    filter: list.search([searchField(search, t('console.roles.search-members'))]),
    ...tableOf(page.accounts, [
      [t('console.roles.member'), userMark],
      [t('console.shared.email'), ({ email }) => email],
      [t('console.shared.status'), tagOf],
      mayAssign && [
        '',
        (one) =>
          one.source === 'file'
            ? null
            : { label: t('console.roles.remove'), of: nameOf(one), href: `${path}/${one.id}/remove` },
      ],
    ]),
    empty:
      search || after
        ? t('console.roles.no-members-match')
        : {
            icon: 'user-round',
            title: t('console.roles.no-members'),
            text: t('console.roles.no-members-text'),
          },
    count: found.count === undefined ? undefined : countText(found.count, 'members', found.isMore),
    pages: list.pages(page.next),
  };
}

/** The applications that accept the role; those that are open to everyone are none of them. */
function applicationsBlock(
  role: string,
  applications: readonly OpenedApplication[],
  named: ReadonlyMap<string, NamedApplication>,
  isMore: boolean,
): Block {
  return {
    kind: 'table',
    lead: t('console.roles.applications-lead'),
    caption: t('console.roles.applications-caption'),
    ...tableOf(applications, [
      [t('console.roles.application'), ({ clientId }) => applicationCell(clientId, named)],
      [t('console.roles.protocol'), ({ protocol }) => (protocol === 'oidc' ? 'OpenID Connect' : 'SAML')],
      [
        t('console.shared.status'),
        ({ enabled }) => ({
          text: t(`console.shared.${enabled ? 'enabled' : 'disabled'}`),
          tone: enabled ? 'good' : 'bad',
        }),
      ],
    ]),
    empty: {
      icon: 'layout-grid',
      title: t('console.roles.no-applications'),
      text: sentences([...readers(role), t('console.roles.no-applications-text')]),
      action: { label: t('console.roles.applications'), href: '/admin/applications' },
    },
    count: t('console.roles.application-count', { count: applications.length, more: isMore ? 'yes' : 'no' }),
  };
}

/** Products that read the role, and what its members are there. */
function readers(role: string): Text[] {
  return productPresets()
    .flatMap(({ title, roles = [] }) => roles.filter(({ name }) => name === role).map((one) => ({ title, ...one })))
    .map(({ title, description }) => t('console.roles.read-by', { title, description }));
}

// The form of a role: name, description, and its permissions as boxes by resource, with rows for all others. A long one has a search, a
// form that only reads, so it works without script.

/** A role as it is filled in. */
interface RoleValues {
  name: string;
  description: string;
  permissions: string[];
}

const PERMISSIONS = 'permissions';
const BOXES = 'permissions.';

/** What the resources of Gatehouse are called in the console. */
const RESOURCES: Readonly<Record<string, Text>> = {
  'gatehouse.users': t('console.navigation.users'),
  'gatehouse.sessions': t('console.navigation.sessions'),
  'gatehouse.applications': t('console.navigation.applications'),
  'gatehouse.api-keys': t('console.navigation.api-keys'),
  'gatehouse.connections': t('console.navigation.connections'),
  'gatehouse.groups': t('console.navigation.groups'),
  'gatehouse.roles': t('console.navigation.roles'),
  'gatehouse.keys': t('console.navigation.signing-keys'),
  'gatehouse.audit': t('console.navigation.activity-log'),
  'gatehouse.settings': t('console.navigation.settings'),
  'gatehouse.mail': t('console.navigation.mail'),
};

/** The sections. `known`: the permissions that roles have already, which get boxes. A locked form has only what the role has. */
function roleSections(
  { name, description, permissions }: RoleValues,
  known: readonly string[],
  isLocked: boolean,
): FormSection[] {
  const locked = isLocked && { isLocked };
  const isOwn = (one: string) => one.startsWith(OWN_PREFIX);
  const offer = isLocked
    ? permissions
    : [...known, ...builtInRoles.flatMap((role) => role.permissions), ...permissions];
  const own = groupsOf(offer.filter(isOwn));
  const others = groupsOf(offer.filter((one) => !isOwn(one)));
  const boxes = (groups: ReadonlyMap<string, readonly string[]>) =>
    [...groups].map(([resource, names]): Field => boxesOf(resource, names, permissions, isLocked));
  const offered = new Set([...own, ...others].flatMap(([, names]) => names));
  const rest = permissions.filter((one) => !offered.has(one));
  const ticked = permissions.filter(isOwn).length;
  const sections: FormSection[] = [
    {
      title: t('console.roles.general'),
      fields: [
        { name: 'name', label: t('console.shared.name'), value: name, required: true, ...locked },
        { name: 'description', label: t('console.roles.description'), value: description, ...locked },
      ],
    },
    {
      title: t('console.roles.application-permissions'),
      lead: t('console.roles.application-permissions-lead'),
      fields: [
        ...boxes(others),
        {
          name: PERMISSIONS,
          label: others.size > 0 ? t('console.roles.more-permissions') : t('console.roles.permissions'),
          type: 'rows',
          adds: t('console.roles.added-permission'),
          columns: [{ name: '', label: t('console.roles.permission') }],
          lines: rest.map((one) => [one]),
          hint: t('console.roles.permission-hint'),
          ...locked,
        },
      ],
    },
    {
      title: t('console.roles.own-permissions'),
      lead: t('console.roles.own-permissions-lead'),
      isAdvanced: !isLocked,
      summary: t('console.roles.selected', { count: ticked }),
      fields: boxes(own),
    },
  ];
  return isLocked ? sections.slice(1).flatMap(onlyFilled) : sections;
}

/** The section without empty rows; nothing where it has no field. The page itself has name and description. */
function onlyFilled(section: FormSection): FormSection[] {
  const fields = section.fields.filter(({ type, lines }) => type !== 'rows' || (lines?.length ?? 0) > 0);
  return fields.length > 0 ? [{ ...section, fields }] : [];
}

function boxesOf(resource: string, names: readonly string[], held: readonly string[], isLocked: boolean): Field {
  return {
    name: `${BOXES}${resource}`,
    label: RESOURCES[resource] ?? resource,
    type: 'checks',
    isHalf: true,
    values: held,
    options: names.map((value) => optionOf(value)),
    ...(isLocked && { isLocked }),
  };
}

/** A permission for Gatehouse in words, with its code for the configuration file; one of an application by its action. */
function optionOf(value: string): Option {
  const label = permissionWords(value);
  return label === value ? { value, label: parsePermission(value)?.action ?? value } : { value, label, hint: value };
}

/** The permissions by resource, both sorted. */
function groupsOf(permissions: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const one of [...new Set(permissions)].sort()) {
    const resource = parsePermission(one)?.resource;
    if (resource === undefined || resource.includes('[')) continue;
    groups.set(resource, [...(groups.get(resource) ?? []), one]);
  }
  return groups;
}

/** What the sent form says; the typed permissions first, as their rows. */
function sentRole(sent: Sent): RoleValues {
  const typed = (sent[PERMISSIONS] ?? []).flatMap((text) => text.split(/\r?\n/)).flatMap((one) => one.trim() || []);
  const ticked = Object.entries(sent).flatMap(([name, values]) => (name.startsWith(BOXES) ? values : []));
  return {
    name: sentValue(sent, 'name') ?? '',
    description: sentValue(sent, 'description') ?? '',
    permissions: [...new Set([...typed, ...ticked])],
  };
}

/** A role's page has a search from so many boxes on. */
const LONG = 40;

/** A form that finds permissions. */
const searchForm = (action: string, value: string): Search => ({
  action,
  fields: [searchField(value, t('console.roles.search-permissions'))],
});

const allBoxes = (sections: readonly FormSection[]) =>
  sections.flatMap(({ fields }) => fields).flatMap(({ type, options = [] }) => (type === 'checks' ? options : []));

/** The search above the form of a role with many permissions; no block above a short one. */
function permissionSearch(action: string, sections: readonly FormSection[], search: string): Block[] {
  if (allBoxes(sections).length < LONG && search === '') return [];
  return [{ kind: 'search', ...searchForm(action, search) }];
}

/**
 * The sections with the boxes that match. `hidden`: fields for ticked boxes that do not match, so that saving takes no permission away
 * that is not displayed.
 */
function searchedSections(
  sections: readonly FormSection[],
  search: string,
): { sections: FormSection[]; hidden: Field[] } {
  if (search === '') return { sections: [...sections], hidden: [] };
  const wanted = search.toLowerCase();
  const isMatch = ({ value, label }: Option) => `${value} ${label}`.toLowerCase().includes(wanted);
  const hidden = sections.flatMap(({ fields }) =>
    fields.flatMap(({ name, options = [], values = [] }) =>
      options.filter((one) => values.includes(one.value) && !isMatch(one)).map(({ value }) => hiddenField(name, value)),
    ),
  );
  const matched = sections.map((section) => {
    const fields = section.fields.flatMap((field): Field[] => {
      if (field.type !== 'checks') return [field];
      const options = (field.options ?? []).filter(isMatch);
      return options.length > 0 ? [{ ...field, options }] : [];
    });
    const hasMatch = allBoxes([{ ...section, fields }]).length > 0;
    return { ...section, fields, ...(hasMatch && { isAdvanced: false }) };
  });
  return { sections: matched.filter(({ fields }) => fields.length > 0), hidden };
}

/** What the page says about a search: nothing was found, or the role has more than is displayed. */
function searchNotice(sections: readonly FormSection[], search: string, hiddenCount: number): Block[] {
  if (search === '') return [];
  return present([
    allBoxes(sections).length === 0 && t('console.roles.no-permissions-match'),
    hiddenCount > 0 && t('console.roles.permissions-hidden', { count: hiddenCount }),
  ]).map((text): Block => ({ kind: 'text', tone: 'small', text }));
}
