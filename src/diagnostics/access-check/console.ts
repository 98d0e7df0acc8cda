// /admin/why: whether a user may open an application, what it would receive, and the last attempts.
import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationPreview } from '../../admin/applications/preview.ts';
import { eventRows } from '../../admin/audit/console-rows.ts';
import type { Block } from '../../admin/console/blocks.ts';
import type { Frame } from '../../admin/console/frame.ts';
import type { Names } from '../../admin/console/names.ts';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import type { Rejection } from '../../rejections/rejections.ts';
import type { AccessCheck, Verdict } from './access-check.ts';

export interface AccessCheckPagesDependencies {
  frame: Frame;
  names: Names;
  accessCheck: AccessCheck;
}

const text = z.string().trim().max(1024).default('');
const query = z.object({ user: text, app: text, request: text });

/** The page /admin/why. */
export function accessCheckRoutes({ frame, names, accessCheck }: AccessCheckPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/why' });

  router.get('/', ...frame.page('gatehouse.audit:read', 'gatehouse.users:read'), async (ctx) => {
    const { user, app, request } = parseQuery(ctx, query);
    const [account, application] = await Promise.all([
      user ? accessCheck.findUser(user) : undefined,
      app ? accessCheck.findApplication(app) : undefined,
    ]);
    const blocks = [searchBlock({ user: account?.username ?? user, app: application?.name ?? app, request })];
    if (user && !account) blocks.push({ kind: 'text', tone: 'warning', text: `There is no user ${user}.` });
    if (app && !application)
      blocks.push({ kind: 'text', tone: 'warning', text: `No application, or more than one, is called ${app}.` });
    if (account && application) {
      const [verdict, preview] = await Promise.all([
        accessCheck.verdict(account, application),
        accessCheck.preview(account, application),
      ]);
      blocks.push(...verdictBlocks(verdict, account.username, application.name), ...previewBlocks(preview));
    }
    const hasSubject = (account || !user) && (application || !app) && Boolean(user || app || request);
    if (hasSubject) {
      const { events, rejections } = await accessCheck.attempts({
        ...(account && { userId: account.id }),
        ...(application && { clientId: application.clientId }),
        ...(request && { requestId: request }),
      });
      blocks.push(rejectionsBlock(rejections), {
        kind: 'table',
        title: 'Last attempts',
        caption: 'Last attempts, the newest first',
        ...(await eventRows(events, names)),
        empty: 'There was no attempt.',
      });
    }
    const lead =
      'Find out why a person can or cannot sign in to an application, and what it would receive. Nobody is signed in.';
    frame.show(ctx, { title: 'Access check', lead, blocks });
  });

  return router;
}

function searchBlock({ user, app, request }: z.output<typeof query>): Block {
  return {
    kind: 'search',
    action: '/admin/why',
    button: 'Check',
    fields: [
      { name: 'user', label: 'User name or e-mail', value: user },
      { name: 'app', label: 'Application or its identifier', value: app },
      { name: 'request', label: 'Request number', value: request },
    ],
  };
}

function rejectionsBlock(rejections: readonly Rejection[]): Block {
  return {
    kind: 'table',
    title: 'Rejected requests',
    caption: 'Rejected requests, the newest first',
    columns: ['When', 'Code', 'Reason'],
    rows: rejections.map((one) => [one.at, { text: one.code, href: `/admin/refusals/${one.code}` }, one.message]),
    empty: 'No request was rejected.',
  };
}

function verdictBlocks({ mayOpen, reasons }: Verdict, username: string, application: string): Block[] {
  return [
    {
      kind: 'text',
      tone: mayOpen ? 'notice' : 'alert',
      text: `${username} may ${mayOpen ? '' : 'not '}open ${application}.`,
    },
    {
      kind: 'table',
      title: 'Rules',
      caption: 'Each rule, and whether it is met',
      columns: ['Rule', 'Met', 'Reason'],
      rows: reasons.map(({ label, isMet, explanation }) => [
        label,
        isMet ? { text: 'yes', tone: 'good' } : { text: 'no', tone: 'bad' },
        explanation,
      ]),
      empty: '',
    },
  ];
}

function previewBlocks({ oidc, saml }: ApplicationPreview): Block[] {
  if (oidc) {
    return [
      {
        kind: 'text',
        tone: 'small',
        text: 'What the application would receive, with every scope that it may request. No sign-in takes place for this.',
      },
      { kind: 'code', title: 'ID token', label: 'ID token', text: JSON.stringify(oidc.idToken, undefined, 2) },
      { kind: 'code', title: 'UserInfo', label: 'UserInfo', text: JSON.stringify(oidc.userinfo, undefined, 2) },
    ];
  }
  if (!saml) return [];
  return [
    {
      kind: 'table',
      title: 'Assertion',
      caption: 'Identifier and attributes',
      columns: ['Name', 'Value'],
      rows: [['NameID', saml.nameId], ...Object.entries(saml.attributes).map(([name, values]) => [name, values])],
      empty: '',
    },
  ];
}
