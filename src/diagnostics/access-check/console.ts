// /admin/access-check: why a person can or cannot sign in to an application, with a button for each cause; what the application would receive,
// and the last attempts.

import Router from '@koa/router';
import { z } from 'zod';
import { previewBlocks } from '../../admin/applications/preview.ts';
import { eventItems } from '../../admin/audit/console-rows.ts';
import {
  type Action,
  type Block,
  type ConsolePage,
  type EventItem,
  hiddenField,
  type Mark,
} from '../../admin/console/blocks.ts';
import { type Frame, listPath } from '../../admin/console/frame.ts';
import { choiceField, listAt, tableOf } from '../../admin/console/lists.ts';
import {
  applicationCell,
  type NamedField,
  type Names,
  typedApplicationValue,
  userCell,
} from '../../admin/console/names.ts';
import { questionBefore } from '../../admin/console/new-administrators.ts';
import { ASKED, askedPage } from '../../admin/console/pages.ts';
import { ACCESS_CHECK_NEEDS } from '../../admin/console/suggest.ts';
import type { ConsoleServices } from '../../admin/console-services.ts';
import { sameNameText, typedUserValue } from '../../admin/suggestions/typed-user.ts';
import { nothingOpen } from '../../admin/users/console.ts';
import type { Application } from '../../applications/application.ts';
import { pathMethods } from '../../applications/fields/proxied-application.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { conflict, notFound } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { dotted, type PageText, Slot, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import { rejectionText } from '../rejections/rule-texts.ts';
import { type AccessCheck, type AccessReport, type Asked, type AttemptsQuery, MAX_ADDRESS } from './access-check.ts';
import type { Check } from './check.ts';
import type { AccessFix } from './fix-offers.ts';

type AccessCheckPageServices = ConsoleServices & { accessCheck: AccessCheck };

const HERE = '/admin/access-check';
const METHODS = Object.fromEntries(pathMethods.map((method) => [method, method]));
const text = z.string().trim().max(1024).default('');
// An application, or the address of a page of a website with the method of the request.
const app = z.string().trim().max(MAX_ADDRESS).default('');
const method = z.enum(pathMethods).catch('GET');
const listIn = listAt(HERE, { user: text, app, request: text }, [''], { method });
const fixForm = z.object({ fix: z.string().min(1).max(200), user: text, app, method, [ASKED]: text });

/** The page /admin/access-check, and its fixes. */
export function accessCheckRoutes(services: AccessCheckPageServices): Router<State, Extras> {
  const { frame, accessCheck } = services;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', ...frame.page(...ACCESS_CHECK_NEEDS), async (ctx) => {
    frame.show(ctx, await checkPage(services, ctx, listIn(ctx)));
  });

  // Which right a fix takes depends on the fix, so it is looked up among those that the actor is offered.
  router.post('/', ...frame.change(...ACCESS_CHECK_NEEDS), async (ctx) => {
    const { fix: id, user, app, method, asked: answered } = await parseForm(ctx, fixForm.loose());
    const [{ account }, asked] = await Promise.all([
      accessCheck.findUser(user, frame.actor(ctx)),
      accessCheck.findAsked(app, method),
    ]);
    if (!account || !asked) throw notFound();
    const subject = subjectOf(account, asked);
    const here = listPath(HERE, { ...subject, user: account.username });
    const { causes } = await accessCheck.diagnose(account, asked, viewerOf(frame, ctx));
    if (causes.some(({ denied }) => denied.includes(id)))
      throw conflict('conflict', {
        message: t('console.access-check.no-right'),
        next: { href: here, label: t('console.access-check.title') },
      });
    const fix = causes.flatMap(({ fixes }) => fixes).find((one) => one.id === id);
    // The cause ended after the page was displayed, such as a lockout: the new check says what is left.
    if (!fix) return frame.redirect(ctx, here, endedText(id, account, asked.application), 'plain');
    const by = frame.actor(ctx);
    const question = fix.gives && !answered && (await questionBefore(fix.gives, account, services.admin, by));
    if (question) {
      const { given, ...list } = listIn(ctx);
      const behind = await checkPage(services, ctx, {
        ...list,
        given: { ...given, user: account.username, app, method },
      });
      const fields = { ...subject, fix: id };
      return frame.show(ctx, askedPage(behind, question, { action: HERE, fields, cancel: here }));
    }
    const page = fixPage(here, fix, subject);
    if (fix.asksFirst && !answered) return frame.show(ctx, page);
    await frame.attempt(
      ctx,
      async () => {
        await fix.apply(by);
        frame.redirect(ctx, here, fix.done);
      },
      () => page,
    );
  });

  return router;
}

/** What a fix is about, in the form of its button. */
type Subject = ReturnType<typeof subjectOf>;

function subjectOf({ id: user }: Account, { application, page }: Asked) {
  return { user, ...(page ? { app: page.address, method: page.method } : { app: application.clientId }) };
}

function viewerOf(frame: Frame, ctx: Context): Parameters<AccessCheck['diagnose']>[2] {
  return { by: frame.actor(ctx), mayOpen: (permission) => frame.may(ctx, permission) };
}

async function checkPage(
  services: AccessCheckPageServices,
  ctx: Context,
  list: ReturnType<typeof listIn>,
): Promise<ConsolePage> {
  const { accessCheck, admin, frame } = services;
  const { user, app, method, request } = list.given;
  const [search, asked] = await Promise.all([
    user ? accessCheck.findUser(user, frame.actor(ctx)) : undefined,
    app ? accessCheck.findAsked(app, method) : undefined,
  ]);
  const { application, page: askedPage } = asked ?? {};
  const account = search?.account;
  const page: ConsolePage = {
    title: t('console.access-check.title'),
    lead: t('console.access-check.lead'),
    actions: [{ label: t('console.access-check.look-up'), icon: 'search', href: '/admin/rejections' }],
    blocks: [],
  };
  const above: Block[] = [
    searchBlock(
      {
        user: typedUserValue(user, search),
        app: askedPage ? { value: app } : await typedApplicationValue(services.names, app, application),
        method: askedPage?.method,
        request,
      },
      { isPrimary: !(account && application) },
    ),
    ...(search && !account ? [unknown(sameNameText(user, search) ?? noUser(user))] : []),
    ...(app && !application ? [unknown(t('console.access-check.no-application', { app }))] : []),
  ];
  // An unknown user or application has no attempts.
  const isKnown = (account || !user) && (application || !app);
  const about = { userId: account?.id, clientId: application?.clientId, requestId: request };
  const attempts = isKnown && (user || app || request) ? [await attemptsBlock(services, about)] : [];
  if (!account || !asked || !application) {
    const isOnlyUser = account && !app && !request;
    const mayList = frame.meets(ctx, within('gatehouse.applications:read'));
    const open = isOnlyUser && mayList ? [await applicationsBlock(services, account, list, frame.actor(ctx))] : [];
    return { ...page, blocks: [...above, ...open, ...attempts] };
  }
  const [diagnosis, preview] = await Promise.all([
    accessCheck.diagnose(account, asked, viewerOf(frame, ctx)),
    admin.users.seenBy(account, frame.actor(ctx)).then((seen) => accessCheck.preview(seen, application)),
  ]);
  const { mayOpen, checks } = diagnosis;
  const title = t('console.access-check.would-receive', { app: application.name });
  const lead = mayOpen ? t('console.access-check.every-scope') : t('console.access-check.every-scope-with-access');
  return {
    ...page,
    above: [...above, resultBlock(diagnosis, account, asked)],
    blocks: [checksBlock(checks)],
    aside: [...previewBlocks(preview, { title, lead }), ...attempts],
    isHalved: true,
  };
}

const noUser = (user: string) => t('console.access-check.no-user', { user });
const unknown = (sentence: PageText): Block => ({ kind: 'text', tone: 'warning', text: sentence });

function searchBlock(
  { user, app, method, request }: { user: NamedField; app: NamedField; method: string | undefined; request: string },
  { isPrimary }: { isPrimary: boolean },
): Block {
  return {
    kind: 'search',
    isPrimary,
    action: HERE,
    button: t('console.access-check.check'),
    fields: [
      { name: 'user', label: t('console.access-check.user'), ...user, suggest: 'users' },
      {
        name: 'app',
        label: t('console.access-check.application'),
        ...app,
        suggest: 'applications',
        placeholder: t('console.access-check.application-or-page'),
      },
      ...(method ? [choiceField('method', t('console.access-check.method'), method, METHODS)] : []),
      ...(request ? [{ name: 'request', label: t('console.access-check.request-id'), value: request }] : []),
    ],
  };
}

/** Each is a whole check. */
const CHECKS_ON_PAGE = 10;

/** Of a person alone: the applications that the access rules open, each with the result of its check and a link to it. */
async function applicationsBlock(
  { accessCheck, admin, pictures }: AccessCheckPageServices,
  account: Account,
  list: ReturnType<typeof listIn>,
  by: Actor,
): Promise<Block> {
  const { open, next } = await admin.people.of(account, { limit: CHECKS_ON_PAGE, after: list.given.after }, by);
  const logos = await pictures.addressesOf(open.map(({ application }) => application.id));
  const reports = await Promise.all(open.map(({ application }) => accessCheck.report(account, { application })));
  const rows = open.map(({ application }, index) => ({ application, report: reports[index] }));
  const who = displayName(account);
  return {
    kind: 'table',
    title: t('console.users.access.title'),
    lead: t('console.access-check.applications-lead', { who }),
    caption: t('console.users.access.caption', { user: who }),
    ...tableOf(rows, [
      [
        t('console.access-check.application'),
        ({ application: { id, clientId, name, metadata } }) => ({
          text: name,
          href: listPath(HERE, { user: account.username, app: clientId }),
          logo: { name, picture: logos.get(id), product: metadata.preset },
        }),
      ],
      [t('console.access-check.result'), ({ report }) => report && verdictCell(report)],
    ]),
    empty: nothingOpen(account),
    pages: list.pages(next),
  };
}

/** With what blocks the sign-in, or what the person does at it. */
function verdictCell({ canSignIn, checks }: AccessReport): Mark {
  const why = checks.filter(({ state }) => state === (canSignIn ? 'later' : 'failed'));
  return {
    text: t('console.access-check.verdict', { result: canSignIn ? 'open' : 'closed' }),
    tone: canSignIn ? 'good' : 'bad',
    small: why.length > 0 ? sentences(why.map(({ explanation }) => explanation)) : undefined,
  };
}

// The recent attempts on the page of the access check: events in sentences, with the reference of a rejected request where one was stored.

const MAX_ITEMS = 12;
const DENIED = { icon: 'circle-x' };

async function attemptsBlock(
  { accessCheck, names }: { accessCheck: AccessCheck; names: Names },
  about: AttemptsQuery,
): Promise<Block> {
  const { events, rejections } = await accessCheck.attempts(about);
  // A rejected request is also an event; the rejection says more.
  const rejected = new Set(rejections.map(({ requestId }) => requestId));
  const others = events.filter(({ requestId, outcome }) => outcome === 'success' || !rejected.has(requestId ?? ''));
  const items = [...(await eventItems(others, names)), ...(await rejectionItems(rejections, names))];
  const { userId, clientId, requestId } = about;
  // In the log the steps of a sign-in, such as the password, belong to the user alone.
  const client = userId ? undefined : clientId;
  return {
    kind: 'events',
    title: t('console.access-check.attempts'),
    caption: t('console.access-check.attempts-caption'),
    items: grouped(items.sort((one, other) => other.at.getTime() - one.at.getTime())).slice(0, MAX_ITEMS),
    empty: t('console.access-check.no-attempts'),
    actions: [
      {
        label: t('console.audit.title'),
        href: listPath('/admin/audit', { user: userId, client, request: requestId }),
      },
    ],
  };
}

/** Equal attempts in a row as one, with their number and the newest of them. */
function grouped(items: readonly EventItem[]): EventItem[] {
  const groups: { item: EventItem; look: string; count: number }[] = [];
  for (const item of items) {
    const look = JSON.stringify([item.sentence, item.place]);
    const last = groups.at(-1);
    if (last?.look === look) last.count += 1;
    else groups.push({ item, look, count: 1 });
  }
  return groups.map(({ item, count }) =>
    count === 1 ? item : { ...item, place: dotted([t('console.audit.times', { count }), item.place]) },
  );
}

async function rejectionItems(rejections: readonly Rejection[], names: Names): Promise<EventItem[]> {
  const [applications, users] = await Promise.all([
    names.applications(rejections.map(({ clientId }) => clientId ?? null)),
    names.users(rejections.map(({ subjectId }) => subjectId ?? null)),
  ]);
  return rejections.map(({ at, code, clientId, endpoint, rules, reason, received, requestId, subjectId }) => ({
    at,
    ...DENIED,
    tone: 'bad' as const,
    sentence: rejectedSentence(
      code,
      subjectId ? userCell(subjectId, users) : null,
      clientId && endpoint !== 'upstream' ? applicationCell(clientId, applications) : null,
    ),
    place: rejectionText({ endpoint, reason, received, rules }),
    details: [
      { label: t('console.audit.reason'), value: { text: reason, code: true } },
      { label: t('console.audit.endpoint'), value: { text: endpoint, code: true } },
      { label: t('console.audit.request-id'), value: { text: requestId, code: true } },
    ],
  }));
}

/** Which of the user and the application of a rejected request are known. */
function known(user: Mark | null, app: Mark | null): 'both' | 'user' | 'application' | 'none' {
  if (user && app) return 'both';
  if (user) return 'user';
  return app ? 'application' : 'none';
}

function rejectedSentence(code: string, user: Mark | null, app: Mark | null): Text {
  return t('console.access-check.rejected', {
    about: known(user, app),
    user: new Slot(user ?? { text: '' }),
    app: new Slot(app ?? { text: '' }),
    code: new Slot({ text: code, href: `/admin/rejections/${code}` }),
  });
}

// The answer of the access check on its page: result with buttons, checks, preview, and the page that asks before a fix.

/** The answer, and a button for each cause. The first button is the primary one. */
function resultBlock(
  { canSignIn, isPublic, checks, causes }: Awaited<ReturnType<AccessCheck['diagnose']>>,
  account: Account,
  asked: Asked,
): Block {
  const subject = subjectOf(account, asked);
  if (isPublic)
    return { kind: 'result', isGood: true, title: resultTitle(account, asked, 'public'), text: '', causes: [] };
  const later = checks.filter(({ state }) => state === 'later').map(({ explanation }) => explanation);
  const [primary] = causes.flatMap(({ check, fixes }) => (check.state === 'failed' ? fixes : []));
  return {
    kind: 'result',
    isGood: canSignIn,
    title: resultTitle(account, asked, canSignIn ? 'open' : 'closed'),
    text: canSignIn ? passedText(later, causes.length > 0) : '',
    causes: causes.map(({ check, fixes, links, note }) => ({
      text: check.explanation,
      note,
      actions: [
        ...fixes.map(
          (fix): Action => ({
            label: fix.label,
            post: HERE,
            fields: { ...subject, fix: fix.id },
            look: fix === primary ? 'primary' : 'secondary',
          }),
        ),
        ...links.map((link): Action => ({ ...link, look: 'secondary' })),
      ],
    })),
  };
}

/** What the page says where nothing blocks. @param later what the person does at the sign-in */
function passedText(later: PageText[], hasWarnings: boolean): PageText {
  if (later.length > 0) return sentences(later);
  return hasWarnings ? t('console.access-check.nothing-blocks') : t('console.access-check.all-passed');
}

function resultTitle(account: Account, { application, page }: Asked, result: 'open' | 'closed' | 'public'): Text {
  const [who, app] = [displayName(account), application.name];
  if (page) return t('console.access-check.page', { who, page: page.address, result });
  return result === 'open'
    ? t('console.access-check.can', { who, app })
    : t('console.access-check.can-not', { who, app });
}

/** What the page says when a fix is sent whose cause has ended since. @param id of the fix */
function endedText(id: string, account: Account, { name }: Application): Text {
  const who = displayName(account);
  switch (id) {
    case 'unlock':
      return t('console.access-check.ended.unlock', { who });
    case 'enable':
      return t('console.access-check.ended.enable', { who });
    case 'enable-application':
      return t('console.access-check.ended.enable-application', { app: name });
    case 'allow-factor':
      return t('console.access-check.ended.allow-factor', { who });
    default:
      return t('console.access-check.ended.other');
  }
}

function checksBlock(checks: readonly Check[]): Block {
  return {
    kind: 'rules',
    title: t('console.access-check.checks'),
    rules: checks.map(({ label, state, explanation }) => ({ label, state, ...(explanation && { explanation }) })),
  };
}

/** One fix on a page of its own: where it asks first, after a fault, and after the sign-in that it needs. */
function fixPage(here: string, { id, label, consequence, asksFirst }: AccessFix, subject: Subject): ConsolePage {
  const sent = { ...subject, fix: id, [ASKED]: 'yes' };
  return {
    title: asksFirst ? t('console.access-check.question', { action: label }) : label,
    back: { href: here, label: t('console.access-check.title') },
    blocks: [
      {
        kind: 'form',
        lead: consequence,
        action: HERE,
        fields: Object.entries(sent).map(([name, value]) => hiddenField(name, value)),
        button: label,
        cancel: here,
      },
    ],
  };
}
