// Presets of vendors with accounts for everybody. Their addresses are trusted only as far as each vendor proves them.
import type { Preset, PresetField } from './preset.ts';

const clientId: PresetField = { key: 'client_id', label: 'Client ID', isRequired: true };
const clientSecret: PresetField = { key: 'client_secret', label: 'Client secret', isRequired: true, type: 'secret' };
const expires: PresetField = {
  key: 'client_secret_expires_at',
  label: 'The secret expires on',
  hint: 'Gatehouse warns you 30 and 7 days before. Leave empty if the secret doesn’t expire.',
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
      label: 'Only these Workspace domains',
      hint: 'One per line. Leave empty to allow all Google accounts.',
      type: 'lines',
    },
  ],
  steps: [
    'Open the Google Cloud console, Google Auth Platform, Clients, and create a client of the type “Web application”.',
    'Add the redirect URI below under “Authorized redirect URIs”.',
    'Copy the client ID and the client secret into this form.',
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
    { key: 'private_key', label: 'Private key (.p8)', type: 'secret', isRequired: true },
  ],
  steps: [
    'In the Apple developer account, create a Services ID with “Sign in with Apple”.',
    'Register the host and the redirect URI below.',
    'Create a key for “Sign in with Apple”, download it once, and paste its text here.',
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
    'Create an app at LinkedIn and request the product “Sign In with LinkedIn using OpenID Connect”.',
    'Add the redirect URI below under Auth, “Authorized redirect URLs”.',
    'Copy the client ID and the primary client secret into this form.',
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
    'Open GitHub, Settings, Developer settings, OAuth Apps, and register a new application.',
    'Enter the redirect URI below as “Authorization callback URL”.',
    'Generate a client secret and copy both values into this form.',
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
    'Create an app at Meta for Developers with the use case “Authenticate and request data from users with Facebook Login”.',
    'Enter the redirect URI below under “Valid OAuth Redirect URIs”.',
    'Copy the app ID and the app secret from Settings, Basic.',
  ],
  paste: ['redirect_uri'],
  quirks: { email: 'never', appSecretProof: true },
};

export { clientId, clientSecret, expires };
