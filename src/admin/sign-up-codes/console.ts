// /admin/security/sign-up-codes: the codes with which people sign up, a new one, and the revocation of one.

import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { t } from '../../base/texts/text.ts';
import type { SignUpCode } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { Action, ConsolePage, Field, Mark } from '../console/blocks.ts';
import { daysField } from '../console/form-fields.ts';
import { tableOf } from '../console/lists.ts';
import { FILE_TAG, fileNotice, releaseQuestion } from '../console/managed-by-file.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { type CreatedSignUpCode, newCode, signUpCodeNoun } from './sign-up-codes.ts';

const HOME = '/admin/security/sign-up-codes';
const DAY_CHOICES = [1, 7, 30, 90, 365];
const back = { href: HOME, label: t('console.sign-up-codes.title') };
const CREATE: Action = { label: t('console.sign-up-codes.create'), icon: 'plus', href: `${HOME}/new` };
const STATES: Record<SignUpCode['state'], Mark> = {
  usable: { text: t('console.sign-up-codes.usable'), tone: 'good' },
  used: { text: t('console.sign-up-codes.used'), tone: 'plain' },
  expired: { text: t('console.sign-up-codes.expired'), tone: 'plain' },
};
export function signUpCodeRoutes(services: ConsoleServices) {
  const { admin, settingOf } = services;
  const { issuer, configFile } = services.config;
  const codes = admin.signUpCodes;
  const areNeeded = async () =>
    Boolean((await settingOf('self_registration')) && (await settingOf('sign_up_code_required')));
  const { router, list, createForm, question } = pagesOf(services, signUpCodeNoun(codes));

  list(async ({ may }) =>
    listPage(await codes.list(), {
      mayWrite: may('gatehouse.settings:write-security'),
      areNeeded: await areNeeded(),
      configFile,
    }),
  );
  createForm({
    title: () => t('console.sign-up-codes.create'),
    purpose: t('console.sign-up-codes.form.lead'),
    fields: newCodeFields,
    body: newCode,
    button: t('console.sign-up-codes.create'),
    submit: async ({ by }, { max_uses: maxUses, expires_in_days: days, name }) => ({
      result: createdPage(await codes.create({ name, maxUses, days }, by), issuer),
    }),
  });
  question('/revoke', {
    title: ({ name }) => t('console.sign-up-codes.revoke.title', { name }),
    back: () => back,
    lead: () => t('console.sign-up-codes.revoke.lead'),
    button: t('console.sign-up-codes.revoke'),
    async submit({ by, subject: { id, name } }) {
      await codes.revoke(id, by);
      return { to: HOME, notice: t('console.sign-up-codes.revoke.done', { name }) };
    },
  });
  question(
    '/release',
    releaseQuestion<SignUpCode>(services, [], {
      entriesOf: ({ name }) => [{ section: 'sign_up_codes', name }],
      home: ({ name }) => ({ href: HOME, label: name }),
    }),
  );
  return router;
}

function listPage(
  codes: readonly SignUpCode[],
  { mayWrite, areNeeded, configFile }: { mayWrite: boolean; areNeeded: boolean; configFile: string | undefined },
): ConsolePage {
  return {
    title: t('console.sign-up-codes.title'),
    lead: t('console.sign-up-codes.lead'),
    back: { href: '/admin/security/sign-up', label: t('console.settings.tab.sign-up') },
    actions: mayWrite ? [{ ...CREATE, look: 'primary' }] : [],
    blocks: present([
      codes.some(({ source }) => source === 'file') && fileNotice(configFile, 'sign-up-codes'),
      !areNeeded && ({ kind: 'text', tone: 'notice', text: t('console.sign-up-codes.not-needed') } as const),
      {
        kind: 'table',
        ...tableOf(codes, [
          [t('console.shared.name'), ({ name }) => name],
          [
            { label: t('console.sign-up-codes.uses'), isNumber: true },
            ({ uses, maxUses: max }) => t('console.sign-up-codes.uses-of', { uses, max }),
          ],
          [t('console.sign-up-codes.state'), ({ state }) => STATES[state]],
          [t('console.sign-up-codes.expires'), ({ expiresAt }) => expiresAt ?? t('console.sign-up-codes.never')],
          [t('console.sign-up-codes.created-at'), ({ createdAt }) => createdAt],
          mayWrite && [
            t('console.sign-up-codes.action'),
            ({ id, name, source }) =>
              source === 'file'
                ? [FILE_TAG, { label: t('console.shared.manage-here'), of: name, href: `${HOME}/${id}/release` }]
                : { label: t('console.sign-up-codes.revoke'), of: name, href: `${HOME}/${id}/revoke` },
          ],
        ]),
        empty: {
          icon: 'ticket',
          title: t('console.sign-up-codes.none'),
          text: t('console.sign-up-codes.none.text'),
          ...(mayWrite && { action: CREATE }),
        },
      },
    ]),
  };
}

const newCodeFields = (): Field[] => [
  {
    name: 'name',
    label: t('console.shared.name'),
    required: true,
    isHalf: true,
    placeholder: t('console.sign-up-codes.form.name.example'),
    hint: t('console.sign-up-codes.form.name.hint'),
  },
  {
    name: 'max_uses',
    label: t('console.sign-up-codes.form.uses'),
    value: 1,
    type: 'number',
    range: { minimum: 1, maximum: limits.signUpCode.maxUses },
    required: true,
    isHalf: true,
    hint: t('console.sign-up-codes.form.uses.hint'),
  },
  {
    ...daysField(
      'expires_in_days',
      t('console.sign-up-codes.form.valid-for'),
      limits.signUpCode.defaultDays,
      DAY_CHOICES,
    ),
    isHalf: true,
  },
];

function createdPage({ code, text }: CreatedSignUpCode, issuer: string): ConsolePage {
  const lead = t('console.sign-up-codes.created.copy');
  return {
    title: t('console.sign-up-codes.created'),
    back,
    blocks: [
      { kind: 'secret', label: t('console.sign-up-codes.code'), copied: t('console.shared.copied.code'), text, lead },
      {
        kind: 'facts',
        rows: [
          { label: t('console.shared.name'), value: code.name },
          { label: t('console.sign-up-codes.form.uses'), value: code.maxUses },
          { label: t('console.sign-up-codes.expires'), value: code.expiresAt ?? t('console.sign-up-codes.never') },
          {
            label: t('console.sign-up-codes.page'),
            value: { text: `${issuer}/sign-up`, copy: t('console.sign-up-codes.page.copy') },
          },
        ],
      },
      { kind: 'actions', items: [{ label: t('console.sign-up-codes.created.done'), href: HOME, look: 'primary' }] },
    ],
  };
}
