// The presets of each protocol, for vendors without one, and Active Directory.
import type { Preset, PresetField } from './preset.ts';
import { clientId, clientSecret, expires } from './social.ts';

const groups: PresetField = {
  key: 'groups_claim',
  label: 'Groups',
  hint: 'The claim or attribute that lists the groups.',
};

const oidc: Preset = {
  id: 'generic',
  kind: 'oidc',
  name: 'OpenID Connect',
  logo: 'oidc',
  defaults: () => ({}),
  fields: [
    { key: 'issuer', label: 'Issuer', placeholder: 'https://id.example.com', type: 'url', isRequired: true },
    clientId,
    { ...clientSecret, label: 'Client secret' },
    expires,
    { ...groups, label: 'Claim with the groups' },
  ],
  steps: [
    'Register a confidential client (authorization code) at the provider with the redirect URI below.',
    'Copy the issuer, the client ID and the client secret into this form.',
  ],
  paste: ['redirect_uri', 'post_logout_redirect_uri', 'backchannel_logout_uri', 'frontchannel_logout_uri'],
  quirks: {},
};

const saml: Preset = {
  id: 'generic',
  kind: 'saml',
  name: 'SAML 2.0',
  logo: 'saml',
  defaults: () => ({}),
  fields: [
    { key: 'metadata_url', label: 'Metadata URL', hint: 'Gatehouse reads it every day.', type: 'url' },
    { key: 'metadata', label: 'Or paste the metadata', type: 'long' },
    {
      key: 'subject_attribute',
      label: 'Attribute that identifies the user',
      hint: 'Leave empty to use the persistent NameID.',
    },
    { ...groups, label: 'Attribute with the groups' },
  ],
  steps: [
    'Register this server at the provider with the metadata URL below, or with the entity ID and the ACS.',
    'Configure it to send a persistent NameID, with email address and name as attributes.',
  ],
  paste: ['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url'],
  quirks: {},
};

const oauth2: Preset = {
  id: 'generic',
  kind: 'oauth2',
  name: 'OAuth 2.0',
  logo: 'oauth2',
  defaults: () => ({}),
  fields: [
    { key: 'authorization_url', label: 'Authorization URL', type: 'url', isRequired: true },
    { key: 'token_url', label: 'Token URL', type: 'url', isRequired: true },
    { key: 'userinfo_url', label: 'User info URL', type: 'url', isRequired: true },
    { key: 'subject_claim', label: 'User ID field', placeholder: 'id', isRequired: true },
    { key: 'scopes', label: 'Scopes', hint: 'One per line.', type: 'lines' },
    clientId,
    clientSecret,
  ],
  steps: ['Register an application at the provider with the redirect URI below.'],
  paste: ['redirect_uri'],
  quirks: {},
};

const connectFields: readonly PresetField[] = [
  { key: 'url', label: 'Address', placeholder: 'ldaps://directory.example.com', isRequired: true },
  { key: 'base_dn', label: 'Base DN', placeholder: 'ou=people,dc=example,dc=com', isRequired: true },
  { key: 'bind_dn', label: 'Bind DN' },
  { key: 'bind_password', label: 'Bind password', type: 'secret' },
  { key: 'filter', label: 'Filter', hint: '{username} stands for what the user entered, escaped.' },
];

const ldap: Preset = {
  id: 'generic',
  kind: 'ldap',
  name: 'LDAP directory',
  logo: 'ldap',
  defaults: () => ({}),
  fields: connectFields,
  steps: ['Create an account in the directory that can only search users.'],
  paste: [],
  quirks: {},
};

const activeDirectory: Preset = {
  id: 'active-directory',
  kind: 'ldap',
  name: 'Active Directory',
  logo: 'adfs',
  defaults: () => ({
    active_directory: true,
    subject_attribute: 'objectGUID',
    filter:
      '(&(objectCategory=person)(objectClass=user)(|(sAMAccountName={username})(userPrincipalName={username})(mail={username})))',
    attributes: { username: 'sAMAccountName', name: 'displayName' },
  }),
  fields: connectFields,
  steps: ['Create an account in the directory that can only read users and groups.'],
  paste: [],
  quirks: {},
};

export const genericPresets = [oidc, saml, oauth2, ldap, activeDirectory] as const;
