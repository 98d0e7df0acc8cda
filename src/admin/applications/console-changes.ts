// What is done with one application beside its forms: enabling, disabling and deleting it, its client secrets, and metadata that waits for
// a decision. The pages, and the blocks that the tabs show of them.

import { z } from 'zod';
import { type Application, newSecretReplacesOld } from '../../applications/application.ts';
import { usesSecret } from '../../applications/fields/oidc-client.ts';
import { notFound } from '../../base/http/errors.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { MetadataChange } from '../../protocols/saml/metadata/differences.ts';
import type { WaitingMetadata } from '../../protocols/saml/metadata/waiting-metadata.ts';
import { type Action, type Block, type Cell, type ConsolePage, hiddenField, type Mark } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { expiryCell } from '../console/expiry.ts';
import { tableOf } from '../console/lists.ts';
import { addQuestion } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Pages } from '../noun-pages.ts';
import type { ApplicationDetails } from './actions.ts';
import { newSecretPage } from './tabs/registered-page.ts';

const WRITE = 'gatehouse.applications:write' as const;

// Enabling, disabling and deleting one application.

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeletePages(
  { change, question }: Pages<ApplicationDetails>,
  { admin: { applications } }: ConsoleServices,
): void {
  const back = ({ application: { id, name } }: ApplicationDetails) => ({
    href: `/admin/applications/${id}/settings`,
    label: name,
  });

  change('/enable', {
    async submit({ by, subject: { application } }) {
      await applications.setEnabled(application, true, by);
      return { to: `/admin/applications/${application.id}`, notice: t('console.applications.enable.done') };
    },
  });
  question('/disable', {
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    title: ({ application: { name } }) => t('console.applications.disable.question', { name }),
    back,
    lead: ({ subject: { application } }) => t('console.applications.disable.consequence', { name: application.name }),
    button: t('console.shared.disable'),
    async submit({ by, subject: { application } }) {
      await applications.setEnabled(application, false, by);
      return { to: `/admin/applications/${application.id}`, notice: t('console.applications.disable.done') };
    },
  });
  question('/delete', {
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    title: ({ application: { name } }) => t('console.applications.delete.question', { name }),
    back,
    lead: ({ subject: { application } }) => t('console.applications.delete.consequence', { name: application.name }),
    typedName: ({ application }) => application.name,
    async submit({ by, subject: { application } }) {
      await applications.remove(application.id, by);
      return { to: '/admin/applications', notice: t('console.applications.delete.done') };
    },
  });
}

/** The last section of the application's settings. */
export function enableAndDeleteButtons({ enabled, name }: Pick<Application, 'enabled' | 'name'>, at: string): Block {
  const enable = {
    title: t('console.applications.enable.title'),
    text: t('console.applications.enable.text', { name }),
    action: { label: t('console.shared.enable'), post: `${at}/enable` },
  };
  const disable = {
    title: t('console.applications.disable.title'),
    text: t('console.applications.disable.consequence', { name }),
    action: { label: t('console.shared.disable'), href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    title: t('console.applications.delete.title'),
    text: t('console.applications.delete.consequence', { name }),
    action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' as const },
  };
  return dangerZone([enabled ? disable : enable, remove]);
}

// The client secrets of one application: the active ones, a new one, and the revocation of an old one.

const OVERLAP_OPTIONS = [
  { value: '3600', label: t('console.applications.secret.overlap.hour') },
  { value: '86400', label: t('console.applications.secret.overlap.day') },
  { value: '604800', label: t('console.applications.secret.overlap.week') },
  { value: '0', label: t('console.applications.secret.overlap.none') },
];
const overlapForm = z.object({ overlap: z.enum(['3600', '86400', '604800', '0']) });

const credentialsOf = ({ application: { id, name } }: Pick<ApplicationDetails, 'application'>) => ({
  href: `/admin/applications/${id}/credentials`,
  label: name,
});

/** The pages …/secret and …/secrets/:secretId/remove. */
export function addSecretPages(
  { router, change }: Pages<ApplicationDetails>,
  { frame, admin: { applications }, identityProvider }: ConsoleServices,
): void {
  change('/secret', {
    isReturning: true,
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    form: overlapForm,
    page: ({ ctx, subject }) => secretPage(subject, ctx.path),
    async submit({ by, subject: { application, secrets: before } }, { overlap }) {
      const { value } = await applications.addSecret(application, Number(overlap), by);
      const { secrets } = await applications.get(application.id, by);
      const ofOld = before.length > 0 ? endOfOld(secrets) : undefined;
      return { result: newSecretPage(application, value, identityProvider(), ofOld) };
    },
  });

  addQuestion(router, frame, '/:id/secrets/:secretId/remove', {
    needs: [within(WRITE)],
    async load({ params: { id = '', secretId = '' } }, by) {
      const { application, secrets } = await applications.get(id, by, WRITE);
      const secret = secrets.find((one) => one.id === secretId);
      if (!secret) throw notFound();
      return { application, secret };
    },
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    title: ({ application: { name }, secret: { lastFour } }) =>
      t('console.applications.secret.revoke-title', { lastFour, name }),
    back: (subject) => credentialsOf(subject),
    above: ({ subject: { secret } }) => [{ kind: 'facts', rows: secretFacts(secret) }],
    lead: ({ subject: { application } }) => t('console.applications.secret.revoke-lead', { name: application.name }),
    button: t('console.applications.secret.revoke-button'),
    async submit({ by, subject: { application, secret } }) {
      await applications.removeSecret(application, secret.id, by);
      return { to: credentialsOf({ application }).href, notice: t('console.applications.secret.revoked') };
    },
  });
}

/** Until when the secrets before a new one are accepted. */
function endOfOld(secrets: ApplicationDetails['secrets']): PageText {
  const [until] = secrets.flatMap(({ expiresAt }) => expiresAt ?? []).sort((a, b) => b.getTime() - a.getTime());
  return until ? t('console.applications.secret.old-until', { at: until }) : t('console.applications.secret.old-ended');
}

function secretPage(details: ApplicationDetails, action: string): ConsolePage {
  const replacesOldSecret = newSecretReplacesOld(details.application);
  const back = credentialsOf(details);
  return {
    title: t('console.applications.secret.new'),
    back,
    blocks: [
      {
        kind: 'form',
        action,
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
        cancel: back.href,
      },
    ],
  };
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
      ...tableOf(secrets, [
        [t('console.applications.secret.secret'), ({ lastFour }) => ({ text: `••••••••${lastFour}`, code: true })],
        [t('console.applications.secret.created'), ({ createdAt }) => createdAt],
        [
          t('console.applications.secret.last-used'),
          ({ lastUsedAt }) => lastUsedAt ?? t('console.applications.secret.never'),
        ],
        [
          t('console.applications.secret.expires'),
          ({ expiresAt }) => expiryCell(expiresAt, now) ?? t('console.applications.secret.never'),
        ],
        mayRevoke && [
          t('console.shared.action'),
          // Newest first; the newest cannot be revoked, only replaced.
          ({ id, lastFour }) => (id === secrets[0]?.id ? '' : revokeLink(`${at}/secrets/${id}/remove`, lastFour)),
        ],
      ]),
      empty: t('console.applications.secret.none'),
    },
  ];
}

function secretFacts({ createdAt, lastUsedAt }: ApplicationDetails['secrets'][number]) {
  const used = lastUsedAt ?? t('console.applications.secret.never');
  return [
    { label: t('console.applications.secret.created'), value: createdAt },
    { label: t('console.applications.secret.last-used'), value: used },
  ];
}

function revokeLink(href: string, lastFour: string): Action {
  return {
    label: t('console.applications.secret.revoke'),
    of: t('console.applications.secret.revoke-of', { lastFour }),
    href,
  };
}

// /admin/applications/:id/metadata: metadata that changed at its URL, compared with what is registered, to approve or reject.

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
    fields: [hiddenField('decision', name), hiddenField('document', documentHash)],
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
