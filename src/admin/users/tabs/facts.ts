// What is known about a user: the profile, and how the user signs in.

import { nameWithin } from '../../../base/texts/languages.ts';
import { t } from '../../../base/texts/text.ts';
import {
  addressPartNames,
  addressParts,
  languageTag,
  textFieldNames,
  textFields,
} from '../../../people/accounts/profile-fields.ts';
import type { Block, Cell } from '../../console/blocks.ts';
import type { UserDetails } from '../actions.ts';
import type { DisabledBy } from '../disabled-by.ts';
import { attributeWords } from '../form/attribute-fields.ts';

type Facts = Extract<Block, { kind: 'facts' }>;
type Row = Facts['rows'][number];

/** @param language that of the page */
export function profileFacts(
  { account }: UserDetails,
  {
    disabled,
    invitation,
    language,
  }: { disabled: DisabledBy | undefined; invitation: Cell | undefined; language: string },
): Facts {
  return {
    kind: 'facts',
    rows: [
      { label: t('console.users.username'), value: account.username },
      { label: t('console.shared.email'), value: provable(account.email, account.emailVerified) },
      ...textFieldNames.flatMap((field): Row[] => {
        const value = account[field];
        if (!value) return [];
        return [{ label: textFields[field].label, value: field === 'locale' ? languageCell(value, language) : value }];
      }),
      ...(account.phoneNumber
        ? [{ label: t('console.users.phone'), value: provable(account.phoneNumber, account.phoneNumberVerified) }]
        : []),
      ...addressPartNames.flatMap((part): Row[] => {
        const value = account.address?.[part];
        return value ? [{ label: addressParts[part].label, value }] : [];
      }),
      ...Object.entries(account.attributes).map(([label, value]) => ({ label, value: attributeWords(value) })),
      { label: t('console.users.roles'), value: roleTags(account.roles) },
      ...(invitation ? [{ label: t('console.mail.template.invitation'), value: invitation }] : []),
      ...(disabled ? [{ label: t('console.users.disabled'), value: disabledCell(disabled) }] : []),
      { label: t('console.users.sub'), value: { text: account.id, copy: t('console.users.sub.copy') } },
      { label: t('console.users.created'), value: account.createdAt },
    ],
  };
}

/** @param passwordReset what became of the last email with a link for a new password */
export function securityFacts(
  { password, factors, firstEnrolment }: UserDetails,
  passwordReset: Cell | undefined,
): Facts {
  const second = [
    ...(factors.totp ? [t('console.users.factor.app')] : []),
    ...(factors.passkeys > 0 ? [t('console.users.factor.passkeys', { count: factors.passkeys })] : []),
    ...(factors.phone ? [t('console.users.factor.sms')] : []),
  ];
  const needsApproval: Cell = { text: t('console.users.factors.needs-approval'), tone: 'warn' };
  return {
    kind: 'facts',
    rows: [
      {
        label: password?.mustChange === false ? t('console.users.password.changed') : t('console.users.password'),
        value: password
          ? password.mustChange
            ? t('console.users.password.must-change')
            : password.changedAt
          : t('console.users.password.not-set'),
      },
      ...(passwordReset ? [{ label: t('console.mail.template.password-reset'), value: passwordReset }] : []),
      { label: t('console.users.factors'), value: second.length > 0 ? second : t('console.users.factors.none') },
      ...(firstEnrolment.requestedAt ? [{ label: t('console.users.factors.setup'), value: needsApproval }] : []),
    ],
  };
}

export const roleTags = (roles: readonly string[]): Cell[] => roles.map((text) => ({ text, tone: 'plain' as const }));

/** The name of the language, and its tag. */
function languageCell(locale: string, language: string): Cell {
  const tag = languageTag(locale);
  return tag === undefined ? locale : { text: nameWithin(language, tag), small: locale };
}

function provable(text: string | null | undefined, isVerified: boolean): Cell {
  if (!text) return null;
  return { text, small: isVerified ? t('console.users.verified') : t('console.users.not-verified') };
}

function disabledCell({ at, by }: DisabledBy): Cell {
  return [at, ...(by ? [t('console.users.disabled.by', { user: by })] : [])];
}
