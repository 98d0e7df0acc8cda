// /admin/applications/:id/metadata: metadata that changed at its URL, compared with what is registered, to approve or reject.

import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import { notFound } from '../../base/http/errors.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { MetadataChange } from '../../protocols/saml/metadata/differences.ts';
import type { WaitingMetadata } from '../../protocols/saml/metadata/waiting-metadata.ts';
import type { Block, Cell, Mark } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Pages } from '../resource.ts';
import type { ApplicationDetails } from './actions.ts';

const decision = z.object({ decision: z.enum(['approve', 'reject']), document: z.string().max(100) });

/** The page and its action. */
export function addMetadataPages(
  { change }: Pages<ApplicationDetails>,
  { admin: { applications } }: ConsoleServices,
): void {
  change('/metadata', {
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    form: decision,
    async page({ subject: { application } }) {
      const waiting = await applications.waitingMetadata(application);
      if (!waiting) throw notFound({ message: t('console.applications.metadata.none-waits') });
      const path = `/admin/applications/${application.id}`;
      return {
        title: t('console.applications.metadata.title', { name: application.name }),
        back: { href: path, label: application.name },
        blocks: comparison(application, waiting).concat(decisionForms(`${path}/metadata`, waiting.documentHash)),
      };
    },
    async submit({ by, subject: { application } }, { decision: decided, document: documentHash }) {
      await applications.decideMetadata(application, decided, documentHash, by);
      const notice = t(`console.applications.metadata.${decided === 'approve' ? 'approved' : 'dropped'}`);
      return { to: `/admin/applications/${application.id}`, notice };
    },
  });
}

/** What changed, and where the document comes from. */
function comparison({ name, metadata }: Application, { documentHash, receivedAt, changes }: WaitingMetadata): Block[] {
  const url = 'metadata_url' in metadata ? metadata.metadata_url : undefined;
  const lead = t('console.applications.metadata.lead');
  const warning = t('console.applications.metadata.warning', { name });
  return [
    { kind: 'text', text: lead },
    {
      kind: 'table',
      caption: t('console.applications.metadata.caption'),
      columns: [
        t('console.applications.metadata.what'),
        t('console.applications.metadata.registered'),
        t('console.applications.metadata.received'),
      ],
      rows: changes.map(changeRow),
      empty: t('console.applications.metadata.no-changes'),
    },
    {
      kind: 'facts',
      rows: [
        { label: t('console.applications.metadata.received-from'), value: { text: url ?? '', code: true } },
        { label: t('console.applications.metadata.first-received'), value: receivedAt },
        { label: t('console.applications.metadata.hash'), value: { text: documentHash, code: true } },
      ],
    },
    { kind: 'text', tone: 'warning', text: warning },
  ];
}

const parts: Record<MetadataChange['what'], PageText> = {
  'ACS addresses': t('console.applications.metadata.part.acs'),
  'SLO addresses': t('console.applications.metadata.part.slo'),
  'Signing keys': t('console.applications.metadata.part.signing-keys'),
  'Encryption keys': t('console.applications.metadata.part.encryption-keys'),
  'Signed requests (AuthnRequestsSigned)': t('console.applications.metadata.part.signed-requests'),
  'Signed assertions (WantAssertionsSigned)': t('console.applications.metadata.part.signed-assertions'),
};
/** The values that are words. */
const words: Readonly<Record<string, PageText>> = {
  none: t('console.applications.metadata.value.none'),
  required: t('console.applications.metadata.value.required'),
  'not required': t('console.applications.metadata.value.not-required'),
};

function changeRow({ what, received, registered, needsApproval }: MetadataChange): Cell[] {
  const [, small] = withoutDetail(what);
  const [before, after] = [registered.split('\n'), received.split('\n')];
  // In a row of one value each, the columns say it already.
  const isList = before.length + after.length > 2;
  const values = (lines: string[], others: string[], tag: Mark): Cell =>
    lines.map((line) => [value(line), ...(isList ? difference(line, others, tag) : [])]);
  return [
    [
      [{ text: parts[what], small }],
      needsApproval
        ? { text: t('console.applications.metadata.needs-approval'), tone: 'warn' }
        : t('console.applications.metadata.needs-no-approval'),
    ],
    values(before, after, { text: t('console.applications.metadata.removed'), tone: 'plain' }),
    values(after, before, { text: t('console.applications.metadata.new'), tone: 'warn' }),
  ];
}

/** The tag of a value that the other side lacks. The same address with another binding or index is changed. */
function difference(line: string, others: readonly string[], tag: Mark): Mark[] {
  if (others.includes(line)) return [];
  const [address = ''] = withoutDetail(line);
  const isKnown = /^https?:/.test(address) && others.some((other) => withoutDetail(other)[0] === address);
  return [isKnown ? { text: t('console.applications.metadata.changed'), tone: 'plain' } : tag];
}

/** An address or a certificate, and in small letters its binding or fingerprint; or a word such as `required`. */
function value(line: string): Mark {
  const [text = line, small] = withoutDetail(line);
  return small === undefined ? { text: words[line] ?? line } : { text, small, code: true };
}

/** The text before a last part in brackets, and that part. */
function withoutDetail(text: string): string[] {
  return /^(.+) \(([^()]+)\)$/.exec(text)?.slice(1) ?? [text];
}

/** The two decisions, which name the document that the page compares. */
function decisionForms(action: string, documentHash: string): Block[] {
  const form = (
    name: 'approve' | 'reject',
    button: PageText,
    look: 'primary' | 'secondary',
    lead: PageText,
  ): Block => ({
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
    form(
      'approve',
      t('console.applications.metadata.approve'),
      'primary',
      t('console.applications.metadata.approve-lead'),
    ),
    form(
      'reject',
      t('console.applications.metadata.reject'),
      'secondary',
      t('console.applications.metadata.reject-lead'),
    ),
  ];
}

/** For the page of the application. */
export function waitingMetadataNotice(isWaiting: boolean): Block[] {
  const text = t('console.applications.metadata.waits');
  return isWaiting ? [{ kind: 'text', tone: 'warning', text }] : [];
}
