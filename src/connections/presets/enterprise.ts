// Presets of identity providers that companies and schools run.
import { SHARED_TENANTS } from '../kinds/oidc.ts';
import type { Preset, PresetField } from './preset.ts';
import { clientId, clientSecret, expires } from './social.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const issuerField = (hint: string, placeholder: string): PresetField => ({
  key: 'issuer',
  label: 'Issuer',
  hint,
  placeholder,
  isRequired: true,
  type: 'url',
});
const groups: PresetField = {
  key: 'groups_claim',
  label: 'Claim with the groups',
  hint: 'Role mappings need this claim. Leave empty for no groups.',
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
      hint: 'The GUID of your directory. For several directories, enter organizations and fill in the list below.',
      isRequired: true,
    },
    { key: 'client_id', label: 'Application (client) ID', isRequired: true },
    { ...clientSecret, label: 'Client secret (the value, not its ID)' },
    { ...expires, hint: 'Entra secrets expire after at most two years. Gatehouse warns you 30 and 7 days before.' },
    {
      key: 'allowed_tenants',
      label: 'Only these tenant IDs',
      hint: 'One per line. Only for several directories.',
      type: 'lines',
    },
    { ...groups, hint: 'groups, if the token configuration of the app adds it. The values are GUIDs.' },
  ],
  steps: [
    'In the Entra admin center, open App registrations and create one for “this organizational directory only”.',
    'Add the platform “Web” with both redirect URIs below, and the front-channel logout URL.',
    'Under Certificates & secrets, create a client secret and copy its value and expiry date into this form.',
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
      ...issuerField('https://gitlab.com, or the URL of your own server.', 'https://gitlab.com'),
      isRequired: true,
    },
    { ...clientId, label: 'Application ID' },
    { ...clientSecret, label: 'Secret' },
    groups,
  ],
  steps: [
    'In GitLab, open the settings of your user or group, or the admin area (for all users), and add an application.',
    'Enter the redirect URI below, mark it as confidential, and select the scopes openid, profile and email.',
  ],
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
      'The org server (https://example.okta.com) or a custom server (https://example.okta.com/oauth2/default).',
      'https://example.okta.com',
    ),
    clientId,
    clientSecret,
    groups,
  ],
  steps: [
    'In the Okta admin console, create an app integration: OIDC, Web application.',
    'Enter the sign-in redirect URI and the sign-out redirect URI below.',
    'Assign the people or groups that may sign in, and copy the client ID and the secret.',
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
    issuerField('Ends with a slash.', 'https://example.eu.auth0.com/'),
    clientId,
    clientSecret,
    { ...groups, hint: 'Custom claims have a namespace, such as https://example.com/roles.' },
  ],
  steps: [
    'In the Auth0 dashboard, create an application of the type “Regular Web Application”.',
    'Enter the redirect URI under “Allowed Callback URLs”, and the redirect URI after sign-out under “Allowed Logout URLs”.',
  ],
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
    issuerField('The URL of the realm.', 'https://sso.example.com/realms/example'),
    clientId,
    clientSecret,
    { ...groups, hint: 'groups, with a “Group Membership” mapper in the client. Full paths begin with a slash.' },
  ],
  steps: [
    'In the realm, create a client: OpenID Connect, client authentication on, standard flow.',
    'Enter the redirect URI, the post logout redirect URI and the back-channel logout URL below.',
  ],
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
  steps: [
    'In AD FS management, add an application group: “Server application accessing a web API”.',
    'Enter the redirect URI below, and add an issuance rule that sends the email address, the name and the groups in the ID token.',
  ],
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
      label: 'Metadata URL',
      placeholder: 'https://adfs.example.com/FederationMetadata/2007-06/FederationMetadata.xml',
      type: 'url',
      isRequired: true,
    },
    { ...groups, label: 'Attribute with the groups', placeholder: 'http://schemas.xmlsoap.org/claims/Group' },
  ],
  steps: [
    'In AD FS management, add a relying party trust from the metadata URL below.',
    'Add issuance rules for the email address, the names and a persistent NameID.',
  ],
  paste: ['sp_metadata_url', 'sp_entity_id', 'acs_url', 'slo_url'],
  quirks: {},
};

const metadataField = (placeholder: string): PresetField => ({
  key: 'metadata_url',
  label: 'Metadata URL',
  placeholder,
  type: 'url',
  isRequired: true,
});
const samlGroups: PresetField = { ...groups, label: 'Attribute with the groups' };
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
      hint: 'The values are GUIDs. For users with more than 150 groups, Entra sends none, and no roles change.',
    },
  ],
  steps: [
    'In the Entra admin center, create your own enterprise application and choose SAML.',
    'Enter the entity ID (Identifier), the ACS (Reply URL) and the logout URL below.',
    'Copy the App Federation Metadata Url into this form, and add a group claim if roles should come from groups.',
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
    'In the Okta admin console, create an app integration: SAML 2.0.',
    'Enter the ACS as single sign-on URL and the entity ID as audience URI, and choose Persistent as name ID format.',
    'Add attribute statements email, firstName and lastName, and a group attribute if roles should come from groups.',
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
    { key: 'metadata', label: 'Metadata downloaded from Google', type: 'long', isRequired: true },
    {
      key: 'subject_attribute',
      label: 'Attribute that identifies the user',
      hint: 'Leave empty to use the persistent NameID.',
    },
    samlGroups,
  ],
  steps: [
    'In the Google admin console, add a custom SAML app and download its metadata.',
    'Enter the ACS and the entity ID below, and choose PERSISTENT as name ID format.',
    'Map primary email, first name and last name to the attributes email, firstName and lastName.',
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
    'In the realm, create a SAML client by importing the metadata URL below.',
    'Choose persistent as name ID format, and leave Sign documents on, because an encrypted response is accepted only if it is signed as a whole.',
    'Add mappers for email, firstName and lastName, and a group list if roles should come from groups.',
  ],
  paste: [...samlPaste],
  quirks: {},
};
