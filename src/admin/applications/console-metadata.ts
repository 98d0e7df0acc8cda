// /admin/applications/:id/metadata: metadata that changed at its URL, received beside registered, to approve or reject.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import type { Block, Cell, ConsolePage } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
const decisionForm = z.object({ decision: z.enum(['approve', 'reject']), document: z.string().max(100) });
const codes = (text: string): Cell => text.split('\n').map((line) => ({ text: line, code: true }));

/** The page and its action. */
export function addMetadataRoutes(
  router: Router<State, Extras>,
  { frame, applications }: ApplicationPagesDependencies,
): void {
  router.get('/:id/metadata', ...frame.page(within(WRITE)), async (ctx) =>
    frame.show(ctx, await decisionPage(ctx, ctx.params.id ?? '')),
  );

  router.post('/:id/metadata', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    const { decision, document } = await parseForm(ctx, decisionForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        await applications.decideMetadata(id, decision, document, frame.by(ctx));
        const message = decision === 'approve' ? 'The new metadata is registered.' : 'The new metadata was dropped.';
        frame.back(ctx, `/admin/applications/${id}`, message);
      },
      () => decisionPage(ctx, id),
    );
  });

  async function decisionPage(ctx: Context, id: string): Promise<ConsolePage> {
    const { application } = await applications.get(id, frame.by(ctx), WRITE);
    const waiting = await applications.waitingMetadata(id, frame.by(ctx), WRITE);
    if (!waiting) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
    const path = `/admin/applications/${id}`;
    const decision = (value: 'approve' | 'reject', lead: string, button: string): Block => ({
      kind: 'form',
      lead,
      action: `${path}/metadata`,
      fields: [
        { name: 'decision', label: '', type: 'hidden', value },
        { name: 'document', label: '', type: 'hidden', value: waiting.document },
      ],
      button,
      look: value === 'approve' ? 'primary' : 'danger',
    });
    return {
      title: `New metadata of ${application.name}`,
      back: { href: path, label: application.name },
      blocks: [
        {
          kind: 'text',
          tone: 'lead',
          text: 'The metadata at its address changed where only an administrator may change it. Until you approve it, the registered metadata stays in use. Ask the operators of the application whether they made the change, by another way than its own pages.',
        },
        {
          kind: 'table',
          caption: 'What changes',
          columns: ['What', 'Received', 'Registered'],
          rows: waiting.changes.map(({ what, received, registered, needsApproval }) => [
            { text: what, small: needsApproval ? 'needs approval' : 'applied without approval' },
            codes(received),
            codes(registered),
          ]),
          empty: 'Nothing that matters here.',
        },
        {
          kind: 'facts',
          rows: [
            { label: 'First received', value: waiting.receivedAt },
            { label: 'SHA-256 of the document', value: { text: waiting.document, code: true } },
          ],
        },
        decision(
          'approve',
          'Users are sent to the new addresses, and the new keys are trusted, from the next sign-in on.',
          'Approve',
        ),
        decision('reject', 'The registered metadata stays. The same changes are not reported again.', 'Reject'),
      ],
    };
  }
}

/** For the page of the application. */
export function waitingMetadataNotice(isWaiting: boolean): Block[] {
  const text = 'Changed metadata of this application waits for approval.';
  return isWaiting ? [{ kind: 'text', tone: 'warning', text }] : [];
}
