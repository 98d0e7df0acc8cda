// /admin/sessions, /admin/keys and /admin/mail.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import type { KeyInfo } from '../../keys/keyring.ts';
import { browserName } from '../../mail/browser-name.ts';
import type { KeyAdmin } from '../keys.ts';
import type { MailAdmin } from '../mail.ts';
import type { SessionAdmin } from '../sessions.ts';
import type { Block, Cell, Tone } from './blocks.ts';
import { type Frame, listPath } from './frame.ts';

export interface ServerPagesNeeds {
  frame: Frame;
  sessions: SessionAdmin;
  keys: KeyAdmin;
  mail: MailAdmin;
}

const cursor = z.string().max(200).optional();
const rotateForm = z.object({
  use: z.enum(['oidc', 'saml']),
  step: z.enum(['rotate', 'publish', 'activate', 'force']),
});
const mailQuery = z.object({ state: z.enum(['', 'waiting', 'sent', 'failed']).default(''), after: cursor });
const TONES: Record<string, Tone> = {
  next: 'warn',
  active: 'good',
  retired: 'plain',
  sent: 'good',
  waiting: 'plain',
  failed: 'bad',
};
const tagOf = (text: string): Cell => ({ text, tone: TONES[text] ?? 'plain' });

export function serverRoutes({ frame, sessions, keys, mail }: ServerPagesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin' });

  router.get('/sessions', ...frame.page('gatehouse.sessions:read'), async (ctx) => {
    const { after } = parseQuery(ctx, z.object({ after: cursor }));
    const page = await sessions.list({ after, limit: 50 });
    const mayEnd = frame.may(ctx, 'gatehouse.sessions:end');
    frame.show(ctx, {
      title: 'Sessions',
      blocks: [
        {
          kind: 'table',
          caption: 'Live sessions, the newest first',
          columns: ['User', 'Since', 'Browser', 'Applications', ...(mayEnd ? ['Action'] : [])],
          rows: page.sessions.map((one): Cell[] => [
            { text: one.username || one.accountId, href: `/admin/users/${one.accountId}` },
            one.signedInAt,
            one.device
              ? { text: browserName(one.device.userAgent) ?? 'Unknown browser', small: one.device.address }
              : null,
            one.participants.map(({ clientId }) => clientId),
            ...(mayEnd ? [{ text: 'End', href: `/admin/sessions/${one.uid}/end` }] : []),
          ]),
          empty: 'Nobody is signed in.',
          next: page.next && listPath('/admin/sessions', { after: page.next }),
        },
      ],
    });
  });

  router.get('/sessions/:uid/end', ...frame.page('gatehouse.sessions:end'), async (ctx) => {
    const session = await sessions.get(ctx.params.uid ?? '');
    frame.show(ctx, {
      title: `End the session of ${session.username}?`,
      back: { href: '/admin/sessions', label: 'Sessions' },
      blocks: [
        {
          kind: 'form',
          lead: 'It ends now, and its applications are told.',
          ...{
            action: `/admin/sessions/${session.uid}/end`,
            fields: [],
            button: 'End it',
            look: 'danger',
            cancel: '/admin/sessions',
          },
        },
      ],
    });
  });

  router.post('/sessions/:uid/end', ...frame.change('gatehouse.sessions:end'), async (ctx) => {
    await sessions.end(ctx.params.uid ?? '', frame.by(ctx));
    frame.back(ctx, '/admin/sessions', 'The session ended.');
  });

  router.get('/keys', ...frame.page('gatehouse.keys:read'), async (ctx) => {
    const all = await keys.list();
    frame.show(ctx, {
      title: 'Keys and certificates',
      actions: frame.may(ctx, 'gatehouse.keys:write')
        ? [{ label: 'Rotate', href: '/admin/keys/rotate', look: 'primary' }]
        : [],
      blocks: (['oidc', 'saml'] as const).map(
        (use): Block => ({
          kind: 'table',
          title: use === 'oidc' ? 'OpenID Connect' : 'SAML',
          caption: 'Keys, those that sign first',
          columns: ['Key', 'State', 'Made', 'Signs since', 'Stopped', 'Certificate until'],
          rows: all.filter((one) => one.use === use).map(keyRow),
          empty: 'There are none.',
        }),
      ),
    });
  });

  router.get('/keys/rotate', ...frame.danger('gatehouse.keys:write'), (ctx) =>
    frame.show(ctx, {
      title: 'Rotate keys',
      back: { href: '/admin/keys', label: 'Keys' },
      blocks: [
        rotation(
          'oidc',
          'rotate',
          'OpenID Connect',
          'The next key signs from now on. Applications follow by themselves; the old key stays published until nothing that it signed is left.',
          'Rotate',
        ),
        rotation(
          'saml',
          'publish',
          'SAML, first step',
          'The next certificate is published beside the one that signs. Tell the people behind each application to read the metadata again.',
          'Publish the next certificate',
        ),
        rotation(
          'saml',
          'activate',
          'SAML, second step',
          'The published certificate signs from now on. Whoever has not read the metadata refuses what it signs.',
          'Sign with it',
        ),
      ],
    }),
  );

  router.post('/keys/rotate', ...frame.danger('gatehouse.keys:write'), async (ctx) => {
    const { use, step } = await parseForm(ctx, rotateForm.loose());
    const result = await keys.rotate(
      { use, ...(step === 'activate' && { activate: true }), ...(step === 'force' && { force: true }) },
      frame.by(ctx),
    );
    const sentences: Record<string, string> = {
      rotated: 'The next key signs now.',
      published: 'The next certificate is published.',
      'too-early': 'The next key was not published for long enough yet: applications may not know it.',
      'published-already': 'The next certificate is published already.',
      'nothing-to-activate': 'Publish the next certificate first.',
    };
    frame.back(ctx, '/admin/keys', sentences[result.outcome] ?? result.outcome);
  });

  router.get('/mail', ...frame.page('gatehouse.mail:read'), async (ctx) => {
    const { state, after } = parseQuery(ctx, mailQuery);
    const page = await mail.list({ limit: 50, after, ...(state && { state }) });
    const mayRetry = frame.may(ctx, 'gatehouse.mail:write');
    const failed = page.items.filter((one) => one.state === 'failed');
    frame.show(ctx, {
      title: 'Mail',
      blocks: [
        {
          kind: 'search',
          action: '/admin/mail',
          button: 'Show',
          fields: [
            {
              ...{ name: 'state', label: 'State', type: 'select', value: state },
              options: ['', 'waiting', 'sent', 'failed'].map((value) => ({ value, label: value || 'all' })),
            },
          ],
        },
        {
          kind: 'table',
          caption: 'Mail, the newest first. What it says is not shown: it holds links and codes.',
          columns: ['To', 'Subject', 'State', 'Made', 'Tries', 'Last error'],
          rows: page.items.map((one) => [
            one.recipient,
            one.subject,
            tagOf(one.state),
            one.createdAt,
            one.tries,
            one.lastError,
          ]),
          empty: 'There is none.',
          next: page.next && listPath('/admin/mail', { state, after: page.next }),
        },
        ...(mayRetry && failed.length > 0
          ? [
              {
                kind: 'actions' as const,
                title: 'Send again',
                items: failed.map(({ id, recipient, subject }) => ({
                  label: recipient,
                  of: subject,
                  post: `/admin/mail/${id}/retry`,
                })),
              },
            ]
          : []),
      ],
    });
  });

  router.post('/mail/:id/retry', ...frame.change('gatehouse.mail:write'), async (ctx) => {
    await mail.retry(ctx.params.id ?? '', frame.by(ctx));
    frame.back(ctx, '/admin/mail', 'It is sent again.');
  });

  return router;
}

function keyRow({ kid, alg, state, createdAt, activatedAt, retiredAt, certificate }: KeyInfo): Cell[] {
  return [
    { text: kid, code: true, small: alg },
    tagOf(state),
    createdAt,
    activatedAt,
    retiredAt,
    certificate?.until ?? null,
  ];
}

function rotation(use: 'oidc' | 'saml', step: string, title: string, lead: string, button: string): Block {
  const fields = [
    { name: 'use', label: '', type: 'hidden' as const, value: use },
    { name: 'step', label: '', type: 'hidden' as const, value: step },
  ];
  return { kind: 'form', title, lead, action: '/admin/keys/rotate', fields, button, look: 'danger' };
}
