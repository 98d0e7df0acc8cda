// /admin/refusals: the code from somebody's page, and why it was; mended with one button where that is safe.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import type { Explanation, RefusalAdmin } from '../refusals.ts';
import type { Action, Block } from './blocks.ts';
import { type Frame, listPath } from './frame.ts';
import { applicationMark, type Names, userMark } from './names.ts';

export interface RefusalPagesNeeds {
  frame: Frame;
  names: Names;
  refusals: RefusalAdmin;
}

const READ = 'gatehouse.audit:read' as const;
const text = z.string().trim().max(1024).default('');
const query = z.object({ code: text, client: text, user: text, request: text, after: z.string().max(100).optional() });
const mendForm = z.object({ mend: z.string().min(1).max(200) });
/** What a rule that nothing here mends by itself is mended by. */
const edit = { label: 'Edit the application', path: (id: string) => `/admin/applications/${id}/edit` };
const PAGES: Record<string, { label: string; path(id: string): string }> = {
  secret: { label: 'Make a new secret', path: (id) => `/admin/applications/${id}/secret` },
  post_logout_redirect_uri: edit,
  certificate: edit,
  acs: edit,
  access: { ...edit, label: 'Edit who may open it' },
};

export function refusalRoutes({ frame, names, refusals }: RefusalPagesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/refusals' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { code, client, user, request, after } = parseQuery(ctx, query);
    if (code) return frame.back(ctx, `/admin/refusals/${encodeURIComponent(code)}`);
    const page = await refusals.list({ clientId: client, subjectId: user, requestId: request, after });
    const [applications, users] = await Promise.all([
      names.applications(page.refusals.map(({ clientId }) => clientId ?? null)),
      names.users(page.refusals.map(({ subjectId }) => subjectId ?? null)),
    ]);
    frame.show(ctx, {
      title: 'Refusals',
      blocks: [
        {
          kind: 'search',
          action: '/admin/refusals',
          button: 'Find',
          fields: [
            { name: 'code', label: 'Code from the page', type: 'search' },
            { name: 'client', label: 'Client or entity ID', value: client },
            { name: 'request', label: 'Request number', value: request },
          ],
        },
        {
          kind: 'table',
          caption: 'Refused requests, the newest first',
          columns: ['Code', 'When', 'Application', 'User', 'Reason'],
          rows: page.refusals.map((one) => [
            { text: one.code, href: `/admin/refusals/${one.code}` },
            one.at,
            applicationMark(one.clientId ?? null, applications),
            userMark(one.subjectId ?? null, users),
            { text: one.message, small: `${one.endpoint}: ${one.reason}` },
          ]),
          empty: 'Nothing was refused in the last two weeks.',
          next: page.next && listPath('/admin/refusals', { client, user, request, after: page.next }),
        },
      ],
    });
  });

  router.get('/:code', ...frame.page(READ), async (ctx) => {
    const explanation = await refusals.explain(ctx.params.code ?? '');
    const { refusal, application, person, rules, isMended } = explanation;
    const failed = rules.find(({ state }) => state === 'failed');
    const mends: Action[] = explanation.mends
      .filter(({ needs }) => frame.may(ctx, needs))
      .map(({ id, label }) => ({
        label,
        post: `/admin/refusals/${refusal.code}`,
        fields: { mend: id },
        look: 'secondary',
      }));
    const page = failed && PAGES[failed.id];
    const links: Action[] = frame.may(ctx, 'gatehouse.applications:write')
      ? [
          ...(application && page && mends.length === 0 && !isMended && application.source !== 'file'
            ? [{ label: explanation.note ? 'Paste new metadata' : page.label, href: page.path(application.id) }]
            : []),
          ...(!application && refusal.clientId
            ? [{ label: 'Register an application', href: '/admin/applications/new' }]
            : []),
        ]
      : [];
    frame.show(ctx, {
      title: `Refusal ${refusal.code}`,
      back: { href: '/admin/refusals', label: 'Refusals' },
      blocks: [
        { kind: 'text', tone: 'lead', text: refusal.message },
        ...(isMended
          ? [
              {
                kind: 'text' as const,
                tone: 'notice' as const,
                text: 'This is mended: the rule that failed would pass now.',
              },
            ]
          : []),
        ...(explanation.note ? [{ kind: 'text' as const, tone: 'small' as const, text: explanation.note }] : []),
        ...(mends.length + links.length > 0
          ? [{ kind: 'actions' as const, title: 'Mend it', items: [...mends, ...links] }]
          : []),
        ...(application?.source === 'file'
          ? [
              {
                kind: 'text' as const,
                tone: 'small' as const,
                text: 'The configuration file declares this application, so it is mended there.',
              },
            ]
          : []),
        {
          kind: 'rules',
          title: 'The rules in their order',
          rules: rules.map(({ label, state, explanation: why, received, registered }) => ({
            label,
            state,
            ...(state === 'failed' && { explanation: why, received: received ?? '', registered: registered ?? '' }),
          })),
        },
        {
          kind: 'facts',
          title: 'The request',
          rows: [
            { label: 'When', value: refusal.at },
            {
              label: 'Application',
              value: application
                ? { text: application.name, href: `/admin/applications/${application.id}` }
                : (refusal.clientId ?? null),
            },
            { label: 'User', value: person ? { text: person.username, href: `/admin/users/${person.id}` } : null },
            { label: 'Where', value: refusal.endpoint },
            { label: 'Reason', value: { text: refusal.reason, code: true } },
            { label: 'Request number', value: { text: refusal.requestId, code: true } },
          ],
        },
        received(explanation),
      ],
    });
  });

  // What it changes says who may: looked up before anything is done.
  router.post('/:code', ...frame.change(READ), async (ctx) => {
    const { code = '' } = ctx.params;
    const { mend } = await parseForm(ctx, mendForm.loose());
    const wanted = (await refusals.explain(code)).mends.find(({ id }) => id === mend);
    frame.assertMay(ctx, wanted?.needs ?? 'gatehouse.applications:write');
    const address = `/admin/refusals/${code}`;
    await frame.attempt(
      ctx,
      async () => {
        const { isMended } = await refusals.mend(code, mend, frame.by(ctx));
        frame.back(ctx, address, isMended ? 'Mended.' : 'Changed.');
      },
      ({ problem, faults }) => frame.back(ctx, address, faults.map(({ message }) => message).join(' ') || problem),
    );
  });

  return router;
}

function received({ refusal }: Explanation): Block {
  return {
    kind: 'facts',
    title: 'What was received',
    rows: Object.entries(refusal.received).map(([label, value]) => ({ label, value: { text: value, code: true } })),
  };
}
