// Development: forges, builds and delivery.
import { t } from '../../../base/texts/text.ts';
import { code, quoted } from './guide-text.ts';
import {
  baseOf,
  type Declaration,
  endSession,
  type IdentityProvider,
  type ProductPreset,
  SECRET,
  type SetupInstruction,
  samlSettings,
  TICKED,
  urlField,
  webApplication,
} from './parts.ts';

// The name of the authentication source is a part of the redirect URI.
const forgePath = '/user/oauth2/gatehouse/callback';
const forgeGuide =
  (product: string, adminRole: string, isSynchronized: boolean) =>
  ({ issuer, clientId, clientSecret }: IdentityProvider): SetupInstruction[] => [
    {
      title: 'Site Administration → Identity & Access → Authentication Sources → Add Authentication Source',
      text: code`Authentication Type: OAuth2
Authentication Name: gatehouse
OAuth2 Provider: OpenID Connect
Client ID (Key): ${clientId}
Client Secret: ${clientSecret ?? SECRET}
OpenID Connect Auto Discovery URL: ${issuer}/.well-known/openid-configuration
Additional Scopes: email profile roles${isSynchronized ? ' offline_access' : ''}
Claim name providing group names for this source: roles
Group Claim value for administrator users: ${adminRole}${isSynchronized ? code`\nEnable User Synchronization: ${TICKED}` : ''}`,
    },
    {
      title: t('console.preset.forge.accounts', { product }),
      text: '[oauth2_client]\nENABLE_AUTO_REGISTRATION = true\nUSERNAME = nickname',
    },
  ];
const forgeClaims = { nickname: { field: 'username', scope: 'profile' } };

export const gitea: ProductPreset = {
  id: 'gitea',
  ran: { what: 'Gitea 1.26.0', on: '2026-11' },
  life: {
    renews: '[cron.sync_external_users] SCHEDULE = @midnight',
    signOut: 'everywhere',
    session: 'SESSION_LIFE_TIME = 86400, LOGIN_REMEMBER_DAYS = 31',
    certificates: 'system',
    http: true,
  },
  kind: 'development',
  documentation: 'https://docs.gitea.com',
  checkedAgainst:
    'go-gitea/gitea 1.27.3, oauth.go and source_sync.go (read 2026-11); Authelia integration guide for Gitea 1.25.1, which found no PKCE (2026-08)',
  title: 'Gitea',
  text: t('console.preset.forge.text'),
  protocol: 'oidc',
  fields: [urlField('Gitea', 'https://git.example.com')],
  roles: [{ name: 'gitea-admin', description: t('console.preset.role.site-administrators', { product: 'Gitea' }) }],
  demands: { email: 'address' },
  toDeclaration: ({ url }) => ({
    ...webApplication('Gitea', url, [forgePath]),
    claims: forgeClaims,
    require_pkce: false,
    grant_types: ['authorization_code', 'refresh_token'],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
  }),
  setupInstructions: forgeGuide('Gitea', 'gitea-admin', true),
};

export const forgejo: ProductPreset = {
  id: 'forgejo',
  life: {
    renews: false,
    signOut: 'own',
    session: 'SESSION_LIFE_TIME = 86400, LOGIN_REMEMBER_DAYS = 31',
    certificates: 'system',
    http: true,
  },
  kind: 'development',
  documentation: 'https://forgejo.org/docs/latest/',
  checkedAgainst: 'Authelia integration guide for Forgejo 13.0.2, with PKCE (2026-08); the settings are those of Gitea',
  title: 'Forgejo',
  text: t('console.preset.forge.text'),
  protocol: 'oidc',
  fields: [urlField('Forgejo', 'https://git.example.com')],
  roles: [{ name: 'forgejo-admin', description: t('console.preset.role.site-administrators', { product: 'Forgejo' }) }],
  demands: { email: 'address' },
  toDeclaration: ({ url }) => ({ ...webApplication('Forgejo', url, [forgePath]), claims: forgeClaims }),
  setupInstructions: forgeGuide('Forgejo', 'forgejo-admin', false),
};

export const jenkins: ProductPreset = {
  id: 'jenkins',
  life: {
    renews: true,
    signOut: 'everywhere',
    session: 'as-token',
    certificates: 'javax.net.ssl.trustStore',
    http: true,
  },
  kind: 'development',
  documentation: 'https://plugins.jenkins.io/oic-auth/',
  checkedAgainst:
    'jenkinsci/oic-auth-plugin, docs/configuration/README.md and OicSecurityRealm.java (2026-07), issues 153 and 535 (2025-02); Authelia integration guide for Jenkins 2.516.3 (2026-08)',
  title: 'Jenkins',
  text: t('console.preset.jenkins.text'),
  protocol: 'oidc',
  fields: [urlField('Jenkins', 'https://jenkins.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Jenkins', url, ['/securityRealm/finishLogin']),
    grant_types: ['authorization_code', 'refresh_token'],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }: Declaration) => [
    {
      title: 'Configuration as Code (jenkins.yaml)',
      text: code`jenkins:
  securityRealm:
    oic:
      clientId: "${clientId}"
      clientSecret: "${clientSecret}"
      serverConfiguration:
        wellKnown:
          wellKnownOpenIDConfigurationUrl: "${issuer}/.well-known/openid-configuration"
          scopesOverride: "openid profile email roles offline_access"
      userNameField: "preferred_username"
      fullNameFieldName: "name"
      emailFieldName: "email"
      groupsFieldName: "roles"
      logoutFromOpenidProvider: true
      postLogoutRedirectUrl: "${client_uri}/"
      properties:
        - "pkce"`,
    },
    {
      title: t('console.preset.in-place', { place: 'Manage Jenkins → Security' }),
      text: t('console.preset.jenkins.permissions'),
    },
  ],
};

// With PKCE it sends no secret (its issue 23773), and the command line never does (issue 24367), so one public client serves both.
export const argoCd: ProductPreset = {
  id: 'argocd',
  life: {
    renews: 'refreshTokenThreshold: 5m',
    signOut: 'everywhere',
    session: 'as-token',
    certificates: 'rootCA',
    http: true,
  },
  kind: 'development',
  documentation: 'https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/',
  checkedAgainst:
    'argoproj/argo-cd, docs/operator-manual/user-management/index.md and rbac.md (read 2026-11), pull request 21729 (2025-03-10), issues 23773 (2025-07-13) and 24367 (2025-09-03)',
  title: 'Argo CD',
  text: t('console.preset.argocd.text'),
  protocol: 'oidc',
  fields: [urlField('Argo CD', 'https://argocd.example.com')],
  roles: [{ name: 'argocd-admin', description: t('console.preset.role.administrators', { product: 'Argo CD' }) }],
  // Without policy.default, a person without a role sees nothing.
  demands: { role: 'for-rights', countsOtherRoles: true },
  toDeclaration: ({ url }) => ({
    ...webApplication('Argo CD', url, []),
    redirect_uris: [`${baseOf(url)}/auth/callback`, 'http://localhost:8085/auth/callback'],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    post_logout_redirect_uris: [baseOf(url), `${baseOf(url)}/`],
  }),
  setupInstructions: ({ name, issuer, clientId }, { client_uri }) => [
    {
      title: 'ConfigMap argocd-cm',
      text: `data:
  url: ${client_uri}
  oidc.config: |
    name: ${quoted(name)}
    issuer: ${issuer}
    clientID: ${clientId}
    enablePKCEAuthentication: true
    requestedScopes: ["openid", "profile", "email", "roles", "offline_access"]
    refreshTokenThreshold: 5m
    logoutURL: ${issuer}/end-session?id_token_hint={{token}}&post_logout_redirect_uri={{logoutRedirectURL}}`,
    },
    {
      title: 'ConfigMap argocd-rbac-cm',
      text: `data:
  scopes: '[roles]'
  policy.csv: |
    g, argocd-admin, role:admin`,
    },
    {
      title: t('console.preset.command-line'),
      text: `argocd login ${String(client_uri).replace(/^https?:\/\//, '')} --sso`,
    },
  ],
};

export const gitHubEnterprise: ProductPreset = {
  id: 'github-enterprise',
  life: { renews: false, signOut: 'own', session: 'as-assertion', certificates: 'none' },
  kind: 'development',
  documentation:
    'https://docs.github.com/en/enterprise-server@latest/admin/managing-iam/iam-configuration-reference/saml-configuration-reference',
  checkedAgainst:
    'GitHub Docs, SAML configuration reference, Enterprise Server 3.18, with session duration (read 2026-11)',
  title: 'GitHub Enterprise Server',
  text: t('console.preset.github-enterprise.text'),
  protocol: 'saml',
  fields: [urlField('GitHub Enterprise Server', 'https://github.example.com')],
  toDeclaration: ({ url }) => ({
    name: 'GitHub Enterprise Server',
    entity_id: baseOf(url),
    acs_url: `${baseOf(url)}/saml/consume`,
    name_id_format: 'persistent',
    attributes: { username: 'username', full_name: 'name', emails: 'email' },
    idp_initiated: true,
  }),
  setupInstructions: (identityProvider) => [
    {
      title: 'Management Console → Authentication → SAML',
      text: code`${samlSettings(identityProvider, { sso: 'Single sign-on URL', entity: 'Issuer', certificate: 'Verification certificate' })}
Signature method: RSA-SHA256
Digest method: SHA256
Name Identifier Format: persistent
User attributes: username: username; full name: full_name; emails: emails`,
    },
  ],
};

// Its authenticator sends the secret in the body unless basic_auth is set, and a challenge.
export const jupyterHub: ProductPreset = {
  id: 'jupyterhub',
  ran: { what: 'JupyterHub 6.1.1, oauthenticator 17.4.0', on: '2026-11' },
  life: {
    renews: 'auth_refresh_age = 300',
    signOut: 'everywhere',
    session: 'JupyterHub.cookie_max_age_days = 14',
    certificates: 'CURL_CA_BUNDLE',
    http: true,
    first: t('console.preset.jupyterhub.key'),
  },
  kind: 'development',
  documentation:
    'https://oauthenticator.readthedocs.io/en/latest/tutorials/provider-specific-setup/providers/generic.html',
  checkedAgainst: 'jupyterhub/oauthenticator 17, generic.py and oauth2.py (read 2026-11)',
  title: 'JupyterHub',
  text: t('console.preset.jupyterhub.text'),
  protocol: 'oidc',
  fields: [urlField('JupyterHub', 'https://hub.example.com')],
  roles: [
    { name: 'jupyterhub-user', description: t('console.preset.role.users', { product: 'JupyterHub' }) },
    { name: 'jupyterhub-admin', description: t('console.preset.role.administrators', { product: 'JupyterHub' }) },
  ],
  demands: { role: 'to-sign-in' },
  toDeclaration: ({ url }) => ({
    ...webApplication('JupyterHub', url, ['/hub/oauth_callback']),
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'refresh_token'],
    post_logout_redirect_uris: [`${baseOf(url)}/`],
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.then-restart', { place: 'jupyterhub_config.py', product: 'JupyterHub' }),
      text: code`c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.login_service = ${quoted(name)}
c.GenericOAuthenticator.client_id = "${clientId}"
c.GenericOAuthenticator.client_secret = "${clientSecret}"
c.GenericOAuthenticator.oauth_callback_url = "${client_uri}/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = "${issuer}/authorize"
c.GenericOAuthenticator.token_url = "${issuer}/token"
c.GenericOAuthenticator.userdata_url = "${issuer}/userinfo"
c.GenericOAuthenticator.scope = ["openid", "profile", "email", "roles", "offline_access"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.roles"
c.GenericOAuthenticator.allowed_groups = {"jupyterhub-user", "jupyterhub-admin"}
c.GenericOAuthenticator.admin_groups = {"jupyterhub-admin"}
c.GenericOAuthenticator.enable_auth_state = True
c.GenericOAuthenticator.auth_refresh_age = 300
c.GenericOAuthenticator.logout_redirect_url = "${endSession(issuer, clientId, `${client_uri}/`)}"`,
    },
  ],
};
