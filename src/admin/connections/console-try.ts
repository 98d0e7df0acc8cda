// "Try it": a real sign-in at the upstream that writes nothing, and what it would do. Also for a connection that is disabled.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { listOf, type PageText, t } from '../../base/texts/text.ts';
import type { Preview } from '../../federation/accounts/resolve.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import type { FailedTry, FinishedTry } from '../../federation/tries.ts';
import type { Block, Cell, ConsolePage } from '../console/blocks.ts';
import { type ConnectionPagesDependencies, pathOf, WRITE } from './console-parts.ts';
import { directoryProblemTexts } from './directory-problems.ts';

const loginForm = z.object({ login: z.string().trim().min(1).max(254).optional() });

type Params = Context & { params: Record<string, string> };

export function addTryRoutes(
  router: Router<State, Extras>,
  { frame, tries, connections }: Pick<ConnectionPagesDependencies, 'frame' | 'tries' | 'connections'>,
): void {
  /** The result names an account and what an upstream says about a user. */
  const fullAdministrator = async (ctx: Context, next: () => Promise<unknown>) => {
    if (!(await connections.mayChange(frame.actor(ctx))))
      throw forbidden('forbidden', { message: t('console.connections.only-full-try') });
    await next();
  };
  const show = (ctx: Context, result: FinishedTry | FailedTry, login?: string) =>
    frame.show(ctx, {
      title: t('console.connections.try-result', { outcome: succeeds(result) ? 'finished' : 'failed' }),
      back: { href: pathOf(result.connectionId), label: t('console.connections.connection') },
      actions: [
        {
          label: t('console.connections.try-again'),
          look: 'primary',
          [login === undefined ? 'post' : 'href']: `${pathOf(result.connectionId)}/test`,
        },
      ],
      blocks: result.outcome === 'finished' ? finishedBlocks(result) : failedBlocks(result),
    });

  router.get('/:id/test', ...frame.page(WRITE), fullAdministrator, (ctx: Params) =>
    frame.show(ctx, lookUpPage(pathOf(ctx.params.id ?? ''))),
  );

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

/** A sign-in with the right password. */
function succeeds(result: FinishedTry | FailedTry): boolean {
  return result.outcome === 'finished' && result.problem === undefined && result.match.outcome !== 'rejected';
}

function lookUpPage(at: string): ConsolePage {
  return {
    title: t('console.connections.look-up-title'),
    back: { href: at, label: t('console.connections.connection') },
    blocks: [
      {
        kind: 'form',
        lead: t('console.connections.look-up-lead'),
        action: `${at}/test`,
        fields: [{ name: 'login', label: t('console.connections.look-up-login'), required: true, autocomplete: 'off' }],
        button: t('console.connections.look-up'),
        look: 'primary',
      },
    ],
  };
}

function failedBlocks({ code, message, rule, expected, received }: FailedTry): Block[] {
  return [
    {
      kind: 'text',
      tone: 'alert',
      text:
        networkSentence(received ?? '') ??
        (rule === 'secret' ? t('console.connections.try-client-rejected') : (networkSentence(message) ?? message)),
    },
    {
      kind: 'facts',
      title: t('error-page.details'),
      isClosed: true,
      rows: [
        { label: t('console.connections.error'), value: { text: message, code: true } },
        { label: t('console.connections.rule'), value: { text: rule, code: true } },
        { label: t('console.connections.expected'), value: cellOf(expected) },
        { label: t('console.page.received'), value: cellOf(received) },
        { label: t('console.connections.user-message'), value: { text: code, code: true } },
      ],
    },
  ];
}

function finishedBlocks(result: FinishedTry): Block[] {
  const { subject, claims, checks, acr, amr, authTime, groups, roles, hasAllGroups } = result;
  return [
    ...(result.problem
      ? [{ kind: 'text' as const, tone: 'alert' as const, text: directoryProblemTexts[result.problem] }]
      : []),
    { kind: 'text', tone: 'notice', text: t('console.connections.nothing-saved') },
    {
      kind: 'facts',
      title: t('console.connections.result'),
      rows: [
        { label: t('console.connections.account'), value: matchText(result) },
        {
          label: t('console.connections.roles-by-groups'),
          value: hasAllGroups ? namesOrNone(roles) : t('console.connections.roles-unchanged'),
        },
        { label: t('console.connections.groups'), value: namesOrNone(groups) },
        { label: 'acr', value: { text: acr, code: true } },
        { label: 'amr', value: { text: amr.join(', '), code: true } },
        { label: t('console.connections.signed-in-at'), value: authTime ?? t('console.connections.unknown') },
      ],
    },
    {
      kind: 'table',
      title: t('console.connections.checks'),
      caption: t('console.connections.checks-caption'),
      columns: [t('console.connections.check'), t('console.connections.expected'), t('console.page.received')],
      rows: checks.map(({ name, expected, received }) => [name, cellOf(expected), cellOf(received)]),
      empty: t('console.connections.no-checks'),
    },
    {
      kind: 'table',
      title: t('console.connections.data'),
      caption: t('console.connections.data-caption'),
      columns: [t('console.shared.name'), t('console.shared.value')],
      rows: [['subject', cellOf(subject)], ...Object.entries(claims).map(([name, value]) => [name, cellOf(value)])],
      empty: t('console.connections.no-data'),
    },
  ];
}

const namesOrNone = (names: readonly string[]): PageText =>
  names.length > 0 ? listOf(names) : t('console.connections.none');

const REJECTED_TEXTS = {
  account_inactive: 'inactive',
  address_in_use: 'address-in-use',
  not_invited: 'not-invited',
} as const;

function matchText({ match, account, facts }: Preview): PageText {
  const user = account?.username ?? '';
  switch (match.outcome) {
    case 'known':
      return t('console.connections.match.known', { user });
    case 'link':
      return t('console.connections.match.link', { user });
    case 'prove':
      return t('console.connections.match.prove', { user });
    case 'create':
      return facts.isEmailTrusted
        ? t('console.connections.match.create-with', { email: String(facts.profile.email) })
        : t('console.connections.match.create-without');
    case 'rejected':
      return t(`console.connections.match.${REJECTED_TEXTS[match.fault]}`);
  }
}

const MAX_VALUE = 2000;

function cellOf(value: unknown): Cell {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { text: text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text, code: true };
}
