// Media and home: photos, films, documents and home automation.
import { escapeHtml } from '../../../base/texts/messages.ts';
import { t } from '../../../base/texts/text.ts';
import { code, quoted } from './guide-text.ts';
import { baseOf, endSession, ON, type ProductPreset, SECRET, urlField, webApplication } from './parts.ts';

export const immich: ProductPreset = {
  id: 'immich',
  life: {
    renews: false,
    signOut: 'everywhere',
    session: 'endless',
    certificates: 'NODE_EXTRA_CA_CERTS',
    http: 'Allow insecure requests',
  },
  kind: 'home',
  documentation: 'https://docs.immich.app/administration/oauth',
  checkedAgainst:
    'immich-app/immich, docs/docs/administration/oauth.md and oauth.repository.ts (read 2026-11), pull request 26235 for the sign-out; Authelia integration guide for Immich 3.1.0, with PKCE (2026-08)',
  title: 'Immich',
  text: t('console.preset.immich.text'),
  protocol: 'oidc',
  fields: [urlField('Immich', 'https://photos.example.com')],
  demands: { email: 'address' },
  // A web application cannot register a custom-scheme redirect URI, so the mobile app uses Immich's forwarding URL.
  toDeclaration: ({ url }) => ({
    ...webApplication('Immich', url, ['/auth/login', '/user-settings', '/api/oauth/mobile-redirect']),
    token_endpoint_auth_method: 'client_secret_post',
    backchannel_logout_uri: `${baseOf(url)}/api/oauth/backchannel-logout`,
    backchannel_logout_session_required: true,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'Administration → Settings → OAuth Authentication',
      text: code`Enabled: ${ON}
Issuer URL: ${issuer}
Client ID: ${clientId}
Client Secret: ${clientSecret}
Token Endpoint Auth Method: client_secret_post
Scope: openid email profile
ID Token Signed Response Algorithm: RS256
Storage Label Claim: preferred_username
Button Text: ${t('console.preset.sign-in-with', { name })}
Auto Register: ${ON}
Mobile Redirect URI Override: ${ON}
Mobile Redirect URI: ${client_uri}/api/oauth/mobile-redirect`,
    },
    {
      title: t('console.preset.administrators'),
      text: t('console.preset.immich.administrators'),
    },
  ],
};

export const jellyfin: ProductPreset = {
  id: 'jellyfin',
  life: { renews: false, signOut: 'own', session: 'endless', certificates: 'system', http: '"disableHttps": true' },
  kind: 'home',
  documentation: 'https://github.com/9p4/jellyfin-plugin-sso',
  checkedAgainst:
    '9p4/jellyfin-plugin-sso, README.md (read 2026-11); Authelia integration guide for Jellyfin 10.10.7 and plugin 4.0.0.3, with PKCE (2026-08)',
  title: 'Jellyfin',
  text: t('console.preset.jellyfin.text'),
  protocol: 'oidc',
  fields: [urlField('Jellyfin', 'https://media.example.com')],
  roles: [
    { name: 'jellyfin-admin', description: t('console.preset.role.administrators', { product: 'Jellyfin' }) },
    { name: 'jellyfin-user', description: t('console.preset.role.users', { product: 'Jellyfin' }) },
  ],
  demands: { role: 'to-sign-in' },
  toDeclaration: ({ url }) => ({
    ...webApplication('Jellyfin', url, ['/sso/OID/redirect/gatehouse']),
    token_endpoint_auth_method: 'client_secret_post',
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.in-shell-with-api-key', { product: 'Jellyfin' }),
      text: code`curl -X POST -H 'Content-Type: application/json' '${client_uri}/sso/OID/Add/gatehouse?api_key=API_KEY' -d '{
  "oidEndpoint": "${issuer}",
  "oidClientId": "${clientId}",
  "oidSecret": "${clientSecret}",
  "enabled": true,
  "enableAuthorization": true,
  "enableAllFolders": true,
  "roles": ["jellyfin-user", "jellyfin-admin"],
  "adminRoles": ["jellyfin-admin"],
  "roleClaim": "roles",
  "oidScopes": ["roles"]
}'`,
    },
    {
      title: 'Dashboard → General → Branding → Login disclaimer',
      text: code`<form action="${client_uri}/sso/OID/start/gatehouse"><button class="raised block emby-button button-submit">${t('console.preset.sign-in-with', { name: escapeHtml(name) })}</button></form>`,
    },
  ],
};

export const paperless: ProductPreset = {
  id: 'paperless-ngx',
  ran: { what: 'django-allauth 65.22.1', on: '2026-11' },
  life: {
    renews: false,
    signOut: 'everywhere',
    session: 'PAPERLESS_SESSION_COOKIE_AGE=1209600',
    certificates: 'REQUESTS_CA_BUNDLE',
    http: true,
  },
  kind: 'home',
  documentation: 'https://docs.paperless-ngx.com/advanced_usage/',
  checkedAgainst:
    'django-allauth documentation, OpenID Connect (read 2026-11); Authelia integration guide for Paperless-ngx 2.13.5, with PKCE (2026-08)',
  title: 'Paperless-ngx',
  text: t('console.preset.paperless-ngx.text'),
  protocol: 'oidc',
  fields: [urlField('Paperless-ngx', 'https://paperless.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Paperless-ngx', url, ['/accounts/oidc/gatehouse/login/callback/']),
    post_logout_redirect_uris: [`${baseOf(url)}/`],
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.environment', { product: 'Paperless-ngx' }),
      text: code`PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS={"openid_connect":{"SCOPE":["openid","profile","email"],"OAUTH_PKCE_ENABLED":true,"APPS":[{"provider_id":"gatehouse","name":${quoted(name)},"client_id":"${clientId}","secret":"${clientSecret}","settings":{"server_url":"${issuer}","token_auth_method":"client_secret_basic"}}]}}
PAPERLESS_LOGOUT_REDIRECT_URL=${endSession(issuer, clientId, `${client_uri}/`)}`,
    },
  ],
};

export const homeAssistant: ProductPreset = {
  id: 'home-assistant',
  life: { renews: false, signOut: 'own', session: '90 d', certificates: 'network.tls_ca_path', http: true },
  kind: 'home',
  documentation: 'https://github.com/christiaangoossens/hass-oidc-auth',
  checkedAgainst: 'christiaangoossens/hass-oidc-auth, docs/configuration.md (read 2026-11)',
  title: 'Home Assistant',
  text: t('console.preset.home-assistant.text'),
  protocol: 'oidc',
  fields: [urlField('Home Assistant', 'https://home.example.com')],
  roles: [
    {
      name: 'home-assistant-admin',
      description: t('console.preset.role.administrators', { product: 'Home Assistant' }),
    },
  ],
  toDeclaration: ({ url }) => ({
    ...webApplication('Home Assistant', url, ['/auth/oidc/callback']),
    token_endpoint_auth_method: 'none',
  }),
  setupInstructions: ({ name, issuer, clientId }) => [
    {
      title: 'configuration.yaml',
      text: `auth_oidc:
  client_id: "${clientId}"
  discovery_url: "${issuer}/.well-known/openid-configuration"
  display_name: ${quoted(name)}
  groups_scope: roles
  claims:
    groups: roles
  roles:
    admin: home-assistant-admin`,
    },
  ],
};
