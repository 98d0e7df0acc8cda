// The page of one application: its tabs, each at an address of its own.

import { z } from 'zod';
import { usesSecret } from '../../../applications/fields/oidc-client.ts';
import type { Context } from '../../../base/http/context.ts';
import { parseQuery } from '../../../base/http/input.ts';
import { sentences, t } from '../../../base/texts/text.ts';
import { visibleTo } from '../../audit/api.ts';
import { eventPageQuery, orderLink, readEventPage } from '../../audit/event-page.ts';
import type { Block } from '../../console/blocks.ts';
import type { Visit } from '../../console/pages.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { Pages } from '../../resource.ts';
import { sameNameText, typedUserValue } from '../../suggestions/typed-user.ts';
import type { ApplicationDetails } from '../actions.ts';
import { previewBlocks } from '../preview.ts';
import { addFormTabs } from './form-tabs.ts';
import { overviewPage } from './overview-tab.ts';
import { setupInstructionBlocks } from './setup-guide.ts';
import { homePageOf, type OpenApplication, openApplication, tabPage } from './tab-page.ts';

const previewQuery = z.object({ user: z.string().trim().max(320).default('') });
const activityQuery = z.object(eventPageQuery);

/** The pages of every tab, below /admin/applications/:id. */
export function addTabs(pages: Pages<ApplicationDetails>, services: ConsoleServices): void {
  const { identityProvider } = services;
  pages.one('', {
    page: async (visit) => overviewPage(visit.ctx, await openApplication(visit, services), services),
  });
  pages.one('/setup', {
    async page(visit) {
      const open = await openApplication(visit, services);
      const { application } = open;
      const firstSignIn = await services.usage.firstSignIn(application);
      const guide = setupInstructionBlocks(application, { ...identityProvider(), clientId: application.clientId });
      return tabPage(open, 'setup', { blocks: [guideSteps(open, firstSignIn), ...guide] }, services);
    },
  });
  addFormTabs(pages, services, { claims: ({ ctx }, open) => previewAside(ctx, open, services) });
  pages.one('/activity', {
    async page(visit) {
      const open = await openApplication(visit, services);
      return tabPage(open, 'activity', { blocks: [await activityBlock(visit, open, services)] }, services);
    },
  });
}

/** What to do in which order; the last step waits for the first sign-in. */
function guideSteps({ application, path, mayWrite }: OpenApplication, firstSignIn: Date | undefined): Block {
  const { name, protocol, metadata } = application;
  const isDone = firstSignIn !== undefined;
  const hasSecret = protocol === 'oidc' && usesSecret(metadata);
  const secret = { label: t('console.tabs.guide.new-secret'), href: `${path}/secret` };
  const home = homePageOf(application);
  return {
    kind: 'steps',
    title: t('console.tabs.guide.title', { name }),
    steps: [
      { title: t('console.tabs.guide.add', { name }), text: '', isDone: true, doneAt: application.createdAt },
      {
        title: t('console.tabs.guide.configure', { name }),
        text: sentences([
          t('console.tabs.guide.copy-values'),
          ...(hasSecret ? [t('console.tabs.guide.secret-not-stored')] : []),
        ]),
        isDone,
        ...(hasSecret && mayWrite && { action: secret }),
      },
      {
        title: t('console.tabs.guide.sign-in'),
        text: t('console.tabs.guide.sign-in-text'),
        isDone,
        ...(firstSignIn && { doneAt: firstSignIn }),
        ...(home && { action: { label: t('console.tabs.guide.open', { name }), href: home } }),
      },
    ],
  };
}

async function activityBlock(
  { ctx, by }: Visit<ApplicationDetails>,
  open: OpenApplication,
  services: ConsoleServices,
): Promise<Block> {
  if (!open.mayReadActivity) return { kind: 'text', text: t('console.tabs.activity.no-permission') };
  const given = parseQuery(ctx, activityQuery);
  const { clientId, name } = open.application;
  const list = { path: `${open.path}/activity`, filters: {} };
  const filter = { clientId, ...(await visibleTo(services.admin.authority, by)) };
  const { items, pages } = await readEventPage(services, filter, given, list);
  const order = given.sort === 'at' ? 'oldest' : 'newest';
  return {
    kind: 'events',
    caption: t('console.tabs.activity.caption', { order }),
    title: t('console.tabs.activity.title'),
    actions: items.length > 1 ? [orderLink(given, list)] : [],
    items,
    empty: {
      icon: 'scroll-text',
      title: t('console.tabs.activity.empty'),
      text: t('console.tabs.activity.empty-text', { name }),
      action: { label: t('console.tabs.setup'), href: `${open.path}/setup` },
    },
    pages,
  };
}

/** What the application would receive about a person, for an administrator who may read users. */
async function previewAside(
  ctx: Context,
  { application, path }: OpenApplication,
  { frame, findUser, preview }: ConsoleServices,
): Promise<Block[]> {
  if (!frame.may(ctx, 'gatehouse.users:read')) return [];
  const { user } = parseQuery(ctx, previewQuery);
  const found = user ? await findUser(user, frame.actor(ctx)) : undefined;
  const account = found ? found.account : frame.account(ctx);
  const named = typedUserValue(user, account && { account, sameName: [] });
  const search: Block = {
    kind: 'search',
    title: t('console.tabs.preview.title'),
    action: `${path}/claims`,
    fields: [{ name: 'user', label: t('console.tabs.preview.user'), suggest: 'users', ...named }],
    button: t('console.tabs.preview.title'),
  };
  if (!account) {
    const unknown = t('console.tabs.preview.unknown-user', { user });
    return [search, { kind: 'text', tone: 'warning', text: (found && sameNameText(user, found)) ?? unknown }];
  }
  const text = application.enabled
    ? t('console.tabs.preview.as-saved', { protocol: application.protocol })
    : t('console.tabs.preview.disabled');
  return [search, ...previewBlocks(await preview(account, application)), { kind: 'text', tone: 'small', text }];
}
