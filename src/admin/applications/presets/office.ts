// Office and cloud: learning, teams and files.
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { t } from '../../../base/texts/text.ts';
import { code, powerShellWord } from './guide-text.ts';
import {
  answer,
  BEFORE_YOU_START,
  NOT_TICKED,
  type ProductPreset,
  SECRET,
  samlSettings,
  urlField,
  webApplication,
} from './parts.ts';

// moodle/moodle, lib/classes/oauth2/client.php: the login URL has no challenge, the secret is in the body unless basic authentication is ticked.
export const moodle: ProductPreset = {
  id: 'moodle',
  life: {
    renews: false,
    signOut: 'own',
    session: 'sessiontimeout: 8h',
    certificates: 'moodledata/moodleorgca.crt',
    http: false,
    first: t('console.preset.private-address', {
      setting: 'Site administration → Security → HTTP security → cURL blocked hosts list',
    }),
  },
  kind: 'office',
  documentation: 'https://docs.moodle.org/en/OAuth_2_authentication',
  checkedAgainst:
    'MoodleDocs, OAuth 2 services, 4.03 and OAuth 2 authentication, 5.02; moodle/moodle, OAuth 2 client in lib/oauthlib.php, without PKCE, endpoint.php and filelib.php (read 2026-11)',
  title: 'Moodle',
  text: t('console.preset.moodle.text'),
  protocol: 'oidc',
  demands: { email: 'address' },
  fields: [urlField('Moodle', 'https://moodle.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Moodle', url, ['/admin/oauth2callback.php']),
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Site administration → Server → OAuth 2 services → Custom',
      text: code`Name: ${name}
Client ID: ${clientId}
Client secret: ${clientSecret}
Service base URL: ${issuer}
Authenticate token requests via HTTP headers: ${NOT_TICKED}
Scopes included in a login request: openid profile email
This service will be used: Login page only`,
    },
    {
      title: 'Configure user field mappings',
      text: 'preferred_username: username\ngiven_name: firstname\nfamily_name: lastname\nemail: email',
    },
    { title: 'Site administration → Plugins → Authentication', text: t('console.preset.moodle.enable') },
  ],
};

export const atlassian: ProductPreset = {
  id: 'atlassian',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Authentication policies → Idle session duration: 30 d',
    certificates: 'none',
  },
  kind: 'office',
  documentation:
    'https://support.atlassian.com/security-and-access-policies/docs/configure-saml-single-sign-on-with-an-identity-provider/',
  checkedAgainst:
    'Atlassian Support, Configure Atlassian Guard SAML single sign-on (2025-06-03); Microsoft Entra, Atlassian Cloud tutorial (2024-03-25); Ping Identity, Atlassian Cloud guide, for the attributes',
  title: 'Atlassian Cloud',
  text: t('console.preset.atlassian.text'),
  protocol: 'saml',
  fields: [
    {
      name: 'entity_id',
      label: 'Service provider entity URL',
      hint: t('console.preset.atlassian.displayed', { example: 'https://auth.atlassian.com/saml/…' }),
      required: true,
    },
    {
      name: 'acs_url',
      label: 'Service provider assertion consumer service URL',
      hint: t('console.preset.atlassian.displayed', {
        example: 'https://auth.atlassian.com/login/callback?connection=saml-…',
      }),
      required: true,
    },
  ],
  toDeclaration: (answers) => ({
    name: 'Atlassian Cloud',
    entity_id: answer(answers, 'entity_id', /^https:\/\/\S+$/, faultMessage('https-address')),
    acs_url: answer(answers, 'acs_url', /^https:\/\/\S+$/, faultMessage('https-address')),
    name_id_format: 'emailAddress',
    attributes: {
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname': 'given_name',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname': 'family_name',
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name': 'sub',
    },
    idp_initiated: true,
  }),
  setupInstructions: (identityProvider) => [
    {
      title: 'admin.atlassian.com → Security → Identity providers → Set up SAML single sign-on',
      text: samlSettings(identityProvider, {
        entity: 'Identity provider Entity ID',
        sso: 'Identity provider SSO URL',
        certificate: 'Public x509 certificate',
      }),
    },
    {
      title: BEFORE_YOU_START,
      text: t('console.preset.atlassian.guard'),
    },
  ],
};

export const dropbox: ProductPreset = {
  id: 'dropbox',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Admin console → Settings → Web session control',
    certificates: 'none',
  },
  kind: 'office',
  documentation: 'https://help.dropbox.com',
  checkedAgainst:
    'Dropbox Help Center, Supported identity providers (2024-12-18); RSA, Dropbox implementation guide, for the entity ID (2021-11-03)',
  title: 'Dropbox',
  text: t('console.preset.dropbox.text'),
  protocol: 'saml',
  fields: [],
  toDeclaration: () => ({
    name: 'Dropbox',
    entity_id: 'Dropbox',
    acs_url: 'https://www.dropbox.com/saml_login',
    name_id_format: 'emailAddress',
    sign: 'both',
    idp_initiated: true,
  }),
  setupInstructions: (identityProvider) => [
    {
      title: 'Admin console → Settings → Single sign-on',
      text: code`${samlSettings(identityProvider, { sso: 'Identity provider sign-in URL', certificate: 'X.509 certificate' })}
Single sign-on: ${t('console.preset.dropbox.required', { first: 'Optional', last: 'Required' })}`,
    },
    {
      title: BEFORE_YOU_START,
      text: t('console.preset.dropbox.plans'),
    },
  ],
};

// learn.microsoft.com/entra/identity/hybrid/connect/how-to-connect-fed-saml-idp: entity ID, address, signed assertion, persistent NameID
// with the ImmutableID, and the user principal name as IDPEmail.
export const microsoft365: ProductPreset = {
  id: 'microsoft-365',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Conditional Access → Sign-in frequency: 90 d',
    certificates: 'none',
  },
  kind: 'office',
  documentation: 'https://learn.microsoft.com/entra/identity/hybrid/connect/how-to-connect-fed-saml-idp',
  checkedAgainst:
    'Microsoft Learn, Use a SAML 2.0 Identity Provider for Single Sign On, and New-MgDomainFederationConfiguration (read 2026-11)',
  title: 'Microsoft 365',
  text: t('console.preset.microsoft-365.text'),
  protocol: 'saml',
  demands: { email: 'address' },
  fields: [],
  toDeclaration: () => ({
    name: 'Microsoft 365',
    entity_id: 'urn:federation:MicrosoftOnline',
    acs_url: 'https://login.microsoftonline.com/login.srf',
    name_id_format: 'persistent',
    name_id_field: 'sub',
    attributes: { IDPEmail: 'email' },
    start_url: 'https://www.office.com',
  }),
  setupInstructions: ({ name, issuer, certificate }) => [
    {
      title: t('console.preset.microsoft-365.ids'),
      text: code`Connect-MgGraph -Scopes Domain.ReadWrite.All, User.ReadWrite.All
# ${t('console.preset.microsoft-365.each-user')}
Update-MgUser -UserId ann@DOMAIN -OnPremisesImmutableId USER_ID`,
    },
    {
      title: t('console.preset.microsoft-365.federate'),
      text: `New-MgDomainFederationConfiguration -DomainId DOMAIN -DisplayName ${powerShellWord(name)} \`
  -IssuerUri ${issuer}/saml/metadata \`
  -PassiveSignInUri ${issuer}/saml/sso \`
  -SignOutUri ${issuer}/logout \`
  -PreferredAuthenticationProtocol saml \`
  -SigningCertificate ${certificate.replaceAll(/-----[^-]+-----|\s/g, '')}`,
    },
    {
      title: t('console.preset.microsoft-365.rotation'),
      text: t('console.preset.microsoft-365.next-certificate', {
        command: 'Update-MgDomainFederationConfiguration',
        option: '-NextSigningCertificate',
      }),
    },
  ],
};
