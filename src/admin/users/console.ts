// /admin/users: the list, the pages of one user, and the forms.

import type Router from '@koa/router';
import { z } from 'zod';
import type { AllowedApplication } from '../../account/consents.ts';
import { OWN_DATA_FILE } from '../../account/own-data.ts';
import { pictureForm } from '../../account/profile.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { invalidInput, notFound } from '../../base/http/errors.ts';
import { acceptPictures, parseQuery } from '../../base/http/input.ts';
import { displayName, nameAndUsername } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { textFault } from '../../base/texts/faults.ts';
import { type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { eventTypesByKind } from '../../core/audit/events.ts';
import { bytesOf, isImageData } from '../../core/settings/value-schemas.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import { sendStream } from '../api/router.ts';
import { protocolName } from '../applications/console-parts.ts';
import { isTakeable, PEOPLE_OF } from '../applications/people.ts';
import { addGivePage, addTakePage, GIVE, takeLink, waysCell } from '../applications/tabs/people-tab.ts';
import { activityBlock, eventItems } from '../audit/console-rows.ts';
import type { Action, Block, Cell, ConsolePage, Empty, Mark } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { listAt, tableOf } from '../console/lists.ts';
import { type Names, personLogo } from '../console/names.ts';
import { addPage, addQuestion, listForm, type Params, type Visit } from '../console/pages.ts';
import { missingSentence } from '../console/permission-words.ts';
import type { Sent } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { deliveryCell } from '../mail/states.ts';
import { type PageOfOne, type Pages, pagesOf } from '../noun-pages.ts';
import { applicationsOf, deviceCell, endCell, endQuestion } from '../sessions/console.ts';
import type { SessionView } from '../sessions/sessions.ts';
import { EXPORT, type UserDetails, type UserFactor } from './actions.ts';
import { newNote, userNoun } from './api.ts';
import {
  actionButton,
  leavingNotice,
  type OpenUser,
  oneTimePasswordPages,
  openUser,
  tabPath,
  type UserAction,
  type UserTab,
  userActionPages,
  userActions,
  withoutFactorNotice,
} from './console-actions.ts';
import { bulkPages } from './console-bulk.ts';
import { grantBlocks, grantPages } from './console-grants.ts';
import { CONNECTIONS, directoryTag, ownStatusTag, userListPage } from './console-list.ts';
import { newUserPage } from './console-new.ts';
import { changePart, type OpenPart, partAt, profileBlocks } from './console-profile.ts';

/** All pages below /admin/users. */
export function userRoutes(services: ConsoleServices): Router<State, Extras> {
  const pages = pagesOf(services, userNoun(services.admin.users));
  const { router } = pages;
  // `/new` and `/bulk` first: they would match `/:id`.
  bulkPages(router, services);
  newUserPage(router, services);
  pages.list((visit) => userListPage(services, visit));
  userTabs(pages, services);
  grantPages(router, services);
  addQuestion(
    router,
    services.frame,
    '/:id/sessions/:uid/end',
    endQuestion(services.admin.sessions, (session) => ({
      href: tabPath(session.accountId, 'sessions'),
      label: nameAndUsername(session),
    })),
  );
  accessPages(router, services);
  oneTimePasswordPages(router, services);
  factorPages(router, services);
  appPasswordPages(router, services);
  consentPages(router, services);
  changePages(pages, services);
  userActionPages(router, services);
  return router;
}

// The page of one user: its tabs, each at an address of its own.

const READ = 'gatehouse.users:read' as const;
const RESET = 'gatehouse.users:reset-factors' as const;
const END = 'gatehouse.sessions:end' as const;
const giveQuery = z.object({ application: z.string().trim().max(1024).default('') });
type Blocks = (visit: Visit<OpenUser>, services: ConsoleServices) => Promise<readonly Block[]>;

const blocksOf: Readonly<Record<UserTab, Blocks>> = {
  '': profileTab,
  roles: (visit, services) => grantBlocks(visit, visit.subject.details.account, services),
  access: async (visit, services) => accessBlocks(visit, services),
  security: async (visit, services) => [
    ...wayBackBlocks(visit.subject),
    securityFacts(
      visit.subject.details,
      services.now(),
      await deliveryOf(services, visit.subject.details.account.id, 'password-reset'),
    ),
    await factorBlock(visit, services),
    ...(await appPasswordBlocks(visit, services)),
  ],
  sessions: async (visit, services) => [
    await sessionsBlock(
      services.names,
      await services.admin.sessions.ofUser(visit.subject.details.account.id, visit.by),
      visit.meets(within(END)),
    ),
    ...(await consentBlocks(visit, services)),
    ...(await endedBlocks(visit, services)),
  ],
  // The events of the user, and about the user.
  activity: async ({ ctx, subject: { details } }, services) => [
    await activityBlock(
      services,
      ctx,
      tabPath(details.account.id, 'activity'),
      { partyId: details.account.id },
      {
        title: t('console.users.activity.title'),
        caption: (values) => t('console.users.activity.caption', values),
        empty: t('console.users.activity.none'),
      },
    ),
  ],
};

/** The routes of every tab, below /admin/users/:id. */
function userTabs(pages: Pages<UserDetails>, services: ConsoleServices): void {
  const { router } = pages;
  for (const tab of Object.keys(blocksOf) as UserTab[])
    addPage(router, services.frame, tab === '' ? '/:id' : `/:id/${tab}`, {
      needs: [within(READ)],
      load: (ctx) => openUser(ctx, services),
      async page(visit) {
        const isOpen = isOpenTab(visit.subject, tab);
        const denied: Block = { kind: 'text', text: t('console.users.tab.no-permission') };
        const blocks = isOpen ? await blocksOf[tab](visit, services) : [denied];
        const page = userTabPage(pages, { ...visit, subject: await withoutEnds(visit, tab, services) }, tab, blocks);
        if (tab !== '') return page;
        const { account } = visit.subject.details;
        const isLeaving = !account.isEnabled || account.activeUntil !== null || account.deleteAt !== null;
        const above = isLeaving ? await leavingNotice(account, visit.by, services.admin.users) : [];
        return { ...page, blocks: [...above, ...page.blocks], aside: await noteBlocks(visit, services) };
      },
    });
  const { frame, admin } = services;
  router.post('/:id/export', ...frame.change(...EXPORT.map((one) => within(one))), async (ctx) => {
    const { id = '' } = (ctx as { params?: Record<string, string> }).params ?? {};
    sendStream(ctx, { stream: await admin.users.export(id, frame.actor(ctx)), ...OWN_DATA_FILE });
  });
  addPage(router, services.frame, '/:id/notes', {
    needs: [within(WRITE)],
    load: (ctx) => openUser(ctx, services),
    form: z.object(newNote.shape),
    async page(visit, given) {
      const page = userTabPage(pages, visit, '', await blocksOf[''](visit, services));
      return { ...page, aside: await noteBlocks(visit, services, given?.text) };
    },
    async submit({ by, subject: { path, details } }, { text }) {
      await services.admin.users.addNote(details.account.id, text, by);
      return { to: path, notice: t('console.users.notes.added') };
    },
  });
  addPage(router, services.frame, '/:id/notes/:note/delete', {
    needs: [within(WRITE)],
    async submit({ ctx, by }) {
      const { id = '', note = '' } = ctx.params;
      await services.admin.users.removeNote(id, note, by);
      return { to: tabPath(id, ''), notice: t('console.users.notes.deleted') };
    },
  });
}

/** The tab with the facts; `open`: the form that is open. */
async function profileTab(visit: Visit<OpenUser>, services: ConsoleServices, open?: OpenPart): Promise<Block[]> {
  const delivery = await deliveryOf(services, visit.subject.details.account.id, 'invitation');
  return profileBlocks(visit, services, { open, delivery });
}

/** Below the tab with the facts: the forms that change them. */
function changePages(pages: Pages<UserDetails>, services: ConsoleServices): void {
  const { router } = pages;
  const {
    frame,
    admin: { users },
  } = services;
  const page = async (changed: Visit<Account>, open: OpenPart) => {
    const visit = { ...changed, subject: await openUser(changed.ctx, services) };
    return {
      ...userTabPage(pages, visit, '', await profileTab(visit, services, open)),
      aside: await noteBlocks(visit, services),
    };
  };
  const change = {
    needs: [within(READ), within(WRITE)],
    load: ({ params: { id = '' } }: Params, by: Actor) => users.find(id, by, WRITE),
    async assertOpen({ by, subject: account }: Visit<Account>) {
      if (account.source === 'file') throw ownedUser(account);
      await users.assertMayChange(account, by, WRITE);
    },
  };
  const saved = ({ id }: Account) => ({ to: tabPath(id, ''), notice: t('console.users.form.saved') });

  addPage<Account, Sent>(router, frame, '/:id/change/:part', {
    ...change,
    isReturning: true,
    form: listForm,
    page: (visit, sent) => page(visit, { part: partAt(visit.ctx.params), sent }),
    async submit(visit, sent) {
      await changePart(visit, services, sent);
      return saved(visit.subject);
    },
  });
  addPage(router, frame, '/:id/picture', {
    ...change,
    accepts: acceptPictures(imageLimits.requestBytes),
    form: pictureForm,
    page: (visit) => page(visit, { part: 'picture' }),
    async submit({ by, subject }, { picture }) {
      if (!isImageData(picture)) throw invalidInput([textFault(['picture'], t('picture.kind'))]);
      await users.setPicture(subject.id, bytesOf(picture), by);
      return saved(subject);
    },
  });
  addPage(router, frame, '/:id/picture/remove', {
    ...change,
    async submit({ by, subject }) {
      await users.update(subject.id, { picture: null }, by);
      return saved(subject);
    },
  });
}

/** On the tab of the sessions, nobody ends those of a person who is signed in nowhere. */
async function withoutEnds(
  { subject, by }: Visit<OpenUser>,
  tab: UserTab,
  { admin }: ConsoleServices,
): Promise<OpenUser> {
  const isSignedIn =
    tab !== 'sessions' || !isOpenTab(subject, tab) || (await admin.sessions.isSignedIn(subject.details.account.id, by));
  return isSignedIn ? subject : { ...subject, offered: subject.offered.filter(({ path }) => path !== 'end-sessions') };
}

/** The notes of administrators about the user, and a form for another. */
async function noteBlocks(
  { by, subject: { details, path, mayWrite } }: Visit<OpenUser>,
  { admin: { users } }: ConsoleServices,
  typed = '',
): Promise<Block[]> {
  const notes = await users.notesOf(details.account.id, by);
  return present([
    {
      kind: 'table',
      title: t('console.users.notes'),
      lead: t('console.users.notes.lead'),
      ...tableOf(notes, [
        [
          t('console.users.notes.note'),
          ({ text, author, createdAt }) => [{ text, small: author ? nameAndUsername(author) : '' }, createdAt],
        ],
        mayWrite && [
          t('console.shared.action'),
          ({ id, text }) => ({
            label: t('console.users.notes.delete'),
            of: text.slice(0, 40),
            post: `${path}/notes/${id}/delete`,
          }),
        ],
      ]),
      empty: t('console.users.notes.none'),
    },
    mayWrite && {
      kind: 'form',
      action: `${path}/notes`,
      look: 'secondary',
      fields: [{ name: 'text', label: t('console.users.notes.text'), type: 'textarea', rows: 3, value: typed }],
      button: t('console.users.notes.add'),
    },
  ]);
}

/** What became of the last email of this kind. */
async function deliveryOf(
  { admin: { mail } }: ConsoleServices,
  userId: string,
  kind: 'invitation' | 'password-reset',
): Promise<Cell | undefined> {
  const last = await mail.lastTo(userId, kind);
  return last && deliveryCell(last);
}

/** The second factors one by one, each with its removal for who may do it. */
async function factorBlock(
  { by, subject: { details, path, may } }: Visit<OpenUser>,
  { admin: { users } }: ConsoleServices,
): Promise<Block> {
  const { account } = details;
  const mayRemove = may(RESET) && (await users.mayChange(account.id, by, [RESET]));
  return {
    kind: 'table',
    title: t('console.users.factors'),
    lead: t('console.users.factor.lead'),
    caption: t('console.users.factor.caption', { user: displayName(account) }),
    ...tableOf(await users.factorsOf(account.id, by), [
      [t('console.users.factor.method'), factorCell],
      [{ label: t('console.users.factor.added'), isShort: true }, ({ addedAt }) => addedAt],
      [{ label: t('console.sessions.column.last-used'), isShort: true }, ({ lastUsedAt }) => lastUsedAt],
      mayRemove && [
        t('console.shared.action'),
        (factor) =>
          factor.kind === 'email'
            ? null
            : {
                label: t('console.shared.remove'),
                of: factor.name ?? factorNames[factor.kind],
                href: `${path}/factors/${encodeURIComponent(factor.id)}/remove`,
              },
      ],
    ]),
    empty: t('console.users.factors.none'),
  };
}

const factorNames: Readonly<Record<UserFactor['kind'], Text>> = {
  passkey: t('console.users.factor.passkey'),
  totp: t('console.users.factor.app'),
  phone: t('console.users.factor.sms'),
  'recovery-codes': t('console.users.factor.recovery-codes'),
  email: t('console.users.factor.email'),
};

/** A passkey by its name, other factors by their kind. */
function factorCell({ kind, name, left }: UserFactor): Mark {
  const label = factorNames[kind];
  if (kind === 'passkey' && name !== null) return { text: name, small: label };
  const small = left === undefined ? name : t('console.users.factor.left', { count: left });
  return { text: label, ...(small !== null && { small }) };
}

/** Below the tab with the factors: the page that removes one. */
function factorPages(router: Router<State, Extras>, { frame, admin: { users } }: ConsoleServices): void {
  addQuestion(router, frame, '/:id/factors/:factor/remove', {
    needs: [within(RESET)],
    async load({ params: { id = '', factor: key = '' } }, by) {
      const account = await users.find(id, by, RESET);
      const factor = (await users.factorsOf(id, by, RESET)).find((one) => one.id === key && one.kind !== 'email');
      if (!factor) throw notFound({ detail: { factor: key } });
      return { account, factor };
    },
    assertOpen: ({ by, subject: { account } }) => users.assertMayChange(account, by, RESET),
    title: ({ account }) => t('console.users.factor.remove.question', { user: displayName(account) }),
    back: ({ account }) => ({ href: tabPath(account.id, 'security'), label: displayName(account) }),
    above: ({ subject: { factor } }) => [
      {
        kind: 'facts',
        rows: [
          { label: t('console.users.factor.method'), value: factorCell(factor) },
          { label: t('console.users.factor.added'), value: factor.addedAt },
          { label: t('console.sessions.column.last-used'), value: factor.lastUsedAt },
        ],
      },
    ],
    lead: async ({ by, subject: { account, factor } }) => {
      const { password, factors } = await users.get(account.id, by);
      const isLastWay = !password && factor.kind === 'passkey' && factors.passkeys === 1;
      return sentences([
        t('console.users.factor.remove.consequence'),
        isLastWay && t('console.user-action.reset-factors.no-password'),
      ]);
    },
    button: t('console.shared.remove'),
    async submit({ by, subject: { account, factor } }) {
      await users.removeFactor(account.id, factor.id, by);
      const notice = await withoutFactorNotice(users, account.id, by, t('console.users.factor.remove.done'));
      return { to: tabPath(account.id, 'security'), notice };
    },
  });
}

/** The app passwords of a user who has some, each with its revocation for who may do it. */
async function appPasswordBlocks(
  { by, subject: { details, path, may } }: Visit<OpenUser>,
  { admin: { users } }: ConsoleServices,
): Promise<readonly Block[]> {
  const { account } = details;
  const passwords = await users.appPasswordsOf(account.id, by);
  if (passwords.length === 0) return [];
  const mayRevoke = may(RESET) && (await users.mayChange(account.id, by, [RESET]));
  return [
    {
      kind: 'table',
      title: t('console.users.app-passwords'),
      lead: t('console.users.app-passwords.lead'),
      caption: t('console.users.app-passwords.caption', { user: displayName(account) }),
      ...tableOf(passwords, [
        [t('console.users.app-passwords.name'), ({ name, website }) => ({ text: name, small: website })],
        [{ label: t('console.users.factor.added'), isShort: true }, ({ createdAt }) => createdAt],
        [{ label: t('console.sessions.column.last-used'), isShort: true }, ({ lastUsedAt }) => lastUsedAt],
        mayRevoke && [
          t('console.shared.action'),
          ({ id, name }) => ({
            label: t('console.users.app-passwords.revoke'),
            of: name,
            href: `${path}/app-passwords/${encodeURIComponent(id)}/revoke`,
          }),
        ],
      ]),
    },
  ];
}

/** Below the same tab: the page that revokes one. */
function appPasswordPages(router: Router<State, Extras>, { frame, admin: { users } }: ConsoleServices): void {
  addQuestion(router, frame, '/:id/app-passwords/:password/revoke', {
    needs: [within(RESET)],
    async load({ params: { id = '', password: key = '' } }, by) {
      const account = await users.find(id, by, RESET);
      const password = (await users.appPasswordsOf(id, by, RESET)).find((one) => one.id === key);
      if (!password) throw notFound({ detail: { password: key } });
      return { account, password };
    },
    assertOpen: ({ by, subject: { account } }) => users.assertMayChange(account, by, RESET),
    title: ({ account }) => t('console.users.app-passwords.revoke.question', { user: displayName(account) }),
    back: ({ account }) => ({ href: tabPath(account.id, 'security'), label: displayName(account) }),
    above: ({ subject: { password } }) => [
      {
        kind: 'facts',
        rows: [
          { label: t('console.users.app-passwords.name'), value: password.name },
          {
            label: t('console.users.app-passwords.website'),
            value: { text: password.website, small: password.origin },
          },
          { label: t('console.sessions.column.last-used'), value: password.lastUsedAt },
        ],
      },
    ],
    lead: () => t('console.users.app-passwords.revoke.consequence'),
    button: t('console.users.app-passwords.revoke'),
    async submit({ by, subject: { account, password } }) {
      await users.revokeAppPassword(account.id, password.id, by);
      return { to: tabPath(account.id, 'security'), notice: t('console.users.app-passwords.revoke.done') };
    },
  });
}

/** The applications and agents with access to the account, each with the end of it for who may do it. */
async function consentBlocks(
  { by, meets, subject: { details, path } }: Visit<OpenUser>,
  { admin: { users } }: ConsoleServices,
): Promise<readonly Block[]> {
  const { account } = details;
  const all = await users.consentsOf(account.id, by);
  if (all.length === 0) return [];
  return [
    {
      kind: 'table',
      title: t('console.users.consents'),
      lead: t('console.users.consents.lead'),
      caption: t('console.users.consents.caption', { user: displayName(account) }),
      ...tableOf(all, [
        [t('console.users.access.application'), consentCells],
        [
          t('console.navigation.apis'),
          ({ granted }) =>
            Object.entries(granted.resources).map(([api, scopes]) => ({ text: api, small: scopes.join(' ') })),
        ],
        [{ label: t('console.users.sessions.since'), isShort: true }, ({ grantedAt }) => grantedAt],
        [{ label: t('console.sessions.column.last-used'), isShort: true }, ({ lastUsedAt }) => lastUsedAt],
        meets(within(END)) && [
          t('console.shared.action'),
          ({ applicationId, applicationName }) => ({
            label: t('console.users.consents.remove'),
            of: applicationName,
            href: `${path}/consents/${encodeURIComponent(applicationId)}/remove`,
          }),
        ],
      ]),
    },
  ];
}

const consentCells = ({ applicationId, applicationName, clientId, goesTo }: AllowedApplication): Cell[] =>
  present([
    { text: applicationName, small: clientId, href: `/admin/applications/${applicationId}` },
    goesTo !== undefined &&
      (goesTo === 'this-computer' ? t('console.users.consents.program') : t('consents.goes-to', goesTo)),
  ]);

/** Below the same tab: the page that ends the access of one. */
function consentPages(router: Router<State, Extras>, { frame, admin: { users } }: ConsoleServices): void {
  addQuestion(router, frame, '/:id/consents/:application/remove', {
    needs: [within(READ), within(END)],
    async load({ params: { id = '', application = '' } }, by) {
      const account = await users.find(id, by, READ);
      const consent = (await users.consentsOf(id, by, END)).find((one) => one.applicationId === application);
      if (!consent) throw notFound({ detail: { application } });
      return { account, consent };
    },
    title: ({ account, consent }) =>
      t('console.users.consents.remove.question', { app: consent.applicationName, user: displayName(account) }),
    back: ({ account }) => ({ href: tabPath(account.id, 'sessions'), label: displayName(account) }),
    lead: () => t('console.users.consents.remove.consequence'),
    button: t('console.users.consents.remove'),
    async submit({ by, subject: { account, consent } }) {
      await users.removeConsent(account.id, consent.applicationId, by);
      return { to: tabPath(account.id, 'sessions'), notice: t('console.users.consents.remove.done') };
    },
  });
}

async function sessionsBlock(names: Names, live: readonly SessionView[], mayEnd: boolean): Promise<Block> {
  return {
    kind: 'table',
    caption: t('console.users.sessions.caption'),
    ...tableOf(live, [
      [t('console.users.sessions.browser'), deviceCell],
      [t('console.person.applications'), await applicationsOf(live, names)],
      [{ label: t('console.users.sessions.since'), isShort: true }, ({ signedInAt }) => signedInAt],
      [{ label: t('console.sessions.column.last-used'), isShort: true }, ({ device }) => device?.lastSeenAt],
      mayEnd && [
        t('console.shared.action'),
        (one) => endCell(one, `${tabPath(one.accountId, 'sessions')}/${one.uid}/end`),
      ],
    ]),
    empty: t('console.users.sessions.none'),
  };
}

const ENDED = 10;

/** The last sessions of the user that ended, and which applications were notified, for who may read the activity log. */
async function endedBlocks(
  { by, subject: { details, may } }: Visit<OpenUser>,
  { admin: { audit }, names }: ConsoleServices,
): Promise<Block[]> {
  if (!may('gatehouse.audit:read')) return [];
  const { id, username } = details.account;
  const about = { subjectId: id, types: [...eventTypesByKind.session] };
  const found = await audit.list({ ...about, limit: ENDED }, by);
  // As after a first password.
  const events = found.filter(({ type, data }) => type !== 'sessions.ended-all' || data.count !== 0);
  if (events.length === 0) return [];
  const all = `/admin/audit?${new URLSearchParams({ kind: 'session', user: username })}`;
  const title = t('console.users.sessions.ended');
  const actions = [{ label: t('console.audit.title'), href: all }];
  return [{ kind: 'events', title, actions, items: await eventItems(events, names) }];
}

/** What the user can open and why, and a form for more. */
async function accessBlocks(
  { ctx, by, meets, subject: { details } }: Visit<OpenUser>,
  { admin: { people }, names, pictures }: ConsoleServices,
): Promise<Block[]> {
  const { account } = details;
  const mayGive = meets(GIVE);
  const path = tabPath(account.id, 'access');
  const list = listAt(path, {})(ctx);
  const { after } = list.given;
  const { open, next } = await people.of(account, { limit: limits.api.pageSize, after }, by);
  const takeables = mayGive ? await people.takeables(open) : [];
  const connections = await names.connections(
    open.flatMap(({ ways }) => ways.map(({ connection }) => connection ?? null)),
  );
  const logos = await pictures.addressesOf(open.map(({ application }) => application.id));
  const give: Block = {
    kind: 'search',
    title: t('console.people.give'),
    action: `${path}/give`,
    fields: [{ name: 'application', label: t('console.users.access.application'), suggest: 'applications' }],
    button: t('console.users.continue'),
  };
  const table: Block = {
    kind: 'table',
    title: t('console.users.access.title'),
    lead: t('console.users.access.lead'),
    caption: t('console.users.access.caption', { user: displayName(account) }),
    actions: [{ label: t('console.people.export'), icon: 'download', href: `${path}/export` }],
    ...tableOf(open, [
      [
        t('console.users.access.application'),
        ({ application: { id, name, metadata } }) => ({
          text: name,
          href: `/admin/applications/${id}`,
          logo: { name, picture: logos.get(id), product: metadata.preset },
        }),
      ],
      [
        { label: t('console.users.access.protocol'), isShort: true, isMinor: true },
        ({ application }) => protocolName[application.protocol],
      ],
      [t('console.users.access.why'), ({ ways }) => waysCell(ways, connections)],
      takeables.some(isTakeable) && [
        t('console.shared.action'),
        (one) => takeLink(takeables[open.indexOf(one)], `${path}/${one.application.id}/remove`, one.application.name),
      ],
    ]),
    empty: nothingOpen(account),
    pages: list.pages(next),
  };
  return mayGive && account.isActive ? [give, table] : [table];
}

/** Below the tab with the applications: the pages that give and take access to one. */
function accessPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame, admin } = services;
  router.get('/:id/access/export', ...frame.page(...PEOPLE_OF), async (ctx) => {
    const by = frame.actor(ctx);
    const account = await admin.users.find(ctx.params.id ?? '', by, 'gatehouse.users:read');
    sendStream(ctx, admin.people.exportOf(account, by));
  });
  addPage(router, frame, '/:id/access/give', {
    needs: [...PEOPLE_OF, GIVE],
    async load(ctx, by) {
      const account = await admin.users.find(ctx.params.id ?? '', by, 'gatehouse.users:read');
      const { application: text } = parseQuery(ctx, giveQuery);
      return { account, application: await admin.people.named(text, by) };
    },
    elsewhere: ({ subject: { account, application } }) =>
      application
        ? { to: `${tabPath(account.id, 'access')}/${application.id}/give` }
        : { to: tabPath(account.id, 'access'), notice: t('console.people.no-application'), tone: 'warn' },
    page: () => ({ title: t('console.people.give'), blocks: [] }),
  });
  const back = (account: Account) => ({ href: tabPath(account.id, 'access'), label: displayName(account) });
  addGivePage(router, services, '/:id/access/:application/give', back);
  addTakePage(router, services, '/:id/access/:application/remove', {
    ids: ({ id = '', application = '' }) => ({ applicationId: application, userId: id }),
    back: ({ account }) => back(account),
  });
}

/** Where the person can open no application. */
export function nothingOpen(account: Account): Empty {
  return {
    icon: 'layout-grid',
    title: t('console.users.access.none'),
    text: account.isActive
      ? t('console.users.access.none-text', { user: displayName(account) })
      : t('console.users.access.disabled', { user: displayName(account) }),
  };
}

// What is known about a user: the profile, and how the user signs in.

type Facts = Extract<Block, { kind: 'facts' }>;

/** Of a person who has no way to sign in: what lets them in again. */
function wayBackBlocks({ details: { account, hasCredentials }, offered, path, mayWrite }: OpenUser): Block[] {
  if (hasCredentials) return [];
  const invite = offered.find((one) => one.path === 'invite');
  const rows = present([
    invite && { text: t('console.users.way-back.invite'), action: actionButton(path, invite) },
    mayWrite && {
      text: t('console.users.way-back.password'),
      action: { label: t('console.users.temporary'), href: `${path}/password` },
    },
  ]);
  return rows.length > 0
    ? [{ kind: 'tasks', title: t('console.users.way-back', { user: displayName(account) }), rows }]
    : [];
}

/** @param passwordReset what became of the last email with a link for a new password */
function securityFacts(
  { password, factors, firstEnrolment }: UserDetails,
  now: Date,
  passwordReset: Cell | undefined,
): Facts {
  const { allowedUntil } = firstEnrolment;
  const hasFactor = factors.totp || factors.passkeys > 0 || factors.phone !== undefined;
  const isAllowed = password && !hasFactor && allowedUntil && allowedUntil > now;
  const needsApproval: Cell = { text: t('console.users.factors.needs-approval'), tone: 'warn' };
  return {
    kind: 'facts',
    rows: present([
      {
        label: password?.mustChange === false ? t('console.users.password.changed') : t('console.users.password'),
        value: password
          ? password.mustChange
            ? t('console.users.password.must-change')
            : password.changedAt
          : t('console.users.password.not-set'),
      },
      ...(passwordReset ? [{ label: t('console.mail.template.password-reset'), value: passwordReset }] : []),
      firstEnrolment.requestedAt && { label: t('console.users.factors.setup'), value: needsApproval },
      isAllowed && {
        label: t('console.users.factors.setup'),
        value: t('console.users.factors.allowed', { until: allowedUntil }),
      },
    ]),
  };
}

// The frame of a user's tabs: name and state, the tabs that the administrator may open, and what the administrator may do.

const WRITE = 'gatehouse.users:write' as const;
/** Of the first second factor. */
const NEEDS_APPROVAL = { text: t('console.users.factors.needs-approval'), tone: 'warn' as const };

/** The last part of its address, its label, and whether the administrator may open it. */
const tabs: Readonly<Record<UserTab, { label: Text; isOpen(user: OpenUser): boolean }>> = {
  '': { label: t('console.users.tab.profile'), isOpen: () => true },
  roles: { label: t('console.users.tab.roles'), isOpen: () => true },
  access: { label: t('console.users.tab.access'), isOpen: ({ mayReadApplications }) => mayReadApplications },
  security: { label: t('console.users.tab.security'), isOpen: () => true },
  sessions: { label: t('console.navigation.sessions'), isOpen: ({ may }) => may('gatehouse.sessions:read') },
  activity: { label: t('console.users.activity'), isOpen: ({ may }) => may('gatehouse.audit:read') },
};

/** A page of the user, on one of the tabs. */
function userTabPage(
  { pageOf }: Pages<UserDetails>,
  visit: Visit<OpenUser>,
  tab: UserTab,
  blocks: readonly Block[],
): ConsolePage {
  const { subject: user } = visit;
  const { details, path, obstacle } = user;
  const { account, firstEnrolment } = details;
  const { danger, harmless } = actionBlocks(user, tab);
  const isViewOnly = harmless.length + danger.length === 0 && !obstacle && account.source !== 'file';
  const page: PageOfOne = {
    ...(displayName(account) !== account.username && { lead: account.username }),
    logo: personLogo(account),
    tags: present([
      ownStatusTag(details),
      firstEnrolment.requestedAt && NEEDS_APPROVAL,
      ...directoryTag(details.directory, user.may(CONNECTIONS)),
    ]),
    actions: present([
      user.mayCheckAccess && {
        label: t('console.navigation.access-check'),
        href: `/admin/access-check?${new URLSearchParams({ user: account.username })}`,
      },
      EXPORT.every((permission) => user.may(permission)) &&
        user.mayWrite && { label: t('console.user-action.export'), post: `${path}/export` },
    ]),
    tabs: (Object.keys(tabs) as UserTab[])
      .filter((one) => tabs[one].isOpen(user))
      .map((one) => ({ href: tabPath(account.id, one), label: tabs[one].label, isCurrent: one === tab })),
    blocks: present([
      ...(tab === '' ? directoryNotice(user) : []),
      obstacle !== undefined && { kind: 'text', tone: 'notice', text: obstacle },
      ...blocks,
      ...harmless,
      ...danger,
      ...(isViewOnly ? viewOnly(tab) : []),
    ]),
  };
  return pageOf({ ...visit, subject: details }, page);
}

/** What the directory of the account manages, or when the account that it deleted is deleted for good. */
function directoryNotice({ details: { directory }, may }: OpenUser): Block[] {
  if (!directory) return [];
  const { id, name, deletedAt, isRemoved } = directory;
  const key = isRemoved ? 'console.users.directory-removed' : 'console.users.directory-deleted';
  const text = deletedAt
    ? t(key, { name, at: deletedAt, until: keptUntil(deletedAt) })
    : t('console.users.directory-manages', { name });
  const link = !isRemoved &&
    may(CONNECTIONS) && { label: t('console.users.directory-open', { name }), href: `/admin/scim/${id}` };
  return [{ kind: 'text', tone: 'notice', text, ...(link && { link }) }];
}

const DAY_MS = 24 * 3600 * 1000;
const keptUntil = (deletedAt: Date) => new Date(deletedAt.getTime() + limits.scim.keepDeletedDays * DAY_MS);

/** Why a tab with actions offers none: which permissions would. */
function viewOnly(tab: UserTab): Block[] {
  if (tab !== 'security') return [];
  const needs = [...new Set(userActions.flatMap((one) => (one.tab === tab ? one.needs : [])))];
  const text = sentences([t('console.users.view-only'), missingSentence([within(...needs)])]);
  return [{ kind: 'text', tone: 'small', text }];
}

/** A tab that the administrator may not open says so. */
function isOpenTab(user: OpenUser, tab: UserTab): boolean {
  return tabs[tab].isOpen(user);
}

/** What can be done on this tab: buttons at once, and what has a consequence in the danger zone. No block when there is nothing. */
function actionBlocks(
  { details, path, offered, mayWrite }: OpenUser,
  tab: UserTab,
): { harmless: Block[]; danger: Block[] } {
  const here = offered.filter((one) => one.tab === tab && !one.isBeside);
  const isDangerous = ({ consequence, isHarmless }: UserAction) => consequence !== undefined && !isHarmless;
  const items: Action[] = present([
    // Without a way to sign in, it stands above.
    mayWrite &&
      tab === 'security' &&
      details.hasCredentials && { label: t('console.users.temporary'), href: `${path}/password` },
    ...here.filter((one) => !isDangerous(one)).map((one) => actionButton(path, one)),
  ]);
  const rows = here
    .filter(isDangerous)
    .map((one) => ({ text: one.consequence as PageText, action: actionButton(path, one) }));
  return {
    harmless: items.length > 0 ? [{ kind: 'actions', title: t('console.users.actions'), items }] : [],
    danger: rows.length > 0 ? [dangerZone(rows)] : [],
  };
}
