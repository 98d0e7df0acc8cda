// "Try it": a real sign-in at the upstream that writes nothing, and what it would do. Also for a connection that is disabled.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Preview } from '../../federation/accounts/resolve.ts';
import type { FailedTry, FinishedTry } from '../../federation/tries.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import type { Block, Cell } from '../console/blocks.ts';
import { type ConnectionPagesDependencies, pathOf, WRITE } from './console-parts.ts';

const loginForm = z.object({ login: z.string().trim().min(1).max(254).optional() });

type Params = Context & { params: Record<string, string> };

export function addTryRoutes(
  router: Router<State, Extras>,
  { frame, tries, connections }: Pick<ConnectionPagesDependencies, 'frame' | 'tries' | 'connections'>,
): void {
  /** The result names an account and what an upstream says about a user. */
  const fullAdministrator = async (ctx: Context, next: () => Promise<unknown>) => {
    if (!(await connections.mayChange(frame.actor(ctx))))
      throw forbidden('forbidden', { message: 'Only full administrators can try connections.' });
    await next();
  };
  const show = (ctx: Context, result: FinishedTry | FailedTry, login?: string) =>
    frame.show(ctx, {
      title: result.outcome === 'finished' ? 'The sign-in succeeds' : 'The sign-in fails',
      back: { href: pathOf(result.connectionId), label: 'Connection' },
      actions:
        login === undefined
          ? [{ label: 'Try again', post: `${pathOf(result.connectionId)}/test`, look: 'primary' }]
          : [{ label: 'Try again', href: `${pathOf(result.connectionId)}/test`, look: 'primary' }],
      blocks: result.outcome === 'finished' ? finishedBlocks(result) : failedBlocks(result),
    });

  router.get('/:id/test', ...frame.page(WRITE), fullAdministrator, (ctx: Params) => {
    const at = pathOf(ctx.params.id ?? '');
    return frame.show(ctx, {
      title: 'Look up a user',
      back: { href: at, label: 'Connection' },
      blocks: [
        {
          kind: 'form',
          lead: 'Searches the directory for this user. No password is checked, and nothing is saved.',
          action: `${at}/test`,
          fields: [{ name: 'login', label: 'Username or email', required: true, autocomplete: 'off' }],
          button: 'Look up',
          look: 'primary',
        },
      ],
    });
  });

  router.post('/:id/test', ...frame.change(WRITE), fullAdministrator, async (ctx: Params) => {
    const { login } = await parseForm(ctx, loginForm);
    if (login !== undefined) {
      const result = await tries.lookUp(ctx.params.id ?? '', login);
      return show(ctx, result, login);
    }
    const start = await tries.begin(ctx.params.id ?? '', frame.session(ctx));
    if ('outcome' in start) return show(ctx, start);
    if (start.method === 'post') return ctx.render('form-post', { action: start.url, fields: start.fields });
    ctx.status = 303;
    ctx.redirect(start.url);
  });

  router.get('/:id/test/:answer', ...frame.page(WRITE), fullAdministrator, async (ctx: Params) => {
    const { id = '', answer = '' } = ctx.params;
    const result = await tries.finish(answer, frame.session(ctx));
    show(ctx, { ...result, connectionId: result.connectionId || id });
  });
}

function failedBlocks({ code, message, rule, expected, received }: FailedTry): Block[] {
  return [
    { kind: 'text', tone: 'alert', text: message },
    {
      kind: 'facts',
      rows: [
        { label: 'Rule', value: rule },
        { label: 'Expected', value: cellOf(expected) },
        { label: 'Received', value: cellOf(received) },
        { label: 'Message for the user', value: { text: code, code: true } },
      ],
    },
  ];
}

function finishedBlocks(result: FinishedTry): Block[] {
  const { subject, claims, checks, acr, amr, authTime, groups, roles, hasAllGroups } = result;
  return [
    { kind: 'text', tone: 'notice', text: 'Nothing was saved: no account, link, role, or session.' },
    {
      kind: 'facts',
      title: 'Result of a sign-in',
      rows: [
        { label: 'Account', value: matchText(result) },
        {
          label: 'Roles by groups',
          value: hasAllGroups ? roles.join(', ') || 'none' : 'unchanged: the list is incomplete',
        },
        { label: 'Groups', value: groups.join(', ') || 'none' },
        { label: 'acr', value: { text: acr, code: true } },
        { label: 'amr', value: { text: amr.join(', '), code: true } },
        { label: 'Signed in at the provider', value: authTime ?? 'unknown' },
      ],
    },
    {
      kind: 'table',
      title: 'Checks',
      caption: 'Checks of this sign-in',
      columns: ['Check', 'Expected', 'Received'],
      rows: checks.map(({ name, expected, received }) => [name, cellOf(expected), cellOf(received)]),
      empty: 'None.',
    },
    {
      kind: 'table',
      title: 'Data from the provider',
      caption: 'Claims or attributes',
      columns: ['Name', 'Value'],
      rows: [['subject', cellOf(subject)], ...Object.entries(claims).map(([name, value]) => [name, cellOf(value)])],
      empty: 'No data.',
    },
  ];
}

function matchText({ match, account, facts }: Preview): string {
  const who = account?.username ?? '';
  switch (match.outcome) {
    case 'known':
      return `signs in to ${who}, which is connected`;
    case 'link':
      return `connects to ${who} without further proof`;
    case 'prove':
      return `asks the user to sign in to ${who}, which has the same email address`;
    case 'create':
      return `creates an account${facts.isEmailTrusted ? ` with ${facts.profile.email}` : ' without a verified email address'}`;
    case 'rejected':
      return match.fault === 'not_invited'
        ? 'rejected: no account, and none is created'
        : 'rejected: the account is disabled';
  }
}

const MAX_VALUE = 2000;

function cellOf(value: unknown): Cell {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text: text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text, code: true };
}
