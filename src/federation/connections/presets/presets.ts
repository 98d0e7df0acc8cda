// Every preset, in the order of the list of vendors.
import { type PageText, t } from '../../../base/texts/text.ts';
import type { Connection, ConnectionKind } from '../connection.ts';
import { SHARED_TENANTS } from '../kinds/oidc.ts';
import type { Preset, PresetField, Quirks } from './preset.ts';

// Presets of vendors with accounts for the public. Their addresses are trusted only as far as each vendor proves them.

const clientId: PresetField = {
  key: 'client_id',
  label: t('console.connection-field.client_id.label'),
  isRequired: true,
};
const clientSecret: PresetField = {
  key: 'client_secret',
  label: t('console.connections.purpose.client-secret'),
  isRequired: true,
  type: 'secret',
};
const expires: PresetField = {
  key: 'client_secret_expires_at',
  label: t('console.connection-preset.secret-expires'),
  hint: t('console.connection-preset.secret-expires-hint'),
  type: 'date',
};

const google: Preset = {
  id: 'google',
  kind: 'oidc',
  name: 'Google',
  logo: 'google',
  defaults: ({ allowed_hosted_domains: domains }) => ({
    issuer: 'https://accounts.google.com',
    token_endpoint_auth_method: 'client_secret_post',
    trusted_email: 'verified',
    logout: 'never',
    // One domain only narrows the list of accounts; this server checks `hd`.
    ...(Array.isArray(domains) && domains.length === 1 ? { authorization_parameters: { hd: domains[0] } } : {}),
  }),
  fields: [
    clientId,
    clientSecret,
    {
      key: 'allowed_hosted_domains',
      label: t('console.connection-field.allowed_hosted_domains.label'),
      hint: t('console.connection-preset.google.domains-hint'),
      type: 'lines',
    },
  ],
  steps: [
    t('console.connection-preset.google.step-create'),
    t('console.connection-preset.google.step-redirect'),
    t('console.connection-preset.google.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'google', emailVerifiedIsText: true },
};

const apple: Preset = {
  id: 'apple',
  kind: 'oidc',
  name: 'Apple',
  logo: 'apple',
  defaults: () => ({
    issuer: 'https://appleid.apple.com',
    scopes: ['openid', 'name', 'email'],
    response_mode: 'form_post',
    token_endpoint_auth_method: 'client_secret_post',
    userinfo: false,
    login_hint: false,
    logout: 'never',
  }),
  fields: [
    { key: 'client_id', label: 'Services ID', placeholder: 'com.example.signin', isRequired: true },
    { key: 'team_id', label: 'Team ID', isRequired: true },
    { key: 'key_id', label: 'Key ID', isRequired: true },
    { key: 'private_key', label: t('console.connection-preset.private-key'), type: 'secret', isRequired: true },
  ],
  steps: [
    t('console.connection-preset.apple.step-create'),
    t('console.connection-preset.apple.step-register'),
    t('console.connection-preset.apple.step-key'),
  ],
  paste: ['server_host', 'redirect_uri'],
  quirks: { emailVerifiedIsText: true, clientSecret: 'apple-jwt', nameField: 'apple-user' },
};

const linkedin: Preset = {
  id: 'linkedin',
  kind: 'oidc',
  name: 'LinkedIn',
  logo: 'linkedin',
  defaults: () => ({
    issuer: 'https://www.linkedin.com/oauth',
    discovery_url: 'https://www.linkedin.com/oauth/.well-known/openid-configuration',
    token_endpoint_auth_method: 'client_secret_post',
    // LinkedIn returns no nonce and rejects PKCE with a secret; state in this browser stays the protection.
    nonce: false,
    pkce: false,
    login_hint: false,
    logout: 'never',
  }),
  fields: [clientId, clientSecret],
  steps: [
    t('console.connection-preset.linkedin.step-create'),
    t('console.connection-preset.linkedin.step-redirect'),
    t('console.connection-preset.linkedin.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { emailVerifiedIsText: true },
};

const github: Preset = {
  id: 'github',
  kind: 'oauth2',
  name: 'GitHub',
  logo: 'github',
  defaults: () => ({
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    userinfo_url: 'https://api.github.com/user',
    emails_url: 'https://api.github.com/user/emails',
    token_endpoint_auth_method: 'client_secret_post',
    scopes: ['read:user', 'user:email'],
    subject_claim: 'id',
    attributes: { username: 'login', email: 'email', name: 'name', picture: 'avatar_url' },
    trusted_email: 'verified',
    login_hint: false,
  }),
  fields: [clientId, clientSecret],
  steps: [
    t('console.connection-preset.github.step-register'),
    t('console.connection-preset.github.step-redirect'),
    t('console.connection-preset.github.step-secret'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'github', errorsWithStatus200: true },
};

const facebook: Preset = {
  id: 'facebook',
  kind: 'oauth2',
  name: 'Facebook',
  logo: 'facebook',
  defaults: () => ({
    authorization_url: 'https://www.facebook.com/v23.0/dialog/oauth',
    token_url: 'https://graph.facebook.com/v23.0/oauth/access_token',
    userinfo_url: 'https://graph.facebook.com/v23.0/me?fields=id,name,first_name,last_name,email',
    token_endpoint_auth_method: 'client_secret_post',
    scopes: ['public_profile', 'email'],
    subject_claim: 'id',
    attributes: { email: 'email', name: 'name', given_name: 'first_name', family_name: 'last_name' },
    trusted_email: 'never',
    login_hint: false,
  }),
  fields: [
    { key: 'client_id', label: 'App ID', isRequired: true },
    { key: 'client_secret', label: 'App secret', isRequired: true, type: 'secret' },
  ],
  steps: [
    t('console.connection-preset.facebook.step-create'),
    t('console.connection-preset.facebook.step-redirect'),
    t('console.connection-preset.facebook.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'never', appSecretProof: true },
};

export { clientId, clientSecret, expires };

// The presets of each protocol, for vendors without one, and Active Directory.

const listedGroups: PresetField = {
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
      label: t('console.connection-field.issuer.label'),
      placeholder: 'https://id.example.com',
      type: 'url',
      isRequired: true,
    },
    clientId,
    { ...clientSecret, label: t('console.connections.purpose.client-secret') },
    expires,
    { ...listedGroups, label: t('console.connection-preset.groups-claim') },
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
      label: t('console.field-section.metadata-url.title'),
      hint: t('console.connection-preset.metadata-url-hint'),
      type: 'url',
    },
    { key: 'metadata', label: t('console.connection-preset.paste-metadata'), type: 'long' },
    {
      key: 'subject_attribute',
      label: t('console.connection-field.subject_attribute.label'),
      hint: t('console.connection-preset.subject-attribute-hint'),
    },
    { ...listedGroups, label: t('console.connection-preset.groups-attribute') },
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
      label: t('console.connection-field.authorization_url.label'),
      type: 'url',
      isRequired: true,
    },
    { key: 'token_url', label: t('console.connection-field.token_url.label'), type: 'url', isRequired: true },
    { key: 'userinfo_url', label: t('console.connection-field.userinfo_url.label'), type: 'url', isRequired: true },
    { key: 'subject_claim', label: t('console.connection-preset.subject-claim'), placeholder: 'id', isRequired: true },
    {
      key: 'scopes',
      label: t('console.field.scope.label'),
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
    label: t('console.connection-field.url.label'),
    placeholder: 'ldaps://directory.example.com',
    isRequired: true,
  },
  {
    key: 'base_dn',
    label: t('console.connection-field.base_dn.label'),
    placeholder: 'ou=people,dc=example,dc=com',
    isRequired: true,
  },
  { key: 'bind_dn', label: t('console.connection-field.bind_dn.label') },
  { key: 'bind_password', label: t('console.connections.purpose.bind-password'), type: 'secret' },
  {
    key: 'filter',
    label: t('console.connection-field.filter.label'),
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

const genericPresets = [oidc, saml, oauth2, ldap, activeDirectory] as const;

// Presets of identity providers that companies and schools run.

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const issuerField = (hint: PageText, placeholder: string): PresetField => ({
  key: 'issuer',
  label: t('console.connection-field.issuer.label'),
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

const entra: Preset = {
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

const gitlab: Preset = {
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

const okta: Preset = {
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

const auth0: Preset = {
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

const keycloak: Preset = {
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

const adfsOidc: Preset = {
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

const adfsSaml: Preset = {
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
      label: t('console.field-section.metadata-url.title'),
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
  label: t('console.field-section.metadata-url.title'),
  placeholder,
  type: 'url',
  isRequired: true,
});
const samlGroups: PresetField = { ...groups, label: t('console.connection-preset.groups-attribute') };
const samlPaste = ['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url'] as const;

const entraSaml: Preset = {
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

const oktaSaml: Preset = {
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

const googleSaml: Preset = {
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
      label: t('console.connection-field.subject_attribute.label'),
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

const keycloakSaml: Preset = {
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

export const presets: readonly Preset[] = [
  ...[google, entra, github, gitlab, apple, facebook, linkedin, okta, auth0, keycloak, adfsOidc, adfsSaml],
  ...[entraSaml, oktaSaml, googleSaml, keycloakSaml],
  ...genericPresets,
];

export function presetOf(id: string, kind: ConnectionKind): Preset | undefined {
  return presets.find((preset) => preset.id === id && preset.kind === kind);
}

/** Where the vendor of a connection deviates from its protocol. */
export function quirksOf({ preset, kind }: Pick<Connection, 'preset' | 'kind'>): Quirks {
  return presetOf(preset, kind)?.quirks ?? {};
}

/** Name of the logo on the sign-in button of a connection. */
export function logoOf({ preset, kind, settings }: Connection): string {
  return settings.logo ?? presetOf(preset, kind)?.logo ?? kind;
}
