// Labels and hints of the fields of connections. docs/connections.md describes each one in full.
import { type PageText, t } from '../../base/texts/text.ts';

export const trustedEmailTexts: Record<string, PageText> = {
  never: t('console.connections.trusted-email.never'),
  verified: t('console.connections.trusted-email.verified'),
  domains: t('console.connections.trusted-email.domains'),
};
const signOutTexts = Object.fromEntries(
  ['always', 'ask', 'never'].map((when) => [when, t('console.connections.sign-out.value', { when })]),
);
const linkTexts: Record<string, PageText> = {
  prove: t('console.connection-fields.link.prove'),
  trusted: t('console.connection-fields.link.trusted'),
};
const clientAuthenticationTexts: Record<string, PageText> = {
  client_secret_basic: t('console.field.token_endpoint_auth_method.client_secret_basic'),
  client_secret_post: t('console.field.token_endpoint_auth_method.client_secret_post'),
  client_secret_jwt: t('console.field.token_endpoint_auth_method.client_secret_jwt'),
  private_key_jwt: t('console.connection-fields.token-auth.private-key'),
  none: t('console.connection-fields.token-auth.none'),
};

interface FieldTexts {
  label: PageText;
  hint?: PageText;
  /** Of a choice: what its values mean, where they are no names of a protocol. */
  choices?: Record<string, PageText>;
}

export const labels: Record<string, FieldTexts> = {
  name: { label: t('console.connection-fields.name.label'), hint: t('console.connection-fields.name.hint') },
  logo: { label: t('console.connection-fields.logo.label'), hint: t('console.connection-fields.logo.hint') },
  order: { label: t('console.connection-fields.order.label'), hint: t('console.connection-fields.order.hint') },
  show_button: { label: t('console.connection-fields.show-button.label') },
  domains: { label: t('console.connection-fields.domains.label'), hint: t('console.connection-fields.domains.hint') },
  required_for_domains: { label: t('console.connection-fields.required-for-domains.label') },
  login_hint: { label: t('console.connection-fields.login-hint.label') },
  create_users: { label: t('console.connection-fields.create-users.label') },
  update_profile: { label: t('console.connection-fields.update-profile.label') },
  link: {
    label: t('console.connection-fields.link.label'),
    hint: t('console.connection-fields.link.hint'),
    choices: linkTexts,
  },
  link_only: { label: t('console.connection-fields.link-only.label') },
  trusted_email: {
    label: t('console.connection-fields.trusted-email.label'),
    choices: trustedEmailTexts,
  },
  attributes: {
    label: t('console.connection-fields.attributes.label'),
    hint: t('console.connection-fields.attributes.hint'),
  },
  groups_claim: {
    label: t('console.connection-fields.groups-claim.label'),
    hint: t('console.connection-fields.groups-claim.hint'),
  },
  groups: { label: t('console.connection-fields.groups.label'), hint: t('console.connection-fields.groups.hint') },
  role_mappings: {
    label: t('console.connection-fields.role-mappings.label'),
    hint: t('console.connection-fields.role-mappings.hint'),
  },
  acr_values: {
    label: t('console.connection-fields.acr-values.label'),
    hint: t('console.connection-fields.acr-values.hint'),
  },
  trusted_acr: {
    label: t('console.connection-fields.trusted-acr.label'),
    hint: t('console.connection-fields.trusted-acr.hint'),
  },
  trusted_amr: {
    label: t('console.connection-fields.trusted-amr.label'),
    hint: t('console.connection-fields.trusted-amr.hint'),
  },
  team_id: { label: t('console.connection-fields.team-id.label') },
  key_id: { label: t('console.connection-fields.key-id.label') },
  response_mode: {
    label: t('console.connection-fields.response-mode.label'),
    hint: t('console.connection-fields.response-mode.hint'),
  },
  logout: { label: t('console.connection-fields.logout.label'), choices: signOutTexts },
  issuer: { label: t('console.connection-fields.issuer.label') },
  discovery_url: {
    label: t('console.connection-fields.discovery-url.label'),
    hint: t('console.connection-fields.discovery-url.hint'),
  },
  client_id: { label: t('console.connection-fields.client-id.label') },
  token_endpoint_auth_method: {
    label: t('console.connection-fields.token-endpoint-auth-method.label'),
    choices: clientAuthenticationTexts,
  },
  pkce: { label: t('console.connection-fields.pkce.label') },
  nonce: { label: t('console.connection-fields.nonce.label') },
  userinfo: { label: t('console.connection-fields.userinfo.label') },
  id_token_signing_algs: { label: t('console.connection-fields.id-token-signing-algs.label') },
  subject_claim: { label: t('console.connection-fields.subject-claim.label') },
  authorization_parameters: {
    label: t('console.connection-fields.authorization-parameters.label'),
    hint: t('console.connection-fields.authorization-parameters.hint'),
  },
  allowed_tenants: {
    label: t('console.connection-fields.allowed-tenants.label'),
    hint: t('console.connection-fields.allowed-tenants.hint'),
  },
  allowed_hosted_domains: {
    label: t('console.connection-fields.allowed-hosted-domains.label'),
    hint: t('console.connection-fields.allowed-hosted-domains.hint'),
  },
  entity_id: {
    label: t('console.connection-fields.entity-id.label'),
    hint: t('console.connection-fields.entity-id.hint'),
  },
  metadata_url: { label: t('console.connection-fields.metadata-url.label') },
  metadata: { label: t('console.connection-fields.metadata.label') },
  metadata_certificate: { label: t('console.connection-fields.metadata-certificate.label') },
  sso_url: { label: t('console.connection-fields.sso-url.label'), hint: t('console.connection-fields.sso-url.hint') },
  slo_url: { label: t('console.connection-fields.slo-url.label'), hint: t('console.connection-fields.sso-url.hint') },
  certificates: {
    label: t('console.connection-fields.certificates.label'),
    hint: t('console.connection-fields.certificates.hint'),
  },
  sign_requests: { label: t('console.connection-fields.sign-requests.label') },
  want_encrypted: { label: t('console.connection-fields.want-encrypted.label') },
  allow_sha1: { label: t('console.connection-fields.allow-sha1.label') },
  allow_cbc: { label: t('console.connection-fields.allow-cbc.label') },
  binding: { label: t('console.connection-fields.binding.label') },
  name_id_format: { label: t('console.connection-fields.name-id-format.label') },
  subject_attribute: { label: t('console.connection-fields.subject-attribute.label') },
  request_authn_context: { label: t('console.connection-fields.request-authn-context.label') },
  sp_entity_id: {
    label: t('console.connection-fields.sp-entity-id.label'),
    hint: t('console.connection-fields.sp-entity-id.hint'),
  },
  url: { label: t('console.connection-fields.url.label'), hint: t('console.connection-fields.url.hint') },
  start_tls: { label: t('console.connection-fields.start-tls.label') },
  ca: { label: t('console.connection-fields.ca.label'), hint: t('console.connection-fields.ca.hint') },
  bind_dn: { label: t('console.connection-fields.bind-dn.label') },
  base_dn: { label: t('console.connection-fields.base-dn.label') },
  filter: { label: t('console.connection-fields.filter.label'), hint: t('console.connection-fields.filter.hint') },
  lockout_threshold: {
    label: t('console.connection-fields.lockout-threshold.label'),
    hint: t('console.connection-fields.lockout-threshold.hint'),
  },
  lockout_window_minutes: {
    label: t('console.connection-fields.lockout-window-minutes.label'),
    hint: t('console.connection-fields.lockout-window-minutes.hint'),
  },
  password_url: {
    label: t('console.connection-fields.password-url.label'),
    hint: t('console.connection-fields.password-url.hint'),
  },
  active_directory: { label: t('console.connection-fields.active-directory.label') },
  scopes: { label: t('console.connection-fields.scopes.label') },
  tenant: { label: t('console.connection-fields.tenant.label') },
  authorization_url: { label: t('console.connection-fields.authorization-url.label') },
  token_url: { label: t('console.connection-fields.token-url.label') },
  userinfo_url: { label: t('console.connection-fields.userinfo-url.label') },
  emails_url: { label: t('console.connection-fields.emails-url.label') },
  groups_url: { label: t('console.connection-fields.groups-url.label') },
};
