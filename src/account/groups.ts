// /account/groups: the groups that the user is in and those that the user owns, and requests. Owners are no administrators: they see names of
// members and put people in or take them out, no more (people/groups/rights.ts).

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../base/base.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { AppError, tooManyRequests } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm, parseQuery } from '../base/http/input.ts';
import { withLanguage } from '../base/http/pages/language.ts';
import { limits } from '../base/limits.ts';
import { type PageText, sentences, type Text, t, textAt } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import { termsIn } from '../people/accounts/terms.ts';
import type { GroupInvitation } from '../people/groups/invitations.ts';
import { deputyEnd } from '../people/groups/owners.ts';
import type { People } from '../people/people.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import { createLinkPage } from './mailed-links.ts';
import { finishForm, prepareRegistration } from './registration/self-registration.ts';

const HERE = '/account/groups';
const MEMBERS = 50;
/** Groups of an owner on a page. */
const OWNED = 100;
/** Groups of a form about a deputy; each counts as an addition. */
const { points: DEPUTY_GROUPS } = limits.rateLimits.groupAdditionsPerAccount;
const id = z.string().min(1).max(64);
const END_OF_DAY = '23:59:59';
const empty = z.literal('').default('');
const endFields = { until: empty.or(z.iso.date()), 'until.time': empty.or(z.iso.time({ precision: -1 })) };
/** A form with the end of a membership: the last day in UTC, and a time on it if one was chosen; without a day no end. */
const withEnd = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).and(
    z.object(endFields).transform(({ until: day, 'until.time': time }) => {
      if (day === '' && time === '') return { until: null };
      // A time without a day is rejected, as an end that has passed.
      const date = day === '' ? '1970-01-01' : day;
      return { until: new Date(`${date}T${time === '' ? END_OF_DAY : `${time}:00`}Z`) };
    }),
  );
const pageQuery = z.object({ after: z.string().max(1000).optional() });
const askQuery = z.object({ application: id });
const addForm = withEnd({ login: z.string().trim().min(1).max(254) });
const inviteForm = withEnd({ email: z.string().trim().max(254) });
const withdrawInvitationForm = z.object({ invitation: id });
const endForm = withEnd({ user: id });
const removeForm = z.object({ user: id });
const decisionForm = withEnd({
  request: id,
  decision: z.enum(['approve', 'decline']),
  answer: z.string().trim().max(500).default(''),
});
const DEPUTIES = `${HERE}/deputies`;
const deputyForm = z.object({
  login: z.string().trim().min(1).max(254),
  until: z.iso.date(),
  group: z.array(id).min(1).max(OWNED),
});
const endDeputyForm = z.object({ group: id, user: id });
const withdrawForm = z.object({ request: id });
const askForm = withEnd({ application: id, group: id, reason: z.string().trim().min(1).max(500) });

type GroupContext = Context & { params: Record<string, string> };

export function groupRoutes(services: Base & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { groupInvitations, groupOwners, groupRequests, now, page } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });
  const changeGuards = [signedIn.requireSignIn, checkChange] as const;

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { after } = parseQuery(ctx, pageQuery);
    const { groups: owned, next, total } = await groupOwners.groupsOf(account.id, { after, limit: OWNED });
    const waiting = await groupRequests.openFor(owned.map((group) => group.id));
    ctx.render('account/groups', {
      notice: page.takeNotice(ctx),
      groups: account.groups,
      owned: owned.map((group) => ({ ...group, waiting: waiting.filter((one) => one.groupId === group.id).length })),
      next: next && { href: `${HERE}?after=${encodeURIComponent(next)}`, total },
      requests: await groupRequests.of(account.id),
      deputies: await groupOwners.deputies(account.id),
      mayDeputize: (await groupOwners.own(account.id)).length > 0,
    });
  });

  // A deputy decides for up to 90 days, so a stolen session names none.
  const deputyGuards = [signedIn.requireSignIn, signedIn.requireRecentAuthentication] as const;

  router.get('/deputies', ...deputyGuards, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    ctx.render('account/deputies', {
      notice: page.takeNotice(ctx),
      groups: (await groupOwners.own(account.id)).map((group, at) => ({ ...group, isChosen: at < DEPUTY_GROUPS })),
      deputies: (await groupOwners.deputies(account.id)).filter(({ isOwn }) => isOwn),
      today: dayOf(now()),
      last: dayOf(deputyEnd(now())),
    });
  });

  router.post('/deputies', ...deputyGuards, checkChange, async (ctx) => {
    const { login, until, group } = await parseForm(ctx, deputyForm, { lists: ['group'] });
    const end = new Date(`${until}T${END_OF_DAY}Z`);
    if (hasPassed(end) || end > deputyEnd(now())) {
      const wrong = t('groups.deputy-day', { days: limits.groups.deputyDays });
      return page.redirectWithNotice(ctx, DEPUTIES, wrong, 'bad');
    }
    await limited(DEPUTIES, () => groupOwners.appointDeputy(group, { login, until: end }, { by: page.actorOf(ctx) }));
    page.redirectWithNotice(ctx, DEPUTIES, t('groups.deputy-named', { login }), 'plain');
  });

  router.post('/deputies/end', ...deputyGuards, checkChange, async (ctx) => {
    const { group, user } = await parseForm(ctx, endDeputyForm);
    await groupOwners.dismissDeputy(group, user, { by: page.actorOf(ctx) });
    page.redirectWithNotice(ctx, DEPUTIES, t('groups.deputy-ended'));
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
    const { after } = parseQuery(ctx, pageQuery);
    const { members, next } = await groupOwners.members(group.id, { after, limit: MEMBERS });
    ctx.render('account/group', {
      notice: page.takeNotice(ctx),
      group,
      today: dayOf(now()),
      blocked: await groupOwners.whyBlocked(group, { by: page.actorOf(ctx) }),
      members: members.map((member) => ({ ...member, end: endOf(member.until) })),
      next: next && `${HERE}/${group.id}?after=${encodeURIComponent(next)}`,
      requests: (await groupRequests.openFor([group.id])).map(({ user, until, ...request }) => ({
        ...request,
        person: user,
        until: endOf(until && until > now() ? until : null),
      })),
      invitations: await groupInvitations.of(group.id),
      invitationDays: limits.groups.invitationDays,
    });
  });

  router.post('/:id/add', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { login, until } = await parseForm(ctx, addForm);
    const path = `${HERE}/${group.id}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    await limited(path, () => groupOwners.add(group.id, { login, until }, { by: page.actorOf(ctx) }));
    page.redirectWithNotice(ctx, path, t('groups.added', { login }), 'plain');
  });

  router.post('/:id/invite', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { email, until } = await parseForm(ctx, inviteForm);
    const path = `${HERE}/${group.id}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    try {
      const invitation = { groupId: group.id, email, until };
      const by = { ...page.actorOf(ctx), request: withLanguage(ctx) };
      await limited(path, () => groupInvitations.invite(invitation, { by }));
    } catch (error) {
      const text = error instanceof AppError && expectedOf(error);
      if (!text) throw error;
      return page.redirectWithNotice(ctx, path, text, 'bad');
    }
    page.redirectWithNotice(ctx, path, t('groups.invited', { email }));
  });

  router.post('/:id/withdraw-invitation', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { invitation } = await parseForm(ctx, withdrawInvitationForm);
    const withdraw = () => groupInvitations.withdraw(invitation, group.id, { by: page.actorOf(ctx) });
    await ifOpen(ctx, `${HERE}/${group.id}`, t('groups.invitation-withdrawn'), withdraw, t('groups.invitation-closed'));
  });

  router.post('/:id/end', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { user, until } = await parseForm(ctx, endForm);
    const path = `${HERE}/${group.id}`;
    if (hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    await groupOwners.setEnd(group.id, user, until, { by: page.actorOf(ctx) });
    page.redirectWithNotice(ctx, path, t('groups.day-saved'));
  });

  router.post('/:id/remove', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { user } = await parseForm(ctx, removeForm);
    const path = `${HERE}/${group.id}`;
    if (await groupOwners.remove(group.id, user, { by: page.actorOf(ctx) }))
      return page.redirectWithNotice(ctx, path, t('groups.removed'));
    page.redirectWithNotice(ctx, path, t('groups.not-member'), 'warn');
  });

  router.post('/:id/decide', ...changeGuards, async (ctx: GroupContext) => {
    const group = await ownedGroup(ctx);
    const { request, decision, answer, until } = await parseForm(ctx, decisionForm);
    const path = `${HERE}/${group.id}`;
    const isGranted = decision === 'approve';
    if (isGranted && hasPassed(until)) return page.redirectWithNotice(ctx, path, t('groups.day-passed'), 'bad');
    await ifOpen(ctx, path, isGranted ? t('groups.approved') : t('groups.declined'), () =>
      groupRequests.decide(request, { groupId: group.id, isGranted, answer, until }, { by: page.actorOf(ctx) }),
    );
  });

  const hasPassed = (until: Date | null) => until !== null && until <= now();

  /** Runs a change of an open request or invitation, and redirects with its notice, or with the notice that it is closed already. */
  async function ifOpen(
    ctx: Context,
    path: string,
    done: PageText,
    work: () => Promise<void>,
    closed: PageText = t('groups.closed'),
  ) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'changed_meanwhile')) throw error;
      return page.redirectWithNotice(ctx, path, closed, 'warn');
    }
    page.redirectWithNotice(ctx, path, done);
  }

  const ownedGroup = (ctx: GroupContext) => groupOwners.group(ctx.params.id ?? '', signedIn.userOf(ctx).account.id);

  /** Leads back to the page where there were too many changes. */
  async function limited(path: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'too_many_requests')) throw error;
      const seconds = Number(error.headers['Retry-After']);
      throw tooManyRequests(seconds, { next: { href: path, label: t('page.back') } });
    }
  }

  return router;
}

/** What the page says about an invitation that cannot be sent; undefined for what no form leads to. */
function expectedOf({ code, faults: [wrong], text }: AppError): PageText | undefined {
  if (code === 'too_many_invitations') return text;
  return code === 'invalid_input' && wrong ? textAt(wrong.code) : undefined;
}

// /join: the page behind an invitation. A person with an account signs in and is asked; one without chooses a password.

const JOIN = '/join';
const joinForm = z.object({ displayedValue: z.string().max(254) });

export function joinRoutes(services: Core & Http & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { accounts, credentials, groupInvitations, page: helpers, settings } = services;
  const { signedIn, checkCsrf } = helpers;
  const router = new Router<State, Extras>({ prefix: JOIN });
  const page = createLinkPage(services, {
    cookie: 'link',
    next: { href: HERE, label: t('groups.title') },
  });
  const leadOf = async (invitation: GroupInvitation) => {
    const inviter = await groupInvitations.assertStands(invitation);
    const { group, until } = invitation;
    const end = { form: until ? 'until' : 'none', until: until ?? new Date(0) };
    return t('join.lead', { person: inviter.username, group: group.name, ...end });
  };

  router.get('/', page.receiveToken, async (ctx) => {
    const { found } = await page.resolve(ctx, groupInvitations.find);
    const lead = await leadOf(found);
    if (!(await accounts.findByLogin(found.email))) return showRegistration(ctx, found, lead);
    await signedIn.requireSignIn(ctx, async () => {
      const title = t('join.title', { group: found.group.name });
      ctx.render('mailed-links/confirm', { title, lead, value: found.email, action: JOIN, button: t('join.submit') });
    });
  });

  router.post('/', signedIn.requireSignIn, checkCsrf, async (ctx) => {
    const { found } = await page.resolve(ctx, groupInvitations.find);
    page.assertUnchanged((await parseForm(ctx, joinForm)).displayedValue, found.email);
    await groupInvitations.accept(found, signedIn.userOf(ctx).account.id, { by: helpers.actorOf(ctx) });
    helpers.redirectWithNotice(ctx, HERE, t('join.done', { group: found.group.name }));
  });

  router.post('/register', checkCsrf, async (ctx) => {
    const { found } = await page.resolve(ctx, groupInvitations.find);
    const { username, ...given } = await parseForm(ctx, finishForm);
    page.assertUnchanged(username, found.email);
    const { request } = ctx.state;
    const prepared = await prepareRegistration(services, { ...given, email: found.email }, request);
    if (prepared.outcome === 'rejected') {
      const error = sentences(prepared.faults.map((fault) => credentials.advice(fault, false)));
      return showRegistration(ctx, found, await leadOf(found), { name: given.name, error });
    }
    try {
      await groupInvitations.accept(found, prepared.id, { by: { request } }, prepared.store);
    } catch (error) {
      // Meanwhile the address has got an account: the link now leads to its sign-in.
      if (!(error instanceof AppError && ['email_taken', 'user_name_taken'].includes(error.code))) throw error;
      return seeOther(ctx, JOIN);
    }
    page.redirectToDone(ctx, `${JOIN}/done`);
  });

  router.get('/done', (ctx) =>
    page.renderDone(ctx, {
      title: t('registration.ready'),
      lead: t('registration.ready-lead'),
      next: { href: HERE, label: t('sign-in.title') },
    }),
  );

  function showRegistration(ctx: Context, { group, email }: GroupInvitation, lead: Text, given: object = {}): void {
    const title = t('join.title', { group: group.name });
    const form = {
      title,
      lead,
      hint: t('join.have-account'),
      action: `${JOIN}/register`,
      email,
      minLength: credentials.minimumLength(false),
      terms: termsIn(settings.latest()),
    };
    ctx.render('registration/finish', { ...form, ...given }, 'error' in given ? 400 : 200);
  }

  return router;
}

/** As a date field has it. */
function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** As the fields of an end have it. */
function endOf(at: Date | null): { day: string; time: string } {
  if (!at) return { day: '', time: '' };
  const time = at.toISOString().slice(11, 19);
  return { day: dayOf(at), time: time === END_OF_DAY ? '' : time.slice(0, 5) };
}
