// Presets of identity providers that companies and schools run.
import { type PageText, t } from '../../../base/texts/text.ts';
import { SHARED_TENANTS } from '../kinds/oidc.ts';
import type { Preset, PresetField } from './preset.ts';
import { clientId, clientSecret, expires } from './social.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const issuerField = (hint: PageText, placeholder: string): PresetField => ({
  key: 'issuer',
  label: t('console.connection-fields.issuer.label'),
  hint,
  placeholder,
  isRequired: true,
  type: 'url',
});
const groups: PresetField = {
  key: 'groups_claim',
  label: t('console.connection-preset.groups-claim'),
  hint: t('console.connection-preset.groups-claim-hint'),
};
const oidcPaste = ['redirect_uri', 'post_logout_redirect_uri', 'backchannel_logout_uri'] as const;

export const entra: Preset = {
  id: 'entra',
  kind: 'oidc',
  name: 'Microsoft Entra ID',
  logo: 'microsoft',
  defaults: ({ tenant }) => {
    const isShared = SHARED_TENANTS.includes(text(tenant));
    const base = 'https://login.microsoftonline.com';
    return {
      ...(text(tenant) === '' ? {} : { issuer: `${base}/${isShared ? '{tenantid}' : text(tenant)}/v2.0` }),
      ...(isShared ? { discovery_url: `${base}/${text(tenant)}/v2.0/.well-known/openid-configuration` } : {}),
      token_endpoint_auth_method: 'client_secret_post',
      subject_claim: 'oid',
      trusted_email: 'domains',
    };
  },
  fields: [
    {
      key: 'tenant',
      label: 'Directory (tenant) ID',
      hint: t('console.connection-preset.entra.tenant-hint'),
      isRequired: true,
    },
    { key: 'client_id', label: 'Application (client) ID', isRequired: true },
    { ...clientSecret, label: t('console.connection-preset.entra.secret') },
    { ...expires, hint: t('console.connection-preset.entra.secret-expires-hint') },
    {
      key: 'allowed_tenants',
      label: t('console.connection-preset.entra.tenants'),
      hint: t('console.connection-preset.entra.tenants-hint'),
      type: 'lines',
    },
    { ...groups, hint: t('console.connection-preset.entra.groups-hint') },
  ],
  steps: [
    t('console.connection-preset.entra.step-create'),
    t('console.connection-preset.entra.step-redirect'),
    t('console.connection-preset.entra.step-secret'),
  ],
  paste: ['redirect_uri', 'post_logout_redirect_uri', 'frontchannel_logout_uri'],
  quirks: { email: 'entra', groups: 'entra-overage', subject: ['tid', 'oid'] },
};

export const gitlab: Preset = {
  id: 'gitlab',
  kind: 'oidc',
  name: 'GitLab',
  logo: 'gitlab',
  defaults: () => ({ issuer: 'https://gitlab.com', groups_claim: 'groups_direct', logout: 'never' }),
  fields: [
    {
      ...issuerField(
        t('console.connection-preset.gitlab.issuer-hint', { example: 'https://gitlab.com' }),
        'https://gitlab.com',
      ),
      isRequired: true,
    },
    { ...clientId, label: 'Application ID' },
    { ...clientSecret, label: 'Secret' },
    groups,
  ],
  steps: [t('console.connection-preset.gitlab.step-create'), t('console.connection-preset.gitlab.step-redirect')],
  paste: ['redirect_uri'],
  quirks: {},
};

export const okta: Preset = {
  id: 'okta',
  kind: 'oidc',
  name: 'Okta',
  logo: 'okta',
  defaults: () => ({ trusted_email: 'domains' }),
  fields: [
    issuerField(
      t('console.connection-preset.okta.issuer-hint', {
        org: 'https://example.okta.com',
        custom: 'https://example.okta.com/oauth2/default',
      }),
      'https://example.okta.com',
    ),
    clientId,
    clientSecret,
    groups,
  ],
  steps: [
    t('console.connection-preset.okta.step-create'),
    t('console.connection-preset.okta.step-redirect'),
    t('console.connection-preset.okta.step-assign'),
  ],
  paste: ['redirect_uri', 'post_logout_redirect_uri'],
  quirks: {},
};

export const auth0: Preset = {
  id: 'auth0',
  kind: 'oidc',
  name: 'Auth0',
  logo: 'auth0',
  defaults: () => ({ token_endpoint_auth_method: 'client_secret_post' }),
  fields: [
    issuerField(t('console.connection-preset.auth0.issuer-hint'), 'https://example.eu.auth0.com/'),
    clientId,
    clientSecret,
    { ...groups, hint: t('console.connection-preset.auth0.groups-hint', { example: 'https://example.com/roles' }) },
  ],
  steps: [t('console.connection-preset.auth0.step-create'), t('console.connection-preset.auth0.step-redirect')],
  paste: [...oidcPaste],
  quirks: {},
};

export const keycloak: Preset = {
  id: 'keycloak',
  kind: 'oidc',
  name: 'Keycloak',
  logo: 'keycloak',
  defaults: () => ({ groups_claim: 'groups' }),
  fields: [
    issuerField(t('console.connection-preset.keycloak.issuer-hint'), 'https://sso.example.com/realms/example'),
    clientId,
    clientSecret,
    { ...groups, hint: t('console.connection-preset.keycloak.groups-hint') },
  ],
  steps: [t('console.connection-preset.keycloak.step-create'), t('console.connection-preset.keycloak.step-redirect')],
  paste: [...oidcPaste],
  quirks: { alwaysSendsIss: true },
};

export const adfsOidc: Preset = {
  id: 'adfs',
  kind: 'oidc',
  name: 'AD FS (OpenID Connect)',
  logo: 'adfs',
  defaults: () => ({
    userinfo: false,
    token_endpoint_auth_method: 'client_secret_post',
    attributes: { username: 'upn' },
    trusted_email: 'domains',
  }),
  fields: [issuerField('', 'https://adfs.example.com/adfs'), clientId, clientSecret, groups],
  steps: [t('console.connection-preset.adfs.step-create'), t('console.connection-preset.adfs.step-rule')],
  paste: ['redirect_uri'],
  quirks: { userinfoIsEmpty: true },
};

export const adfsSaml: Preset = {
  id: 'adfs',
  kind: 'saml',
  name: 'AD FS (SAML)',
  logo: 'adfs',
  defaults: () => ({
    request_authn_context: false,
    attributes: {
      email: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
      given_name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
      family_name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname',
      name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
    },
  }),
  fields: [
    {
      key: 'metadata_url',
      label: t('console.fields.metadata-url.title'),
      placeholder: 'https://adfs.example.com/FederationMetadata/2007-06/FederationMetadata.xml',
      type: 'url',
      isRequired: true,
    },
    {
      ...groups,
      label: t('console.connection-preset.groups-attribute'),
      placeholder: 'http://schemas.xmlsoap.org/claims/Group',
    },
  ],
  steps: [t('console.connection-preset.adfs-saml.step-create'), t('console.connection-preset.adfs-saml.step-rules')],
  paste: ['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url'],
  quirks: {},
};

const metadataField = (placeholder: string): PresetField => ({
  key: 'metadata_url',
  label: t('console.fields.metadata-url.title'),
  placeholder,
  type: 'url',
  isRequired: true,
});
const samlGroups: PresetField = { ...groups, label: t('console.connection-preset.groups-attribute') };
const samlPaste = ['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url'] as const;

export const entraSaml: Preset = {
  id: 'entra-saml',
  kind: 'saml',
  name: 'Microsoft Entra ID (SAML)',
  logo: 'microsoft',
  // The user principal name that Entra sends as NameID changes; the object ID does not.
  defaults: () => ({
    subject_attribute: 'http://schemas.microsoft.com/identity/claims/objectidentifier',
    request_authn_context: false,
    groups_claim: 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups',
  }),
  fields: [
    metadataField(
      'https://login.microsoftonline.com/TENANT/federationmetadata/2007-06/federationmetadata.xml?appid=APP',
    ),
    {
      ...samlGroups,
      hint: t('console.connection-preset.entra-saml.groups-hint'),
    },
  ],
  steps: [
    t('console.connection-preset.entra-saml.step-create'),
    t('console.connection-preset.entra-saml.step-enter'),
    t('console.connection-preset.entra-saml.step-copy'),
  ],
  paste: ['sp_entity_id', 'acs_url', 'slo_url'],
  quirks: { groups: 'entra-overage' },
};

export const oktaSaml: Preset = {
  id: 'okta-saml',
  kind: 'saml',
  name: 'Okta (SAML)',
  logo: 'okta',
  defaults: () => ({}),
  fields: [metadataField('https://example.okta.com/app/EXAMPLE/sso/saml/metadata'), samlGroups],
  steps: [
    t('console.connection-preset.okta-saml.step-create'),
    t('console.connection-preset.okta-saml.step-enter'),
    t('console.connection-preset.okta-saml.step-attributes'),
  ],
  paste: ['sp_entity_id', 'acs_url', 'slo_url'],
  quirks: {},
};

export const googleSaml: Preset = {
  id: 'google-saml',
  kind: 'saml',
  name: 'Google Workspace (SAML)',
  logo: 'google',
  // Google has no single logout, and its metadata is a file.
  defaults: () => ({ request_authn_context: false, logout: 'never' }),
  fields: [
    { key: 'metadata', label: t('console.connection-preset.google-saml.metadata'), type: 'long', isRequired: true },
    {
      key: 'subject_attribute',
      label: t('console.connection-fields.subject-attribute.label'),
      hint: t('console.connection-preset.subject-attribute-hint'),
    },
    samlGroups,
  ],
  steps: [
    t('console.connection-preset.google-saml.step-create'),
    t('console.connection-preset.google-saml.step-enter'),
    t('console.connection-preset.google-saml.step-attributes'),
  ],
  paste: ['sp_entity_id', 'acs_url'],
  quirks: {},
};

export const keycloakSaml: Preset = {
  id: 'keycloak-saml',
  kind: 'saml',
  name: 'Keycloak (SAML)',
  logo: 'keycloak',
  // Keycloak 26.0 encrypts with AES-128-CBC whatever the metadata says.
  defaults: () => ({ groups_claim: 'groups', allow_cbc: true }),
  fields: [metadataField('https://sso.example.com/realms/example/protocol/saml/descriptor'), samlGroups],
  steps: [
    t('console.connection-preset.keycloak-saml.step-create'),
    t('console.connection-preset.keycloak-saml.step-name-id'),
    t('console.connection-preset.keycloak-saml.step-mappers'),
  ],
  paste: [...samlPaste],
  quirks: {},
};
