// Communication: chat, meetings and the help desk.
import {
  answer,
  baseOf,
  DNS_LABEL,
  type ProductPreset,
  SECRET,
  samlSettings,
  urlField,
  webApplication,
} from './parts.ts';

export const mattermost: ProductPreset = {
  id: 'mattermost',
  kind: 'communication',
  documentation: 'https://docs.mattermost.com/onboard/sso-openidconnect.html',
  checkedAgainst:
    'Mattermost documentation, OpenID Connect Single Sign-On (read 2026-11); Authelia integration guide for Mattermost, without PKCE, secret in the body (2026-08)',
  title: 'Mattermost',
  text: 'OpenID Connect needs the plan Professional or Enterprise.',
  protocol: 'oidc',
  fields: [urlField('Mattermost', 'https://chat.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Mattermost', url, ['/signup/openid/complete']),
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'System Console → Authentication → OpenID Connect, then restart Mattermost',
      text: `Select service provider: OpenID Connect (Other)
Button Name: Gatehouse
Discovery Endpoint: ${issuer}/.well-known/openid-configuration
Client ID: ${clientId}
Client Secret: ${clientSecret}`,
    },
    {
      title: 'Before you start',
      text: 'Self-hosted Mattermost has OpenID Connect only with the plan Professional or Enterprise.',
    },
  ],
};

// The server's custom_oauth_server.js: with "Header" the word Basic is missing before the secret, so only Payload works.
export const rocketChat: ProductPreset = {
  id: 'rocket-chat',
  kind: 'communication',
  documentation: 'https://docs.rocket.chat',
  checkedAgainst:
    'Rocket.Chat documentation, Custom OAuth Setup; RocketChat/Rocket.Chat, custom_oauth_server.js (read 2026-11); Authelia integration guide for Rocket.Chat 6.11.1, without PKCE (2026-08)',
  title: 'Rocket.Chat',
  text: 'Custom OAuth.',
  protocol: 'oidc',
  fields: [urlField('Rocket.Chat', 'https://chat.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Rocket.Chat', url, ['/_oauth/gatehouse']),
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Workspace → Settings → OAuth → Add custom OAuth, with the name gatehouse',
      text: `Enable: on
URL: ${issuer}
Token Path: /token
Token Sent Via: Payload
Identity Token Sent Via: Header
Identity Path: /userinfo
Authorize Path: /authorize
Scope: openid profile email roles
Param Name for access token: access_token
Id: ${clientId}
Secret: ${clientSecret}
Login Style: Redirect
Button Text: Sign in with Gatehouse
Key Field: Username
Username field: preferred_username
Email field: email
Name field: name
Roles/Groups field name: roles
Merge users: off, or on to take over accounts with the same username`,
    },
  ],
};

export const zulip: ProductPreset = {
  id: 'zulip',
  kind: 'communication',
  documentation: 'https://zulip.readthedocs.io/en/stable/production/authentication-methods.html',
  checkedAgainst:
    'zulip/zulip, docs/production/authentication-methods.md and zproject/prod_settings_template.py, SAML (read 2026-11)',
  title: 'Zulip',
  text: 'Self-hosted.',
  protocol: 'saml',
  fields: [urlField('Zulip', 'https://zulip.example.com')],
  toDeclaration: ({ url }) => ({
    name: 'Zulip',
    entity_id: baseOf(url),
    acs_url: `${baseOf(url)}/complete/saml/`,
    name_id_format: 'emailAddress',
    attributes: { email: 'email', first_name: 'given_name', last_name: 'family_name' },
    idp_initiated: true,
  }),
  setupInstructions: ({ issuer, certificate }) => [
    {
      title: '/etc/zulip/settings.py',
      text: `AUTHENTICATION_BACKENDS = (
    'zproject.backends.EmailAuthBackend',
    'zproject.backends.SAMLAuthBackend',
)
SOCIAL_AUTH_SAML_ENABLED_IDPS = {
    "gatehouse": {
        "entity_id": "${issuer}/saml/metadata",
        "url": "${issuer}/saml/sso",
        "attr_user_permanent_id": "email",
        "attr_first_name": "first_name",
        "attr_last_name": "last_name",
        "attr_username": "email",
        "attr_email": "email",
        "display_name": "Gatehouse",
    },
}`,
    },
    { title: '/etc/zulip/saml/idps/gatehouse.crt', text: certificate.trim() },
    {
      title: 'Then',
      text: 'chown -R zulip:zulip /etc/zulip/saml/\nsu zulip -c /home/zulip/deployments/current/scripts/restart-server',
    },
  ],
};

export const zoom: ProductPreset = {
  id: 'zoom',
  kind: 'communication',
  documentation: 'https://support.zoom.com',
  checkedAgainst:
    'Zoom, SSO Field Guide (read 2026-11); Ping Identity, Zoom configuration guide, and Microsoft MSIdentityTools 2.0.52, Zoom.json, for the addresses',
  title: 'Zoom',
  text: 'An account with an approved vanity URL.',
  protocol: 'saml',
  fields: [{ name: 'vanity', label: 'Vanity name', hint: 'The part before .zoom.us', required: true }],
  toDeclaration: (answers) => {
    const host = `${answer(answers, 'vanity', DNS_LABEL, 'must be only the first part of the host name').toLowerCase()}.zoom.us`;
    return {
      name: 'Zoom',
      entity_id: host,
      acs_url: `https://${host}/saml/SSO`,
      name_id_format: 'emailAddress',
      attributes: { email: 'email', firstName: 'given_name', lastName: 'family_name' },
      idp_initiated: true,
    };
  },
  setupInstructions: (identityProvider) => [
    {
      title: 'Advanced → Single Sign-On → SAML',
      text: `${samlSettings(identityProvider, { sso: 'Sign-in page URL', entity: 'Issuer (IDP Entity ID)', certificate: 'Identity provider certificate, without the lines BEGIN and END' })}
Service Provider (SP) Entity ID: the choice without https
Binding: HTTP-Redirect
Signature Hash Algorithm: SHA-256`,
    },
    {
      title: 'SAML Response Mapping',
      text: 'Email Address: email\nFirst Name: firstName\nLast Name: lastName',
    },
    {
      title: 'Before you start',
      text: 'Zoom has single sign-on only for accounts with an approved vanity URL.',
    },
  ],
};

export const zammad: ProductPreset = {
  id: 'zammad',
  kind: 'communication',
  documentation: 'https://admin-docs.zammad.org/en/latest/settings/security/third-party/openid-connect.html',
  checkedAgainst:
    'zammad/zammad-admin-documentation, settings/security/third-party/openid-connect.rst (read 2026-11); Authelia integration guide for Zammad 6.5.0, with PKCE (2026-08)',
  title: 'Zammad',
  text: 'Help desk, version 6.5 or later, with single logout.',
  protocol: 'oidc',
  fields: [urlField('Zammad', 'https://support.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Zammad', url, ['/auth/openid_connect/callback']),
    token_endpoint_auth_method: 'none',
    post_logout_redirect_uris: [baseOf(url), `${baseOf(url)}/`],
    backchannel_logout_uri: `${baseOf(url)}/auth/openid_connect/backchannel_logout`,
    backchannel_logout_session_required: true,
  }),
  setupInstructions: ({ issuer, clientId }) => [
    {
      title: 'Settings → Security → Third Party Applications → Authentication via OpenID Connect',
      text: `Display name: Gatehouse
Identifier: ${clientId}
Issuer: ${issuer}
UID field: sub
Scopes: openid, email, profile
PKCE: yes`,
    },
  ],
};
