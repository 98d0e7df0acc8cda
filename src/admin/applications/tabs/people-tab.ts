// /admin/applications/:id/people: who can open the application and why. A person is let in by a role or a group that the access rule names:
// one form gives it to the person, and opens the application to it and creates it where that is missing.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../../applications/application.ts';
import type { AccessWay, PersonWithAccess } from '../../../applications/people.ts';
import type { Extras, State } from '../../../base/http/context.ts';
import { forbidden, invalidInput, ownedByFile } from '../../../base/http/errors.ts';
import { nameAndUsername } from '../../../base/http/pages/tokens.ts';
import { limits } from '../../../base/limits.ts';
import { present } from '../../../base/platform/defined.ts';
import { fault, textFault } from '../../../base/texts/faults.ts';
import { allOf, listOf, type PageText, sentences, type Text, t } from '../../../base/texts/text.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import { type Account, ownedUser } from '../../../people/accounts/account.ts';
import { within } from '../../../people/rbac/rights.ts';
import { sendStream } from '../../api/router.ts';
import type { Block, Cell, Field, Option } from '../../console/blocks.ts';
import { listQuery } from '../../console/frame.ts';
import { countText, listAt, searchField, tableOf } from '../../console/lists.ts';
import { userMark } from '../../console/names.ts';
import { questionBefore } from '../../console/new-administrators.ts';
import { addForm, addQuestion, type Params, type Question, type Visit } from '../../console/pages.ts';
import type { ConsoleServices } from '../../console-services.ts';
import { day, momentsOf, untilField } from '../../groups/console.ts';
import type { Pages } from '../../noun-pages.ts';
import { sameNameText } from '../../suggestions/typed-user.ts';
import type { ApplicationDetails } from '../actions.ts';
import { isNamed, namesOf, restrictionQuestion } from '../console-parts.ts';
import { CREATES, isTakeable, NEW_CHOICE, type Opening, PEOPLE_OF, type Takeable } from '../people.ts';
import { type OpenApplication, openApplication, tabOf } from './tab-page.ts';

/** One of them gives and takes what lets people in, beside the right to each role. */
export const GIVE = within('gatehouse.users:write', CREATES.role, CREATES.group);
const OTHER_GROUP = '+other';
const MOST_WAYS = 4;
const userField = z.string().trim().max(320).default('');
const giving = z.object({
  way: z.string().max(250).default(''),
  name: z.string().trim().max(200).default(''),
  until: day,
});
const form = giving.extend({ user: userField });
type Given = z.output<typeof form>;

/** The tab, its export, and the page that takes access away. */
export function addPeoplePages({ one, pageOf, router }: Pages<ApplicationDetails>, services: ConsoleServices): void {
  const { frame, findUser, admin } = services;
  const load = ({ params: { id = '' } }: Params, by: Actor) => admin.applications.get(id, by);

  one('/people', {
    needs: PEOPLE_OF,
    submitNeeds: [...PEOPLE_OF, GIVE],
    load,
    form,
    async page(visit, given) {
      const open = await openApplication(visit, services);
      return pageOf(visit, tabOf(open, 'people', await peopleBlocks(visit, open, services, given)));
    },
    async asks(visit, given) {
      const { application } = visit.subject;
      const account = given.user === '' ? undefined : await accountOf(given.user, visit.by);
      return openingQuestion(admin, application, openingOf(application, given), account, visit.by);
    },
    async submit(visit, given) {
      const { application } = visit.subject;
      const account = given.user === '' ? undefined : await accountOf(given.user, visit.by);
      const notice = await giveAccess(visit, services, { application, account }, given);
      return { to: `/admin/applications/${application.id}/people`, notice };
    },
  });

  async function accountOf(text: string, by: Actor): Promise<Account> {
    const found = await findUser(text, by);
    if (found.account) return found.account;
    const unknown = sameNameText(text, found) ?? t('console.groups.no-such-user', { user: text });
    throw invalidInput([textFault(['user'], unknown)]);
  }

  router.get('/:id/people/export', ...frame.page(...PEOPLE_OF), async (ctx) => {
    const by = frame.actor(ctx);
    const { application } = await load(ctx as Params, by);
    sendStream(ctx, await admin.people.export(application, by));
  });

  addTakePage(router, services, '/:id/people/:user/remove', {
    ids: ({ id = '', user = '' }) => ({ applicationId: id, userId: user }),
    back: ({ application: { id, name } }) => ({ href: `/admin/applications/${id}/people`, label: name }),
  });
}

/** What is asked where everybody else loses access, or the person gets permissions in Gatehouse. */
async function openingQuestion(
  admin: ConsoleServices['admin'],
  application: Application,
  opening: Opening,
  account: Account | undefined,
  by: Actor,
): Promise<Question | undefined> {
  const administrators = account && !opening.isNew ? await questionBefore(opening, account, admin, by) : undefined;
  const restriction = restrictionQuestion(application, opening);
  if (!administrators || !restriction) return administrators ?? restriction;
  return { ...administrators, lead: sentences([administrators.lead, restriction.lead]) };
}

/** Opens the application as the form says, and gives it to the person; resolves with what happened. Throws invalid_input. */
async function giveAccess(
  { ctx, by }: Visit<unknown>,
  { frame, admin }: ConsoleServices,
  { application, account }: { application: Application; account: Account | undefined },
  given: z.output<typeof giving>,
): Promise<Text> {
  const opening = openingOf(application, given);
  if (opening.isNew) frame.assertMay(ctx, CREATES[opening.kind]);
  if (!account && !opening.isNew && isNamed(application, opening)) throw invalidInput([fault(['user'], 'empty')]);
  const { until } = momentsOf({ since: '', until: given.until });
  await admin.people.open(application, opening, account && { userId: account.id, until }, by);
  const { kind, name } = opening;
  const values = { app: application.name, kind, name };
  if (!account) return t('console.people.opened', values);
  const end = until ? { form: 'until', until } : { form: '', until: new Date(0) };
  return t('console.people.added', { ...values, ...end, user: nameAndUsername(account) });
}

/** What the form says lets people in. Throws invalid_input. */
function openingOf(application: Application, { way, name }: z.output<typeof giving>): Opening {
  const [, kind, chosen = ''] = /^(role|group):(.+)$/s.exec(way) ?? [];
  if (kind === 'role' || kind === 'group') return { kind, name: chosen };
  const isNew = way === NEW_CHOICE.role || way === NEW_CHOICE.group;
  if (!isNew && way !== OTHER_GROUP) throw invalidInput([fault(['way'], 'empty')]);
  if (name === '') throw invalidInput([fault(['name'], 'empty')]);
  const opening: Opening = { kind: way === NEW_CHOICE.role ? 'role' : 'group', name, isNew };
  // A new one of this name fails when it is created.
  return isNew && isNamed(application, opening) ? { ...opening, isNew: false } : opening;
}

async function peopleBlocks(
  visit: Visit<ApplicationDetails>,
  open: OpenApplication,
  { admin, names }: ConsoleServices,
  typed?: Given,
): Promise<{ blocks: Block[]; aside?: Block[] }> {
  const { ctx, by, meets } = visit;
  const { application } = open;
  const path = `${open.path}/people`;
  const list = listAt(path, { q: listQuery.shape.q }, [
    'name',
    '-name',
    'username',
    '-username',
    '-created',
    'created',
  ])(ctx);
  const { q: search, after, sort } = list.given;
  const page = await admin.people.list(application, { search, after, sort, limit: limits.api.pageSize }, by);
  const found = await page.count();
  const connections = await names.connections(
    page.people.flatMap(({ ways }) => ways.map(({ connection }) => connection ?? null)),
  );
  const mayGive = meets(GIVE);
  const takeables = mayGive ? await admin.people.takeables(page.people) : [];
  const table: Block = {
    kind: 'table',
    title: t('console.people.title'),
    caption: t('console.people.caption', { app: application.name }),
    actions: [{ label: t('console.people.export'), icon: 'download', href: `${path}/export` }],
    filter: list.search([searchField(search, t('console.person.search'))]),
    ...tableOf(page.people, [
      [list.column(t('console.person.user'), 'name'), ({ account }) => userMark(account)],
      [t('console.users.access.why'), ({ ways }) => waysCell(ways, connections)],
      takeables.some(isTakeable) && [
        t('console.shared.action'),
        (one: PersonWithAccess) =>
          takeLink(
            takeables[page.people.indexOf(one)],
            `${path}/${one.account.id}/remove`,
            nameAndUsername(one.account),
          ),
      ],
    ]),
    empty: list.isFiltered || after ? t('console.users.none-match') : noPeople(application),
    count: found.count === undefined ? undefined : countText(found.count, 'users', found.isMore),
    pages: list.pages(page.next),
  };
  const lead = openLead(application);
  if (!mayGive) return { blocks: present([lead, table]) };
  const { fields, reason } = await givingFields(visit, open, admin, { typed });
  if (fields.length === 0)
    return { blocks: present<Block>([lead, reason !== '' && { kind: 'text', tone: 'notice', text: reason }, table]) };
  const person: Field = {
    name: 'user',
    label: t('console.people.person'),
    suggest: 'users',
    value: typed?.user ?? '',
    required: !open.isEditable,
    ...(open.isEditable && { hint: t('console.people.person-hint') }),
  };
  const add: Block = {
    kind: 'form',
    title: t('console.people.add-title'),
    lead: t('console.people.add-lead'),
    action: path,
    fields: [person, ...fields],
    button: t('console.people.add'),
  };
  return { blocks: present([lead, table]), aside: [add] };
}

const openLead = ({ access, name }: Application): Block | false =>
  access === 'everyone' && { kind: 'text', tone: 'notice', text: t('console.people.everyone', { app: name }) };

/** The fields of what lets a person in; none where the administrator can give nothing that does. `reason`: which groups are missing. */
async function givingFields(
  { by, may }: Visit<unknown>,
  { application, isEditable }: OpenApplication,
  { roles, groups }: ConsoleServices['admin'],
  {
    typed = { way: '', name: '', until: '' },
    account,
  }: { typed?: z.output<typeof giving> | undefined; account?: Account } = {},
): Promise<{ fields: Field[]; reason: PageText }> {
  const { role, group } = namesOf(application);
  const found = may(CREATES.group) ? await groups.findAll(group) : [];
  // The file declares the roles of its users.
  const isOfFile = account?.source === 'file';
  const ofFile = found.flatMap(({ name, source, fileMembers }) => (source === 'file' && fileMembers ? name : []));
  const reason = ofFile.length > 0 ? t('console.people.of-file', { groups: allOf(ofFile), count: ofFile.length }) : '';
  const options = wayOptions(application, {
    roles: isOfFile ? [] : (await roles.choices(by)).map(({ value }) => value),
    mayOpen: isEditable,
    newRole: may(CREATES.role) && !isOfFile,
    groups: may(CREATES.group),
    ofFile,
  });
  if (options.length === 1) return { fields: [], reason };
  const named = [...role.map((name) => `role:${name}`), ...group.map((name) => `group:${name}`)];
  const [first = '', ...others] = options.map(({ value }) => value).filter((value) => named.includes(value));
  const way = typed.way || (others.length === 0 ? first : '');
  const fields: Field[] = present([
    { name: 'way', label: t('console.people.by'), type: 'select', value: way, options, required: true, hint: reason },
    // Displayed for the choices that need it (views/styles/console-parts.css).
    isEditable && { name: 'name', label: t('console.people.name'), suggest: 'groups', value: typed.name },
    untilField(typed.until),
  ]);
  return { fields, reason };
}

/** What can be given: what opens the application, other roles, and what is named or created. The first option chooses nothing. */
function wayOptions(
  application: Application,
  may: {
    roles: readonly string[];
    mayOpen: boolean;
    newRole: boolean;
    groups: boolean;
    /** Groups whose members the configuration file declares. */
    ofFile: readonly string[];
  },
): Option[] {
  const named = namesOf(application);
  const ofRoles = named.role
    .filter((name) => may.roles.includes(name))
    .map((name) => ({ value: `role:${name}`, label: t('console.people.role', { name }) }));
  const ofGroups = named.group
    .filter((name) => may.groups && !may.ofFile.includes(name))
    .map((name) => ({ value: `group:${name}`, label: t('console.people.group', { name }) }));
  const open = [{ value: '', label: t('console.people.choose') }, ...ofRoles, ...ofGroups];
  if (!may.mayOpen) return open;
  const otherRoles = may.roles
    .filter((name) => !named.role.includes(name))
    .map((name) => ({ value: `role:${name}`, label: t('console.people.other-role', { name }) }));
  return present([
    ...open,
    may.newRole && { value: NEW_CHOICE.role, label: t('console.people.new-role') },
    may.groups && { value: NEW_CHOICE.group, label: t('console.people.new-group') },
    may.groups && { value: OTHER_GROUP, label: t('console.people.other-group') },
    ...otherRoles,
  ]);
}

function noPeople({ enabled, name }: Application) {
  const text = t(`console.people.${enabled ? 'none-text' : 'disabled'}`, { app: name });
  return { icon: 'user-round', title: t('console.people.none'), text };
}

/** The link to the page that takes access away, where it can be taken. */
export const takeLink = (takeable: Takeable | undefined, href: string, of: string): Cell =>
  takeable && isTakeable(takeable) ? { label: t('console.people.take'), of, href } : null;

/** Why a person can open an application. */
export function waysCell(ways: readonly AccessWay[], connections: ReadonlyMap<string, string>): Cell {
  const shown = ways.slice(0, MOST_WAYS).map((way): Cell => {
    if (way.by === 'everyone') return t('console.users.access.everyone');
    const text = t(`console.people.${way.by}`, { name: way.name });
    const small = howText(way, connections);
    return { text, ...(small && { small }) };
  });
  return ways.length > MOST_WAYS ? [...shown, t('console.people.more', { count: ways.length - MOST_WAYS })] : shown;
}

function howText({ givenBy, via, connection, until }: AccessWay, connections: ReadonlyMap<string, string>) {
  const ofGroup = givenBy === undefined ? '' : 'group';
  const from = connection === undefined ? ofGroup : 'connection';
  const form = `${from}${via === undefined ? '' : 'via'}${until ? 'until' : ''}`;
  if (form === '') return undefined;
  return t('console.people.how', {
    form,
    group: givenBy ?? '',
    via: via ?? '',
    connection: connections.get(connection ?? '') ?? connection ?? '',
    until: until ?? new Date(0),
  });
}

interface Opened {
  details: ApplicationDetails;
  account: Account;
}

/** Of a user: the page that gives access to one application. */
export function addGivePage(
  router: Router<State, Extras>,
  services: ConsoleServices,
  path: string,
  back: (account: Account) => { href: string; label: PageText },
): void {
  const { frame, admin } = services;
  const fields = async (visit: Visit<Opened>) => {
    const open = await openApplication({ ...visit, subject: visit.subject.details }, services);
    return (await givingFields(visit, open, admin, { account: visit.subject.account })).fields;
  };
  addForm<Opened, z.output<typeof giving>>(router, frame, path, {
    needs: [...PEOPLE_OF, GIVE],
    load: async ({ params: { id = '', application = '' } }, by) => ({
      details: await admin.applications.get(application, by),
      account: await admin.users.find(id, by, 'gatehouse.users:read'),
    }),
    async assertOpen(visit) {
      const { account, details } = visit.subject;
      if ((await fields(visit)).length > 0) return;
      if (details.application.source === 'file') throw ownedByFile('application', details.application);
      throw account.source === 'file' ? ownedUser(account) : forbidden('forbidden');
    },
    elsewhere: ({ subject: { account, details } }) =>
      details.application.access === 'everyone' && details.application.source === 'file'
        ? {
            to: back(account).href,
            notice: t('console.people.open-already', {
              user: nameAndUsername(account),
              app: details.application.name,
            }),
            tone: 'warn',
          }
        : undefined,
    title: ({ account, details: { application } }) =>
      t('console.people.give-title', { user: nameAndUsername(account), app: application.name }),
    purpose: t('console.people.add-lead'),
    back: ({ account }) => back(account),
    above: ({ subject: { details } }) => present([openLead(details.application)]),
    fields,
    button: t('console.people.give'),
    body: giving,
    asks: ({ by, subject: { details, account } }, given) =>
      openingQuestion(admin, details.application, openingOf(details.application, given), account, by),
    async submit(visit, given) {
      const { account, details } = visit.subject;
      const notice = await giveAccess(visit, services, { application: details.application, account }, given);
      return { to: back(account).href, notice };
    },
  });
}

interface Taken {
  application: Application;
  account: Account;
  takeable: Takeable;
}

/** The page that asks before access is taken away, from the application or from the person. */
export function addTakePage(
  router: Router<State, Extras>,
  { frame, admin }: ConsoleServices,
  path: string,
  {
    ids,
    back,
  }: {
    ids(params: Record<string, string>): { applicationId: string; userId: string };
    back(subject: Taken): { href: string; label: string };
  },
): void {
  addQuestion<Taken>(router, frame, path, {
    needs: [...PEOPLE_OF, GIVE],
    async load({ params }, by) {
      const { applicationId, userId } = ids(params);
      const { application } = await admin.applications.get(applicationId, by);
      const account = await admin.users.find(userId, by, 'gatehouse.users:read');
      return { application, account, takeable: await admin.people.takeable(application, account) };
    },
    elsewhere: ({ subject }) => {
      if (isTakeable(subject.takeable)) return undefined;
      return { to: back(subject).href, notice: t('console.people.take-nothing'), tone: 'warn' };
    },
    title: ({ application, account }) =>
      t('console.people.take-title', { user: nameAndUsername(account), app: application.name }),
    back,
    async lead({ by, subject: { application, takeable, account } }) {
      const lost = await admin.people.lostWith(takeable, application, account, by);
      const user = nameAndUsername(account);
      const { roles, groups, stays } = takeable;
      const names = groups.map(({ name }) => name);
      return sentences([
        roles.length > 0 && t('console.people.take-roles', { user, count: roles.length, roles: listOf(roles) }),
        names.length > 0 && t('console.people.take-groups', { user, count: names.length, groups: listOf(names) }),
        lost.length > 0 && t('console.people.take-applications', { apps: listOf(lost) }),
        t('console.people.take-others'),
        stays && t('console.people.take-stays'),
      ]);
    },
    button: t('console.people.take-button'),
    async submit({ by, subject }) {
      const { application, account } = subject;
      const { isOpen } = await admin.people.take(application, account, by);
      const values = { user: nameAndUsername(account), app: application.name };
      const notice = t(`console.people.${isOpen ? 'still-open' : 'taken'}`, values);
      return { to: back(subject).href, notice, tone: isOpen ? 'warn' : 'good' };
    },
  });
}
