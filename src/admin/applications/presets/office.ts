// Office and cloud: learning, teams and files.
import { answer, type ProductPreset, SECRET, samlSettings, urlField, webApplication } from './parts.ts';

// moodle/moodle, lib/classes/oauth2/client.php: the login URL has no challenge, the secret is in the body unless basic authentication is ticked.
export const moodle: ProductPreset = {
  id: 'moodle',
  kind: 'office',
  documentation: 'https://docs.moodle.org/en/OAuth_2_authentication',
  checkedAgainst:
    'MoodleDocs, OAuth 2 services, 4.03 and OAuth 2 authentication, 5.02; moodle/moodle, OAuth 2 client in lib/oauthlib.php, without PKCE (read 2026-11)',
  title: 'Moodle',
  text: 'An OAuth 2 service, without a plugin.',
  protocol: 'oidc',
  fields: [urlField('Moodle', 'https://moodle.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Moodle', url, ['/admin/oauth2callback.php']),
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Site administration → Server → OAuth 2 services → Custom',
      text: `Name: Gatehouse
Client ID: ${clientId}
Client secret: ${clientSecret}
Service base URL: ${issuer}
Authenticate token requests via HTTP headers: not ticked
Scopes included in a login request: openid profile email
This service will be used: Login page only`,
    },
    {
      title: 'Configure user field mappings',
      text: 'preferred_username: username\ngiven_name: firstname\nfamily_name: lastname\nemail: email',
    },
    { title: 'Site administration → Plugins → Authentication', text: 'Enable OAuth 2.' },
  ],
};

export const atlassian: ProductPreset = {
  id: 'atlassian',
  kind: 'office',
  documentation:
    'https://support.atlassian.com/security-and-access-policies/docs/configure-saml-single-sign-on-with-an-identity-provider/',
  checkedAgainst:
    'Atlassian Support, Configure Atlassian Guard SAML single sign-on (2025-06-03); Microsoft Entra, Atlassian Cloud tutorial (2024-03-25); Ping Identity, Atlassian Cloud guide, for the attributes',
  title: 'Atlassian Cloud',
  text: 'Jira and Confluence; single sign-on needs Atlassian Guard.',
  protocol: 'saml',
  fields: [
    {
      name: 'entity_id',
      label: 'Service provider entity URL',
      hint: 'As Atlassian displays it: https://auth.atlassian.com/saml/…',
      required: true,
    },
    {
      name: 'acs_url',
      label: 'Service provider assertion consumer service URL',
      hint: 'As Atlassian displays it: https://auth.atlassian.com/login/callback?connection=saml-…',
      required: true,
    },
  ],
  toDeclaration: (answers) => ({
    name: 'Atlassian Cloud',
    entity_id: answer(answers, 'entity_id', /^https:\/\/\S+$/, 'must be an https address'),
    acs_url: answer(answers, 'acs_url', /^https:\/\/\S+$/, 'must be an https address'),
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
      title: 'Before you start',
      text: 'Single sign-on needs a subscription to Atlassian Guard and a verified domain. Atlassian displays its own two addresses in the step after this one.',
    },
  ],
};

export const dropbox: ProductPreset = {
  id: 'dropbox',
  kind: 'office',
  documentation: 'https://help.dropbox.com',
  checkedAgainst:
    'Dropbox Help Center, Supported identity providers (2024-12-18); RSA, Dropbox implementation guide, for the entity ID (2021-11-03)',
  title: 'Dropbox',
  text: 'A team with the plan Advanced, Business Plus or Enterprise.',
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
      text: `${samlSettings(identityProvider, { sso: 'Identity provider sign-in URL', certificate: 'X.509 certificate' })}
Single sign-on: Optional, then Required when it works`,
    },
    {
      title: 'Before you start',
      text: 'Dropbox has single sign-on only with the plans Advanced, Business Plus and Enterprise.',
    },
  ],
};

// learn.microsoft.com/entra/identity/hybrid/connect/how-to-connect-fed-saml-idp: entity ID, address, signed assertion, persistent NameID
// with the ImmutableID, and the user principal name as IDPEmail.
export const microsoft365: ProductPreset = {
  id: 'microsoft-365',
  kind: 'office',
  documentation: 'https://learn.microsoft.com/entra/identity/hybrid/connect/how-to-connect-fed-saml-idp',
  checkedAgainst:
    'Microsoft Learn, Use a SAML 2.0 Identity Provider for Single Sign On, and New-MgDomainFederationConfiguration (read 2026-11)',
  title: 'Microsoft 365',
  text: 'A domain of Microsoft Entra ID whose users sign in here, in web applications.',
  protocol: 'saml',
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
  setupInstructions: ({ issuer, certificate }) => [
    {
      title: 'In PowerShell with Microsoft.Graph: each user gets the user ID of this server',
      text: `Connect-MgGraph -Scopes Domain.ReadWrite.All, User.ReadWrite.All
# For each user: the user principal name is the email address here, the user ID is on the page of the user and in the export of users.
Update-MgUser -UserId ann@DOMAIN -OnPremisesImmutableId USER_ID`,
    },
    {
      title: 'Then federate the domain, which must be verified and not the default one',
      text: `New-MgDomainFederationConfiguration -DomainId DOMAIN -DisplayName Gatehouse \`
  -IssuerUri ${issuer}/saml/metadata \`
  -PassiveSignInUri ${issuer}/saml/sso \`
  -SignOutUri ${issuer}/logout \`
  -PreferredAuthenticationProtocol saml \`
  -SigningCertificate ${certificate.replaceAll(/-----[^-]+-----|\s/g, '')}`,
    },
    {
      title: 'When the certificate changes here',
      text: 'Update-MgDomainFederationConfiguration with -NextSigningCertificate, before the next certificate signs.',
    },
  ],
};
