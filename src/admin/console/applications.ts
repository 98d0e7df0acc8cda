// /admin/applications: the list, one application, and everything that is done to it.
import Router from '@koa/router';
import { z } from 'zod';
import { needsSecretValue, usesSecret } from '../../applications/oidc-client.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import type { ApplicationAdmin, ApplicationDetails } from '../applications.ts';
import type { RoleAdmin } from '../roles.ts';
import { accessCell, factsOf, pasteBlocks, protocolName } from './application-parts.ts';
import type { Block } from './blocks.ts';
import { type Frame, listPath, listQuery } from './frame.ts';
import type { OurSide } from './preset-parts.ts';

export interface ApplicationPagesNeeds {
  frame: Frame;
  applications: ApplicationAdmin;
  roles: Pick<RoleAdmin, 'list'>;
  ourSide(): Omit<OurSide, 'clientId' | 'clientSecret'>;
}

const READ = 'gatehouse.applications:read' as const;
const WRITE = 'gatehouse.applications:write' as const;
const query = listQuery.extend({ protocol: z.enum(['', 'oidc', 'saml']).default('') });
const OVERLAPS = [
  { value: '3600', label: 'one hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: 'a week' },
  { value: '0', label: 'not at all: it ends now' },
];
const overlapForm = z.object({ overlap: z.enum(['3600', '86400', '604800', '0']) });

export function applicationRoutes({ frame, applications, ourSide }: ApplicationPagesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/applications' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { q, after, protocol } = parseQuery(ctx, query);
    const page = await applications.list({ search: q, after, ...(protocol && { protocol }), limit: 50 });
    frame.show(ctx, {
      title: 'Applications',
      actions: frame.may(ctx, WRITE)
        ? [
            { label: 'New application', href: '/admin/applications/new', look: 'primary' },
            { label: 'Test applications', href: '/admin/test' },
          ]
        : [],
      blocks: [
        {
          kind: 'search',
          action: '/admin/applications',
          fields: [
            { name: 'q', label: 'Name or identifier', type: 'search', value: q },
            {
              name: 'protocol',
              label: 'Protocol',
              type: 'select',
              value: protocol,
              options: [
                { value: '', label: 'Both' },
                { value: 'oidc', label: 'OpenID Connect' },
                { value: 'saml', label: 'SAML' },
              ],
            },
          ],
        },
        {
          kind: 'table',
          caption: 'Applications',
          columns: ['Name', 'Protocol', 'Who may open it', 'State'],
          rows: page.applications.map((one) => [
            { text: one.name, href: `/admin/applications/${one.id}`, small: one.clientId },
            protocolName[one.protocol],
            accessCell(one),
            one.enabled ? { text: 'enabled', tone: 'good' } : { text: 'disabled', tone: 'bad' },
          ]),
          empty: q ? 'No application is called that.' : 'There are none yet. “New application” registers the first.',
          next: page.next && listPath('/admin/applications', { q, protocol, after: page.next }),
        },
      ],
    });
  });

  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const { id = '' } = ctx.params;
    const details = await applications.get(id);
    const { application } = details;
    const mayWrite = frame.may(ctx, WRITE) && application.source !== 'file';
    const at = `/admin/applications/${id}`;
    frame.show(ctx, {
      title: application.name,
      back: { href: '/admin/applications', label: 'Applications' },
      tags: [
        application.enabled ? { text: 'enabled', tone: 'good' } : { text: 'disabled', tone: 'bad' },
        ...(application.source === 'file' ? [{ text: 'owned by the configuration file' }] : []),
      ],
      actions: [
        ...(frame.may(ctx, WRITE) && application.enabled
          ? [{ label: 'Test sign-in', href: `/admin/test/${id}`, look: 'primary' as const }]
          : []),
        ...(mayWrite ? [{ label: 'Edit', href: `${at}/edit` }] : []),
      ],
      blocks: [
        ...(application.source === 'file'
          ? [
              {
                kind: 'text' as const,
                tone: 'notice' as const,
                text: 'The configuration file declares this application, so it is changed there.',
              },
            ]
          : []),
        factsOf(application),
        ...secretBlocks(details, at, mayWrite),
        ...pasteBlocks(application, { ...ourSide(), clientId: application.clientId }),
        ...(mayWrite ? [endBlock(application.enabled, at)] : []),
      ],
    });
  });

  confirmed('disable', 'Disable', 'Nobody can sign in to it any more, and what it holds ends now.', async (ctx, id) => {
    await applications.setEnabled(id, false, frame.by(ctx));
    frame.back(ctx, `/admin/applications/${id}`, 'It is disabled.');
  });

  confirmed(
    'delete',
    'Delete',
    'It is gone for good, with its secrets and what people allowed it.',
    async (ctx, id) => {
      await applications.remove(id, frame.by(ctx));
      frame.back(ctx, '/admin/applications', 'It was deleted.');
    },
  );

  router.post('/:id/enable', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, true, frame.by(ctx));
    frame.back(ctx, `/admin/applications/${id}`, 'It is enabled.');
  });

  router.get('/:id/secret', ...frame.danger(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { application } = await applications.get(id);
    const atOnce = application.protocol === 'oidc' && needsSecretValue(application.metadata);
    frame.show(ctx, {
      title: 'New secret',
      back: { href: `/admin/applications/${id}`, label: application.name },
      blocks: [
        {
          kind: 'form',
          action: `/admin/applications/${id}/secret`,
          lead: atOnce
            ? 'This application’s messages are signed with its secret, so the old one ends at once.'
            : 'Both secrets work until the old one ends, so that nobody is locked out while you change it.',
          fields: [
            {
              name: 'overlap',
              label: 'The old secret goes on for',
              type: 'select',
              value: atOnce ? '0' : '604800',
              options: OVERLAPS,
            },
          ],
          button: 'Make a new secret',
          cancel: `/admin/applications/${id}`,
        },
      ],
    });
  });

  router.post('/:id/secret', ...frame.danger(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { overlap } = await parseForm(ctx, overlapForm.loose());
    const { value } = await applications.addSecret(id, Number(overlap), frame.by(ctx));
    const { application } = await applications.get(id);
    frame.show(ctx, {
      title: 'The new secret',
      back: { href: `/admin/applications/${id}`, label: application.name },
      blocks: [
        { kind: 'text', tone: 'warning', text: 'It is shown this once. Paste it into the application now.' },
        { kind: 'code', label: 'Client secret', text: value },
        ...pasteBlocks(application, { ...ourSide(), clientId: application.clientId, clientSecret: value }),
      ],
    });
  });

  router.post('/:id/secrets/:secretId/remove', ...frame.change(WRITE), async (ctx) => {
    const { id = '', secretId = '' } = ctx.params;
    await applications.removeSecret(id, secretId, frame.by(ctx));
    frame.back(ctx, `/admin/applications/${id}`, 'That secret works no more.');
  });

  /** A page that asks, and the action behind it. */
  function confirmed(
    path: string,
    verb: string,
    consequence: string,
    act: (ctx: Context, id: string) => Promise<void>,
  ) {
    router.get(`/:id/${path}`, ...frame.danger(WRITE), async (ctx) => {
      const { id = '' } = ctx.params;
      const { application } = await applications.get(id);
      frame.show(ctx, {
        title: `${verb} ${application.name}?`,
        back: { href: `/admin/applications/${id}`, label: application.name },
        blocks: [
          {
            kind: 'form',
            lead: consequence,
            action: `/admin/applications/${id}/${path}`,
            fields: [],
            button: verb,
            look: 'danger',
            cancel: `/admin/applications/${id}`,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.danger(WRITE), (ctx) => act(ctx, ctx.params.id ?? ''));
  }

  return router;
}

function secretBlocks({ application, secrets }: ApplicationDetails, at: string, mayWrite: boolean): Block[] {
  if (application.protocol !== 'oidc' || !usesSecret(application.metadata)) return [];
  return [
    {
      kind: 'table',
      title: 'Secrets',
      caption: 'Secrets that work now',
      columns: ['Made', 'Works until'],
      rows: secrets.map(({ createdAt, expiresAt }) => [createdAt, expiresAt ?? 'it is replaced']),
      empty: 'It has no secret.',
    },
    ...(mayWrite
      ? [
          {
            kind: 'actions' as const,
            items: [
              { label: 'New secret', href: `${at}/secret` },
              ...secrets.slice(1).map(({ id, createdAt }) => ({
                label: 'End the old one now',
                of: `made ${createdAt.toISOString()}`,
                post: `${at}/secrets/${id}/remove`,
              })),
            ],
          },
        ]
      : []),
  ];
}

function endBlock(isEnabled: boolean, at: string): Block {
  return {
    kind: 'actions',
    title: 'Switch off',
    items: [
      isEnabled
        ? { label: 'Disable', href: `${at}/disable`, look: 'danger' }
        : { label: 'Enable', post: `${at}/enable` },
      { label: 'Delete', href: `${at}/delete`, look: 'danger' },
    ],
  };
}
