// "Try it": a real sign-in at the upstream that writes nothing, and what it would do. Also for a connection that is disabled.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { present } from '../../base/platform/defined.ts';
import { listOf, type PageText, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Preview } from '../../federation/accounts/resolve.ts';
import { networkSentence } from '../../federation/connections/network-sentences.ts';
import type { AccountRejection } from '../../federation/ldap/identity.ts';
import type { FailedTry, FinishedTry } from '../../federation/tries.ts';
import type { Block, Cell, ConsolePage } from '../console/blocks.ts';
import { addPage, type Params } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pathOf } from './console-page.ts';

/** Why a directory would reject the right password of a user, in words: for "Try it" and the access check. */
export const directoryRejectionTexts: Record<AccountRejection, Text> = {
  account_disabled: t('console.connections.error.account-disabled'),
  account_expired: t('console.connections.error.account-expired'),
  account_locked: t('console.connections.error.account-locked'),
  password_expired: t('console.connections.error.password-expired'),
  password_must_change: t('console.connections.error.password-must-change'),
  not_now: t('console.connections.error.not-now'),
};

const loginForm = z.object({ login: z.string().trim().min(1).max(254).optional() });

export function addTryPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame, tries } = services;
  const { connections } = services.admin;
  const needs = ['gatehouse.connections:write'] as const;
  /** The result names an account and what an upstream says about a user. */
  const load = async ({ params: { id = '' } }: Params, by: Actor) => {
    if (await connections.mayChange(by)) return id;
    throw forbidden('forbidden', { message: t('console.connections.only-full-try') });
  };

  addPage(router, frame, '/:id/test', {
    needs,
    load,
    page: ({ subject: id }) => lookUpPage(pathOf(id)),
    async submit({ ctx, subject: id }) {
      const { login } = await parseForm(ctx, loginForm);
      if (login !== undefined) return { page: resultPage(await tries.lookUp(id, login), login) };
      const start = await tries.begin(id, frame.session(ctx));
      if ('outcome' in start) return { page: resultPage(start) };
      if (start.method === 'post') {
        ctx.render('form-post', { action: start.url, fields: start.fields });
        return undefined;
      }
      return { to: start.url };
    },
  });

  addPage(router, frame, '/:id/test/:answer', {
    needs,
    load,
    async page({ ctx, subject: id }) {
      const result = await tries.finish(ctx.params.answer ?? '', frame.session(ctx));
      return resultPage({ ...result, connectionId: result.connectionId || id });
    },
  });
}

/** @param login of a directory, which a form asks for again */
function resultPage(result: FinishedTry | FailedTry, login?: string): ConsolePage {
  const at = pathOf(result.connectionId);
  return {
    title: t('console.connections.try-result', { outcome: succeeds(result) ? 'finished' : 'failed' }),
    back: { href: at, label: t('console.connections.connection') },
    actions: [
      {
        label: t('console.connections.try-again'),
        look: 'primary',
        [login === undefined ? 'post' : 'href']: `${at}/test`,
      },
    ],
    blocks: result.outcome === 'finished' ? finishedBlocks(result) : failedBlocks(result),
  };
}

/** Whether a real sign-in would have succeeded. */
function succeeds(result: FinishedTry | FailedTry): boolean {
  return result.outcome === 'finished' && result.rejection === undefined && result.match.outcome !== 'rejected';
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
  const { subject, claims, checks, acr, amr, authTime, groups, roles, joins, hasAllGroups } = result;
  return present([
    result.rejection && { kind: 'text', tone: 'alert', text: directoryRejectionTexts[result.rejection] },
    // First, because it is what has to be put right.
    result.match.outcome === 'rejected' && { kind: 'text', tone: 'alert', text: matchText(result) },
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
        {
          label: t('console.connections.joins'),
          value: hasAllGroups ? namesOrNone(joins) : t('console.connections.roles-unchanged'),
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
  ]);
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
