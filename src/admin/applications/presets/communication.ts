// Communication: chat, meetings and the help desk.
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { t } from '../../../base/texts/text.ts';
import { code, quoted } from './guide-text.ts';
import {
  answer,
  BEFORE_YOU_START,
  baseOf,
  DNS_LABEL,
  hostField,
  ON,
  type ProductPreset,
  SECRET,
  samlSettings,
  urlField,
  webApplication,
} from './parts.ts';

export const mattermost: ProductPreset = {
  id: 'mattermost',
  life: { renews: false, signOut: 'own', session: 'SessionLengthSSOInHours: 720', certificates: 'system', http: true },
  kind: 'communication',
  documentation: 'https://docs.mattermost.com/onboard/sso-openidconnect.html',
  checkedAgainst:
    'Mattermost documentation, OpenID Connect Single Sign-On (read 2026-11); Authelia integration guide for Mattermost, without PKCE, secret in the body (2026-08)',
  title: 'Mattermost',
  text: t('console.preset.mattermost.text'),
  protocol: 'oidc',
  demands: { email: 'address' },
  fields: [urlField('Mattermost', 'https://chat.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Mattermost', url, ['/signup/openid/complete']),
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }) => [
    {
      title: t('console.preset.then-restart', {
        place: 'System Console → Authentication → OpenID Connect',
        product: 'Mattermost',
      }),
      text: code`Select service provider: OpenID Connect (Other)
Button Name: ${name}
Discovery Endpoint: ${issuer}/.well-known/openid-configuration
Client ID: ${clientId}
Client Secret: ${clientSecret}`,
    },
    {
      title: BEFORE_YOU_START,
      text: t('console.preset.mattermost.plan'),
    },
  ],
};

// The server's custom_oauth_server.js: with "Header" the word Basic is missing before the secret, so only Payload works.
export const rocketChat: ProductPreset = {
  id: 'rocket-chat',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Login Expiration in Days: 90',
    certificates: 'NODE_EXTRA_CA_CERTS',
    http: true,
  },
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
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }) => [
    {
      title: t('console.preset.with-name', {
        place: 'Workspace → Settings → OAuth → Add custom OAuth',
        name: 'gatehouse',
      }),
      text: code`Enable: ${ON}
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
Button Text: ${t('console.preset.sign-in-with', { name })}
Key Field: Username
Username field: preferred_username
Email field: email
Name field: name
Roles/Groups field name: roles
Merge users: ${t('console.preset.rocket-chat.merge')}`,
    },
  ],
};

export const zulip: ProductPreset = {
  id: 'zulip',
  life: { renews: false, signOut: 'own', session: 'SESSION_COOKIE_AGE = 1209600', certificates: 'none' },
  kind: 'communication',
  documentation: 'https://zulip.readthedocs.io/en/stable/production/authentication-methods.html',
  checkedAgainst:
    'zulip/zulip, docs/production/authentication-methods.md and zproject/prod_settings_template.py, SAML (read 2026-11)',
  title: 'Zulip',
  text: t('console.preset.zulip.text'),
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
  setupInstructions: ({ name, issuer, certificate }) => [
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
        "display_name": ${quoted(name)},
    },
}`,
    },
    { title: '/etc/zulip/saml/idps/gatehouse.crt', text: certificate.trim() },
    {
      title: t('console.preset.then'),
      text: 'chown -R zulip:zulip /etc/zulip/saml/\nsu zulip -c /home/zulip/deployments/current/scripts/restart-server',
    },
  ],
};

export const zoom: ProductPreset = {
  id: 'zoom',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Security → Users need to sign in again after',
    certificates: 'none',
  },
  kind: 'communication',
  documentation: 'https://support.zoom.com',
  checkedAgainst:
    'Zoom, SSO Field Guide (read 2026-11); Ping Identity, Zoom configuration guide, and Microsoft MSIdentityTools 2.0.52, Zoom.json, for the addresses',
  title: 'Zoom',
  text: t('console.preset.zoom.text'),
  protocol: 'saml',
  fields: [hostField('vanity', t('console.preset.zoom.vanity'), '.zoom.us')],
  toDeclaration: (answers) => {
    const host = `${answer(answers, 'vanity', DNS_LABEL, faultMessage('dns-label')).toLowerCase()}.zoom.us`;
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
      text: code`${samlSettings(identityProvider, { sso: 'Sign-in page URL', entity: 'Issuer (IDP Entity ID)', certificate: t('console.preset.zoom.certificate', { label: 'Identity provider certificate' }) })}
Service Provider (SP) Entity ID: ${t('console.preset.zoom.entity-id')}
Binding: HTTP-Redirect
Signature Hash Algorithm: SHA-256`,
    },
    {
      title: 'SAML Response Mapping',
      text: 'Email Address: email\nFirst Name: firstName\nLast Name: lastName',
    },
    {
      title: BEFORE_YOU_START,
      text: t('console.preset.zoom.approval'),
    },
  ],
};

export const zammad: ProductPreset = {
  id: 'zammad',
  life: {
    renews: false,
    signOut: 'everywhere',
    session: 'Settings → Security → Base → Session Timeout',
    certificates: 'system',
    http: false,
  },
  kind: 'communication',
  documentation: 'https://admin-docs.zammad.org/en/latest/settings/security/third-party/openid-connect.html',
  checkedAgainst:
    'zammad/zammad-admin-documentation, settings/security/third-party/openid-connect.rst (read 2026-11); Authelia integration guide for Zammad 6.5.0, with PKCE (2026-08)',
  title: 'Zammad',
  text: t('console.preset.zammad.text'),
  protocol: 'oidc',
  fields: [urlField('Zammad', 'https://support.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Zammad', url, ['/auth/openid_connect/callback']),
    token_endpoint_auth_method: 'none',
    post_logout_redirect_uris: [baseOf(url), `${baseOf(url)}/`],
    backchannel_logout_uri: `${baseOf(url)}/auth/openid_connect/backchannel_logout`,
    backchannel_logout_session_required: true,
  }),
  setupInstructions: ({ name, issuer, clientId }) => [
    {
      title: 'Settings → Security → Third Party Applications → Authentication via OpenID Connect',
      text: `Display name: ${name}
Identifier: ${clientId}
Issuer: ${issuer}
UID field: sub
Scopes: openid, email, profile
PKCE: yes`,
    },
  ],
};

export const synapse: ProductPreset = {
  id: 'synapse',
  ran: { what: 'Synapse 1.163.2', on: '2026-11' },
  life: {
    renews: false,
    signOut: 'own',
    session: 'endless',
    certificates: 'system',
    http: true,
  },
  kind: 'communication',
  documentation: 'https://element-hq.github.io/synapse/latest/openid.html',
  checkedAgainst: 'element-hq/synapse, docs/openid.md and oidc_providers in the configuration manual (read 2026-11)',
  title: 'Synapse',
  text: t('console.preset.synapse.text'),
  protocol: 'oidc',
  fields: [urlField('Synapse', 'https://matrix.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Synapse', url, ['/_synapse/client/oidc/callback']),
    backchannel_logout_uri: `${baseOf(url)}/_synapse/client/oidc/backchannel_logout`,
    // It answers 400 to a logout token without a session.
    backchannel_logout_session_required: true,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.then-restart', { place: 'homeserver.yaml', product: 'Synapse' }),
      text: code`public_baseurl: ${client_uri}/
oidc_providers:
  - idp_id: gatehouse
    idp_name: ${quoted(name)}
    issuer: "${issuer}"
    client_id: "${clientId}"
    client_secret: "${clientSecret}"
    scopes: ["openid", "profile", "email"]
    backchannel_logout_enabled: true
    user_mapping_provider:
      config:
        localpart_template: "{{ user.preferred_username }}"
        display_name_template: "{{ user.name }}"
        email_template: "{{ user.email }}"`,
    },
  ],
};
