// The searches of long lists of permissions. They are forms that only read, so they work without script.
import { z } from 'zod';
import { t } from '../../base/texts/text.ts';
import type { Block, Field, FormSection, Option, Search } from '../console/blocks.ts';

/** A role's page has a search from so many boxes on. */
const LONG = 40;

/** Of a page with permissions. */
export const permissionQuery = z.object({ q: z.string().trim().max(200).default('') });

/** A form that finds permissions. */
export function searchForm(action: string, value: string): Search {
  const label = t('console.page.search');
  const placeholder = t('console.roles.search-permissions');
  return { action, fields: [{ name: 'q', label, type: 'search', value, isLabelHidden: true, placeholder }] };
}

const boxesOf = (sections: readonly FormSection[]) =>
  sections.flatMap(({ fields }) => fields).flatMap(({ type, options = [] }) => (type === 'checks' ? options : []));

/** The search above the form of a role with many permissions; no block above a short one. */
export function permissionSearch(action: string, sections: readonly FormSection[], search: string): Block[] {
  if (boxesOf(sections).length < LONG && search === '') return [];
  return [{ kind: 'search', ...searchForm(action, search) }];
}

/**
 * The sections with the boxes that match. `hidden`: fields for ticked boxes that do not match, so that saving takes no permission away
 * that is not displayed.
 */
export function searchedSections(
  sections: readonly FormSection[],
  search: string,
): { sections: FormSection[]; hidden: Field[] } {
  if (search === '') return { sections: [...sections], hidden: [] };
  const wanted = search.toLowerCase();
  const isMatch = ({ value, label }: Option) => `${value} ${label}`.toLowerCase().includes(wanted);
  const hidden = sections.flatMap(({ fields }) =>
    fields.flatMap(({ name, options = [], values = [] }) =>
      options
        .filter((one) => values.includes(one.value) && !isMatch(one))
        .map(({ value }): Field => ({ name, label: '', type: 'hidden', value })),
    ),
  );
  const matched = sections.map((section) => {
    const fields = section.fields.flatMap((field): Field[] => {
      if (field.type !== 'checks') return [field];
      const options = (field.options ?? []).filter(isMatch);
      return options.length > 0 ? [{ ...field, options }] : [];
    });
    const hasMatch = boxesOf([{ ...section, fields }]).length > 0;
    return { ...section, fields, ...(hasMatch && { isAdvanced: false }) };
  });
  return { sections: matched.filter(({ fields }) => fields.length > 0), hidden };
}

/** What the page says about a search: nothing was found, or the role has more than is displayed. */
export function searchNotice(sections: readonly FormSection[], search: string, hiddenCount: number): Block[] {
  if (search === '') return [];
  return [
    ...(boxesOf(sections).length === 0 ? [t('console.roles.no-permissions-match')] : []),
    ...(hiddenCount > 0 ? [t('console.roles.permissions-hidden', { count: hiddenCount })] : []),
  ].map((text): Block => ({ kind: 'text', tone: 'small', text }));
}
