// /admin/applications/:id/metadata: metadata that changed at its URL, compared with what is registered, to approve or reject.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import type { MetadataChange } from '../../saml/metadata/differences.ts';
import type { WaitingMetadata } from '../../saml/metadata/waiting-metadata.ts';
import type { Block, Cell, ConsolePage, Mark } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
const decision = z.object({ decision: z.enum(['approve', 'reject']), document: z.string().max(100) });

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
    const { decision: decided, document: documentHash } = await parseForm(ctx, decision.loose());
    await frame.attempt(
      ctx,
      async () => {
        await applications.decideMetadata(id, decided, documentHash, frame.actor(ctx));
        const message = decided === 'approve' ? 'The new metadata is registered.' : 'The new metadata was dropped.';
        frame.redirect(ctx, `/admin/applications/${id}`, message);
      },
      () => decisionPage(ctx, id),
    );
  });

  async function decisionPage(ctx: Context, id: string): Promise<ConsolePage> {
    const { application } = await applications.get(id, frame.actor(ctx), WRITE);
    const waiting = await applications.waitingMetadata(id, frame.actor(ctx), WRITE);
    if (!waiting) throw notFound({ message: 'No changed metadata of this application waits for approval.' });
    const path = `/admin/applications/${id}`;
    return {
      title: `New metadata of ${application.name}`,
      back: { href: path, label: application.name },
      blocks: comparison(application, waiting).concat(decisionForms(`${path}/metadata`, waiting.documentHash)),
    };
  }
}

/** What changed, and where the document comes from. */
function comparison({ name, metadata }: Application, { documentHash, receivedAt, changes }: WaitingMetadata): Block[] {
  const url = 'metadata_url' in metadata ? metadata.metadata_url : undefined;
  const lead =
    'The metadata changed something that only an administrator may change. The registered metadata stays in use.';
  const warning = `Before you approve it, ask the owners of ${name} whether this change is real: by phone, for example, not through the application itself.`;
  return [
    { kind: 'text', text: lead },
    {
      kind: 'table',
      caption: 'What changes',
      columns: ['What', 'Registered', 'Received'],
      rows: changes.map(changeRow),
      empty: 'The registered metadata already has these changes.',
    },
    {
      kind: 'facts',
      rows: [
        { label: 'Received from', value: { text: url ?? '', code: true } },
        { label: 'First received', value: receivedAt },
        { label: 'SHA-256 of the document', value: { text: documentHash, code: true } },
      ],
    },
    { kind: 'text', tone: 'warning', text: warning },
  ];
}

function changeRow({ what, received, registered, needsApproval }: MetadataChange): Cell[] {
  const [text = what, small] = withoutDetail(what);
  const [before, after] = [registered.split('\n'), received.split('\n')];
  // In a row of one value each, the columns say it already.
  const isList = before.length + after.length > 2;
  const values = (lines: string[], others: string[], tag: Mark): Cell =>
    lines.map((line) => [value(line), ...(isList ? difference(line, others, tag) : [])]);
  return [
    [[{ text, small }], needsApproval ? { text: 'needs approval', tone: 'warn' } : 'needs no approval'],
    values(before, after, { text: 'removed', tone: 'plain' }),
    values(after, before, { text: 'new', tone: 'warn' }),
  ];
}

/** The tag of a value that the other side lacks. The same address with another binding or index is changed. */
function difference(line: string, others: readonly string[], tag: Mark): Mark[] {
  if (others.includes(line)) return [];
  const [address = ''] = withoutDetail(line);
  const isKnown = /^https?:/.test(address) && others.some((other) => withoutDetail(other)[0] === address);
  return [isKnown ? { text: 'changed', tone: 'plain' } : tag];
}

/** An address or a certificate, and in small letters its binding or fingerprint; or a word such as `required`. */
function value(line: string): Mark {
  const [text = line, small] = withoutDetail(line);
  return small === undefined ? { text } : { text, small, code: true };
}

/** The text before a last part in brackets, and that part. */
function withoutDetail(text: string): string[] {
  return /^(.+) \(([^()]+)\)$/.exec(text)?.slice(1) ?? [text];
}

/** The two decisions, which name the document that the page compares. */
function decisionForms(action: string, documentHash: string): Block[] {
  const form = (name: 'approve' | 'reject', button: string, look: 'primary' | 'secondary', lead: string): Block => ({
    kind: 'form',
    lead,
    action,
    fields: [
      { name: 'decision', label: '', type: 'hidden', value: name },
      { name: 'document', label: '', type: 'hidden', value: documentHash },
    ],
    button,
    look,
  });
  return [
    form('approve', 'Approve', 'primary', 'Gatehouse uses the new addresses and keys from the next sign-in on.'),
    form(
      'reject',
      'Reject',
      'secondary',
      'The registered metadata stays. Gatehouse doesn’t report the same changes again.',
    ),
  ];
}

/** For the page of the application. */
export function waitingMetadataNotice(isWaiting: boolean): Block[] {
  const text = 'Changed metadata of this application waits for approval.';
  return isWaiting ? [{ kind: 'text', tone: 'warning', text }] : [];
}
