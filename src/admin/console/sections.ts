// Sorts the fields of a long form into sections.
import type { Field, FormSection } from './blocks.ts';

export interface SectionRule extends Omit<FormSection, 'fields'> {
  /** The names of its fields; `rest` takes those that no section names. */
  names: readonly string[] | 'rest';
}

/** The visible fields by section, in the order of the rules; sections without fields are left out. */
export function inSections(fields: readonly Field[], rules: readonly SectionRule[]): FormSection[] {
  const named = new Set(rules.flatMap(({ names }) => (names === 'rest' ? [] : names)));
  const visible = fields.filter(({ type }) => type !== 'hidden');
  return rules
    .map(({ names, ...section }) => ({
      ...section,
      fields: visible.filter(({ name }) => (names === 'rest' ? !named.has(name) : names.includes(name))),
    }))
    .filter((section) => section.fields.length > 0);
}

/** The fields that a person does not see. */
export function hiddenFields(fields: readonly Field[]): Field[] {
  return fields.filter(({ type }) => type === 'hidden');
}
