// The page of one application: its tabs, each at an address of its own.
import type Router from '@koa/router';
import { z } from 'zod';
import { usesSecret } from '../../../applications/fields/oidc-client.ts';
import type { Context, Extras, State } from '../../../base/http/context.ts';
import { parseQuery } from '../../../base/http/input.ts';
import { sentences, t } from '../../../base/texts/text.ts';
import { within } from '../../../people/rbac/rights.ts';
import { visibleTo } from '../../audit/api.ts';
import { eventPageQuery, orderLink, readEventPage } from '../../audit/event-page.ts';
import type { Block } from '../../console/blocks.ts';
import { sameNameText, typedUserValue } from '../../suggestions/typed-user.ts';
import type { ApplicationPagesDependencies } from '../console-parts.ts';
import { previewBlocks } from '../preview.ts';
import { addFormTabs } from './form-tabs.ts';
import { overviewPage } from './overview-tab.ts';
import { setupInstructionBlocks } from './setup-guide.ts';
import { homePageOf, type OpenApplication, openApplication, READ, tabPage } from './tab-page.ts';

const previewQuery = z.object({ user: z.string().trim().max(320).default('') });
const activityQuery = z.object(eventPageQuery);

/** The routes of every tab, below /admin/applications/:id. */
export function addTabs(router: Router<State, Extras>, dependencies: ApplicationPagesDependencies): void {
  const { frame, identityProvider } = dependencies;

  router.get('/:id', ...frame.page(within(READ)), async (ctx) =>
    frame.show(ctx, await overviewPage(ctx, await openApplication(ctx, dependencies), dependencies)),
  );

  router.get('/:id/setup', ...frame.page(within(READ)), async (ctx) => {
    const open = await openApplication(ctx, dependencies);
    const { application } = open;
    const firstSignIn = await dependencies.usage.firstSignIn(application);
    const guide = setupInstructionBlocks(application, { ...identityProvider(), clientId: application.clientId });
    frame.show(ctx, tabPage(open, 'setup', { blocks: [guideSteps(open, firstSignIn), ...guide] }, dependencies));
  });

  addFormTabs(router, dependencies, { claims: (ctx, open) => previewAside(ctx, open, dependencies) });
  addActivityTab(router, dependencies);
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

function addActivityTab(router: Router<State, Extras>, dependencies: ApplicationPagesDependencies): void {
  const { frame, authority } = dependencies;
  router.get('/:id/activity', ...frame.page(within(READ)), async (ctx) => {
    const open = await openApplication(ctx, dependencies);
    if (!open.mayReadActivity) {
      const text = t('console.tabs.activity.no-permission');
      return frame.show(ctx, tabPage(open, 'activity', { blocks: [{ kind: 'text', text }] }, dependencies));
    }
    const given = parseQuery(ctx, activityQuery);
    const { clientId, name } = open.application;
    const path = `${open.path}/activity`;
    const filter = { clientId, ...(await visibleTo(authority, frame.actor(ctx))) };
    const { items, pages } = await readEventPage(dependencies, filter, given, { path, filters: {} });
    const order = given.sort === 'at' ? 'oldest' : 'newest';
    const block: Block = {
      kind: 'events',
      caption: t('console.tabs.activity.caption', { order }),
      title: t('console.tabs.activity.title'),
      actions: items.length > 1 ? [orderLink(given, { path, filters: {} })] : [],
      items,
      empty: {
        icon: 'scroll-text',
        title: t('console.tabs.activity.empty'),
        text: t('console.tabs.activity.empty-text', { name }),
        action: { label: t('console.tabs.setup'), href: `${open.path}/setup` },
      },
      pages,
    };
    frame.show(ctx, tabPage(open, 'activity', { blocks: [block] }, dependencies));
  });
}

/** What the application would receive about a person, for an administrator who may read users. */
async function previewAside(
  ctx: Context,
  { application, path }: OpenApplication,
  { frame, findUser, preview }: ApplicationPagesDependencies,
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
