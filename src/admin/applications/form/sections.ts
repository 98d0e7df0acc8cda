// The sections of the edit form of an application.
import type { Field, FormSection } from '../../console/blocks.ts';

interface Section {
  title: string;
  lead?: string;
  names: readonly string[];
  isAdvanced?: boolean;
}

const SECTIONS: readonly Section[] = [
  { title: 'General', names: ['name'] },
  {
    title: 'Sign-in and sign-out addresses',
    names: ['redirect_uris', 'post_logout_redirect_uris', 'backchannel_logout_uri'],
  },
  { title: 'Metadata', names: ['metadata_url', 'metadata', 'acs_url', 'certificates'] },
  { title: 'Access and consent', names: ['open', 'roles', 'implicit'] },
  { title: 'Attributes', names: ['attributes'] },
  {
    title: 'Tokens and claims',
    names: ['grant_types', 'scope', 'resources', 'claims', 'id_token_claims'],
    isAdvanced: true,
  },
  { title: 'Keys and security', names: ['profile', 'jwks_uri', 'jwks', 'without_pkce'], isAdvanced: true },
];
const MORE: Section = { title: 'More', names: [], isAdvanced: true };

/** The visible fields by section; those that no section names come last, sections without fields are left out. */
export function sectionsOf(fields: readonly Field[]): FormSection[] {
  const named = new Set(SECTIONS.flatMap(({ names }) => names));
  const visible = fields.filter(({ type }) => type !== 'hidden');
  const sections = [...SECTIONS, { ...MORE, names: visible.map(({ name }) => name).filter((one) => !named.has(one)) }];
  return sections
    .map(({ names, ...section }) => ({ ...section, fields: visible.filter(({ name }) => names.includes(name)) }))
    .filter((section) => section.fields.length > 0);
}
