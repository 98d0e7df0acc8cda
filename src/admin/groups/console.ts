// /admin/groups: the groups, and each one with its members, what is above and below it, its owners and its applications.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Application, Protocol } from '../../applications/application.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { invalidInput, notFound } from '../../base/http/errors.ts';
import { acceptUploads } from '../../base/http/input.ts';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { emailDomain } from '../../base/network/domains.ts';
import { present } from '../../base/platform/defined.ts';
import { fault, rule, textFault } from '../../base/texts/faults.ts';
import { listOf, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { MemberChange } from '../../people/groups/changes.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import { type Need, within } from '../../people/rbac/rights.ts';
import { givenIn } from '../api/parts.ts';
import { protocolName, restrictionQuestion } from '../applications/console-parts.ts';
import { CREATES, NEW_CHOICE } from '../applications/people.ts';
import { productPresets } from '../applications/presets/products.ts';
import { activityBlock } from '../audit/console-rows.ts';
import {
  type Action,
  type Block,
  type Cell,
  type ConsolePage,
  type Field,
  type Mark,
  tabLinks,
} from '../console/blocks.ts';
import { deletionZone } from '../console/danger-zone.ts';
import { domainTable } from '../console/domain-proofs.ts';
import { listQuery } from '../console/frame.ts';
import { listAt, searchField, tableOf } from '../console/lists.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { applicationCell, userMark } from '../console/names.ts';
import {
  type NewAdministrators,
  newAdministratorsQuestion,
  newAdministratorsText,
} from '../console/new-administrators.ts';
import { addForm, addQuestion, type Params, type Redirection, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type PageOfOne, pagesOf } from '../noun-pages.ts';
import { userNamed } from '../suggestions/typed-user.ts';
import { type HeldGroup, isPersonal } from '../users/grants.ts';
import { type Counted, type GroupAdmin, type GroupDetails, groupNoun, newGroup, PEOPLE } from './groups.ts';
import type { MemberRows } from './member-rows.ts';

const HOME = '/admin/groups';
const WRITE = 'gatehouse.groups:write' as const;
type GroupTab = '' | 'parts' | 'owners' | 'requests' | 'domains' | 'applications' | 'activity';
type Removed = 'member' | 'child' | 'role' | 'owner' | 'domain';
const listIn = listAt(HOME, { q: listQuery.shape.q });

const pathOf = ({ id }: { id: string }) => `${HOME}/${id}`;
const minute = z.iso.datetime({ local: true, precision: -1 });
/** A day as a browser sends it, with a time where one was chosen; empty: none. */
export const day = z
  .string()
  .refine((text) => text === '' || z.union([z.iso.date(), minute]).safeParse(text).success, rule('day'))
  .default('');
/** Of a day: its first and its last second, in UTC. */
export const [DAY_BEGINS, DAY_ENDS] = ['00:00:00', '23:59:59'];
export const momentOf = (text: string, time: string) =>
  text === '' ? null : new Date(text.includes('T') ? `${text}:00Z` : `${text}T${time}Z`);
/** The time, or the last moment of the day, in UTC. */
const endOf = (text: string) => momentOf(text, DAY_ENDS);
interface Period {
  since: Date | null;
  until: Date | null;
}
/** The days of a form as moments; one that was not changed stays the moment that it was. */
export const momentsOf = ({ since, until }: { since: string; until: string }, before?: Period): Period => ({
  since: since !== '' && since === dayOf(before?.since ?? null) ? (before?.since ?? null) : momentOf(since, DAY_BEGINS),
  until: until !== '' && until === dayOf(before?.until ?? null) ? (before?.until ?? null) : endOf(until),
});
/** As a field has it: without the time where that is the begin or the end of the day. */
export function dayOf(at: Date | null): string {
  const [date = '', time = ''] = at?.toISOString().slice(0, 19).split('T') ?? [];
  return time === DAY_BEGINS || time === DAY_ENDS ? date : `${date}T${time.slice(0, 5)}`.replace(/^T$/, '');
}
/** To put a person in a group. */
export const JOIN = [WRITE, within('gatehouse.users:read')] as const;
const period = z.object({ since: day, until: day });
const memberForm = period.extend({ user: z.string().trim().max(320).default('') });
const decisionForm = z.object({
  decision: z.enum(['approve', 'decline']),
  until: day,
  answer: z.string().trim().max(500).default(''),
});
const partForm = z.object({
  child: z.string().trim().max(200).optional(),
  role: z.string().trim().max(100).optional(),
  name: z.string().trim().max(100).optional(),
});
/** To open an application to the group. */
const OPEN = within('gatehouse.applications:write');
/** Of a form with 200,000 rows. */
const MOST_BYTES = 12 * 1024 * 1024;
const pasted = z.string().max(MOST_BYTES).default('');
const REFRESH_SECONDS = 3;

/** All pages below /admin/groups. */
export function groupRoutes(services: ConsoleServices) {
  const {
    frame,
    findUser,
    now,
    admin: { applications, groups, people, users },
  } = services;
  const noun = groupNoun(groups);
  const { router, list, createForm, one, form, change, deletion, pageOf } = pagesOf(services, noun);
  const MEMBERS = { needs: PEOPLE, submitNeeds: [...PEOPLE, WRITE] };

  const questionOf = (given: NewAdministrators | undefined) => given && newAdministratorsQuestion(given);
  const userIn = (text: string, by: Actor, path: readonly string[] = ['user']): Promise<Account> =>
    userNamed(findUser, text, by, path);

  /** The page of a tab, with its blocks. */
  const tabPage =
    <Given>(
      tab: GroupTab,
      blocksOf: (visit: Visit<GroupDetails>, services: ConsoleServices, given?: Given) => Promise<Block[]>,
    ) =>
    async (visit: Visit<GroupDetails>, given?: Given) =>
      pageOf(visit, await groupTab(visit, tab, services, await blocksOf(visit, services, given)));

  list((visit) => listPage(visit, services));

  createForm({
    title: () => t('console.groups.create'),
    purpose: t('console.groups.create-lead'),
    button: t('console.groups.create'),
    fields: () => fieldsOf(),
    body: newGroup,
    submit: async ({ by }, body) => ({
      to: pathOf(await groups.create(givenIn(body), by)),
      notice: t('console.groups.created'),
    }),
  });

  one('', {
    ...MEMBERS,
    form: memberForm,
    page: tabPage('', memberBlocks),
    asks: async ({ by, subject: { id } }, { user }) =>
      questionOf(await groups.newAdministrators(id, { members: [(await userIn(user, by)).id] }, by)),
    async submit({ by, subject: group }, { user, since, until }) {
      const account = await userIn(user, by);
      const member = { userId: account.id, ...momentsOf({ since, until }) };
      const count = await groups.addMembers(group.id, [member], by);
      const notice = t(`console.groups.member-${count > 0 ? 'added' : 'already'}`, { name: nameAndUsername(account) });
      return { to: pathOf(group), notice, tone: count > 0 ? 'good' : 'warn' };
    },
  });

  one('/bulk', {
    ...MEMBERS,
    needs: MEMBERS.submitNeeds,
    accepts: acceptUploads(MOST_BYTES),
    form: z.object({ people: pasted, file: pasted, until: day, kind: z.enum(['add', 'remove']).default('add') }),
    assertOpen: ({ by, subject: { id } }) => groups.assertMayPut(id, by),
    page: ({ subject }, given) => bulkPage(subject, given),
    async submit({ by, subject: group, ctx }, given) {
      await groups.assertMayPut(group.id, by);
      const text = given.file.trim() === '' ? given.people : given.file;
      const read = await groups.readMembers(text, { since: null, until: endOf(given.until) });
      if (read.members.length + read.wrong === 0) throw invalidInput([fault(['people'], 'empty')]);
      if (read.wrong > 0) return { page: mistakesPage(group, given, read), status: 400 };
      const { kind } = given;
      const wanted = { kind, groupId: group.id, members: read.members, by };
      // The page of a prepared change asks.
      const asks = kind === 'add' && (await groups.sensitiveRoles(group.id)).length > 0;
      if (read.members.length <= limits.groups.atOnce && !asks) {
        const count = await groups.changeAtOnce(wanted);
        const said = kind === 'add' && given.until !== '' ? 'until' : kind;
        return { to: pathOf(group), notice: t('console.groups.bulk-done', { kind: said, count }) };
      }
      const { id } = await groups.prepare(wanted);
      return { to: ctx.path.replace(/bulk$/, `changes/${id}`) };
    },
  });

  one('/changes/:change', {
    ...MEMBERS,
    async page({ ctx, subject: group, may }) {
      const found = await groups.change(group.id, ctx.params.change ?? '');
      const isOpen = found.state === 'waiting' || found.state === 'running';
      // Without a script.
      if (isOpen) ctx.set('Refresh', String(REFRESH_SECONDS));
      const roles = found.kind === 'add' ? await groups.sensitiveRoles(group.id) : [];
      return changePage(group, found, { mayStart: may(WRITE), who: await whoOf(found), roles });
    },
    async submit({ by, ctx, subject: group }) {
      const { id } = await groups.start(group.id, ctx.params.change ?? '', by);
      return { to: `${pathOf(group)}/changes/${id}`, notice: t('console.groups.change-started') };
    },
  });

  /** Who asked: a user, or an application. */
  async function whoOf({ by: { actorId, actorApp } }: MemberChange): Promise<PageText> {
    const account = actorId === undefined ? undefined : await services.accounts.find(actorId);
    return account ? nameAndUsername(account) : (actorApp ?? t('console.groups.change-server'));
  }

  addMembershipPage(router, services, '/:id/members/:user', {
    ids: ({ id = '', user = '' }) => ({ userId: user, groupId: id }),
    back: ({ held }) => ({ href: pathOf(held), label: held.name }),
  });

  /** The question before something is removed from the group; `nameOf` its name. */
  function removal(
    path: string,
    kind: Removed,
    {
      needs = [WRITE],
      tab,
      nameOf,
      run,
    }: {
      needs?: readonly Need[];
      tab: GroupTab;
      nameOf(params: Record<string, string>, by: Actor): Promise<string>;
      run(
        params: Record<string, string>,
        subject: { group: GroupDetails; what: string },
        by: Actor,
      ): Promise<Omit<Redirection, 'to'>>;
    },
  ) {
    const home = (group: GroupDetails) => (tab === '' ? pathOf(group) : `${pathOf(group)}/${tab}`);
    addQuestion<{ group: GroupDetails; what: string }>(router, frame, `/:id${path}/remove`, {
      needs,
      load: async ({ params }, by) => ({ group: await groups.get(params.id ?? ''), what: await nameOf(params, by) }),
      title: ({ group, what }) => t('console.groups.remove-title', { kind, what, group: group.name }),
      back: ({ group }) => ({ href: home(group), label: group.name }),
      lead: ({ subject: { what } }) => t('console.groups.remove-lead', { kind, what }),
      button: t('console.groups.remove'),
      submit: async ({ by, ctx, subject }) => ({ to: home(subject.group), ...(await run(ctx.params, subject, by)) }),
    });
  }
  const personIn = async ({ user = '' }: Record<string, string>, by: Actor) =>
    nameAndUsername(await users.find(user, by, 'gatehouse.users:read'));

  removal('/members/:user', 'member', {
    needs: [...PEOPLE, WRITE],
    tab: '',
    nameOf: personIn,
    async run({ user = '' }, { group: { id }, what: name }, by) {
      const count = await groups.removeMembers(id, [user], by);
      const notice = t(`console.groups.member-${count > 0 ? 'removed' : 'stays'}`, { name });
      return { notice, tone: count > 0 ? 'good' : 'warn' };
    },
  });

  one('/parts', {
    submitNeeds: [WRITE],
    form: partForm,
    page: tabPage('parts', partBlocks),
    async asks({ by, subject: { id } }, given) {
      const part = await addedPart(given);
      // A new role has no permissions.
      return given.role === NEW_CHOICE.role ? undefined : questionOf(await groups.newAdministrators(id, part, by));
    },
    async submit({ ctx, by, subject: group }, given) {
      const part = await addedPart(given);
      const isNew = given.role === NEW_CHOICE.role;
      if (isNew) frame.assertMay(ctx, CREATES.role);
      await groups.add(group.id, part, by, async (tx) => {
        if (isNew) await people.create([{ kind: 'role', name: given.name ?? '' }], by, tx);
      });
      return { to: `${pathOf(group)}/parts`, notice: t('console.groups.saved') };
    },
  });

  /** What one of the two forms adds: a group below this one, or a role, which may be a new one with a name. Throws invalid_input. */
  async function addedPart({ child, role, name }: z.output<typeof partForm>) {
    if (child) {
      const found = await groups.find(child);
      if (!found) throw invalidInput([textFault(['child'], t('console.groups.error.unknown'))]);
      return { child: found.id };
    }
    if (!role) throw invalidInput([fault([child === undefined ? 'role' : 'child'], 'empty')]);
    if (role !== NEW_CHOICE.role) return { role };
    if (!name) throw invalidInput([fault(['name'], 'empty')]);
    return { role: name };
  }

  removal('/parts/child/:part', 'child', {
    tab: 'parts',
    nameOf: async ({ part = '' }) => (await groups.get(part)).name,
    async run({ part = '' }, { group: { id } }, by) {
      await groups.take(id, { child: part }, by);
      return { notice: t('console.groups.saved') };
    },
  });
  removal('/parts/role/:part', 'role', {
    tab: 'parts',
    nameOf: async ({ part = '' }) => part,
    async run({ part = '' }, { group: { id } }, by) {
      await groups.take(id, { role: part }, by);
      return { notice: t('console.groups.saved') };
    },
  });

  one('/owners', {
    ...MEMBERS,
    form: memberForm,
    page: tabPage('owners', ownerBlocks),
    async submit({ by, subject: group }, { user, until }) {
      const account = await userIn(user, by);
      await groups.appointOwner(group.id, { userId: account.id, until: endOf(until) }, by);
      const notice = t('console.groups.owner-added', { name: nameAndUsername(account) });
      return { to: `${pathOf(group)}/owners`, notice };
    },
  });

  removal('/owners/:user', 'owner', {
    needs: [...PEOPLE, WRITE],
    tab: 'owners',
    nameOf: personIn,
    async run({ user = '' }, { group: { id }, what: name }, by) {
      await groups.dismissOwner(id, user, by);
      return { notice: t('console.groups.owner-removed', { name }) };
    },
  });

  one('/requests', {
    needs: PEOPLE,
    page: tabPage('requests', requestBlocks),
  });

  form<z.output<typeof decisionForm>>('/requests/:request', {
    needs: MEMBERS.submitNeeds,
    title: ({ name }) => t('console.groups.request-title', { group: name }),
    back: (group) => ({ href: `${pathOf(group)}/requests`, label: t('console.groups.requests') }),
    button: t('console.groups.decide'),
    above: async ({ ctx, subject: group }) => [
      { kind: 'facts', rows: requestFacts(await requestIn(group, ctx.params.request)) },
    ],
    fields: async ({ ctx, subject: group }) => {
      const { until } = await requestIn(group, ctx.params.request);
      return [
        {
          name: 'decision',
          label: t('console.groups.decision'),
          type: 'radios',
          value: '',
          options: [
            { value: 'approve', label: t('console.groups.approve'), hint: t('console.groups.approve-hint') },
            { value: 'decline', label: t('console.groups.decline') },
          ],
        },
        untilField({ since: null, until: until && until > now() ? until : null }),
        { name: 'answer', label: t('console.groups.answer'), hint: t('console.groups.answer-hint') },
      ];
    },
    body: decisionForm,
    async submit({ by, ctx, subject: group }, { decision, until, answer }) {
      const request = await requestIn(group, ctx.params.request);
      const isGranted = decision === 'approve';
      const { until: end } = momentsOf({ since: '', until }, { since: null, until: request.until });
      await groups.decide(group.id, request.id, { isGranted, answer, until: isGranted ? end : null }, by);
      const notice = t(`console.groups.${isGranted ? 'approved' : 'declined'}`, {
        name: nameAndUsername(request.user),
      });
      return { to: `${pathOf(group)}/requests`, notice };
    },
  });

  async function requestIn({ id }: GroupDetails, requestId: string | undefined) {
    const found = (await groups.requests(id)).find((one) => one.id === requestId);
    if (!found) throw notFound({ message: t('console.groups.request-closed') });
    return found;
  }

  one('/domains', {
    submitNeeds: [WRITE],
    form: z.object({ domain: emailDomain }),
    page: tabPage('domains', domainBlocks),
    async submit({ by, subject: group }, { domain }) {
      const isNew = await groups.addDomain(group.id, domain, by);
      const notice = t(`console.groups.domain-${isNew ? 'added' : 'already'}`, { domain });
      return { to: `${pathOf(group)}/domains`, notice, tone: isNew ? 'good' : 'warn' };
    },
  });

  change('/domains/:domain/check', {
    async submit({ by, ctx, subject: group }) {
      const { domain = '' } = ctx.params;
      const result = await groups.checkDomain(group.id, domain, by);
      const notice = t(`console.connections.check.${result}`, { domain });
      return { to: `${pathOf(group)}/domains`, notice, tone: result === 'proven' ? 'good' : 'warn' };
    },
  });

  removal('/domains/:domain', 'domain', {
    tab: 'domains',
    nameOf: async ({ domain = '' }) => domain,
    async run({ domain = '' }, { group: { id } }, by) {
      await groups.removeDomain(id, domain, by);
      return { notice: t('console.groups.domain-removed', { domain }) };
    },
  });

  one('/applications', {
    needs: ['gatehouse.groups:read', 'gatehouse.applications:read'],
    submitNeeds: ['gatehouse.groups:read', OPEN],
    form: z.object({ application: z.string().trim().max(1024).default('') }),
    page: tabPage('applications', applicationBlocks),
    async asks({ by, subject: { name } }, { application: text }) {
      const application = await people.named(text, by);
      return application && restrictionQuestion(application, { kind: 'group', name });
    },
    async submit({ by, subject: group }, { application: text }) {
      const application = await people.named(text, by);
      const wrong = (found: Text) => invalidInput([textFault(['application'], found)]);
      if (!application) throw wrong(t('console.people.no-application'));
      await people.open(application, { kind: 'group', name: group.name }, undefined, by);
      const notice = t('console.people.opened', { app: application.name, kind: 'group', name: group.name });
      return { to: `${pathOf(group)}/applications`, notice };
    },
  });

  /** What else opens the application to the members: a group above, or a role that they get. */
  async function othersOf(group: GroupDetails, application: Application): Promise<Text[]> {
    const found = (await groups.applications(group.id)).find(({ id }) => id === application.id);
    return [
      ...(found?.groups ?? []).flatMap(({ group: one }) =>
        one.id === group.id ? [] : t('console.people.group', { name: one.name }),
      ),
      ...(found?.roles ?? []).map(({ role }) => t('console.people.role', { name: role.name })),
    ];
  }

  async function openedBy({ params: { id = '', application = '' } }: Params, by: Actor) {
    return { group: await groups.get(id), application: (await applications.get(application, by)).application };
  }

  addQuestion<{ group: GroupDetails; application: Application }>(
    router,
    frame,
    '/:id/applications/:application/remove',
    {
      needs: ['gatehouse.groups:read', OPEN],
      load: openedBy,
      elsewhere({ subject: { group, application } }) {
        const { id, name, access } = application;
        if (access === 'everyone' || !access.groups?.includes(group.name))
          return { to: `${pathOf(group)}/applications` };
        if (access.roles.length + access.groups.length > 1) return undefined;
        return {
          to: `/admin/applications/${id}/access`,
          notice: t('console.groups.only-opens', { app: name }),
          tone: 'warn',
        };
      },
      title: ({ group, application: { name: what } }) =>
        t('console.groups.remove-title', { kind: 'application', what, group: group.name }),
      back: ({ group }) => ({ href: `${pathOf(group)}/applications`, label: group.name }),
      async lead({ subject: { group, application } }) {
        const others = await othersOf(group, application);
        return others.length > 0
          ? t('console.groups.closed-in-part', { app: application.name, by: listOf(others) })
          : t('console.groups.remove-lead', { kind: 'application', what: application.name });
      },
      button: t('console.people.take-button'),
      async submit({ by, subject: { group, application } }) {
        const others = await othersOf(group, application);
        await people.close(application, group.name, by);
        const values = { app: application.name, group: group.name };
        return others.length > 0
          ? {
              to: `${pathOf(group)}/applications`,
              notice: t('console.groups.closed-in-part', { ...values, by: listOf(others) }),
              tone: 'warn',
            }
          : { to: `${pathOf(group)}/applications`, notice: t('console.groups.closed', values) };
      },
    },
  );

  one('/activity', {
    needs: ['gatehouse.groups:read', 'gatehouse.audit:read'],
    page: tabPage('activity', activityBlocks),
  });

  form('/edit', {
    title: ({ name }) => t('console.groups.edit-title', { group: name }),
    button: t('console.shared.save-changes'),
    fields: ({ subject }) => fieldsOf(subject),
    body: newGroup,
    async submit({ by, subject }, { description = '', ...body }) {
      await groups.update(subject.id, { ...givenIn(body), description }, by);
      return { to: pathOf(subject), notice: t('console.groups.saved') };
    },
  });

  deletion({
    title: ({ name }) => t('console.groups.delete-title', { group: name }),
    lead: async ({ subject: { id } }) => lossesText(await groups.losses(id)),
    run: groups.remove,
    done: t('console.groups.deleted'),
  });
  return router;
}

interface Membership {
  account: Account;
  held: HeldGroup;
}

/** The form with the begin and the end of a membership, opened from the group or from the user. */
export function addMembershipPage(
  router: Router<State, Extras>,
  { frame, admin: { users, groups } }: ConsoleServices,
  path: string,
  {
    ids,
    back,
  }: {
    ids(params: Record<string, string>): { userId: string; groupId: string };
    back(subject: Membership): { href: string; label: PageText };
  },
): void {
  addForm<Membership, z.output<typeof period>>(router, frame, path, {
    needs: JOIN,
    async load({ params }, by) {
      const { userId, groupId } = ids(params);
      const account = await users.find(userId, by, 'gatehouse.users:read');
      const held = (await users.heldGroups(userId, by)).find(({ id, source }) => id === groupId && isPersonal(source));
      if (!held) throw notFound();
      return { account, held };
    },
    assertOpen: ({ by, subject: { held } }) => groups.assertMayPut(held.id, by),
    title: ({ account, held }) =>
      t('console.users.held.change-title', { user: nameAndUsername(account), what: held.name }),
    back,
    button: t('console.shared.save-changes'),
    fields: ({ subject: { held } }) => [sinceField(held), untilField(held)],
    body: period,
    async submit({ by, subject }, given) {
      const { account, held } = subject;
      const changed = await users.join(held.id, { userId: account.id, ...momentsOf(given, held) }, by);
      const notice = t(`console.users.held.${changed > 0 ? 'end-changed' : 'same'}`);
      return { to: back(subject).href, notice, tone: changed > 0 ? 'good' : 'warn' };
    },
  });
}

interface Bulk {
  people: string;
  file: string;
  until: string;
  kind: 'add' | 'remove';
}

const peopleOf = (group: GroupDetails, rest: Omit<ConsolePage, 'title' | 'back'>): ConsolePage => ({
  ...rest,
  title: t('console.groups.bulk-title', { group: group.name }),
  back: { href: pathOf(group), label: group.name },
});

/** Characters of pasted rows that the form has again. */
const MOST_SHOWN = 100_000;

/** The form, with what was pasted. */
function bulkPage(
  group: GroupDetails,
  { people, file, until, kind }: Bulk = { people: '', file: '', until: '', kind: 'add' },
): ConsolePage {
  const isShown = file.trim() === '' && people.length <= MOST_SHOWN;
  const form: Block = {
    kind: 'form',
    action: `${pathOf(group)}/bulk`,
    fields: [
      {
        name: 'people',
        label: t('console.groups.bulk-people'),
        type: 'textarea',
        rows: 10,
        isCode: true,
        value: isShown ? people : '',
        ...(!isShown && { hint: t('console.groups.bulk-again') }),
      },
      { name: 'file', label: t('console.groups.bulk-file'), type: 'file', accept: '.csv,text/csv,text/plain' },
      {
        name: 'kind',
        label: t('console.groups.bulk-kind'),
        type: 'select',
        value: kind,
        options: (['add', 'remove'] as const).map((value) => ({
          value,
          label: t(`console.groups.bulk-kind.${value}`),
        })),
      },
      untilField(until),
    ],
    button: t('console.groups.bulk-submit'),
    cancel: pathOf(group),
    isUpload: true,
  };
  return peopleOf(group, { lead: t('console.groups.bulk-lead', { count: limits.groups.members }), blocks: [form] });
}

/** The form again, below what is wrong. */
function mistakesPage(group: GroupDetails, given: Bulk, { mistakes, wrong }: MemberRows): ConsolePage {
  const { blocks } = bulkPage(group, given);
  return peopleOf(group, {
    error: t('console.groups.rows-wrong', { count: wrong }),
    blocks: [
      {
        kind: 'table',
        title: t('console.groups.mistakes'),
        ...(mistakes.length < wrong && { lead: t('console.groups.rows-listed', { listed: mistakes.length }) }),
        caption: t('console.groups.mistakes-caption'),
        ...tableOf(mistakes, [
          // On a phone the first cell stands without its label.
          [
            { label: t('console.groups.mistake-line'), isShort: true },
            ({ line }) => t('console.groups.line', { line }),
          ],
          [t('console.groups.mistake'), ({ text }) => text],
        ]),
      },
      ...blocks,
    ],
  });
}

const stateCell = ({ state }: MemberChange): Cell => ({
  text: t(`console.groups.change-state.${state}`),
  tone: state === 'failed' ? 'bad' : state === 'done' ? 'good' : 'warn',
});

/** A change of many members: the button that starts it, its progress, or how it ended. */
function changePage(
  group: GroupDetails,
  found: MemberChange,
  { mayStart, who, roles }: { mayStart: boolean; who: PageText; roles: readonly string[] },
): ConsolePage {
  const { kind, state, total, done, changed, error } = found;
  const gives = roles.length > 0;
  const prepared = sentences([
    t('console.groups.change-prepared', { count: total }),
    gives && newAdministratorsText({ roles, group: group.name, people: [], count: total }),
  ]);
  const progress = (hint?: PageText): Block => ({
    kind: 'progress',
    label: t('console.groups.change-progress'),
    ...(hint && { hint }),
    done,
    total,
  });
  const blocks: Record<MemberChange['state'], Block[]> = {
    prepared: mayStart
      ? [
          {
            kind: 'form',
            lead: prepared,
            action: `${pathOf(group)}/changes/${found.id}`,
            fields: [],
            look: gives ? 'danger' : 'primary',
            button: t('console.groups.change-start', { kind, count: total }),
            cancel: pathOf(group),
          },
        ]
      : [{ kind: 'text', tone: 'notice', text: prepared }],
    waiting: [progress(t('console.groups.change-refresh'))],
    running: [progress(t('console.groups.change-refresh'))],
    done: [{ kind: 'text', tone: 'notice', text: t('console.groups.bulk-done', { kind, count: changed }) }],
    failed: [
      progress(),
      {
        kind: 'text',
        tone: 'warning',
        text: t('console.groups.change-failed', { done, total, reason: t(`error.${error ?? 'internal'}`) }),
      },
    ],
    canceled: [progress()],
    reading: [],
  };
  return {
    title: t('console.groups.change-title', { group: group.name }),
    back: { href: pathOf(group), label: group.name },
    tags: [stateCell(found) as Mark],
    blocks: [
      ...blocks[state],
      {
        kind: 'facts',
        rows: [
          { label: t('console.groups.change-by'), value: who },
          { label: t('console.groups.change-created'), value: found.createdAt },
        ],
      },
    ],
  };
}

/** The changes of many members that are under way, or ended within a week. */
async function changesBlock(group: GroupDetails, { admin: { groups } }: ConsoleServices): Promise<Block[]> {
  const changes = await groups.changes(group.id);
  if (changes.length === 0) return [];
  const list: Block = {
    kind: 'table',
    title: t('console.groups.changes'),
    ...tableOf(changes, [
      [
        t('console.groups.people'),
        ({ id, kind, total }) => ({
          text: t('console.groups.change-start', { kind, count: total }),
          href: `${pathOf(group)}/changes/${id}`,
        }),
      ],
      [t('console.shared.status'), stateCell],
      [{ label: t('console.groups.change-created'), isShort: true }, ({ createdAt }) => createdAt],
      [{ label: t('console.groups.change-progress'), isNumber: true }, ({ done, total }) => `${done} / ${total}`],
    ]),
  };
  return [list];
}

function lossesText(lost: Awaited<ReturnType<ConsoleServices['admin']['groups']['losses']>>): Text {
  const { members, totals } = lost;
  const named = (kind: keyof typeof totals) => {
    const more = totals[kind] - lost[kind].length;
    return totals[kind] > 0
      ? [t(`console.groups.losses-${kind}`, { names: lost[kind].join(', '), more, count: totals[kind] })]
      : [];
  };
  return sentences([
    members > limits.lists.counted
      ? t('console.groups.losses-many', { count: limits.lists.counted })
      : t('console.groups.losses-members', { count: members }),
    ...named('roles'),
    ...named('applications'),
    ...named('closed'),
    ...named('apis'),
    ...named('limited'),
    ...named('websites'),
  ]);
}

const fieldsOf = (group?: GroupDetails): Field[] => [
  { name: 'name', label: t('console.shared.name'), value: group?.name ?? '', required: true },
  { name: 'description', label: t('console.roles.description'), value: group?.description ?? '' },
  {
    name: 'accepts_requests',
    label: t('console.groups.accepts-requests'),
    type: 'checkbox',
    checked: group?.acceptsRequests ?? false,
    hint: t('console.groups.accepts-requests-hint'),
  },
];

const dateField =
  (name: 'since' | 'until', label: PageText, hint: PageText) =>
  (given: string | Period): Field => ({
    name,
    label,
    type: 'date',
    hasTime: true,
    value: typeof given === 'string' ? given : dayOf(given[name]),
    isHalf: true,
    isSeldom: true,
    hint,
  });
export const sinceField = dateField('since', t('console.groups.since'), t('console.groups.since-hint'));
export const untilField = dateField('until', t('console.groups.until'), t('console.groups.until-hint'));

async function listPage({ ctx, may }: Visit<undefined>, { admin: { groups } }: ConsoleServices): Promise<ConsolePage> {
  const list = listIn(ctx);
  const { q: search, after } = list.given;
  const page = await groups.list({ search, after });
  const counts = await groups.counts(page.groups.map(({ id }) => id));
  const create: Action = { label: t('console.groups.create'), icon: 'plus', href: `${HOME}/new`, look: 'primary' };
  return {
    title: t('console.navigation.groups'),
    lead: t('console.groups.lead'),
    actions: may(WRITE) ? [create] : [],
    blocks: [
      {
        kind: 'table',
        filter: list.search([searchField(search, t('console.groups.search'))]),
        ...tableOf(page.groups, [
          [
            t('console.groups.group'),
            (group) => ({ text: group.name, href: pathOf(group), small: group.description || undefined }),
          ],
          [{ label: t('console.groups.members'), isNumber: true }, ({ id }) => peopleCell(counts.get(id))],
          [t('console.groups.above'), ({ path }) => path.slice(1).split('/').slice(0, -1).join(' / ')],
          [t('console.roles.managed-by'), ({ source }) => (source === 'file' ? FILE_TAG : '')],
        ]),
        empty:
          search || after
            ? t('console.groups.none-match')
            : { icon: 'users-round', title: t('console.groups.none'), text: t('console.groups.none-text') },
        pages: list.pages(page.next ?? undefined),
      },
    ],
  };
}

/** The people of the group itself, or all where there are more in the groups below. */
function peopleCell(counts: Record<'direct' | 'all', Counted> | undefined): Cell {
  if (!counts) return '';
  const { direct, all } = counts;
  return direct.count === all.count && direct.isMore === all.isMore
    ? countOf(all)
    : { text: countOf(all), small: t('console.groups.people-direct', { count: countOf(direct) }) };
}

const countOf = ({ count, isMore }: Counted): PageText =>
  t('console.shared.number-or-more', { value: count, more: isMore ? 'yes' : 'no' });

/** A page of the group on one of its tabs. */
async function groupTab(
  visit: Visit<GroupDetails>,
  tab: GroupTab,
  services: ConsoleServices,
  blocks: readonly Block[],
): Promise<PageOfOne> {
  const { may, meets, subject: group } = visit;
  const path = pathOf(group);
  const isOurs = may(WRITE) && group.source === 'local';
  const mayReadPeople = PEOPLE.every(meets);
  const waiting = mayReadPeople ? await services.admin.groups.countRequests(group.id) : 0;
  const requests = waiting > 0 ? t('console.groups.requests-open', { count: waiting }) : t('console.groups.requests');
  return {
    ...(group.description && { lead: group.description }),
    actions: isOurs ? [{ label: t('console.shared.edit'), href: `${path}/edit` }] : [],
    tabs: tabLinks(path, tab, {
      '': mayReadPeople && t('console.groups.members'),
      parts: t('console.groups.parts'),
      owners: mayReadPeople && t('console.groups.owners'),
      requests: mayReadPeople && requests,
      domains: t('console.connections.domains'),
      applications: may('gatehouse.applications:read') && t('console.navigation.applications'),
      activity: may('gatehouse.audit:read') && t('console.users.activity'),
    }),
    blocks: present([
      ...blocks,
      isOurs && tab === '' && deletionZone(path, t('console.groups.delete-consequence'), t('console.groups.delete')),
    ]),
  };
}

/** Whether the administrator may put people in the group. */
const mayPutInto = async ({ may, by, subject: { id } }: Visit<GroupDetails>, groups: GroupAdmin): Promise<boolean> =>
  may(WRITE) && groups.assertMayPut(id, by).then(() => true, falseIfForbidden);

const removeAction = (href: string, of: PageText): Cell => ({ label: t('console.groups.remove'), of, href });

async function memberBlocks(
  visit: Visit<GroupDetails>,
  services: ConsoleServices,
  typed: z.output<typeof memberForm> = { user: '', since: '', until: '' },
): Promise<Block[]> {
  const { ctx, subject: group } = visit;
  const { groups } = services.admin;
  const path = pathOf(group);
  const asked = listAt(path, { q: listQuery.shape.q })(ctx);
  const { q: search, after } = asked.given;
  const { members, next } = await groups.members(group.id, { search, after });
  const wayOf = await services.names.ways(members.map(({ source }) => source));
  const at = services.now();
  const mayPut = !group.fileMembers && (await mayPutInto(visit, groups));
  const add: Block = {
    kind: 'form',
    title: t('console.groups.add-member-title'),
    action: path,
    fields: [
      { name: 'user', label: t('console.roles.user'), suggest: 'users', value: typed.user, required: true },
      sinceField(typed.since),
      untilField(typed.until),
    ],
    button: t('console.roles.add-member'),
  };
  const list: Block = {
    kind: 'table',
    title: t('console.groups.members'),
    actions: mayPut ? [{ label: t('console.groups.bulk-button'), href: `${path}/bulk` }] : [],
    filter: asked.search([searchField(search, t('console.roles.search-members'))]),
    ...tableOf(members, [
      [t('console.roles.member'), ({ person }) => userMark(person)],
      [t('console.groups.way-in'), ({ source }) => wayOf(source)],
      members.some(({ since }) => since !== null) && [
        { label: t('console.groups.since'), isShort: true },
        ({ since }) => since,
      ],
      [
        { label: t('console.groups.until'), isShort: true },
        ({ until }) => (until === null ? t('console.groups.no-end') : until <= at ? ENDED : until),
      ],
      mayPut && [
        t('console.shared.action'),
        (one) =>
          isPersonal(one.source)
            ? [
                {
                  label: t('console.users.held.change-end'),
                  of: nameAndUsername(one.person),
                  href: `${path}/members/${one.person.id}`,
                },
                removeAction(`${path}/members/${one.person.id}/remove`, nameAndUsername(one.person)),
              ]
            : null,
      ],
    ]),
    empty:
      search || after
        ? t('console.roles.no-members-match')
        : { icon: 'user-round', title: t('console.groups.no-members'), text: t('console.groups.no-members-text') },
    pages: asked.pages(next ?? undefined),
  };
  const changes = await changesBlock(group, services);
  return mayPut ? [add, ...changes, list] : [...changes, list];
}

const ENDED = { text: t('console.shared.expired'), tone: 'bad' as const };

async function partBlocks(
  { may, by, subject: group }: Visit<GroupDetails>,
  { admin: { roles } }: ConsoleServices,
  typed: z.output<typeof partForm> = {},
): Promise<Block[]> {
  const path = `${pathOf(group)}/parts`;
  const mayWrite = may(WRITE) && group.source === 'local';
  const above: Block[] =
    group.parents.length === 0
      ? []
      : [
          {
            kind: 'facts',
            rows: [
              {
                label: t('console.groups.above'),
                value: group.parents.map(({ id, name }) => ({ text: name, href: `${pathOf({ id })}/parts` })),
              },
            ],
          },
        ];
  const childForm: Block = {
    kind: 'form',
    title: t('console.groups.add-child'),
    action: path,
    fields: [
      { name: 'child', label: t('console.groups.group'), suggest: 'groups', value: typed.child ?? '', required: true },
    ],
    button: t('console.groups.add-child'),
    look: 'secondary',
  };
  const choices = mayWrite ? await roles.choices(by) : [];
  const mayCreate = may(CREATES.role);
  const readable = may('gatehouse.roles:read') ? await roles.list() : [];
  const roleCell = (role: string): Cell => {
    const found = readable.find(({ name }) => name === role);
    return found ? { text: role, href: `/admin/roles/${found.id}` } : role;
  };
  const roleForm: Block = {
    kind: 'form',
    title: t('console.groups.add-role'),
    action: path,
    fields: present([
      {
        name: 'role',
        label: t('console.roles.role'),
        type: 'select',
        value: typed.role ?? '',
        options: present([
          { value: '', label: t('console.users.held.choose-role') },
          ...choices.filter(({ value }) => !group.roles.includes(value)).map(({ value, label }) => ({ value, label })),
          mayCreate && { value: NEW_CHOICE.role, label: t('console.people.new-role') },
        ]),
        required: true,
      },
      mayCreate && { name: 'name', label: t('console.people.name'), value: typed.name ?? '' },
    ]),
    button: t('console.groups.add-role'),
    look: 'secondary',
  };
  return present([
    ...above,
    {
      kind: 'table',
      title: t('console.groups.children'),
      ...tableOf(group.children, [
        [t('console.groups.group'), ({ id, name }) => ({ text: name, href: pathOf({ id }) })],
        mayWrite && [t('console.shared.action'), ({ id, name }) => removeAction(`${path}/child/${id}/remove`, name)],
      ]),
      empty: t('console.groups.no-children'),
    },
    mayWrite && childForm,
    {
      kind: 'table',
      title: t('console.users.roles'),
      lead: t('console.groups.roles-lead'),
      ...tableOf(group.roles, [
        [t('console.roles.role'), roleCell],
        mayWrite && [
          t('console.shared.action'),
          (name) => removeAction(`${path}/role/${encodeURIComponent(name)}/remove`, name),
        ],
      ]),
      empty: t('console.groups.no-roles'),
    },
    mayWrite && (choices.length > 0 || mayCreate) && roleForm,
  ]);
}

async function ownerBlocks(
  { may, subject: group }: Visit<GroupDetails>,
  { admin: { groups } }: ConsoleServices,
  typed: z.output<typeof memberForm> = { user: '', since: '', until: '' },
): Promise<Block[]> {
  const path = `${pathOf(group)}/owners`;
  const mayWrite = may(WRITE) && group.source === 'local';
  if ((await groups.sensitiveRoles(group.id)).length > 0)
    return [{ kind: 'text', tone: 'notice', text: t('console.groups.sensitive') }];
  const add: Block = {
    kind: 'form',
    title: t('console.groups.add-owner'),
    action: path,
    fields: [
      { name: 'user', label: t('console.roles.user'), suggest: 'users', value: typed.user, required: true },
      untilField(typed.until),
    ],
    button: t('console.groups.add-owner'),
  };
  const owners = await groups.owners(group.id);
  return present([
    mayWrite && add,
    {
      kind: 'table',
      title: t('console.groups.owners'),
      lead: t('console.groups.owners-lead'),
      ...tableOf(owners, [
        [t('console.groups.owner'), ({ person }) => userMark(person)],
        [{ label: t('console.groups.until'), isShort: true }, ({ until }) => until ?? t('console.groups.no-end')],
        [
          t('console.shared.status'),
          ({ isConfirmed, deputyOf }) =>
            present([
              deputyOf && t('console.groups.deputy-of', { name: nameAndUsername(deputyOf) }),
              !isConfirmed && { text: t('console.groups.unconfirmed'), tone: 'warn' },
            ]),
        ],
        mayWrite && [
          t('console.shared.action'),
          (one) => [
            ...(one.isConfirmed || one.deputyOf
              ? []
              : [
                  {
                    label: t('console.groups.confirm'),
                    of: nameAndUsername(one.person),
                    post: path,
                    fields: { user: one.person.id, until: dayOf(one.until) },
                  },
                ]),
            removeAction(`${path}/${one.person.id}/remove`, nameAndUsername(one.person)),
          ],
        ],
      ]),
      empty: t('console.groups.no-owners'),
    },
  ]);
}

type OpenRequest = Awaited<ReturnType<ConsoleServices['admin']['groups']['requests']>>[number];

async function requestBlocks(visit: Visit<GroupDetails>, { admin: { groups } }: ConsoleServices): Promise<Block[]> {
  const group = visit.subject;
  const mayDecide = await mayPutInto(visit, groups);
  const table: Block = {
    kind: 'table',
    title: t('console.groups.requests'),
    lead: t(`console.groups.requests-${group.acceptsRequests ? 'lead' : 'closed'}`),
    ...tableOf(await groups.requests(group.id), [
      [t('console.roles.user'), personCell],
      [t('console.roles.application'), wantedCell],
      [t('console.groups.reason'), ({ reason }) => reason],
      [{ label: t('console.groups.asked'), isShort: true }, ({ createdAt }) => createdAt],
      mayDecide && [
        t('console.shared.action'),
        ({ id, user }) => ({
          label: t('console.groups.decide'),
          of: nameAndUsername(user),
          href: `${pathOf(group)}/requests/${id}`,
        }),
      ],
    ]),
    empty: t('console.groups.no-requests'),
  };
  return [table];
}

const personCell = ({ user }: OpenRequest): Cell => userMark(user);
const wantedCell = ({ application }: OpenRequest): Cell =>
  application && { text: application.name, href: `/admin/applications/${application.id}` };

const requestFacts = (one: OpenRequest) =>
  present([
    { label: t('console.roles.user'), value: personCell(one) },
    one.application && { label: t('console.roles.application'), value: wantedCell(one) },
    { label: t('console.groups.reason'), value: one.reason },
    { label: t('console.groups.asked'), value: one.createdAt },
    { label: t('console.groups.lapses'), value: one.expiresAt },
  ]);

async function domainBlocks(
  { may, subject: group }: Visit<GroupDetails>,
  { admin: { groups } }: ConsoleServices,
  typed: { domain?: string } = {},
): Promise<Block[]> {
  const path = `${pathOf(group)}/domains`;
  const mayWrite = may(WRITE) && group.source === 'local';
  if ((await groups.sensitiveRoles(group.id)).length > 0)
    return [{ kind: 'text', tone: 'notice', text: t('console.groups.sensitive-domains') }];
  const add: Block = {
    kind: 'form',
    title: t('console.groups.add-domain'),
    action: path,
    fields: [
      {
        name: 'domain',
        label: t('console.connections.domain'),
        value: typed.domain ?? '',
        required: true,
        hint: t('console.groups.domain-hint'),
      },
    ],
    button: t('console.groups.add-domain'),
  };
  const actions = ({ domain }: { domain: string }): Cell => [
    { label: t('console.connections.check'), of: domain, post: `${path}/${domain}/check` },
    removeAction(`${path}/${domain}/remove`, domain),
  ];
  return present([
    mayWrite && add,
    {
      kind: 'table',
      title: t('console.connections.domains'),
      lead: t('console.groups.domains-lead'),
      caption: t('console.connections.domains-caption'),
      ...domainTable(await groups.domains(group.id), group.source === 'file', mayWrite ? actions : undefined),
      empty: t('console.groups.no-domains'),
    },
  ]);
}

async function applicationBlocks(
  { meets, subject: { id, name } }: Visit<GroupDetails>,
  { admin: { groups }, names }: ConsoleServices,
  typed = { application: '' },
): Promise<Block[]> {
  const found = await groups.applications(id);
  const named = await names.applicationsWithLogos(found.map(({ clientId }) => clientId));
  const open: Block = {
    kind: 'form',
    title: t('console.groups.open-application'),
    action: `${pathOf({ id })}/applications`,
    fields: [
      {
        name: 'application',
        label: t('console.roles.application'),
        suggest: 'applications',
        value: typed.application,
        required: true,
      },
    ],
    button: t('console.groups.open-application'),
    look: 'secondary',
  };
  const table: Block = {
    kind: 'table',
    title: t('console.navigation.applications'),
    lead: t('console.groups.applications-lead'),
    ...tableOf(found, [
      [t('console.roles.application'), ({ clientId }) => applicationCell(clientId, named)],
      [
        t('console.users.access.why'),
        ({ groups: named, roles }) => [
          ...named.map(({ group }) =>
            group.id === id
              ? t('console.groups.opens-itself')
              : { text: t('console.people.group', { name: group.name }), href: pathOf(group) },
          ),
          ...roles.map(({ role }) => t('console.people.role', { name: role.name })),
        ],
      ],
      [t('console.roles.protocol'), ({ protocol }) => protocolName[protocol as Protocol]],
      [
        t('console.shared.status'),
        ({ enabled }) => ({
          text: t(`console.shared.${enabled ? 'enabled' : 'disabled'}`),
          tone: enabled ? 'good' : 'bad',
        }),
      ],
      meets(OPEN) && [
        t('console.shared.action'),
        (one) =>
          one.source !== 'file' && one.groups.some(({ group }) => group.id === id)
            ? {
                label: t('console.people.take'),
                of: named.get(one.clientId)?.name ?? one.clientId,
                href: `${pathOf({ id })}/applications/${one.id}/remove`,
              }
            : null,
      ],
    ]),
    empty: sentences([...readers(name), t('console.groups.no-applications')]),
  };
  return meets(OPEN) ? [table, open] : [table];
}

/** Products that read the group, and what its members are there. */
function readers(group: string): Text[] {
  return productPresets()
    .flatMap(({ title, groups = [] }) => groups.filter(({ name }) => name === group).map((one) => ({ title, ...one })))
    .map(({ title, description }) => t('console.groups.read-by', { title, description }));
}

/** What happened to the group, its members and its owners. */
const activityBlocks = async ({ ctx, subject }: Visit<GroupDetails>, services: ConsoleServices): Promise<Block[]> => [
  await activityBlock(
    services,
    ctx,
    `${pathOf(subject)}/activity`,
    { groupId: subject.id },
    {
      title: t('console.users.activity.title'),
      caption: (values) => t('console.groups.activity-caption', values),
      empty: t('console.groups.activity-none'),
    },
  ),
];
