// /account/groups: the groups that the user is in and those that the user owns, and requests. Owners are no administrators: they see names of
// members and put people in or take them out, no more (people/groups/rights.ts).

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../base/base.ts';
import type { Context, Extras, State } from '../base/http/context.ts';
import { AppError, notFound, tooManyRequests } from '../base/http/errors.ts';
import { parseForm, parseQuery } from '../base/http/input.ts';
import { type PageText, t } from '../base/texts/text.ts';
import { PERSONAL } from '../people/groups/rights.ts';
import type { People } from '../people/people.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const HERE = '/account/groups';
const MEMBERS = 50;
const id = z.string().min(1).max(64);
/** The last day of a membership, in UTC; empty: no end. */
const lastDay = z
  .union([z.literal(''), z.iso.date()])
  .default('')
  .transform((text) => (text === '' ? null : new Date(`${text}T23:59:59Z`)));
const membersQuery = z.object({ after: z.string().max(64).default('') });
const askQuery = z.object({ application: id });
const addForm = z.object({ login: z.string().trim().min(1).max(254), until: lastDay });
const endForm = z.object({ user: id, until: lastDay });
const removeForm = z.object({ user: id });
const decisionForm = z.object({
  request: id,
  decision: z.enum(['approve', 'decline']),
  answer: z.string().trim().max(500).default(''),
  until: lastDay,
});
const withdrawForm = z.object({ request: id });
const askForm = z.object({ application: id, group: id, reason: z.string().trim().min(1).max(500), until: lastDay });

type GroupContext = Context & { params: Record<string, string> };

export function groupRoutes(services: Base & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { accounts, db, groups, groupRequests, now, page, rateLimits } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });
  const changeGuards = [signedIn.requireSignIn, checkChange] as const;

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const ids = await groups.ownedBy(account.id, db);
    const waiting = await groupRequests.openFor(ids);
    const owned = await groups.listByIds(ids);
    ctx.render('account/groups', {
      notice: page.takeNotice(ctx),
      groups: account.groups,
      owned: owned
        .sort((one, other) => one.path.localeCompare(other.path))
        .map((group) => ({ ...group, waiting: waiting.filter(({ groupId }) => groupId === group.id).length })),
      requests: await groupRequests.of(account.id),
    });
  });

  // Before /:id: an id is random.
  router.get('/ask', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { application } = parseQuery(ctx, askQuery);
    const offered = await groupRequests.openings(application);
    const [first] = offered;
    if (!first) return page.redirectWithNotice(ctx, HERE, t('groups.ask-closed'), 'warn');
    if ((await groupRequests.offer(account, application))?.isOpen)
      return page.redirectWithNotice(ctx, HERE, t('access-denied.asked'), 'plain');
    ctx.render('account/ask', {
      application: first.application,
      groups: offered.map(({ group }) => group),
      today: dayOf(now()),
      notice: page.takeNotice(ctx),
    });
  });

  router.post('/ask', ...changeGuards, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { application, group, reason, until } = await parseForm(ctx, askForm);
    const again = `${HERE}/ask?application=${encodeURIComponent(application)}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, again, t('groups.day-passed'), 'bad');
    const wish = { userId: account.id, groupId: group, applicationId: application, reason, until };
    await groupRequests.ask(wish, { by: page.actorOf(ctx) });
    page.redirectWithNotice(ctx, HERE, t('groups.asked'));
  });

  router.post('/withdraw', ...changeGuards, async (ctx) => {
    const { request } = await parseForm(ctx, withdrawForm);
    const { account } = signedIn.userOf(ctx);
    await ifOpen(ctx, HERE, t('groups.withdrawn'), () =>
      groupRequests.withdraw(request, account.id, { by: page.actorOf(ctx) }),
    );
  });

  router.get('/:id', signedIn.requireSignIn, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { after } = parseQuery(ctx, membersQuery);
    const rows = await groups.members(group.id, { after, limit: MEMBERS + 1 });
    const shown = rows.slice(0, MEMBERS);
    ctx.render('account/group', {
      notice: page.takeNotice(ctx),
      group,
      today: dayOf(now()),
      blocked: await whyBlocked(ctx, group),
      members: await namedMembers(shown),
      // A person with several memberships may continue on the next page.
      next: rows.length > MEMBERS ? `${HERE}/${group.id}?after=${shown.at(-1)?.userId}` : undefined,
      requests: (await groupRequests.openFor([group.id])).map(({ user, until, ...request }) => ({
        ...request,
        person: user,
        until: until && until > now() ? dayOf(until) : '',
      })),
    });
  });

  router.post('/:id/add', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { login, until } = await parseForm(ctx, addForm);
    const path = `${HERE}/${group.id}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    const options = { by: page.actorOf(ctx), via: 'owner' as const };
    await groups.assertMayPut(group.id, 'owner', options);
    const tries = await rateLimits.consume('group-additions:account', signedIn.userOf(ctx).account.id);
    if (!tries.allowed) throw tooManyRequests(tries.retryAfterSeconds, { next: { href: path, label: t('page.back') } });
    const found = await accounts.findByLogin(login);
    if (found?.isActive) await groups.addMembers(group.id, [{ userId: found.id, until }], options);
    page.redirectWithNotice(ctx, path, t('groups.added', { login }), 'plain');
  });

  router.post('/:id/end', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { user, until } = await parseForm(ctx, endForm);
    const path = `${HERE}/${group.id}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    // Nobody is added here: that counts attempts.
    const held = await db.groupMember.findFirst({
      where: { groupId: group.id, userId: user, source: { in: [...PERSONAL] } },
    });
    if (!held) throw notFound();
    const member = { userId: user, since: held.since, until };
    await groups.addMembers(group.id, [member], { by: page.actorOf(ctx), via: 'owner' });
    page.redirectWithNotice(ctx, path, t('groups.day-saved'));
  });

  router.post('/:id/remove', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { user } = await parseForm(ctx, removeForm);
    await groups.removeMembers(group.id, [user], { by: page.actorOf(ctx), via: 'owner' });
    page.redirectWithNotice(ctx, `${HERE}/${group.id}`, t('groups.removed'));
  });

  router.post('/:id/decide', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { request, decision, answer, until } = await parseForm(ctx, decisionForm);
    const path = `${HERE}/${group.id}`;
    const isGranted = decision === 'approve';
    if (isGranted && hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    await ifOpen(ctx, path, isGranted ? t('groups.approved') : t('groups.declined'), () =>
      groupRequests.decide(request, { isGranted, answer, until }, { by: page.actorOf(ctx) }),
    );
  });

  const hasPassed = (until: Date | null) => until !== null && until <= now();

  /** Runs a change of an open request, and redirects with its notice, or with the notice that the request is closed already. */
  async function ifOpen(ctx: Context, path: string, done: PageText, work: () => Promise<void>) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'changed_meanwhile')) throw error;
      return page.redirectWithNotice(ctx, path, t('groups.closed'), 'warn');
    }
    page.redirectWithNotice(ctx, path, done);
  }

  /** Throws not_found, as for a group that does not exist, unless the user owns it or one above it. */
  async function ownedGroup(ctx: GroupContext) {
    const groupId = ctx.params.id ?? '';
    const owned = await groups.ownedBy(signedIn.userOf(ctx).account.id, db);
    if (!owned.includes(groupId)) throw notFound();
    return groups.get(groupId);
  }

  /** Why the owner can change no memberships now. */
  async function whyBlocked(ctx: Context, group: { id: string; source: string; fileMembers: boolean }) {
    if (group.source === 'file' && group.fileMembers) return [t('groups.by-file')];
    try {
      await groups.assertMayPut(group.id, 'owner', { by: page.actorOf(ctx) });
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [error.text, error.advice ?? []].flat();
    }
  }

  /** One entry for each person: their own membership, else another one, which an owner cannot change. */
  async function namedMembers(rows: Awaited<ReturnType<typeof groups.members>>) {
    const names = await db.asStored.user.findMany({
      where: { id: { in: rows.map(({ userId }) => userId) } },
      select: { id: true, username: true, name: true },
    });
    return names
      .map((person) => {
        const held = rows.filter(({ userId }) => userId === person.id);
        const own = held.find(({ source }) => PERSONAL.some((one) => one === source));
        const until = (own ?? held[0])?.until ?? null;
        return { person, isOwn: own !== undefined, until, day: until ? dayOf(until) : '' };
      })
      .sort((one, other) => one.person.username.localeCompare(other.person.username));
  }

  return router;
}

/** As a date field has it. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
