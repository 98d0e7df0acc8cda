// /admin/access-check: why a person can or cannot sign in to an application, with a button for each cause; what the application would receive,
// and the last attempts.
import Router from '@koa/router';
import { z } from 'zod';
import { previewBlocks } from '../../admin/applications/preview.ts';
import type { Block, ConsolePage, Field } from '../../admin/console/blocks.ts';
import { type Frame, listPath } from '../../admin/console/frame.ts';
import { typedApplicationValue } from '../../admin/console/names.ts';
import { ACCESS_CHECK_NEEDS } from '../../admin/console/suggest.ts';
import type { ConsoleServices } from '../../admin/console-services.ts';
import { sameNameText, typedUserValue } from '../../admin/suggestions/typed-user.ts';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { conflict, notFound } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { AccessCheck } from './access-check.ts';
import { attemptsBlock } from './console-attempts.ts';
import { checksBlock, endedText, fixPage, verdictBlock } from './console-blocks.ts';

type AccessCheckPageServices = ConsoleServices & { accessCheck: AccessCheck };

const HERE = '/admin/access-check';
const text = z.string().trim().max(1024).default('');
const query = z.object({ user: text, app: text, request: text });
type Query = z.output<typeof query>;
const fixForm = z.object({ fix: z.string().min(1).max(200), user: text, app: text, confirmed: text });

/** The page /admin/access-check, and its fixes. */
export function accessCheckRoutes(services: AccessCheckPageServices): Router<State, Extras> {
  const { frame, accessCheck } = services;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', ...frame.page(...ACCESS_CHECK_NEEDS), async (ctx) => {
    frame.show(ctx, await checkPage(services, ctx, parseQuery(ctx, query)));
  });

  // Which right a fix takes depends on the fix, so it is looked up among those that the actor is offered.
  router.post('/', ...frame.change(...ACCESS_CHECK_NEEDS), async (ctx) => {
    const { fix: id, user, app, confirmed } = await parseForm(ctx, fixForm.loose());
    const [{ account }, application] = await Promise.all([
      accessCheck.findUser(user, frame.actor(ctx)),
      accessCheck.findApplication(app),
    ]);
    if (!account || !application) throw notFound();
    const here = pathOf(account, application);
    const { causes } = await accessCheck.diagnose(account, application, viewerOf(frame, ctx));
    const fix = causes.flatMap(({ fixes }) => fixes).find((one) => one.id === id);
    if (causes.some(({ denied }) => denied.includes(id)))
      throw conflict('conflict', {
        message: t('console.access-check.no-right'),
        next: { href: here, label: t('console.access-check.title') },
      });
    // The cause ended after the page was displayed, such as a lockout: the new check says what is left.
    if (!fix) return frame.redirect(ctx, here, endedText(id, account, application), 'plain');
    const question = fixPage({ action: HERE, here }, fix, { user: account.id, app: application.clientId });
    if (fix.asksFirst && !confirmed) return frame.show(ctx, question);
    await frame.attempt(
      ctx,
      async () => {
        await fix.apply(frame.actor(ctx));
        frame.redirect(ctx, here, fix.done);
      },
      () => question,
    );
  });

  return router;
}

const pathOf = ({ username }: Account, { clientId }: Application) => listPath(HERE, { user: username, app: clientId });

function viewerOf(frame: Frame, ctx: Context): Parameters<AccessCheck['diagnose']>[2] {
  return { by: frame.actor(ctx), mayOpen: (permission) => frame.may(ctx, permission) };
}

async function checkPage(
  services: AccessCheckPageServices,
  ctx: Context,
  { user, app, request }: Query,
): Promise<ConsolePage> {
  const { accessCheck, frame } = services;
  const [found, application] = await Promise.all([
    user ? accessCheck.findUser(user, frame.actor(ctx)) : undefined,
    app ? accessCheck.findApplication(app) : undefined,
  ]);
  const account = found?.account;
  const page: ConsolePage = {
    title: t('console.access-check.title'),
    lead: t('console.access-check.lead'),
    actions: [{ label: t('console.access-check.look-up'), icon: 'search', href: '/admin/rejections' }],
    blocks: [],
  };
  const above: Block[] = [
    searchBlock(
      {
        user: typedUserValue(user, found),
        app: await typedApplicationValue(services.names, app, application),
        request,
      },
      { isPrimary: !(account && application) },
    ),
    ...(found && !account ? [unknown(sameNameText(user, found) ?? noUser(user))] : []),
    ...(app && !application ? [unknown(t('console.access-check.no-application', { app }))] : []),
  ];
  const isKnown = (account || !user) && (application || !app);
  const attempts =
    isKnown && (user || app || request)
      ? [
          await attemptsBlock(services, {
            userId: account?.id,
            clientId: application?.clientId,
            requestId: request,
          }),
        ]
      : [];
  if (!account || !application) return { ...page, blocks: [...above, ...attempts] };
  const [diagnosis, preview] = await Promise.all([
    accessCheck.diagnose(account, application, viewerOf(frame, ctx)),
    accessCheck.preview(account, application),
  ]);
  const subject = { action: HERE, user: account.id, app: application.clientId };
  return {
    ...page,
    above: [...above, verdictBlock(diagnosis, account, application, subject)],
    blocks: [checksBlock(diagnosis.checks)],
    aside: [
      ...previewBlocks(preview, {
        title: t('console.access-check.would-receive', { app: application.name }),
        lead: diagnosis.mayOpen
          ? t('console.access-check.every-scope')
          : t('console.access-check.every-scope-with-access'),
      }),
      ...attempts,
    ],
    isHalved: true,
  };
}

const noUser = (user: string) => t('console.access-check.no-user', { user });
const unknown = (sentence: PageText): Block => ({ kind: 'text', tone: 'warning', text: sentence });

function searchBlock(
  {
    user,
    app,
    request,
  }: { user: Pick<Field, 'value' | 'sends'>; app: Pick<Field, 'value' | 'sends'>; request: string },
  { isPrimary }: { isPrimary: boolean },
): Block {
  return {
    kind: 'search',
    isPrimary,
    action: HERE,
    button: t('console.access-check.check'),
    fields: [
      { name: 'user', label: t('console.access-check.user'), ...user, suggest: 'users' },
      { name: 'app', label: t('console.access-check.application'), ...app, suggest: 'applications' },
      ...(request ? [{ name: 'request', label: t('console.access-check.request-id'), value: request }] : []),
    ],
  };
}
