// Every key of `clients` in the configuration file as fields of the console, by tab and section; those about tokens are in
// oidc-token-keys.ts, those that both protocols have in shared-keys.ts.
import { claimsKey } from './claims-key.ts';
import { checksKey, choiceKey, listKey, switchKey, textKey, urlKey } from './keys.ts';
import { algs, SIGNATURES } from './oidc-token-keys.ts';
import { profileKey, publicKeys } from './profile.ts';
import type { KeySection } from './sections.ts';
import { accessKey, type Choices, consentKey, filterKeys, mfaKey, presetKey, sourceKeys } from './shared-keys.ts';

export const oidcSettings: readonly KeySection[] = [
  {
    title: 'General',
    keys: [
      textKey(
        {
          key: 'client_name',
          label: 'Name',
          hint: 'People see it when they sign in and in their app list. Up to 255 characters.',
          isHalf: true,
        },
        { required: true },
      ),
      urlKey({
        key: 'client_uri',
        label: 'Home page',
        hint: 'Opens from the app list. Without it, the application isn’t in the list.',
        isHalf: true,
      }),
      urlKey({
        key: 'logo_uri',
        label: 'Logo URL',
        hint: 'A square picture for the app list and the sign-in page. Only https. Default: initials.',
        isHalf: true,
      }),
      urlKey({
        key: 'initiate_login_uri',
        label: 'Initiate login URI',
        hint: 'The page of the application that starts a sign-in. The app list opens it instead of the home page. Only https.',
        isHalf: true,
      }),
      urlKey({
        key: 'policy_uri',
        label: 'Privacy policy URL',
        hint: 'Linked on the consent screen. Optional.',
        isHalf: true,
      }),
      urlKey({
        key: 'tos_uri',
        label: 'Terms of service URL',
        hint: 'Linked on the consent screen. Optional.',
        isHalf: true,
      }),
      presetKey('oidc'),
      listKey(
        { key: 'contacts', label: 'Technical contacts', hint: 'Email addresses of the people who run it. Optional.' },
        'contact',
      ),
      choiceKey(
        { key: 'application_type', label: 'Application type', hint: 'Decides which redirect URIs are allowed.' },
        {
          byDefault: 'web',
          asCards: true,
          options: [
            { value: 'web', label: 'Web', hint: 'Redirect URIs are https, or http on this computer.' },
            { value: 'native', label: 'Native', hint: 'For phones and desktops: private schemes and any local port.' },
          ],
        },
      ),
    ],
  },
  {
    title: 'Sign-in and sign-out URLs',
    keys: [
      listKey(
        {
          key: 'redirect_uris',
          label: 'Redirect URIs',
          hint: 'Must match exactly. Also called callback URL.',
        },
        'redirect URI',
      ),
      listKey(
        {
          key: 'post_logout_redirect_uris',
          label: 'Post-logout redirect URIs',
          hint: 'Where people go after they sign out. Optional.',
        },
        'post-logout redirect URI',
      ),
      urlKey({
        key: 'backchannel_logout_uri',
        label: 'Back-channel logout URI',
        hint: 'Gatehouse calls it when a session ends, so that the application ends its own. Optional.',
      }),
      switchKey({
        key: 'backchannel_logout_session_required',
        label: 'Name the session in back-channel logouts',
        hint: 'Logout tokens always contain the session ID (sid). Off by default.',
      }),
      urlKey({
        key: 'frontchannel_logout_uri',
        label: 'Front-channel logout URI',
        hint: 'Opened in the browser when a person signs out. The back-channel logout URI comes first. Optional.',
      }),
      switchKey({
        key: 'frontchannel_logout_session_required',
        label: 'Name the session in front-channel logouts',
        hint: 'The URI always gets iss and sid. Off by default.',
      }),
    ],
  },
];

export const oidcAccess = (choices: Choices): KeySection[] => [
  { title: 'Who can sign in', keys: [accessKey(choices)] },
  {
    title: 'Sign-in requirements',
    keys: [
      mfaKey,
      checksKey(
        {
          key: 'default_acr_values',
          label: 'Default sign-in strength',
          hint: 'For requests that ask for none (default_acr_values). Default: none.',
        },
        {
          options: [
            { value: 'urn:gatehouse:acr:password', label: 'Password', hint: 'urn:gatehouse:acr:password' },
            { value: 'urn:gatehouse:acr:mfa', label: 'Two-step verification', hint: 'urn:gatehouse:acr:mfa' },
            { value: 'phr', label: 'Passkey or security key', hint: 'phr' },
          ],
        },
      ),
    ],
  },
  { title: 'Where people sign in', isAdvanced: true, summary: sourceSummary, keys: sourceKeys(choices) },
  { title: 'Consent', keys: [consentKey('explicit')] },
];

export function sourceSummary({ connections = 'all', local_sign_in }: Record<string, unknown>): string {
  const local = local_sign_in === false ? '' : ' and this server';
  return connections === 'all' ? `All connections${local}` : `${(connections as string[]).length} selected${local}`;
}

export const oidcClaims: readonly KeySection[] = [
  {
    title: 'Claims',
    lead: 'What the application learns about the person who signs in, in addition to the standard claims of its scopes.',
    keys: [
      claimsKey,
      switchKey(
        {
          key: 'id_token_claims',
          label: 'Send claims of scopes in ID tokens too',
          hint: 'Off: only UserInfo has them (OpenID Connect Core 5.4). On by default.',
        },
        { on: undefined, off: 'conform', isOn: (value) => value !== 'conform' },
      ),
    ],
  },
  {
    title: 'Subject identifier',
    isAdvanced: true,
    summary: ({ subject_type = 'public' }) => String(subject_type),
    keys: [
      choiceKey(
        { key: 'subject_type', label: 'Subject type', hint: 'What the claim sub contains. Default: public.' },
        {
          byDefault: 'public',
          asCards: true,
          options: [
            { value: 'public', label: 'Public', hint: 'Every application gets the same user ID.' },
            {
              value: 'pairwise',
              label: 'Pairwise',
              hint: 'Each application gets a different one, so applications can’t match users.',
            },
          ],
        },
      ),
      urlKey({
        key: 'sector_identifier_uri',
        label: 'Sector identifier URI',
        hint: 'Needed for pairwise subjects when the redirect URIs have several hosts. Only https.',
      }),
    ],
  },
  { title: 'Roles and permissions', isAdvanced: true, summary: filterSummary, keys: filterKeys },
];

export function filterSummary({ roles_filter, roles_rename, permissions_filter }: Record<string, unknown>): string {
  return roles_filter || roles_rename || permissions_filter ? 'Limited or renamed' : 'All, as they are';
}

export const oidcCredentials: readonly KeySection[] = [
  {
    title: 'Client authentication',
    keys: [
      profileKey,
      choiceKey(
        {
          key: 'token_endpoint_auth_method',
          label: 'Method',
          hint: 'How the application proves its identity at the token endpoint.',
        },
        {
          byDefault: 'client_secret_basic',
          options: [
            { value: 'client_secret_basic', label: 'Client secret in the Authorization header (client_secret_basic)' },
            { value: 'client_secret_post', label: 'Client secret in the body (client_secret_post)' },
            { value: 'client_secret_jwt', label: 'JWT signed with the client secret (client_secret_jwt)' },
            { value: 'private_key_jwt', label: 'JWT signed with the application’s own key (private_key_jwt)' },
            { value: 'none', label: 'None: browser and mobile apps, with PKCE (none)' },
          ],
        },
      ),
      choiceKey(
        {
          key: 'token_endpoint_auth_signing_alg',
          label: 'Signature of its JWT',
          hint: 'Only for the two methods with a JWT.',
        },
        { options: algs('Any suitable one', ...SIGNATURES, 'Ed25519', 'HS256') },
      ),
    ],
  },
  {
    title: 'Public keys',
    lead: 'For applications that sign with their own key. Enter either the URL or the keys.',
    isAdvanced: true,
    summary: ({ jwks, jwks_uri }) => (jwks ? 'JWK Set' : jwks_uri ? 'JWK Set URL' : 'None'),
    keys: publicKeys,
  },
];
