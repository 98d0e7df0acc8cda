// The client secrets of one application: the active ones, a new one, and the revocation of an old one.
import type Router from '@koa/router';
import { z } from 'zod';
import { newSecretReplacesOld } from '../../applications/application.ts';
import { usesSecret } from '../../applications/fields/oidc-client.ts';
import type { Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import type { Block, RowAction } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import type { ApplicationDetails } from './actions.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { afterSecret, newSecretPage } from './tabs/registered-page.ts';

const WRITE = 'gatehouse.applications:write' as const;
const OVERLAP_OPTIONS = [
  { value: '3600', label: 'one hour' },
  { value: '86400', label: 'a day' },
  { value: '604800', label: 'a week' },
  { value: '0', label: 'no time: revoke it immediately' },
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
      title: 'New client secret',
      back: { href: `/admin/applications/${id}/credentials`, label: application.name },
      blocks: [
        {
          kind: 'form',
          action: `/admin/applications/${id}/secret`,
          lead: replacesOldSecret
            ? 'This application’s messages are signed with its secret, so the old secret is revoked immediately.'
            : 'Both secrets are valid for this time, so that users can sign in while you change the application.',
          fields: [
            {
              name: 'overlap',
              label: 'Keep the old secret valid for',
              type: 'select',
              value: replacesOldSecret ? '0' : '604800',
              options: OVERLAP_OPTIONS,
            },
          ],
          button: 'Create secret',
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
    await frame.showOnce(ctx, page, afterSecret(`/admin/applications/${id}/credentials`));
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
      title: `Revoke the client secret ••••••••${secret.lastFour} of ${name}?`,
      back: { href: `${at}/credentials`, label: name },
      blocks: [
        { kind: 'facts', rows: secretFacts(secret) },
        {
          kind: 'form',
          lead: `People can’t sign in to ${name} while it still uses this secret. You can’t undo this.`,
          action: `${at}/secrets/${secretId}/remove`,
          fields: [],
          button: 'Revoke secret',
          look: 'danger',
          cancel: `${at}/credentials`,
        },
      ],
    });
  });

  router.post('/:id/secrets/:secretId/remove', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '', secretId = '' } = ctx.params;
    await applications.removeSecret(id, secretId, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}/credentials`, 'Secret revoked.');
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
      title: 'Client secrets',
      ...(secrets.length > 1 && { lead: 'Both work until the old one expires, so you can switch without downtime.' }),
      caption: 'Active secrets',
      actions: mayWrite ? [{ label: 'New secret', icon: 'plus', href: `${at}/secret` }] : [],
      columns: ['Secret', 'Created', 'Last used', 'Expires', ...(mayRevoke ? ['Action'] : [])],
      rows: secrets.map(({ id, lastFour, createdAt, lastUsedAt, expiresAt }, index) => [
        { text: `••••••••${lastFour}`, code: true },
        createdAt,
        lastUsedAt ?? 'Not recorded yet',
        expiryCell(expiresAt, now) ?? 'Never',
        // Newest first; the newest cannot be revoked, only replaced.
        ...(mayRevoke ? [index > 0 ? revokeLink(`${at}/secrets/${id}/remove`, lastFour) : ''] : []),
      ]),
      empty: 'No active secret.',
    },
  ];
}

function secretFacts({ createdAt, lastUsedAt }: ApplicationDetails['secrets'][number]) {
  return [
    { label: 'Created', value: createdAt },
    { label: 'Last used', value: lastUsedAt ?? 'Not recorded yet' },
  ];
}

function revokeLink(href: string, lastFour: string): RowAction {
  return { action: { label: 'Revoke', of: `secret that ends with ${lastFour}`, href } };
}
