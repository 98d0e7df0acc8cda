// Infrastructure: clusters, hosts, registries, secrets and storage.
import { t } from '../../../base/texts/text.ts';
import { code } from './guide-text.ts';
import {
  BEFORE_YOU_START,
  baseOf,
  endSession,
  ON,
  type Preset,
  type ProductPreset,
  SECRET,
  TICKED,
  urlField,
  webApplication,
} from './parts.ts';

const adminRole = (name: string, product: string): NonNullable<Preset['roles']> => [
  { name, description: t('console.preset.role.administrators', { product }) },
];

export const kubernetes: ProductPreset = {
  id: 'kubernetes',
  ran: { what: 'kube-apiserver 1.34.4, kubelogin 1.36.3-21-g4ac72f1', on: '2026-11' },
  life: {
    renews: true,
    signOut: 'own',
    session: 'as-token',
    certificates: '--oidc-ca-file (kube-apiserver), --certificate-authority (oidc-login)',
    http: false,
  },
  kind: 'infrastructure',
  documentation: 'https://kubernetes.io/docs/reference/access-authn-authz/authentication/',
  checkedAgainst:
    'int128/kubelogin, docs/setup.md and docs/usage.md (read 2026-11); Authelia integration guide for kubelogin 1.33.0 (2026-08)',
  title: 'Kubernetes',
  text: t('console.preset.kubernetes.text'),
  protocol: 'oidc',
  fields: [{ name: 'name', label: t('console.preset.kubernetes.cluster'), value: 'production', required: true }],
  roles: adminRole('kubernetes-admin', 'Kubernetes'),
  demands: { role: 'for-rights', countsOtherRoles: true },
  toDeclaration: ({ name = '' }) => ({
    client_name: `Kubernetes ${name}`.trim(),
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['http://localhost:8000', 'http://localhost:18000'],
    consent: 'implicit',
  }),
  setupInstructions: ({ issuer, clientId }) => [
    {
      title: t('console.preset.kubernetes.arguments'),
      text: `--oidc-issuer-url=${issuer}
--oidc-client-id=${clientId}
--oidc-username-claim=preferred_username
--oidc-username-prefix=gatehouse:
--oidc-groups-claim=roles
--oidc-groups-prefix=gatehouse:`,
    },
    {
      title: t('console.preset.kubernetes.computers'),
      text: `kubectl krew install oidc-login
kubectl config set-credentials gatehouse \\
  --exec-api-version=client.authentication.k8s.io/v1beta1 \\
  --exec-command=kubectl \\
  --exec-arg=oidc-login \\
  --exec-arg=get-token \\
  --exec-arg=--oidc-issuer-url=${issuer} \\
  --exec-arg=--oidc-client-id=${clientId} \\
  --exec-arg=--oidc-extra-scope=profile \\
  --exec-arg=--oidc-extra-scope=roles \\
  --exec-arg=--oidc-extra-scope=offline_access \\
  --exec-arg=--oidc-pkce-method=S256
kubectl config set-context --current --user=gatehouse`,
    },
    {
      title: t('console.preset.kubernetes.administrators'),
      text: 'kubectl create clusterrolebinding gatehouse-admin --clusterrole=cluster-admin --group=gatehouse:kubernetes-admin',
    },
  ],
};

export const proxmox: ProductPreset = {
  id: 'proxmox',
  life: { renews: false, signOut: 'own', session: '2h', certificates: 'system', http: true },
  kind: 'infrastructure',
  documentation: 'https://pve.proxmox.com/pve-docs/chapter-pveum.html',
  checkedAgainst:
    'proxmox/pve-docs, pveum.adoc with groups (2025-03-26); Authelia integration guide for Proxmox VE 8.4.1 and Backup Server 3.4.2 (2026-08)',
  title: 'Proxmox VE',
  text: t('console.preset.proxmox.text'),
  protocol: 'oidc',
  fields: [urlField('Proxmox VE', 'https://proxmox.example.com:8006')],
  roles: adminRole('proxmox-admin', 'Proxmox VE'),
  demands: { role: 'for-rights', countsOtherRoles: true },
  toDeclaration: ({ url }) => webApplication('Proxmox VE', url, ['']),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }) => [
    {
      title: t('console.preset.in-shell-on-node'),
      text: code`pveum realm add gatehouse --type openid \\
  --issuer-url ${issuer} \\
  --client-id ${clientId} \\
  --client-key '${clientSecret}' \\
  --username-claim username \\
  --scopes "openid email profile roles" \\
  --groups-claim roles --groups-autocreate 1 --groups-overwrite 1 \\
  --autocreate 1`,
    },
    {
      title: t('console.preset.proxmox.administrators'),
      text: 'pveum acl modify / -group proxmox-admin-gatehouse -role Administrator',
    },
  ],
};

export const portainer: ProductPreset = {
  id: 'portainer',
  life: { renews: false, signOut: 'everywhere', session: 'Session lifetime: 8h', certificates: 'system', http: true },
  kind: 'infrastructure',
  documentation: 'https://docs.portainer.io/admin/settings/authentication/oauth',
  checkedAgainst:
    'Portainer documentation, Authenticate via OAuth (CE 2.9, BE current); Authelia integration guide for Portainer 2.21.4, without PKCE (2026-08)',
  title: 'Portainer',
  text: t('console.preset.portainer.text'),
  protocol: 'oidc',
  fields: [urlField('Portainer', 'https://portainer.example.com')],
  toDeclaration: ({ url }) => ({
    ...webApplication('Portainer', url, ['', '/']),
    post_logout_redirect_uris: [`${baseOf(url)}/`],
    token_endpoint_auth_method: 'client_secret_post',
    require_pkce: false,
  }),
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: 'Settings → Authentication → OAuth → Custom',
      text: code`Client ID: ${clientId}
Client secret: ${clientSecret}
Authorization URL: ${issuer}/authorize
Access token URL: ${issuer}/token
Resource URL: ${issuer}/userinfo
Redirect URL: ${client_uri}
Logout URL: ${endSession(issuer, clientId, `${client_uri}/`)}
User identifier: preferred_username
Scopes: openid profile email roles
Auth Style: In Params
Automatic user provisioning: ${ON}
${t('console.preset.portainer.teams')}: roles`,
    },
  ],
};

export const harbor: ProductPreset = {
  id: 'harbor',
  life: { renews: true, signOut: 'own', session: 'Session Timeout: 60 min', certificates: 'system', http: false },
  kind: 'infrastructure',
  documentation: 'https://goharbor.io/docs/latest/administration/configure-authentication/oidc-auth/',
  checkedAgainst:
    'goharbor/website, docs/administration/configure-authentication/oidc-auth.md, and goharbor/harbor, config-auth.component.html (read 2026-11); Authelia integration guide for Harbor 2.11.2, without PKCE (2026-08)',
  title: 'Harbor',
  text: t('console.preset.harbor.text'),
  protocol: 'oidc',
  fields: [urlField('Harbor', 'https://harbor.example.com')],
  roles: adminRole('harbor-admin', 'Harbor'),
  toDeclaration: ({ url }) => ({
    ...webApplication('Harbor', url, ['/c/oidc/callback']),
    grant_types: ['authorization_code', 'refresh_token'],
    require_pkce: false,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }) => [
    {
      title: 'Administration → Configuration → Authentication',
      text: code`Auth Mode: ${t('console.preset.harbor.mode', { mode: 'OIDC' })}
OIDC Provider Name: ${name}
OIDC Provider Endpoint: ${issuer}
OIDC Client ID: ${clientId}
OIDC Client Secret: ${clientSecret}
Group Claim Name: roles
OIDC Admin Group: harbor-admin
OIDC Scope: openid,profile,email,roles,offline_access
Verify Certificate: ${TICKED}
Automatic onboarding: ${TICKED}
Username Claim: preferred_username`,
    },
  ],
};

export const vault: ProductPreset = {
  id: 'vault',
  ran: { what: 'Vault 1.21.0', on: '2026-11' },
  life: {
    renews: false,
    signOut: 'own',
    session: 'token_ttl=1h, token_max_ttl=12h',
    certificates: 'oidc_discovery_ca_pem',
    http: true,
  },
  kind: 'infrastructure',
  documentation: 'https://developer.hashicorp.com/vault/docs/auth/jwt',
  checkedAgainst: 'hashicorp/vault, website/content/docs/auth/jwt/index.mdx, JWT/OIDC auth method (read 2026-11)',
  title: 'HashiCorp Vault',
  text: t('console.preset.vault.text'),
  protocol: 'oidc',
  fields: [urlField('Vault', 'https://vault.example.com:8200')],
  roles: adminRole('vault-admin', 'Vault'),
  demands: { role: 'for-rights', countsOtherRoles: true },
  toDeclaration: ({ url }) => {
    const { redirect_uris, ...rest } = webApplication('HashiCorp Vault', url, ['/ui/vault/auth/oidc/oidc/callback']);
    return { ...rest, redirect_uris: [...[redirect_uris].flat(), 'http://localhost:8250/oidc/callback'] };
  },
  setupInstructions: ({ issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.in-shell', { product: 'Vault' }),
      text: code`vault auth enable oidc
vault write auth/oidc/config \\
  oidc_discovery_url="${issuer}" \\
  oidc_client_id="${clientId}" \\
  oidc_client_secret="${clientSecret}" \\
  default_role="gatehouse"
vault write auth/oidc/role/gatehouse \\
  role_type="oidc" \\
  allowed_redirect_uris="${client_uri}/ui/vault/auth/oidc/oidc/callback" \\
  allowed_redirect_uris="http://localhost:8250/oidc/callback" \\
  user_claim="sub" \\
  groups_claim="roles" \\
  oidc_scopes="profile,email,roles" \\
  token_policies="default" \\
  token_ttl="1h" \\
  token_max_ttl="12h"`,
    },
    {
      title: t('console.preset.vault.policy', { role: 'vault-admin' }),
      text: `vault policy write admin - <<END
path "*" { capabilities = ["create", "read", "update", "delete", "list", "sudo"] }
END
ACCESSOR=$(vault auth list -format=json | jq -r '."oidc/".accessor')
GROUP=$(vault write -field=id identity/group name=vault-admin type=external policies=admin)
vault write identity/group-alias name=vault-admin mount_accessor="$ACCESSOR" canonical_id="$GROUP"`,
    },
  ],
};

const minioPolicy = (policy: string) => t('console.preset.role.policy', { policy, product: 'MinIO' });

export const minio: ProductPreset = {
  id: 'minio',
  ran: { what: 'MinIO 2026-02-12', on: '2026-11' },
  life: {
    renews: false,
    signOut: 'own',
    session: 'MINIO_BROWSER_SESSION_DURATION=12h',
    certificates: '~/.minio/certs/CAs',
    http: true,
  },
  kind: 'infrastructure',
  documentation: 'https://min.io/docs/minio/linux/reference/minio-server/settings/iam/openid.html',
  checkedAgainst:
    'MinIO documentation, OpenID Identity Management Settings (read 2026-11); minio/minio issue 21311 (2025-05-26); Authelia integration guide for RELEASE.2025-04-22 (2026-08)',
  title: 'MinIO',
  text: t('console.preset.minio.text'),
  protocol: 'oidc',
  fields: [
    {
      ...urlField('MinIO', ''),
      label: t('console.preset.minio.url'),
      hint: t('console.preset.minio.url-hint', { example: 'https://minio.example.com' }),
    },
  ],
  roles: [
    { name: 'minio-admin', nameThere: 'consoleAdmin', description: minioPolicy('consoleAdmin') },
    { name: 'minio-write', nameThere: 'readwrite', description: minioPolicy('readwrite') },
    { name: 'minio-read', nameThere: 'readonly', description: minioPolicy('readonly') },
  ],
  demands: { role: 'to-sign-in', countsOtherRoles: true },
  // MinIO uses the values of the claim as policy names.
  toDeclaration: ({ url }) => ({
    ...webApplication('MinIO', url, ['/oauth_callback']),
    roles_filter: ['minio-*'],
    roles_rename: { 'minio-admin': 'consoleAdmin', 'minio-write': 'readwrite', 'minio-read': 'readonly' },
    require_pkce: false,
  }),
  setupInstructions: ({ name, issuer, clientId, clientSecret = SECRET }, { client_uri }) => [
    {
      title: t('console.preset.environment', { product: 'MinIO' }),
      text: code`MINIO_IDENTITY_OPENID_CONFIG_URL=${issuer}/.well-known/openid-configuration
MINIO_IDENTITY_OPENID_CLIENT_ID=${clientId}
MINIO_IDENTITY_OPENID_CLIENT_SECRET=${clientSecret}
MINIO_IDENTITY_OPENID_SCOPES=openid,profile,email,roles
MINIO_IDENTITY_OPENID_CLAIM_NAME=roles
MINIO_IDENTITY_OPENID_REDIRECT_URI=${client_uri}/oauth_callback
MINIO_IDENTITY_OPENID_DISPLAY_NAME=${name}`,
    },
    {
      title: BEFORE_YOU_START,
      text: t('console.preset.minio.releases', { release: 'RELEASE.2025-05-24' }),
    },
  ],
};
