// /admin/rejections: why a request was rejected, by the code on the user's page, with one button for each safe fix.
import Router from '@koa/router';
import { z } from 'zod';
import type { Action, Block, ConsolePage, Empty, Search } from '../../admin/console/blocks.ts';
import { cursorField, listPath, trailField } from '../../admin/console/frame.ts';
import { pageLinks, sortColumn } from '../../admin/console/lists.ts';
import { applicationCell, typedApplicationValue, userCell, withInitials } from '../../admin/console/names.ts';
import type { ConsoleServices } from '../../admin/console-services.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { fixBlocks, fixPage, type May } from './console-fixes.ts';
import type { Explanation, RejectionAdmin } from './explanation.ts';
import { rejectionText } from './rule-texts.ts';

type RejectionPageServices = ConsoleServices & { rejections: RejectionAdmin };

const READ = 'gatehouse.audit:read' as const;
const text = z.string().trim().max(1024).default('');
const query = z.object({
  code: text,
  client: text,
  user: text,
  request: text,
  after: cursorField,
  trail: trailField,
  sort: z.enum(['at', '-at']).default('-at'),
});
const NONE: Empty = {
  icon: 'circle-check',
  title: t('console.rejections.none'),
  text: t('console.rejections.none-text'),
  action: { label: t('console.rejections.access-check'), href: '/admin/access-check' },
};
const fixForm = z.object({ fix: z.string().min(1).max(200) });

export function rejectionRoutes(services: RejectionPageServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/rejections' });
  rejectionList(router, services);
  rejectionDetails(router, services);
  return router;
}

function rejectionList(router: Router<State, Extras>, { frame, names, rejections }: RejectionPageServices): void {
  router.get('/', ...frame.page(READ), async (ctx) => {
    const given = parseQuery(ctx, query);
    const { code, client, user, request, after, sort } = given;
    if (code) return frame.redirect(ctx, `/admin/rejections/${encodeURIComponent(code)}`);
    const application = client ? await names.applicationOf(client) : undefined;
    const page = await rejections.list({
      clientId: application?.clientId ?? client,
      subjectId: user,
      requestId: request,
      after,
      isAscending: sort === 'at',
    });
    const list = { path: '/admin/rejections', filters: { client, user, request }, sort, defaultSort: '-at' };
    const [applications, users] = await Promise.all([
      names.applications(
        page.rejections.map(({ clientId, endpoint }) => (endpoint === 'upstream' ? null : (clientId ?? null))),
      ),
      names.users(page.rejections.map(({ subjectId }) => subjectId ?? null)),
    ]);
    frame.show(ctx, {
      title: t('console.rejections.title'),
      lead: t('console.rejections.lead'),
      blocks: [
        {
          kind: 'table',
          filter: filterOf(given, await typedApplicationValue(names, client, application)),
          caption: t('console.rejections.title'),
          columns: [
            t('console.rejections.reason'),
            t('console.rejections.application-or-connection'),
            t('console.rejections.user'),
            sortColumn(t('console.rejections.when'), '-at', list),
            { label: t('console.rejections.reference'), isShort: true },
          ],
          rows: page.rejections.map((one) => [
            { text: rejectionText(one), href: `/admin/rejections/${one.code}` },
            one.endpoint === 'upstream'
              ? { text: one.clientId ?? '', href: `/admin/connections/${one.clientId}` }
              : withInitials(applicationCell(one.clientId ?? null, applications)),
            withInitials(userCell(one.subjectId ?? null, users), true),
            one.at,
            { text: one.code, code: true },
          ]),
          empty: client || user || request || after ? t('console.rejections.no-match') : NONE,
          pages: pageLinks(list, given, page.next),
        },
      ],
    });
  });
}

/** @param client what the field of the application displays and sends */
function filterOf(
  { request, user, sort }: z.output<typeof query>,
  client: Awaited<ReturnType<typeof typedApplicationValue>>,
): Search {
  return {
    action: '/admin/rejections',
    button: t('console.rejections.find'),
    fields: [
      { name: 'code', label: t('console.rejections.reference'), type: 'search' },
      { name: 'client', label: t('console.rejections.application'), ...client, suggest: 'applications' },
      { name: 'request', label: t('console.rejections.request-id'), value: request },
      { name: 'user', label: '', type: 'hidden', value: user },
      { name: 'sort', label: '', type: 'hidden', value: sort === '-at' ? '' : sort },
    ],
  };
}

/** One rejected request, and its fixes. */
function rejectionDetails(router: Router<State, Extras>, { frame, rejections }: RejectionPageServices): void {
  const mayOf = (ctx: Context) => (permission: OwnPermission) => frame.may(ctx, permission);

  router.get('/:code', ...frame.page(READ), async (ctx) => {
    frame.show(ctx, detailsPage(await rejections.explain(ctx.params.code ?? ''), mayOf(ctx)));
  });

  // The fix decides which permission it takes, so it is looked up before anything is changed.
  router.post('/:code', ...frame.change(READ), async (ctx) => {
    const { code = '' } = ctx.params;
    const { fix } = await parseForm(ctx, fixForm.loose());
    const explanation = await rejections.explain(code);
    const wanted = explanation.fixes.find(({ id }) => id === fix);
    frame.assertMay(ctx, wanted?.needs ?? 'gatehouse.applications:write');
    const address = `/admin/rejections/${code}`;
    await frame.attempt(
      ctx,
      async () => {
        const { isFixed } = await rejections.fix(code, fix, frame.actor(ctx));
        if (isFixed) frame.redirect(ctx, address, t('console.rejections.fixed'));
        else frame.redirect(ctx, address, t('console.rejections.changed'), 'plain');
      },
      () => (wanted ? fixPage(address, wanted) : detailsPage(explanation, mayOf(ctx))),
    );
  });
}

function detailsPage(explanation: Explanation, may: May): ConsolePage {
  const { rejection } = explanation;
  return {
    title: t('console.rejections.one-title', { code: rejection.code }),
    lead: rejectionText(rejection),
    back: { href: '/admin/rejections', label: t('console.rejections.title') },
    actions: accessCheckLink(explanation, may),
    blocks: [
      ...fixBlocks(explanation, may),
      rulesBlock(explanation),
      requestBlock(explanation),
      developerBlock(rejection),
    ],
  };
}

/** The access check with the person and the application filled in. */
function accessCheckLink({ rejection, application, account }: Explanation, may: May): Action[] {
  if (rejection.endpoint === 'upstream' || !may('gatehouse.users:read') || !(account || application)) return [];
  const href = listPath('/admin/access-check', { user: account?.username, app: application?.clientId });
  return [{ label: t('console.rejections.check-access'), icon: 'search-check', href }];
}

function rulesBlock({ rules }: Explanation): Block {
  return {
    kind: 'rules',
    title: t('console.rejections.checks'),
    rules: rules.map(({ id, label, state, explanation, received, registered }) => ({
      label,
      state,
      ...(state === 'failed' && { explanation }),
      // A registration is not at fault because of what was received.
      ...(state === 'failed' && id !== 'registration' && { received: received ?? '', registered: registered ?? '' }),
    })),
  };
}

function requestBlock({ rejection, application, account, connection }: Explanation): Block {
  return {
    kind: 'facts',
    title: t('console.rejections.the-request'),
    rows: [
      { label: t('console.rejections.when'), value: rejection.at },
      rejection.endpoint === 'upstream'
        ? {
            label: t('console.rejections.connection'),
            value: connection
              ? { text: connection.name, href: `/admin/connections/${connection.id}` }
              : (rejection.clientId ?? null),
          }
        : {
            label: t('console.rejections.application'),
            value: application
              ? { text: application.name, href: `/admin/applications/${application.id}` }
              : (rejection.clientId ?? null),
          },
      {
        label: t('console.rejections.user'),
        value: account ? { text: account.username, href: `/admin/users/${account.id}` } : null,
      },
    ],
  };
}

/** What the protocol says: the error, and the received parameters. */
function developerBlock({ endpoint, reason, message, requestId, received }: Rejection): Block {
  const values: (readonly [PageText, string])[] = [
    [t('console.rejections.endpoint'), endpoint],
    [t('console.rejections.error'), reason],
    [t('console.rejections.description'), message],
    [t('console.rejections.request-id'), requestId],
    ...Object.entries(received),
  ];
  return {
    kind: 'facts',
    title: t('console.rejections.developer'),
    rows: values.map(([label, value]) => ({ label, value: { text: value, code: true } })),
    isClosed: true,
  };
}
