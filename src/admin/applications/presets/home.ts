// Media and home: photos, films, papers and the house.
import { type ProductPreset, SECRET, urlField, webApplication } from './parts.ts';

export const immich: ProductPreset = {
  id: 'immich',
  kind: 'home',
  documentation: 'https://docs.immich.app/administration/oauth',
  checkedAgainst:
    'immich-app/immich, docs/docs/administration/oauth.md (read 2026-11); Authelia integration guide for Immich 3.1.0, with PKCE (2026-08)',
  title: 'Immich',
  text: 'Web and mobile app.',
  protocol: 'oidc',
  fields: [urlField('Immich', 'https://photos.example.com')],
  // A web application has no redirect URI with a scheme of its own, so the mobile app takes Immich's forwarding address.
  toDeclaration: ({ url }) => ({
    ...webApplication('Immich', url, ['/auth/login', '/user-settings', '/api/oauth/mobile-redirect']),
    token_endpoint_auth_method: 'client_secret_post',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'Administration → Settings → OAuth Authentication',
      text: `Enabled: on
Issuer URL: ${issuer}
Client ID: ${clientId}
Client Secret: ${clientSecret}
Token Endpoint Auth Method: client_secret_post
Scope: openid email profile
ID Token Signed Response Algorithm: RS256
Storage Label Claim: preferred_username
Button Text: Login with Gatehouse
Auto Register: on
Mobile Redirect URI Override: on
Mobile Redirect URI: ${client_uri}/api/oauth/mobile-redirect`,
    },
    {
      title: 'Administrators',
      text: 'Immich reads a role only when it creates a user. Assign administrators in Immich.',
    },
  ],
};

export const jellyfin: ProductPreset = {
  id: 'jellyfin',
  kind: 'home',
  documentation: 'https://github.com/9p4/jellyfin-plugin-sso',
  checkedAgainst:
    '9p4/jellyfin-plugin-sso, README.md (read 2026-11); Authelia integration guide for Jellyfin 10.10.7 and plugin 4.0.0.3, with PKCE (2026-08)',
  title: 'Jellyfin',
  text: 'With the plugin SSO-Auth; apps sign in by Quick Connect.',
  protocol: 'oidc',
  fields: [urlField('Jellyfin', 'https://media.example.com')],
  roles: [
    { name: 'jellyfin-admin', description: 'Administrators in Jellyfin' },
    { name: 'jellyfin-user', description: 'Users of Jellyfin' },
  ],
  toDeclaration: ({ url }) => ({
    ...webApplication('Jellyfin', url, ['/sso/OID/redirect/gatehouse']),
    token_endpoint_auth_method: 'client_secret_post',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'In a shell, with an API key of Jellyfin',
      text: `curl -X POST -H 'Content-Type: application/json' '${client_uri}/sso/OID/Add/gatehouse?api_key=API_KEY' -d '{
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
      text: `<form action="${client_uri}/sso/OID/start/gatehouse"><button class="raised block emby-button button-submit">Sign in with Gatehouse</button></form>`,
    },
  ],
};

export const paperless: ProductPreset = {
  id: 'paperless-ngx',
  kind: 'home',
  documentation: 'https://docs.paperless-ngx.com/advanced_usage/',
  checkedAgainst:
    'django-allauth documentation, OpenID Connect (read 2026-11); Authelia integration guide for Paperless-ngx 2.13.5, with PKCE (2026-08)',
  title: 'Paperless-ngx',
  text: 'Document archive.',
  protocol: 'oidc',
  fields: [urlField('Paperless-ngx', 'https://paperless.example.com')],
  toDeclaration: ({ url }) => webApplication('Paperless-ngx', url, ['/accounts/oidc/gatehouse/login/callback/']),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Environment of Paperless-ngx',
      text: `PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS=${JSON.stringify({
        openid_connect: {
          SCOPE: ['openid', 'profile', 'email'],
          OAUTH_PKCE_ENABLED: true,
          APPS: [
            {
              provider_id: 'gatehouse',
              name: 'Gatehouse',
              client_id: clientId,
              secret: clientSecret,
              settings: { server_url: issuer, token_auth_method: 'client_secret_basic' },
            },
          ],
        },
      })}`,
    },
  ],
};

export const homeAssistant: ProductPreset = {
  id: 'home-assistant',
  kind: 'home',
  documentation: 'https://github.com/christiaangoossens/hass-oidc-auth',
  checkedAgainst: 'christiaangoossens/hass-oidc-auth, docs/configuration.md (read 2026-11)',
  title: 'Home Assistant',
  text: 'With the integration OpenID Connect (hass-oidc-auth) from HACS.',
  protocol: 'oidc',
  fields: [urlField('Home Assistant', 'https://home.example.com')],
  roles: [{ name: 'home-assistant-admin', description: 'Administrators in Home Assistant' }],
  toDeclaration: ({ url }) => ({
    ...webApplication('Home Assistant', url, ['/auth/oidc/callback']),
    token_endpoint_auth_method: 'none',
  }),
  setupInstructions: ({ issuer, clientId }) => [
    {
      title: 'configuration.yaml',
      text: `auth_oidc:
  client_id: "${clientId}"
  discovery_url: "${issuer}/.well-known/openid-configuration"
  display_name: "Gatehouse"
  groups_scope: roles
  claims:
    groups: roles
  roles:
    admin: home-assistant-admin`,
    },
  ],
};
