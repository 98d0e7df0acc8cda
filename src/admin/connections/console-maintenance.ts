// The maintenance of one connection: its secrets, the proof of its domains, and its documents.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { rule } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { type SecretPurpose, secretPurposeByField, secretPurposesOf } from '../../federation/connections/schema.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { readTypedForm } from '../console/typed-form.ts';
import { connectionPage } from './console-page.ts';
import {
  assertChangeable,
  type ConnectionPagesDependencies,
  documentNames,
  inWords,
  pathOf,
  purposeNames,
  redirectSaved,
  selectorOf,
  WRITE,
} from './console-parts.ts';
import type { ConnectionDetails } from './manageable-connections.ts';

const purposes = Object.values(secretPurposeByField) as [SecretPurpose, ...SecretPurpose[]];
const secretForm = z.object({
  purpose: z.enum(purposes),
  value: z.string().trim().min(1, rule('empty')).max(16_384),
  expires_at: z.iso.date().or(z.literal('')).default(''),
});

export function addMaintenanceRoutes(router: Router<State, Extras>, dependencies: ConnectionPagesDependencies): void {
  const { frame, connections } = dependencies;
  router.get('/:id/secret', ...frame.page(WRITE), async (ctx) => {
    await assertChangeable({ connections }, ctx.params.id ?? '');
    frame.show(ctx, secretPage(await connections.get(ctx.params.id ?? ''), {}));
  });

  router.post('/:id/secret', ...frame.change(WRITE), async (ctx) => {
    const details = await connections.get(ctx.params.id ?? '');
    const { given, check } = await readTypedForm(ctx, secretForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        const { purpose, value, expires_at: end } = given;
        const { id } = details.connection;
        await connections.addSecret(id, purpose, { value, ...(end ? { expires_at: end } : {}) }, frame.actor(ctx));
        await redirectSaved({ frame, connections }, ctx, id, t('console.connections.secret-added'));
      },
      () => secretPage(details, given),
    );
  });

  addSecretRemoval(router, { frame, connections });

  router.post('/:id/domains/:domain/check', ...frame.change(WRITE), async (ctx) => {
    const { id = '', domain = '' } = ctx.params;
    const result = await connections.checkDomain(id, domain, frame.actor(ctx));
    const tone = result === 'proven' ? 'good' : 'warn';
    frame.redirect(ctx, pathOf(id), t(`console.connections.check.${result}`, { domain }), tone);
  });

  router.post('/:id/documents', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const read = await connections.readDocuments(id, frame.actor(ctx));
    const failed = read.find(({ error }) => error !== undefined);
    if (!failed) return frame.redirect(ctx, pathOf(id), t('console.connections.documents-updated'));
    const fault = { document: documentNames[failed.kind], error: inWords(failed.error ?? '') };
    const page = await connectionPage(dependencies, ctx, await connections.get(id));
    frame.show(ctx, { ...page, problem: t('console.connections.document-fault', fault) }, 502);
  });
}

function addSecretRemoval(
  router: Router<State, Extras>,
  { frame, connections }: Pick<ConnectionPagesDependencies, 'frame' | 'connections'>,
): void {
  router.get('/:id/secrets/:secret/remove', ...frame.page(WRITE), async (ctx) => {
    await assertChangeable({ connections }, ctx.params.id ?? '');
    const { connection, secrets } = await connections.get(ctx.params.id ?? '');
    const secret = secrets.find(({ id }) => id === ctx.params.secret);
    if (!secret) throw notFound();
    const at = pathOf(connection.id);
    const isOnly = !secrets.some(({ id, purpose }) => id !== secret.id && purpose === secret.purpose);
    frame.show(ctx, {
      title: t('console.connections.remove-secret-title', {
        purpose: selectorOf(secret.purpose),
        at: secret.createdAt,
        name: connection.name,
      }),
      back: { href: at, label: connection.name },
      blocks: [
        {
          kind: 'form',
          lead: isOnly
            ? t('console.connections.remove-only-secret', { name: connection.name })
            : t('console.connections.remove-one-of-secrets'),
          action: `${at}/secrets/${secret.id}/remove`,
          fields: [],
          button: t('console.connections.remove-secret'),
          look: 'danger',
          cancel: at,
        },
      ],
    });
  });

  router.post('/:id/secrets/:secret/remove', ...frame.change(WRITE), async (ctx) => {
    const { id = '', secret = '' } = ctx.params;
    await connections.removeSecret(id, secret, frame.actor(ctx));
    frame.redirect(ctx, pathOf(id), t('console.connections.secret-removed'));
  });
}

function secretPage({ connection }: ConnectionDetails, given: Record<string, unknown>): ConsolePage {
  const at = pathOf(connection.id);
  const options = secretPurposesOf(connection.kind).map((value) => ({ value, label: purposeNames[value] }));
  const sent = (name: string) => (typeof given[name] === 'string' ? given[name] : '');
  return {
    title: t('console.connections.add-secret'),
    back: { href: at, label: connection.name },
    blocks: [
      {
        kind: 'form',
        lead: t('console.connections.add-secret-lead'),
        action: `${at}/secret`,
        fields: [
          {
            name: 'purpose',
            label: t('console.connections.secret'),
            type: 'select',
            options,
            value: sent('purpose') || options[0]?.value,
          },
          { name: 'value', label: t('console.shared.value'), type: 'password', value: sent('value'), required: true },
          {
            name: 'expires_at',
            label: t('console.connections.expires-on'),
            type: 'date',
            value: sent('expires_at'),
            hint: t('console.connections.expires-on-hint'),
          },
        ],
        button: t('console.connections.add-secret'),
        cancel: at,
      },
    ],
  };
}
