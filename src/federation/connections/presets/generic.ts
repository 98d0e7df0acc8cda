// The presets of each protocol, for vendors without one, and Active Directory.
import { t } from '../../../base/texts/text.ts';
import type { Preset, PresetField } from './preset.ts';
import { clientId, clientSecret, expires } from './social.ts';

const groups: PresetField = {
  key: 'groups_claim',
  label: 'Groups',
  hint: t('console.connection-preset.groups-hint'),
};

const oidc: Preset = {
  id: 'generic',
  kind: 'oidc',
  name: 'OpenID Connect',
  logo: 'oidc',
  defaults: () => ({}),
  fields: [
    {
      key: 'issuer',
      label: t('console.connection-fields.issuer.label'),
      placeholder: 'https://id.example.com',
      type: 'url',
      isRequired: true,
    },
    clientId,
    { ...clientSecret, label: t('console.connections.purpose.client-secret') },
    expires,
    { ...groups, label: t('console.connection-preset.groups-claim') },
  ],
  steps: [t('console.connection-preset.oidc.step-register'), t('console.connection-preset.oidc.step-copy')],
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
    {
      key: 'metadata_url',
      label: t('console.fields.metadata-url.title'),
      hint: t('console.connection-preset.metadata-url-hint'),
      type: 'url',
    },
    { key: 'metadata', label: t('console.connection-preset.paste-metadata'), type: 'long' },
    {
      key: 'subject_attribute',
      label: t('console.connection-fields.subject-attribute.label'),
      hint: t('console.connection-preset.subject-attribute-hint'),
    },
    { ...groups, label: t('console.connection-preset.groups-attribute') },
  ],
  steps: [t('console.connection-preset.saml.step-register'), t('console.connection-preset.saml.step-name-id')],
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
    {
      key: 'authorization_url',
      label: t('console.connection-fields.authorization-url.label'),
      type: 'url',
      isRequired: true,
    },
    { key: 'token_url', label: t('console.connection-fields.token-url.label'), type: 'url', isRequired: true },
    { key: 'userinfo_url', label: t('console.connection-fields.userinfo-url.label'), type: 'url', isRequired: true },
    { key: 'subject_claim', label: t('console.connection-preset.subject-claim'), placeholder: 'id', isRequired: true },
    {
      key: 'scopes',
      label: t('console.fields.scopes.label'),
      hint: t('console.connection-preset.one-per-line'),
      type: 'lines',
    },
    clientId,
    clientSecret,
  ],
  steps: [t('console.connection-preset.oauth2.step')],
  paste: ['redirect_uri'],
  quirks: {},
};

const connectFields: readonly PresetField[] = [
  {
    key: 'url',
    label: t('console.connection-fields.url.label'),
    placeholder: 'ldaps://directory.example.com',
    isRequired: true,
  },
  {
    key: 'base_dn',
    label: t('console.connection-fields.base-dn.label'),
    placeholder: 'ou=people,dc=example,dc=com',
    isRequired: true,
  },
  { key: 'bind_dn', label: t('console.connection-fields.bind-dn.label') },
  { key: 'bind_password', label: t('console.connections.purpose.bind-password'), type: 'secret' },
  {
    key: 'filter',
    label: t('console.connection-fields.filter.label'),
    hint: t('console.connection-preset.ldap.filter-hint', { placeholder: '{username}' }),
  },
];

const ldap: Preset = {
  id: 'generic',
  kind: 'ldap',
  name: t('console.connection-preset.ldap.name'),
  logo: 'ldap',
  defaults: () => ({}),
  fields: connectFields,
  steps: [t('console.connection-preset.ldap.step')],
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
  steps: [t('console.connection-preset.active-directory.step')],
  paste: [],
  quirks: {},
};

export const genericPresets = [oidc, saml, oauth2, ldap, activeDirectory] as const;
