// The first products that signed in by OpenID Connect; others are in the files of their kinds.
import { concatenated, type PageText, t } from '../../../base/texts/text.ts';
import { code, iniValue, rubyQuoted, shellWord } from './guide-text.ts';
import {
  baseOf,
  endSession,
  type IdentityProvider,
  type ProductPreset,
  SECRET,
  type SetupInstruction,
  urlField,
} from './parts.ts';

// grafana/grafana, docs/sources/…/generic-oauth: callback path, names of the settings, form of the role expression.
export const grafana: ProductPreset = {
  id: 'grafana',
  life: {
    renews: true,
    signOut: 'everywhere',
    session: 'login_maximum_inactive_lifetime_duration = 7d, login_maximum_lifetime_duration = 30d',
    certificates: 'tls_client_ca',
    http: true,
  },
  kind: 'development',
  checkedAgainst: 'grafana/grafana, docs/sources, Configure generic OAuth2 authentication (read 2026-11)',
  roles: [
    {
      name: 'grafana-admin',
      description: t('console.preset.role.organization-administrators', { product: 'Grafana' }),
    },
    { name: 'grafana-editor', description: t('console.preset.role.editors', { product: 'Grafana' }) },
  ],
  demands: { email: 'address' },
  withoutRoles: t('console.preset.role.viewers'),
  documentation:
    'https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/generic-oauth/',
  title: 'Grafana',
  text: t('console.preset.grafana.text'),
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
  setupInstructions(identityProvider, { client_uri }): SetupInstruction[] {
    const oauth = grafanaSettings(identityProvider, String(client_uri));
    return [
      {
        title: t('console.preset.then-restart', { place: 'grafana.ini', product: 'Grafana' }),
        text: concatenated([
          `[server]\nroot_url = ${client_uri}\n\n[auth.generic_oauth]`,
          ...oauth.map(
            ([name, value]) => code`\n${name} = ${name === 'name' ? iniValue(identityProvider.name) : value}`,
          ),
        ]),
      },
      {
        title: t('console.preset.grafana.environment'),
        text: concatenated([
          `GF_SERVER_ROOT_URL=${client_uri}`,
          ...oauth.map(([name, value]) => code`\nGF_AUTH_GENERIC_OAUTH_${name.toUpperCase()}=${value}`),
        ]),
        isAlternative: true,
      },
    ];
  },
};

function grafanaSettings(
  { name, issuer, clientId, clientSecret }: IdentityProvider,
  address: string,
): [name: string, value: PageText][] {
  return [
    ['enabled', 'true'],
    ['name', name],
    ['client_id', clientId],
    ['client_secret', clientSecret ?? SECRET],
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
    ['signout_redirect_url', endSession(issuer, clientId, `${address}/login`)],
  ];
}

// docs.gitlab.com/administration/auth/oidc: names of the settings; omniauth_openid_connect: `basic`, callback path.
export const gitlab: ProductPreset = {
  id: 'gitlab',
  life: {
    renews: false,
    signOut: 'own',
    session: 'session_expire_delay: 10080',
    certificates: '/etc/gitlab/trusted-certs',
    http: false,
  },
  kind: 'development',
  demands: { email: 'address' },
  documentation: 'https://docs.gitlab.com/administration/auth/oidc/',
  checkedAgainst: 'GitLab Docs, Use OpenID Connect as an authentication provider (read 2026-11)',
  title: 'GitLab',
  text: t('console.preset.gitlab.text'),
  protocol: 'oidc',
  fields: [urlField('GitLab', 'https://gitlab.example.com')],
  toDeclaration: ({ url }) => ({
    client_name: 'GitLab',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/users/auth/openid_connect/callback`],
    consent: 'implicit',
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.then-run', { file: '/etc/gitlab/gitlab.rb', command: 'sudo gitlab-ctl reconfigure' }),
      text: code`gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: ${rubyQuoted(name)},
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
  life: {
    renews: false,
    signOut: 'everywhere',
    session: 'session_lifetime: 86400, remember_login_cookie_lifetime: 1296000',
    certificates: 'occ security:certificates:import',
    http: true,
    first: t('console.preset.private-address', { setting: "'allow_local_remote_servers' => true (config.php)" }),
  },
  kind: 'office',
  documentation: 'https://github.com/nextcloud/user_oidc',
  checkedAgainst:
    'nextcloud/user_oidc, README.md, appinfo/routes.php and lib/Command/UpsertProvider.php (read 2026-11)',
  title: 'Nextcloud',
  text: t('console.preset.nextcloud.text'),
  protocol: 'oidc',
  fields: [urlField('Nextcloud', 'https://cloud.example.com')],
  toDeclaration: ({ url }, name) => ({
    client_name: 'Nextcloud',
    client_uri: baseOf(url),
    redirect_uris: [`${baseOf(url)}/apps/user_oidc/code`, `${baseOf(url)}/index.php/apps/user_oidc/code`],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
    backchannel_logout_uri: `${baseOf(url)}/index.php/apps/user_oidc/backchannel-logout/${encodeURIComponent(name)}`,
    backchannel_logout_session_required: true,
    consent: 'implicit',
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { backchannel_logout_uri }) => [
    {
      title: t('console.preset.nextcloud.server'),
      text: code`sudo -u www-data php occ app:install user_oidc
sudo -u www-data php occ user_oidc:provider ${shellWord(nextcloudIdentifier(backchannel_logout_uri) ?? name)} \\
  --clientid="${clientId}" \\
  --clientsecret="${clientSecret}" \\
  --discoveryuri="${issuer}/.well-known/openid-configuration" \\
  --scope="openid profile email roles" \\
  --mapping-uid=preferred_username --mapping-display-name=name --mapping-email=email --unique-uid=0`,
    },
  ],
};

/** The identifier in an address of a registered application, which stays when the brand gets another name. */
function nextcloudIdentifier(backchannelLogoutUri: unknown): string | undefined {
  const [, identifier] = /\/backchannel-logout\/([^/?#]+)$/.exec(String(backchannelLogoutUri)) ?? [];
  return identifier && decodeURIComponent(identifier);
}

// oidc-wp/openid-connect-generic: includes/…-settings-page.php (constants, redirect URI); its issue 208: it has no PKCE, which
// this server requires unless the registration says require_pkce: false; BeAPI/openid-connect-generic-pkce-addon sends challenge and verifier by the plugin's filters.
export const wordpress: ProductPreset = {
  id: 'wordpress',
  ran: { what: 'WordPress 6.1.9, OpenID Connect Generic 3.10.3', on: '2026-11' },
  demands: { email: 'address' },
  life: {
    renews: false,
    signOut: 'everywhere',
    session: 'auth_cookie_expiration: 2 d',
    certificates: 'http_request_args: sslcertificates',
    http: true,
  },
  kind: 'office',
  documentation: 'https://wordpress.org/plugins/daggerhart-openid-connect-generic/',
  checkedAgainst:
    'oidc-wp/openid-connect-generic, settings page; BeAPI/openid-connect-generic-pkce-addon (read 2026-11)',
  title: 'WordPress',
  text: t('console.preset.wordpress.text'),
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
      title: t('console.preset.wordpress.plugins'),
      text: code`OpenID Connect Generic Client: https://wordpress.org/plugins/daggerhart-openid-connect-generic/
${t('console.preset.wordpress.add-on', { address: 'https://github.com/BeAPI/openid-connect-generic-pkce-addon' })}`,
    },
    {
      title: t('console.preset.wordpress.constants'),
      text: code`define( 'OIDC_CLIENT_ID', '${clientId}' );
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
      title: t('console.preset.in-place', { place: 'Settings → OpenID Connect Client' }),
      text: 'Identity Key: preferred_username',
    },
    // Its address after a sign-out has the language of the user otherwise, and could not be registered.
    {
      title: t('console.preset.wordpress.after-sign-out', { file: 'wp-content/mu-plugins/gatehouse.php' }),
      text: "<?php\nadd_filter( 'logout_redirect', fn( $url, $requested ) => $requested ?: home_url( '/' ), 10, 2 );",
    },
  ],
};
