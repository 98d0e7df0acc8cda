// Presets of vendors with accounts for the public. Their addresses are trusted only as far as each vendor proves them.
import { t } from '../../../base/texts/text.ts';
import type { Preset, PresetField } from './preset.ts';

const clientId: PresetField = {
  key: 'client_id',
  label: t('console.connection-field.client_id.label'),
  isRequired: true,
};
const clientSecret: PresetField = {
  key: 'client_secret',
  label: t('console.connections.purpose.client-secret'),
  isRequired: true,
  type: 'secret',
};
const expires: PresetField = {
  key: 'client_secret_expires_at',
  label: t('console.connection-preset.secret-expires'),
  hint: t('console.connection-preset.secret-expires-hint'),
  type: 'date',
};

export const google: Preset = {
  id: 'google',
  kind: 'oidc',
  name: 'Google',
  logo: 'google',
  defaults: ({ allowed_hosted_domains: domains }) => ({
    issuer: 'https://accounts.google.com',
    token_endpoint_auth_method: 'client_secret_post',
    trusted_email: 'verified',
    logout: 'never',
    // One domain only narrows the list of accounts; this server checks `hd`.
    ...(Array.isArray(domains) && domains.length === 1 ? { authorization_parameters: { hd: domains[0] } } : {}),
  }),
  fields: [
    clientId,
    clientSecret,
    {
      key: 'allowed_hosted_domains',
      label: t('console.connection-field.allowed_hosted_domains.label'),
      hint: t('console.connection-preset.google.domains-hint'),
      type: 'lines',
    },
  ],
  steps: [
    t('console.connection-preset.google.step-create'),
    t('console.connection-preset.google.step-redirect'),
    t('console.connection-preset.google.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'google', emailVerifiedIsText: true },
};

export const apple: Preset = {
  id: 'apple',
  kind: 'oidc',
  name: 'Apple',
  logo: 'apple',
  defaults: () => ({
    issuer: 'https://appleid.apple.com',
    scopes: ['openid', 'name', 'email'],
    response_mode: 'form_post',
    token_endpoint_auth_method: 'client_secret_post',
    userinfo: false,
    login_hint: false,
    logout: 'never',
  }),
  fields: [
    { key: 'client_id', label: 'Services ID', placeholder: 'com.example.signin', isRequired: true },
    { key: 'team_id', label: 'Team ID', isRequired: true },
    { key: 'key_id', label: 'Key ID', isRequired: true },
    { key: 'private_key', label: t('console.connection-preset.private-key'), type: 'secret', isRequired: true },
  ],
  steps: [
    t('console.connection-preset.apple.step-create'),
    t('console.connection-preset.apple.step-register'),
    t('console.connection-preset.apple.step-key'),
  ],
  paste: ['server_host', 'redirect_uri'],
  quirks: { emailVerifiedIsText: true, clientSecret: 'apple-jwt', nameField: 'apple-user' },
};

export const linkedin: Preset = {
  id: 'linkedin',
  kind: 'oidc',
  name: 'LinkedIn',
  logo: 'linkedin',
  defaults: () => ({
    issuer: 'https://www.linkedin.com/oauth',
    discovery_url: 'https://www.linkedin.com/oauth/.well-known/openid-configuration',
    token_endpoint_auth_method: 'client_secret_post',
    // LinkedIn returns no nonce and rejects PKCE with a secret; state in this browser stays the protection.
    nonce: false,
    pkce: false,
    login_hint: false,
    logout: 'never',
  }),
  fields: [clientId, clientSecret],
  steps: [
    t('console.connection-preset.linkedin.step-create'),
    t('console.connection-preset.linkedin.step-redirect'),
    t('console.connection-preset.linkedin.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { emailVerifiedIsText: true },
};

export const github: Preset = {
  id: 'github',
  kind: 'oauth2',
  name: 'GitHub',
  logo: 'github',
  defaults: () => ({
    authorization_url: 'https://github.com/login/oauth/authorize',
    token_url: 'https://github.com/login/oauth/access_token',
    userinfo_url: 'https://api.github.com/user',
    emails_url: 'https://api.github.com/user/emails',
    token_endpoint_auth_method: 'client_secret_post',
    scopes: ['read:user', 'user:email'],
    subject_claim: 'id',
    attributes: { username: 'login', email: 'email', name: 'name', picture: 'avatar_url' },
    trusted_email: 'verified',
    login_hint: false,
  }),
  fields: [clientId, clientSecret],
  steps: [
    t('console.connection-preset.github.step-register'),
    t('console.connection-preset.github.step-redirect'),
    t('console.connection-preset.github.step-secret'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'github', errorsWithStatus200: true },
};

export const facebook: Preset = {
  id: 'facebook',
  kind: 'oauth2',
  name: 'Facebook',
  logo: 'facebook',
  defaults: () => ({
    authorization_url: 'https://www.facebook.com/v23.0/dialog/oauth',
    token_url: 'https://graph.facebook.com/v23.0/oauth/access_token',
    userinfo_url: 'https://graph.facebook.com/v23.0/me?fields=id,name,first_name,last_name,email',
    token_endpoint_auth_method: 'client_secret_post',
    scopes: ['public_profile', 'email'],
    subject_claim: 'id',
    attributes: { email: 'email', name: 'name', given_name: 'first_name', family_name: 'last_name' },
    trusted_email: 'never',
    login_hint: false,
  }),
  fields: [
    { key: 'client_id', label: 'App ID', isRequired: true },
    { key: 'client_secret', label: 'App secret', isRequired: true, type: 'secret' },
  ],
  steps: [
    t('console.connection-preset.facebook.step-create'),
    t('console.connection-preset.facebook.step-redirect'),
    t('console.connection-preset.facebook.step-copy'),
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'never', appSecretProof: true },
};

export { clientId, clientSecret, expires };
