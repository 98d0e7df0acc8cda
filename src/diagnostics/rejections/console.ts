// /admin/rejections: why a request was rejected, by the code on the user's page, with one button for each safe fix.

import Router from '@koa/router';
import { z } from 'zod';
import type { Action, Block, Cell, ConsolePage, Empty } from '../../admin/console/blocks.ts';
import { listPath } from '../../admin/console/frame.ts';
import { listAt, tableOf } from '../../admin/console/lists.ts';
import { applicationCell, typedApplicationValue, userMark, userMarkOf } from '../../admin/console/names.ts';
import { questionBefore } from '../../admin/console/new-administrators.ts';
import { ASKED, askedPage } from '../../admin/console/pages.ts';
import type { ConsoleServices } from '../../admin/console-services.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { Explanation, RejectionAdmin } from './explanation.ts';
import { type Fix, isSetByMetadata } from './fixes.ts';
import { rejectionText } from './rule-texts.ts';

type RejectionPageServices = ConsoleServices & { rejections: RejectionAdmin };

const READ = 'gatehouse.audit:read' as const;
const text = z.string().trim().max(1024).default('');
const HOME = '/admin/rejections';
const listIn = listAt(HOME, { client: text, request: text, user: text }, ['-at', 'at'], { code: text });
const NONE: Empty = {
  icon: 'circle-check',
  title: t('console.rejections.none'),
  text: t('console.rejections.none-text'),
  action: { label: t('console.rejections.access-check'), href: '/admin/access-check' },
};
const fixForm = z.object({ fix: z.string().min(1).max(200), [ASKED]: text });

export function rejectionRoutes(services: RejectionPageServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/rejections' });
  rejectionList(router, services);
  rejectionDetails(router, services);
  return router;
}

function rejectionList(router: Router<State, Extras>, { frame, names, rejections }: RejectionPageServices): void {
  router.get('/', ...frame.page(READ), async (ctx) => {
    const list = listIn(ctx);
    const { code, client, user, request, after, sort } = list.given;
    if (code) return frame.redirect(ctx, `/admin/rejections/${encodeURIComponent(code)}`);
    const application = client ? await names.applicationOf(client) : undefined;
    const page = await rejections.list({
      clientId: application?.clientId ?? client,
      subjectId: user,
      requestId: request,
      after,
      isAscending: sort === 'at',
    });
    const [applications, users, directories] = await Promise.all([
      names.applicationsWithLogos(
        page.rejections.map(({ clientId, endpoint }) =>
          endpoint === 'upstream' || endpoint === 'scim' ? null : (clientId ?? null),
        ),
      ),
      names.users(page.rejections.map(({ subjectId }) => subjectId ?? null)),
      names.directories(
        page.rejections.map(({ clientId, endpoint }) => (endpoint === 'scim' ? (clientId ?? null) : null)),
      ),
    ]);
    frame.show(ctx, {
      title: t('console.rejections.title'),
      lead: t('console.rejections.lead'),
      blocks: [
        {
          kind: 'table',
          filter: list.search(
            [
              { name: 'code', label: t('console.rejections.reference'), type: 'search' },
              {
                name: 'client',
                label: t('console.rejections.application'),
                ...(await typedApplicationValue(names, client, application)),
                suggest: 'applications',
              },
              { name: 'request', label: t('console.rejections.request-id'), value: request },
            ],
            { button: t('console.rejections.find') },
          ),
          ...tableOf(page.rejections, [
            [t('console.rejections.reason'), (one) => ({ text: rejectionText(one), href: `${HOME}/${one.code}` })],
            [
              t('console.rejections.application-or-connection'),
              ({ endpoint, clientId = null }) => {
                if (endpoint === 'upstream') return { text: clientId ?? '', href: `/admin/connections/${clientId}` };
                const id = clientId ?? '';
                return endpoint === 'scim'
                  ? { text: directories.get(id) ?? id, ...(directories.has(id) && { href: `/admin/scim/${id}` }) }
                  : applicationCell(clientId, applications);
              },
            ],
            [t('console.rejections.user'), ({ subjectId = null }) => userMarkOf(subjectId, users)],
            [list.column(t('console.rejections.when'), '-at'), ({ at }) => at],
            [{ label: t('console.rejections.reference'), isShort: true }, ({ code: text }) => ({ text, code: true })],
          ]),
          empty: list.isFiltered || after ? t('console.rejections.no-match') : NONE,
          pages: list.pages(page.next),
        },
      ],
    });
  });
}

/** One rejected request, and its fixes. */
function rejectionDetails(router: Router<State, Extras>, { admin, frame, rejections }: RejectionPageServices): void {
  const mayOf = (ctx: Context) => (permission: OwnPermission) => frame.may(ctx, permission);

  router.get('/:code', ...frame.page(READ), async (ctx) => {
    frame.show(ctx, detailsPage(await rejections.explain(ctx.params.code ?? ''), mayOf(ctx)));
  });

  router.get('/:code/fix/:fix', ...frame.page(READ), async (ctx) => {
    const { code = '', fix = '' } = ctx.params;
    const { fixes } = await rejections.explain(code);
    const wanted = fixes.find(({ id }) => id === fix);
    if (!wanted) return frame.redirect(ctx, `${HOME}/${code}`);
    frame.assertMay(ctx, wanted.needs);
    frame.show(ctx, fixPage(`${HOME}/${code}`, wanted));
  });

  // The fix decides which permission it takes, so it is looked up before anything is changed.
  router.post('/:code', ...frame.change(READ), async (ctx) => {
    const { code = '' } = ctx.params;
    const { fix, asked } = await parseForm(ctx, fixForm.loose());
    const explanation = await rejections.explain(code);
    const { account, fixes } = explanation;
    const wanted = fixes.find(({ id }) => id === fix);
    frame.assertMay(ctx, wanted?.needs ?? 'gatehouse.applications:write');
    const address = `/admin/rejections/${code}`;
    const question =
      wanted?.gives && account && !asked && (await questionBefore(wanted.gives, account, admin, frame.actor(ctx)));
    if (question) {
      const form = { action: address, fields: { fix }, cancel: address };
      return frame.show(ctx, askedPage(detailsPage(explanation, mayOf(ctx)), question, form));
    }
    await frame.attempt(
      ctx,
      async () => {
        const { isFixed } = await rejections.fix(code, fix, frame.actor(ctx));
        if (isFixed) frame.redirect(ctx, address);
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
    ...(!explanation.isFixed && { lead: rejectionText(rejection) }),
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
  const { address, path, method } = rejection.received;
  const page =
    rejection.endpoint === 'website' && path !== undefined ? { app: `${address}${path}`, method } : undefined;
  const href = listPath('/admin/access-check', { user: account?.username, app: application?.clientId, ...page });
  return [{ label: t('console.rejections.check-access'), icon: 'search-check', href }];
}

function rulesBlock({ rejection, rules, agent, isFixed }: Explanation): Block {
  return {
    kind: 'rules',
    title: t('console.rejections.checks'),
    ...(rejection.endpoint === 'scim' && { expectedLabel: t('console.website-test.expected') }),
    rules: rules.map(({ id, label, state, explanation, received, registered }) => {
      if (state !== 'failed') return { label, state };
      // What was registered at the request is history, and its advice was followed.
      if (isFixed) return { label, state: 'passed', explanation: t('console.rejections.passes-now') };
      // A registration is not at fault because of what was received.
      const hasValues = id !== 'registration' && (id !== 'request' || !agent);
      return {
        label,
        state,
        explanation,
        ...(hasValues && { received: received ?? '', registered: registered ?? '' }),
      };
    }),
  };
}

function requestBlock(explanation: Explanation): Block {
  const { rejection, account } = explanation;
  return {
    kind: 'facts',
    title: t('console.rejections.the-request'),
    rows: [
      { label: t('console.rejections.when'), value: rejection.at },
      clientRow(explanation),
      rejection.endpoint === 'scim'
        ? { label: t('console.rejections.description'), value: rejection.message }
        : { label: t('console.rejections.user'), value: account ? userMark(account) : null },
    ],
  };
}

/** The application, connection or directory of the request; by its identifier where it is not known. */
function clientRow({ rejection, application, connection, directory }: Explanation) {
  const { endpoint, clientId = null } = rejection;
  const rowOf = (label: PageText, place: string, known: { id: string; name: string } | undefined) => ({
    label,
    value: known ? { text: known.name, href: `/admin/${place}/${known.id}` } : clientId,
  });
  if (endpoint === 'scim') return rowOf(t('console.rejections.connection'), 'scim', directory);
  if (endpoint === 'upstream') return rowOf(t('console.rejections.connection'), 'connections', connection);
  return rowOf(t('console.rejections.application'), 'applications', application);
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

// The fixes of a rejected request on its page: buttons, and links to the pages where a rule is changed.

const READ_CONNECTIONS = 'gatehouse.connections:read' as const;
const edit = { label: t('console.rejections.edit-application'), tab: 'settings' };
/** The page of the application for a broken rule that no button fixes. */
const PAGES: Record<string, { label: PageText; tab: string }> = {
  secret: { label: t('console.rejections.create-secret'), tab: 'secret' },
  redirect_uri: edit,
  post_logout_redirect_uri: edit,
  certificate: edit,
  signature: edit,
  signing_key: edit,
  acs: edit,
  access: { label: t('console.rejections.change-access'), tab: 'access' },
  path_rule: { label: t('console.rejections.edit-paths'), tab: 'access' },
};

/** One fix on a page of its own: one with a warning, after a fault, and after the sign-in that it needs. */
function fixPage(address: string, { id, label, effect, adds, warning }: Fix): ConsolePage {
  const added: Cell = { text: adds ?? '', code: true };
  return {
    title: label,
    back: { href: address, label: t('console.rejections.one') },
    blocks: [
      ...(adds === undefined
        ? []
        : [{ kind: 'facts' as const, rows: [{ label: t('console.rejections.address'), value: added }] }]),
      { kind: 'text', text: effect },
      ...(warning ? [{ kind: 'text' as const, tone: 'warning' as const, text: warning }] : []),
      {
        kind: 'form',
        action: address,
        fields: [{ name: 'fix', label: '', type: 'hidden', value: id }],
        button: label,
        ...(warning && { look: 'danger' }),
        cancel: address,
      },
    ],
  };
}

type May = (permission: OwnPermission) => boolean;

/** What is known about a fix, and the buttons that this administrator may use. */
function fixBlocks(explanation: Explanation, may: May): Block[] {
  const { application, isFixed, note, fixes } = explanation;
  const rows = fixRows(explanation, may);
  const [link, ...links] = fixLinks(explanation, may);
  const blocks: Block[] = [];
  if (isFixed) {
    blocks.push({ kind: 'text', tone: 'notice', text: t('console.rejections.is-fixed') });
  }
  if (note) blocks.push({ kind: 'text', tone: 'small', text: note });
  for (const { warning, needs } of fixes) {
    if (warning && may(needs)) blocks.push({ kind: 'text', tone: 'warning', text: warning });
  }
  const title = t('console.rejections.fix');
  if (rows.length > 0) blocks.push({ kind: 'tasks', title, rows });
  if (link) {
    const main = isFixed || rows.length > 0 ? link : { ...link, look: 'primary' as const };
    blocks.push({ kind: 'actions', ...(rows.length === 0 && { title }), items: [main, ...links] });
  }
  if (application?.source === 'file') {
    const text = t('console.rejections.file-manages');
    blocks.push({ kind: 'text', tone: 'small', text });
  }
  return blocks;
}

/** The buttons, each with what it changes for others. */
function fixRows({ rejection, fixes }: Explanation, may: May) {
  const mine = fixes.filter(({ needs }) => may(needs));
  const address = `${HOME}/${rejection.code}`;
  return mine.map(({ id, label, effect, warning }, position) => {
    const look = position === 0 ? ('primary' as const) : ('secondary' as const);
    return {
      text: effect,
      action: warning
        ? { label, look: 'secondary' as const, href: `${address}/fix/${encodeURIComponent(id)}` }
        : { label, look, post: address, fields: { fix: id } },
    };
  });
}

/** Pages of the console for a rule that no button fixes. */
function fixLinks(explanation: Explanation, may: May): Action[] {
  const { rejection, connection, directory, isFixed, agent } = explanation;
  if (rejection.endpoint === 'upstream')
    return connection && may(READ_CONNECTIONS) ? connectionLinks(explanation, connection) : [];
  if (rejection.endpoint === 'scim')
    return directory && may(READ_CONNECTIONS)
      ? [{ label: t('console.rejections.open-connection'), href: `/admin/scim/${directory.id}` }]
      : [];
  if (agent?.text) return agent.page && !isFixed ? [agent.page] : [];
  return may('gatehouse.applications:write') ? applicationLinks(explanation, may) : [];
}

function applicationLinks(explanation: Explanation, may: May): Action[] {
  const { rejection, application, rules, isFixed, error } = explanation;
  if (!application) {
    if (!rejection.clientId) return [];
    return [{ label: t('console.rejections.add-application'), href: '/admin/applications/new' }];
  }
  const hasButton = fixRows(explanation, may).length > 0;
  if (hasButton || isFixed || application.source === 'file') return [];
  const at = `/admin/applications/${application.id}`;
  if (error) return [{ label: t('console.access-check.change-registration'), href: `${at}/${error.tab}` }];
  const failed = rules.find(({ state }) => state === 'failed');
  const page = failed && PAGES[failed.id];
  if (!page) return [];
  const isPasted = application.protocol === 'saml' && isSetByMetadata(failed.id, application);
  return [{ label: isPasted ? t('console.rejections.paste-metadata') : page.label, href: `${at}/${page.tab}` }];
}

/** The pages of the connection where an administrator changes what the rule says. */
function connectionLinks({ rules }: Explanation, { id }: Connection): Action[] {
  const href = `/admin/connections/${id}`;
  const isSecret = rules.some((rule) => rule.state === 'failed' && rule.id === 'secret');
  return isSecret
    ? [{ label: t('console.rejections.add-secret'), href: `${href}/secret` }]
    : [{ label: t('console.rejections.open-connection'), href }];
}
