// The keys of an OpenID Connect application about its tokens, its requests and the signatures of both.
import { deviceCodeGrant } from '../../../applications/fields/oidc-client.ts';
import type { Option } from '../../console/blocks.ts';
import { checksKey, choiceKey, numberKey, switchKey, textKey } from './keys.ts';
import type { KeySection } from './sections.ts';
import type { Choices } from './shared-keys.ts';

/** Algorithms as options; `none` is the label of the absent value. */
export const algs = (none: string | undefined, ...values: string[]): Option[] => [
  ...(none === undefined ? [] : [{ value: '', label: none }]),
  ...values.map((value) => ({ value, label: value })),
];
export const SIGNATURES = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const grantNames: Record<string, string> = {
  authorization_code: 'Authorization code',
  refresh_token: 'Refresh token',
  client_credentials: 'Client credentials',
  [deviceCodeGrant]: 'Device code',
};
const grantHints: Record<string, string> = {
  authorization_code: 'People sign in with a browser.',
  refresh_token: 'It stays connected while the person is away (offline_access).',
  client_credentials: 'It calls APIs as itself, without a person.',
  [deviceCodeGrant]: 'For devices without a keyboard, such as a TV.',
};

/** The sections that depend on which APIs there are. */
export const oidcTokens = ({ apis }: Choices): KeySection => ({
  ...tokenSection,
  keys: tokenSection.keys.map((key) => (key.key === 'resources' ? resourcesKey(apis) : key)),
});

const resourcesKey = (apis: readonly string[]) =>
  checksKey(
    {
      key: 'resources',
      label: 'APIs',
      hint: 'The APIs it may request tokens for. Name their scopes in Scopes too. Default: none.',
    },
    { options: apis.map((value) => ({ value, label: value })) },
  );

const tokenSection: KeySection = {
  title: 'Tokens and grants',
  isAdvanced: true,
  summary: ({ grant_types = ['authorization_code'] }) =>
    (grant_types as string[]).map((grant) => grantNames[grant] ?? grant).join(', '),
  keys: [
    checksKey(
      { key: 'grant_types', label: 'Grants', hint: 'How the application gets tokens. At least one.' },
      {
        byDefault: ['authorization_code'],
        options: Object.entries(grantNames).map(([value, label]) => ({ value, label, hint: grantHints[value] })),
      },
    ),
    checksKey(
      {
        key: 'response_modes',
        label: 'Response modes',
        hint: 'How a response returns to the application. Select none to allow all. Modes with jwt are signed (JARM).',
      },
      {
        options: ['query', 'fragment', 'form_post', 'jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'].map(
          (value) => ({ value, label: value }),
        ),
      },
    ),
    textKey(
      {
        key: 'scope',
        label: 'Scopes',
        hint: 'The scopes it may request, with one space between them. Leave empty to allow all OpenID Connect scopes, but no API scopes.',
      },
      { isCode: true },
    ),
    resourcesKey([]),
    numberKey({
      key: 'default_max_age',
      label: 'Maximum age of the sign-in',
      unit: 'seconds',
      hint: 'People sign in again when their sign-in is older. 0 or more. Default: no limit beyond the session.',
    }),
    switchKey({
      key: 'require_auth_time',
      label: 'Always send the time of the sign-in',
      hint: 'ID tokens always contain auth_time. Off by default.',
    }),
    switchKey({
      key: 'dpop_bound_access_tokens',
      label: 'Require DPoP',
      hint: 'Each token is bound to a key of the application (RFC 9449). Off by default.',
    }),
    switchKey(
      {
        key: 'access_evaluation',
        label: 'Evaluate access of all users',
        hint: 'For a gateway that calls access evaluation (AuthZEN). Off: only users who have signed in to it.',
      },
      { on: 'all_users' },
    ),
  ],
};

export const oidcSigning: KeySection = {
  title: 'Signing and requests',
  isAdvanced: true,
  summary: ({ id_token_signed_response_alg: alg = 'RS256', require_pkce }) =>
    `${alg}, PKCE ${require_pkce === false ? 'optional' : 'required'}`,
  keys: [
    switchKey(
      {
        key: 'require_pkce',
        label: 'Require PKCE',
        hint: 'Turn it off only for software that can’t send a PKCE challenge. On by default.',
      },
      { on: undefined, off: false, isOn: (value) => value !== false },
    ),
    switchKey({
      key: 'require_pushed_authorization_requests',
      label: 'Require pushed authorization requests (PAR)',
      hint: 'The application sends its request to Gatehouse before it opens the browser (RFC 9126). Off by default.',
    }),
    switchKey({
      key: 'require_signed_request_object',
      label: 'Require signed requests (JAR)',
      hint: 'The application signs its requests with its key (RFC 9101). Off by default.',
    }),
    choiceKey(
      {
        key: 'request_object_signing_alg',
        label: 'Request signature',
        hint: 'The algorithm of signed requests. HS256 uses the client secret.',
        isHalf: true,
      },
      { options: algs('Any that its keys support', ...SIGNATURES, 'Ed25519', 'HS256') },
    ),
    choiceKey(
      {
        key: 'id_token_signed_response_alg',
        label: 'ID token signature',
        hint: 'HS256 uses the client secret. Default: RS256.',
        isHalf: true,
      },
      { byDefault: 'RS256', options: algs(undefined, ...SIGNATURES, 'HS256') },
    ),
    choiceKey(
      {
        key: 'userinfo_signed_response_alg',
        label: 'UserInfo signature',
        hint: 'With an algorithm, UserInfo answers with a signed JWT.',
        isHalf: true,
      },
      { options: algs('Not signed', ...SIGNATURES, 'HS256') },
    ),
    choiceKey(
      {
        key: 'authorization_signed_response_alg',
        label: 'Authorization response signature',
        hint: 'For response modes with jwt (JARM). Default: RS256.',
        isHalf: true,
      },
      { options: algs('RS256 (default)', ...SIGNATURES) },
    ),
    choiceKey(
      {
        key: 'introspection_signed_response_alg',
        label: 'Introspection signature',
        hint: 'For signed introspection answers (RFC 9701).',
        isHalf: true,
      },
      { options: algs('Not signed', ...SIGNATURES) },
    ),
  ],
};
