// /admin/why: may they get in, what would the application receive, and what happened when they tried.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import type { Verdict, WhyAdmin, WouldReceive } from '../why.ts';
import { eventRows } from './audit-rows.ts';
import type { Block } from './blocks.ts';
import type { Frame } from './frame.ts';
import type { Names } from './names.ts';

export interface WhyPagesNeeds {
  frame: Frame;
  names: Names;
  why: WhyAdmin;
}

const text = z.string().trim().max(1024).default('');
const query = z.object({ user: text, app: text, request: text });

export function whyRoutes({ frame, names, why }: WhyPagesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/why' });

  router.get('/', ...frame.page('gatehouse.audit:read', 'gatehouse.users:read'), async (ctx) => {
    const { user, app, request } = parseQuery(ctx, query);
    const [account, application] = await Promise.all([
      user ? why.findUser(user) : undefined,
      app ? why.findApplication(app) : undefined,
    ]);
    const blocks: Block[] = [
      {
        kind: 'search',
        action: '/admin/why',
        button: 'Ask',
        fields: [
          { name: 'user', label: 'User name or e-mail', value: account?.username ?? user },
          { name: 'app', label: 'Application or its identifier', value: application?.name ?? app },
          { name: 'request', label: 'Request number', value: request },
        ],
      },
    ];
    if (user && !account) blocks.push({ kind: 'text', tone: 'warning', text: `There is no user ${user}.` });
    if (app && !application)
      blocks.push({ kind: 'text', tone: 'warning', text: `No application, or more than one, is called ${app}.` });
    if (account && application) {
      const [verdict, received] = await Promise.all([
        why.verdict(account, application),
        why.wouldReceive(account, application),
      ]);
      blocks.push(...verdictBlocks(verdict, account.username, application.name), ...receivedBlocks(received));
    }
    const isAsked = (account || !user) && (application || !app) && Boolean(user || app || request);
    if (isAsked) {
      const { events, refusals } = await why.attempts({
        ...(account && { userId: account.id }),
        ...(application && { clientId: application.clientId }),
        ...(request && { requestId: request }),
      });
      blocks.push(
        {
          kind: 'table',
          title: 'Refused',
          caption: 'Refused requests',
          columns: ['When', 'Code', 'Reason'],
          rows: refusals.map((one) => [one.at, { text: one.code, href: `/admin/refusals/${one.code}` }, one.message]),
          empty: 'No request was refused.',
        },
        {
          kind: 'table',
          title: 'Last attempts',
          caption: 'Last attempts, the newest first',
          ...(await eventRows(events, names)),
          empty: 'Nobody has tried.',
        },
      );
    }
    frame.show(ctx, { title: 'Why?', blocks });
  });

  return router;
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
      title: 'Why',
      caption: 'Each rule',
      columns: ['Rule', 'Met', 'Because'],
      rows: reasons.map(({ label, isMet, explanation }) => [
        label,
        isMet ? { text: 'yes', tone: 'good' } : { text: 'no', tone: 'bad' },
        explanation,
      ]),
      empty: '',
    },
  ];
}

function receivedBlocks({ oidc, saml }: WouldReceive): Block[] {
  if (oidc) {
    return [
      {
        kind: 'text',
        tone: 'small',
        text: 'What the application would receive, with every scope that it may ask for. Nobody was signed in for this.',
      },
      { kind: 'code', title: 'ID token', label: 'ID token', text: JSON.stringify(oidc.idToken, undefined, 2) },
      { kind: 'code', title: 'UserInfo', label: 'UserInfo', text: JSON.stringify(oidc.userinfo, undefined, 2) },
    ];
  }
  if (!saml) return [];
  return [
    {
      kind: 'table',
      title: 'The assertion would say',
      caption: 'Identifier and attributes',
      columns: ['Name', 'Value'],
      rows: [['NameID', saml.nameId], ...Object.entries(saml.attributes).map(([name, values]) => [name, values])],
      empty: '',
    },
  ];
}
