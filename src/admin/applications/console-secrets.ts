// The client secrets of one application: the active ones, a new one, and the revocation of an old one.

import { z } from 'zod';
import { newSecretReplacesOld } from '../../applications/application.ts';
import { usesSecret } from '../../applications/fields/oidc-client.ts';
import { notFound } from '../../base/http/errors.ts';
import { t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Block, ConsolePage, RowAction } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import { tableOf } from '../console/lists.ts';
import { addQuestion } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { Pages } from '../resource.ts';
import type { ApplicationDetails } from './actions.ts';
import { newSecretPage } from './tabs/registered-page.ts';

const WRITE = 'gatehouse.applications:write' as const;
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
    assertOpen: ({ by, subject }) => applications.assertMayChange(subject.application, by),
    form: overlapForm,
    page: ({ ctx, subject }) => secretPage(subject, ctx.path),
    async submit({ by, subject: { application } }, { overlap }) {
      const { value } = await applications.addSecret(application, Number(overlap), by);
      return { result: newSecretPage(application, value, identityProvider()) };
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

function revokeLink(href: string, lastFour: string): RowAction {
  return {
    action: {
      label: t('console.applications.secret.revoke'),
      of: t('console.applications.secret.revoke-of', { lastFour }),
      href,
    },
  };
}
