// The form of a role: name, description, and its permissions as boxes by resource, with rows for all others. A long one has a search, a
// form that only reads, so it works without script.
import { z } from 'zod';
import { type Text, t } from '../../base/texts/text.ts';
import { builtInRoles, OWN_PREFIX } from '../../people/rbac/built-in.ts';
import { parsePermission } from '../../people/rbac/names.ts';
import { type Block, type Field, type FormSection, hiddenField, type Option, type Search } from '../console/blocks.ts';
import { searchField } from '../console/lists.ts';
import { permissionWords } from '../console/permission-words.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';

/** A role as it is filled in. */
export interface RoleValues {
  name: string;
  description: string;
  permissions: string[];
}

const PERMISSIONS = 'permissions';
const BOXES = 'permissions.';

/** What the resources of Gatehouse are called in the console. */
const RESOURCES: Readonly<Record<string, Text>> = {
  'gatehouse.users': t('console.navigation.users'),
  'gatehouse.sessions': t('console.navigation.sessions'),
  'gatehouse.applications': t('console.navigation.applications'),
  'gatehouse.api-keys': t('console.navigation.api-keys'),
  'gatehouse.connections': t('console.navigation.connections'),
  'gatehouse.groups': t('console.navigation.groups'),
  'gatehouse.roles': t('console.navigation.roles'),
  'gatehouse.keys': t('console.navigation.signing-keys'),
  'gatehouse.audit': t('console.navigation.activity-log'),
  'gatehouse.settings': t('console.navigation.settings'),
  'gatehouse.mail': t('console.navigation.mail'),
};

/** The sections. `known`: the permissions that roles have already, which get boxes. A locked form has only what the role has. */
export function roleSections(
  { name, description, permissions }: RoleValues,
  known: readonly string[],
  isLocked: boolean,
): FormSection[] {
  const locked = isLocked && { isLocked };
  const isOwn = (one: string) => one.startsWith(OWN_PREFIX);
  const offer = isLocked
    ? permissions
    : [...known, ...builtInRoles.flatMap((role) => role.permissions), ...permissions];
  const own = groupsOf(offer.filter(isOwn));
  const others = groupsOf(offer.filter((one) => !isOwn(one)));
  const boxes = (groups: ReadonlyMap<string, readonly string[]>) =>
    [...groups].map(([resource, names]): Field => boxesOf(resource, names, permissions, isLocked));
  const offered = new Set([...own, ...others].flatMap(([, names]) => names));
  const rest = permissions.filter((one) => !offered.has(one));
  const ticked = permissions.filter(isOwn).length;
  const sections: FormSection[] = [
    {
      title: t('console.roles.general'),
      fields: [
        { name: 'name', label: t('console.shared.name'), value: name, required: true, ...locked },
        { name: 'description', label: t('console.roles.description'), value: description, ...locked },
      ],
    },
    {
      title: t('console.roles.application-permissions'),
      lead: t('console.roles.application-permissions-lead'),
      fields: [
        ...boxes(others),
        {
          name: PERMISSIONS,
          label: others.size > 0 ? t('console.roles.more-permissions') : t('console.roles.permissions'),
          type: 'rows',
          adds: t('console.roles.added-permission'),
          columns: [{ name: '', label: t('console.roles.permission') }],
          lines: rest.map((one) => [one]),
          hint: t('console.roles.permission-hint'),
          ...locked,
        },
      ],
    },
    {
      title: t('console.roles.own-permissions'),
      lead: t('console.roles.own-permissions-lead'),
      isAdvanced: !isLocked,
      summary: t('console.roles.selected', { count: ticked }),
      fields: boxes(own),
    },
  ];
  return isLocked ? sections.slice(1).flatMap(onlyFilled) : sections;
}

/** The section without empty rows; nothing where it has no field. The page itself has name and description. */
function onlyFilled(section: FormSection): FormSection[] {
  const fields = section.fields.filter(({ type, lines }) => type !== 'rows' || (lines?.length ?? 0) > 0);
  return fields.length > 0 ? [{ ...section, fields }] : [];
}

function boxesOf(resource: string, names: readonly string[], held: readonly string[], isLocked: boolean): Field {
  return {
    name: `${BOXES}${resource}`,
    label: RESOURCES[resource] ?? resource,
    type: 'checks',
    isHalf: true,
    values: held,
    options: names.map((value) => optionOf(value)),
    ...(isLocked && { isLocked }),
  };
}

/** A permission for Gatehouse in words, with its code for the configuration file; one of an application by its action. */
function optionOf(value: string): Option {
  const label = permissionWords(value);
  return label === value ? { value, label: parsePermission(value)?.action ?? value } : { value, label, hint: value };
}

/** The permissions by resource, both sorted. */
function groupsOf(permissions: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const one of [...new Set(permissions)].sort()) {
    const resource = parsePermission(one)?.resource;
    if (resource === undefined || resource.includes('[')) continue;
    groups.set(resource, [...(groups.get(resource) ?? []), one]);
  }
  return groups;
}

/** What the sent form says; the typed permissions first, as their rows. */
export function sentRole(sent: Sent): RoleValues {
  const typed = (sent[PERMISSIONS] ?? []).flatMap((text) => text.split(/\r?\n/)).flatMap((one) => one.trim() || []);
  const ticked = Object.entries(sent).flatMap(([name, values]) => (name.startsWith(BOXES) ? values : []));
  return {
    name: sentValue(sent, 'name') ?? '',
    description: sentValue(sent, 'description') ?? '',
    permissions: [...new Set([...typed, ...ticked])],
  };
}

/** A role's page has a search from so many boxes on. */
const LONG = 40;

/** Of a page with permissions. */
export const permissionQuery = z.object({ q: z.string().trim().max(200).default('') });

/** A form that finds permissions, or what its placeholder says. */
export function searchForm(action: string, value: string, placeholder = t('console.roles.search-permissions')): Search {
  return { action, fields: [searchField(value, placeholder)] };
}

const allBoxes = (sections: readonly FormSection[]) =>
  sections.flatMap(({ fields }) => fields).flatMap(({ type, options = [] }) => (type === 'checks' ? options : []));

/** The search above the form of a role with many permissions; no block above a short one. */
export function permissionSearch(action: string, sections: readonly FormSection[], search: string): Block[] {
  if (allBoxes(sections).length < LONG && search === '') return [];
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
      options.filter((one) => values.includes(one.value) && !isMatch(one)).map(({ value }) => hiddenField(name, value)),
    ),
  );
  const matched = sections.map((section) => {
    const fields = section.fields.flatMap((field): Field[] => {
      if (field.type !== 'checks') return [field];
      const options = (field.options ?? []).filter(isMatch);
      return options.length > 0 ? [{ ...field, options }] : [];
    });
    const hasMatch = allBoxes([{ ...section, fields }]).length > 0;
    return { ...section, fields, ...(hasMatch && { isAdvanced: false }) };
  });
  return { sections: matched.filter(({ fields }) => fields.length > 0), hidden };
}

/** What the page says about a search: nothing was found, or the role has more than is displayed. */
export function searchNotice(sections: readonly FormSection[], search: string, hiddenCount: number): Block[] {
  if (search === '') return [];
  return [
    ...(allBoxes(sections).length === 0 ? [t('console.roles.no-permissions-match')] : []),
    ...(hiddenCount > 0 ? [t('console.roles.permissions-hidden', { count: hiddenCount })] : []),
  ].map((text): Block => ({ kind: 'text', tone: 'small', text }));
}
