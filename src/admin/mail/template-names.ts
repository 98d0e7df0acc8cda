// What each kind of mail is called in the console.

import { type PageText, t } from '../../base/texts/text.ts';
import type { MailKind } from '../../core/mail/messages.ts';

export const templateNames: Record<MailKind, PageText> = {
  invitation: t('console.mail.template.invitation'),
  registration: t('console.mail.template.registration'),
  'already-registered': t('console.mail.template.already-registered'),
  'verify-email': t('console.mail.template.verify-email'),
  'confirm-new-email': t('console.mail.template.confirm-new-email'),
  'email-taken': t('console.mail.template.email-taken'),
  'email-changed': t('console.mail.template.email-changed'),
  'password-reset': t('console.mail.template.password-reset'),
  'no-password-here': t('console.mail.template.no-password-here'),
  'password-changed': t('console.mail.template.password-changed'),
  unlock: t('console.mail.template.unlock'),
  'one-time-code': t('console.mail.template.one-time-code'),
  'new-sign-in': t('console.mail.template.new-sign-in'),
  'factor-changed': t('console.mail.template.factor-changed'),
  'group-request': t('console.mail.template.group-request'),
  'group-invitation': t('console.mail.template.group-invitation'),
  'group-owner': t('console.mail.template.group-owner'),
  'group-answer': t('console.mail.template.group-answer'),
  'account-end': t('console.mail.template.account-end'),
  'account-unused': t('console.mail.template.account-unused'),
  'accounts-end': t('console.mail.template.accounts-end'),
  deletion: t('console.mail.template.deletion'),
  'membership-end': t('console.mail.template.membership-end'),
  'members-end': t('console.mail.template.members-end'),
  'saml-certificate': t('console.mail.template.saml-certificate'),
  provisioning: t('console.mail.template.provisioning'),
  'saml-metadata': t('console.mail.template.saml-metadata'),
  'connection-end': t('console.mail.template.connection-end'),
  'connection-rejected': t('console.mail.template.connection-rejected'),
  'event-stream-paused': t('console.mail.template.event-stream-paused'),
  'integrity-alarm': t('console.mail.template.integrity-alarm'),
  test: t('console.mail.template.test'),
};
