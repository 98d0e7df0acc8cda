// The first products that signed in by OpenID Connect; others are in the files of their kinds.
import { baseOf, type IdentityProvider, type ProductPreset, SECRET, urlField } from './parts.ts';

// grafana/grafana, docs/sources/…/generic-oauth: callback path, names of the settings, form of the role expression.
export const grafana: ProductPreset = {
  id: 'grafana',
  kind: 'development',
  checkedAgainst: 'grafana/grafana, docs/sources, Configure generic OAuth2 authentication (read 2026-11)',
  roles: [
    { name: 'grafana-admin', description: 'Organization administrators in Grafana' },
    { name: 'grafana-editor', description: 'Editors in Grafana' },
  ],
  needsEmail: true,
  withoutRoles: 'Viewers in Grafana',
  documentation:
    'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
  title: 'Grafana',
  text: 'With generic OAuth. Roles in Gatehouse become roles in Grafana.',
  protocol: 'oidc',
  fields: [urlField('Grafana', 'https://grafana.example.com')],
  toDeclaration: ({ url }) => ({
    client_name: 'Grafana',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/login/generic_oauth`],
    post_logout_redirect_uris: [`${baseOf(url)}/login`],
    grant_types: ['authorization_code', 'refresh_token'],
    consent: 'implicit',
  }),
  setupInstructions(identityProvider, { client_uri }) {
    const oauth = grafanaSettings(identityProvider, String(client_uri));
    return [
      {
        title: 'grafana.ini, then restart Grafana',
        text: ['[server]', `root_url = ${client_uri}`, '', '[auth.generic_oauth]']
          .concat(oauth.map(([name, value]) => `${name} = ${value}`))
          .join('\n'),
      },
      {
        title: 'Or the same as environment variables, such as for docker run --env-file',
        text: [`GF_SERVER_ROOT_URL=${client_uri}`]
          .concat(oauth.map(([name, value]) => `GF_AUTH_GENERIC_OAUTH_${name.toUpperCase()}=${value}`))
          .join('\n'),
        isAlternative: true,
      },
    ];
  },
};

function grafanaSettings(
  { issuer, clientId, clientSecret = SECRET }: IdentityProvider,
  address: string,
): [name: string, value: string][] {
  const afterLogout = encodeURIComponent(`${address}/login`);
  return [
    ['enabled', 'true'],
    ['name', 'Gatehouse'],
    ['client_id', clientId],
    ['client_secret', clientSecret],
    ['scopes', 'openid profile email roles offline_access'],
    ['auth_url', `${issuer}/authorize`],
    ['token_url', `${issuer}/token`],
    ['api_url', `${issuer}/userinfo`],
    ['use_pkce', 'true'],
    ['use_refresh_token', 'true'],
    ['login_attribute_path', 'preferred_username'],
    [
      'role_attribute_path',
      "contains(roles[*], 'grafana-admin') && 'Admin' || contains(roles[*], 'grafana-editor') && 'Editor' || 'Viewer'",
    ],
    ['signout_redirect_url', `${issuer}/end-session?client_id=${clientId}&post_logout_redirect_uri=${afterLogout}`],
  ];
}

// docs.gitlab.com/administration/auth/oidc: names of the settings; omniauth_openid_connect: `basic`, callback path.
export const gitlab: ProductPreset = {
  id: 'gitlab',
  kind: 'development',
  needsEmail: true,
  documentation: 'https://docs.gitlab.com/administration/auth/oidc/',
  checkedAgainst: 'GitLab Docs, Use OpenID Connect as an authentication provider (read 2026-11)',
  title: 'GitLab',
  text: 'Self-managed, with OmniAuth.',
  protocol: 'oidc',
  fields: [urlField('GitLab', 'https://gitlab.example.com')],
  toDeclaration: ({ url }) => ({
    client_name: 'GitLab',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/users/auth/openid_connect/callback`],
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: '/etc/gitlab/gitlab.rb, then: sudo gitlab-ctl reconfigure',
      text: `gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "Gatehouse",
    args: {
      name: "openid_connect",
      scope: ["openid", "profile", "email"],
      response_type: "code",
      issuer: "${issuer}",
      discovery: true,
      client_auth_method: "basic",
      uid_field: "sub",
      send_scope_to_token_endpoint: "false",
      pkce: true,
      client_options: {
        identifier: "${clientId}",
        secret: "${clientSecret}",
        redirect_uri: "${client_uri}/users/auth/openid_connect/callback"
      }
    }
  }
]`,
    },
  ],
};

// nextcloud/user_oidc: appinfo/routes.php (/code, /backchannel-logout/{providerIdentifier}), lib/Command/UpsertProvider.php
// (options of the command; the identifier is its first argument).
export const nextcloud: ProductPreset = {
  id: 'nextcloud',
  kind: 'office',
  documentation: 'https://github.com/nextcloud/user_oidc',
  checkedAgainst: 'nextcloud/user_oidc, appinfo/routes.php and lib/Command/UpsertProvider.php (read 2026-11)',
  title: 'Nextcloud',
  text: 'With the app OpenID Connect user backend (user_oidc).',
  protocol: 'oidc',
  fields: [urlField('Nextcloud', 'https://cloud.example.com')],
  toDeclaration: ({ url }) => ({
    client_name: 'Nextcloud',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/apps/user_oidc/code`, `${baseOf(url)}/index.php/apps/user_oidc/code`],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
    backchannel_logout_uri: `${baseOf(url)}/apps/user_oidc/backchannel-logout/Gatehouse`,
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'On the Nextcloud server',
      text: `sudo -u www-data php occ app:install user_oidc
sudo -u www-data php occ user_oidc:provider Gatehouse \\
  --clientid="${clientId}" \\
  --clientsecret="${clientSecret}" \\
  --discoveryuri="${issuer}/.well-known/openid-configuration" \\
  --scope="openid profile email roles" \\
  --mapping-uid=preferred_username --mapping-display-name=name --mapping-email=email --unique-uid=0`,
    },
  ],
};

// oidc-wp/openid-connect-generic: includes/…-settings-page.php (constants, redirect URI); its issue 208: it has no PKCE, which
// this server requires unless the registration says require_pkce: false; BeAPI/openid-connect-generic-pkce-addon sends challenge and verifier by the plugin's filters.
export const wordpress: ProductPreset = {
  id: 'wordpress',
  kind: 'office',
  documentation: 'https://wordpress.org/plugins/daggerhart-openid-connect-generic/',
  checkedAgainst:
    'oidc-wp/openid-connect-generic, settings page; BeAPI/openid-connect-generic-pkce-addon (read 2026-11)',
  title: 'WordPress',
  text: 'With the plugin OpenID Connect Generic Client and its PKCE add-on.',
  protocol: 'oidc',
  fields: [urlField('WordPress', 'https://www.example.com')],
  toDeclaration: ({ url }) => ({
    client_name: 'WordPress',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/wp-admin/admin-ajax.php?action=openid-connect-authorize`],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Two plugins',
      text: `OpenID Connect Generic Client: https://wordpress.org/plugins/daggerhart-openid-connect-generic/
PKCE add-on, without which sign-ins are rejected: https://github.com/BeAPI/openid-connect-generic-pkce-addon`,
    },
    {
      title: 'wp-config.php, above “That’s all, stop editing!”',
      text: `define( 'OIDC_CLIENT_ID', '${clientId}' );
define( 'OIDC_CLIENT_SECRET', '${clientSecret}' );
define( 'OIDC_CLIENT_SCOPE', 'openid profile email' );
define( 'OIDC_ENDPOINT_LOGIN_URL', '${issuer}/authorize' );
define( 'OIDC_ENDPOINT_TOKEN_URL', '${issuer}/token' );
define( 'OIDC_ENDPOINT_USERINFO_URL', '${issuer}/userinfo' );
define( 'OIDC_ENDPOINT_LOGOUT_URL', '${issuer}/end-session' );
define( 'OIDC_ENDPOINT_JWKS_URL', '${issuer}/jwks' );
define( 'OIDC_ISSUER', '${issuer}' );`,
    },
    {
      title: 'In Settings → OpenID Connect Client',
      text: 'Identity Key: preferred_username',
    },
  ],
};
