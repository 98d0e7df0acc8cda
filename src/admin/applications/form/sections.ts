// The sections of the edit form of an application.
import type { SectionRule } from '../../console/sections.ts';

export const applicationSections: readonly SectionRule[] = [
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
  { title: 'More', names: 'rest', isAdvanced: true },
];
