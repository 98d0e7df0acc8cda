// The profile and the address of a user in a form.

import { t } from '../../../base/texts/text.ts';
import {
  addressColumn,
  addressPartNames,
  addressParts,
  languageChoices,
  languageTag,
  type ProfileText,
  textFieldNames,
  textFields,
} from '../../../people/accounts/profile-fields.ts';
import type { Field, Option } from '../../console/blocks.ts';

type GivenProfile = { [Name in ProfileText | 'phone_number']?: string | undefined };

const languageOptions = (value: string, offered: readonly string[]): Option[] => [
  { value: '', label: t('profile.locale-none') },
  ...languageChoices(value, offered).map(({ tag, name }) => ({
    value: tag,
    label: name,
    ...(languageTag(tag) && { language: tag }),
  })),
];

/** The fields of the profile and the address. `offered`: the languages. */
export function profileFields(given: GivenProfile, offered: readonly string[]): Field[] {
  const texts = textFieldNames.map((field): Field => {
    const { claim, label, ...rest } = textFields[field];
    const value = given[claim] ?? '';
    if (field === 'locale')
      return { name: claim, label, type: 'select', value, options: languageOptions(value, offered), isHalf: true };
    const hint = 'hint' in rest && { hint: rest.hint };
    return { name: claim, label, value, isHalf: field !== 'name', ...hint };
  });
  const phone: Field = {
    name: 'phone_number',
    label: t('console.users.phone'),
    value: given.phone_number ?? '',
    isHalf: true,
  };
  const parts = addressPartNames.map((part): Field => {
    const { label, lines } = addressParts[part];
    const name = addressColumn(part);
    const field = { name, label, value: given[name] ?? '' };
    return lines > 1 ? { ...field, type: 'textarea', rows: lines } : { ...field, isHalf: true };
  });
  return [...texts, phone, ...parts];
}
