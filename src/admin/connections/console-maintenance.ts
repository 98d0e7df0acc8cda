// The maintenance of one connection: its secrets, the proof of its domains, and its documents.
import type Router from '@koa/router';
import { z } from 'zod';
import { type SecretPurpose, secretPurposeByField, secretPurposesOf } from '../../connections/schema.ts';
import type { Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { concatenated } from '../../texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { readTypedForm } from '../console/typed-form.ts';
import { type ConnectionPagesDependencies, describeSecret, pathOf, purposeNames, WRITE } from './console-parts.ts';
import type { ConnectionDetails } from './manageable-connections.ts';

const purposes = Object.values(secretPurposeByField) as [SecretPurpose, ...SecretPurpose[]];
const secretForm = z.object({
  purpose: z.enum(purposes),
  value: z.string().trim().min(1, 'must not be empty').max(16_384),
  expires_at: z.iso.date().or(z.literal('')).default(''),
});
const CHECKS = {
  proven: 'Domain proven: the DNS record is correct.',
  missing: 'DNS record not found. DNS changes can take an hour.',
  unreachable: 'The name servers didn’t answer, so nothing changed.',
} as const;

export function addMaintenanceRoutes(
  router: Router<State, Extras>,
  { frame, connections }: ConnectionPagesDependencies,
): void {
  router.get('/:id/secret', ...frame.page(WRITE), async (ctx) => {
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
        frame.redirect(
          ctx,
          pathOf(id),
          'Secret added. Gatehouse uses it now. Remove the old secret when it has expired.',
        );
      },
      () => secretPage(details, given),
    );
  });

  addSecretRemoval(router, { frame, connections });

  router.post('/:id/domains/:domain/check', ...frame.change(WRITE), async (ctx) => {
    const { id = '', domain = '' } = ctx.params;
    const result = await connections.checkDomain(id, domain, frame.actor(ctx));
    frame.redirect(ctx, pathOf(id), `${domain}: ${CHECKS[result]}`);
  });

  router.post('/:id/documents', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const read = await connections.readDocuments(id, frame.actor(ctx));
    const failed = read.find(({ error }) => error !== undefined);
    const fault = failed?.error && concatenated([failed.kind, ': ', failed.error]);
    frame.redirect(ctx, pathOf(id), fault ?? 'All documents updated.');
  });
}

function addSecretRemoval(
  router: Router<State, Extras>,
  { frame, connections }: Pick<ConnectionPagesDependencies, 'frame' | 'connections'>,
): void {
  router.get('/:id/secrets/:secret/remove', ...frame.page(WRITE), async (ctx) => {
    const { connection, secrets } = await connections.get(ctx.params.id ?? '');
    const secret = secrets.find(({ id }) => id === ctx.params.secret);
    if (!secret) throw notFound();
    const at = pathOf(connection.id);
    const isOnly = !secrets.some(({ id, purpose }) => id !== secret.id && purpose === secret.purpose);
    frame.show(ctx, {
      title: `Remove the ${describeSecret(secret)} of ${connection.name}?`,
      back: { href: at, label: connection.name },
      blocks: [
        {
          kind: 'form',
          lead: isOnly
            ? `${connection.name} has no other one, so people can’t sign in with it anymore. You can’t undo this.`
            : 'Gatehouse uses the newest valid one that is left. You can’t undo this.',
          action: `${at}/secrets/${secret.id}/remove`,
          fields: [],
          button: 'Remove secret',
          look: 'danger',
          cancel: at,
        },
      ],
    });
  });

  router.post('/:id/secrets/:secret/remove', ...frame.change(WRITE), async (ctx) => {
    const { id = '', secret = '' } = ctx.params;
    await connections.removeSecret(id, secret, frame.actor(ctx));
    frame.redirect(ctx, pathOf(id), 'Secret removed.');
  });
}

function secretPage({ connection }: ConnectionDetails, given: Record<string, unknown>): ConsolePage {
  const at = pathOf(connection.id);
  const options = secretPurposesOf(connection.kind).map((value) => ({ value, label: purposeNames[value] }));
  const sent = (name: string) => (typeof given[name] === 'string' ? given[name] : '');
  return {
    title: 'Add secret',
    back: { href: at, label: connection.name },
    blocks: [
      {
        kind: 'form',
        lead: 'Create the secret at the provider first. Gatehouse stores it encrypted and never displays it again. The old secret stays until you remove it.',
        action: `${at}/secret`,
        fields: [
          { name: 'purpose', label: 'Secret', type: 'select', value: sent('purpose') || options[0]?.value, options },
          { name: 'value', label: 'Value', type: 'password', value: sent('value'), required: true },
          {
            ...{ name: 'expires_at', label: 'Expires on', type: 'date', value: sent('expires_at') },
            hint: 'The provider’s expiry date. Gatehouse warns you 30 and 7 days before. Leave empty if it doesn’t expire.',
          },
        ],
        button: 'Add secret',
        cancel: at,
      },
    ],
  };
}
