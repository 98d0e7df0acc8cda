// The client secrets of one application: the active ones, a new one, and the revocation of an old one.
import type Router from '@koa/router';
import { z } from 'zod';
import { newSecretReplacesOld } from '../../applications/application.ts';
import { usesSecret } from '../../applications/fields/oidc-client.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Block, RowAction } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import type { ApplicationDetails } from './actions.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { newSecretPage } from './tabs/registered-page.ts';

const WRITE = 'gatehouse.applications:write' as const;
const OVERLAP_OPTIONS = [
  { value: '3600', label: t('console.applications.secret.overlap.hour') },
  { value: '86400', label: t('console.applications.secret.overlap.day') },
  { value: '604800', label: t('console.applications.secret.overlap.week') },
  { value: '0', label: t('console.applications.secret.overlap.none') },
];
const overlapForm = z.object({ overlap: z.enum(['3600', '86400', '604800', '0']) });

/** The pages …/secret and …/secrets/:secretId/remove. */
export function addSecretRoutes(
  router: Router<State, Extras>,
  { frame, applications, identityProvider }: ApplicationPagesDependencies,
): void {
  router.get('/:id/secret', ...frame.page(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    const { application } = await applications.get(id, frame.actor(ctx), WRITE);
    const replacesOldSecret = newSecretReplacesOld(application);
    frame.show(ctx, {
      title: t('console.applications.secret.new'),
      back: { href: `/admin/applications/${id}/credentials`, label: application.name },
      blocks: [
        {
          kind: 'form',
          action: `/admin/applications/${id}/secret`,
          lead: replacesOldSecret
            ? t('console.applications.secret.replaced')
            : t('console.applications.secret.both-valid'),
          fields: [
            {
              name: 'overlap',
              label: t('console.applications.secret.keep-old'),
              type: 'select',
              value: replacesOldSecret ? '0' : '604800',
              options: OVERLAP_OPTIONS,
            },
          ],
          button: t('console.applications.secret.create'),
          cancel: `/admin/applications/${id}/credentials`,
        },
      ],
    });
  });

  router.post('/:id/secret', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    const { overlap } = await parseForm(ctx, overlapForm.loose());
    const { value } = await applications.addSecret(id, Number(overlap), frame.actor(ctx));
    const { application } = await applications.get(id, frame.actor(ctx), WRITE);
    const page = newSecretPage(application, value, identityProvider());
    await frame.showResult(ctx, page);
  });

  addRevocation(router, { frame, applications });
}

function addRevocation(
  router: Router<State, Extras>,
  { frame, applications }: Pick<ApplicationPagesDependencies, 'frame' | 'applications'>,
): void {
  router.get('/:id/secrets/:secretId/remove', ...frame.page(within(WRITE)), async (ctx) => {
    const { id = '', secretId = '' } = ctx.params;
    const { application, secrets } = await applications.get(id, frame.actor(ctx), WRITE);
    const secret = secrets.find((one) => one.id === secretId);
    if (!secret) throw notFound();
    const { name } = application;
    const at = `/admin/applications/${id}`;
    frame.show(ctx, {
      title: t('console.applications.secret.revoke-title', { lastFour: secret.lastFour, name }),
      back: { href: `${at}/credentials`, label: name },
      blocks: [
        { kind: 'facts', rows: secretFacts(secret) },
        {
          kind: 'form',
          lead: t('console.applications.secret.revoke-lead', { name }),
          action: `${at}/secrets/${secretId}/remove`,
          fields: [],
          button: t('console.applications.secret.revoke-button'),
          look: 'danger',
          cancel: `${at}/credentials`,
        },
      ],
    });
  });

  router.post('/:id/secrets/:secretId/remove', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '', secretId = '' } = ctx.params;
    await applications.removeSecret(id, secretId, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}/credentials`, t('console.applications.secret.revoked'));
  });
}

/** The active secrets of the application, with their actions, for its page. */
export function secretBlocks(
  { application, secrets }: ApplicationDetails,
  at: string,
  mayWrite: boolean,
  now: Date,
): Block[] {
  if (application.protocol !== 'oidc' || !usesSecret(application.metadata)) return [];
  const mayRevoke = mayWrite && secrets.length > 1;
  return [
    {
      kind: 'table',
      title: t('console.applications.secret.title'),
      ...(secrets.length > 1 && { lead: t('console.applications.secret.lead') }),
      caption: t('console.applications.secret.caption'),
      actions: mayWrite
        ? [{ label: t('console.applications.secret.new-button'), icon: 'plus', href: `${at}/secret` }]
        : [],
      columns: [
        t('console.applications.secret.secret'),
        t('console.applications.secret.created'),
        t('console.applications.secret.last-used'),
        t('console.applications.secret.expires'),
        ...(mayRevoke ? [t('console.shared.action')] : []),
      ],
      rows: secrets.map(({ id, lastFour, createdAt, lastUsedAt, expiresAt }, index) => [
        { text: `••••••••${lastFour}`, code: true },
        createdAt,
        lastUsedAt ?? t('console.applications.secret.never'),
        expiryCell(expiresAt, now) ?? t('console.applications.secret.never'),
        // Newest first; the newest cannot be revoked, only replaced.
        ...(mayRevoke ? [index > 0 ? revokeLink(`${at}/secrets/${id}/remove`, lastFour) : ''] : []),
      ]),
      empty: t('console.applications.secret.none'),
    },
  ];
}

function secretFacts({ createdAt, lastUsedAt }: ApplicationDetails['secrets'][number]) {
  return [
    { label: t('console.applications.secret.created'), value: createdAt },
    {
      label: t('console.applications.secret.last-used'),
      value: lastUsedAt ?? t('console.applications.secret.never'),
    },
  ];
}

function revokeLink(href: string, lastFour: string): RowAction {
  return {
    action: {
      label: t('console.applications.secret.revoke'),
      of: t('console.applications.secret.revoke-of', { lastFour }),
      href,
    },
  };
}
