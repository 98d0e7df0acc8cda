// The keys of an OpenID Connect application about its tokens, its requests and the signatures of both.
import { deviceCodeGrant } from '../../../applications/fields/oidc-client.ts';
import { limits } from '../../../base/limits.ts';
import { listOf, type PageText, t } from '../../../base/texts/text.ts';
import type { Option } from '../../console/blocks.ts';
import { checksKey, choiceKey, numberKey, switchKey, textKey } from './keys.ts';
import type { KeySection } from './sections.ts';
import type { Choices } from './shared-keys.ts';

/** Algorithms as options; `none` is the label of the absent value. */
export const algs = (none: PageText | undefined, ...values: string[]): Option[] => [
  ...(none === undefined ? [] : [{ value: '', label: none }]),
  ...values.map((value) => ({ value, label: value })),
];
/** Those of an application's own signatures. */
export const SIGNATURES = ['RS256', 'PS256', 'ES256', 'EdDSA'];

const asymmetric = (signingAlgs: readonly string[]) => signingAlgs.filter((alg) => alg !== 'HS256');

const grantNames: Record<string, PageText> = {
  authorization_code: t('console.fields.grants.authorization-code'),
  refresh_token: t('console.fields.grants.refresh-token'),
  client_credentials: t('console.fields.grants.client-credentials'),
  [deviceCodeGrant]: t('console.fields.grants.device-code'),
};
const grantHints: Record<string, PageText> = {
  authorization_code: t('console.fields.grants.authorization-code-hint'),
  refresh_token: t('console.fields.grants.refresh-token-hint'),
  client_credentials: t('console.fields.grants.client-credentials-hint'),
  [deviceCodeGrant]: t('console.fields.grants.device-code-hint'),
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
      label: t('console.fields.apis.label'),
      hint: t('console.fields.apis.hint'),
    },
    { options: apis.map((value) => ({ value, label: value })) },
  );

const tokenSection: KeySection = {
  title: t('console.fields.tokens.title'),
  isAdvanced: true,
  summary: ({ grant_types = ['authorization_code'] }) =>
    listOf((grant_types as string[]).map((grant) => grantNames[grant] ?? grant)),
  keys: [
    checksKey(
      { key: 'grant_types', label: t('console.fields.grants.label'), hint: t('console.fields.grants.hint') },
      {
        byDefault: ['authorization_code'],
        options: Object.entries(grantNames).map(([value, label]) => ({ value, label, hint: grantHints[value] })),
      },
    ),
    checksKey(
      {
        key: 'response_modes',
        label: t('console.fields.response-modes.label'),
        hint: t('console.fields.response-modes.hint'),
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
        label: t('console.fields.scopes.label'),
        hint: t('console.fields.scopes.hint'),
      },
      { isCode: true },
    ),
    resourcesKey([]),
    numberKey({
      key: 'access_token_minutes',
      label: t('console.fields.access-token-minutes.label'),
      unit: t('console.shared.unit.minutes'),
      range: { minimum: limits.accessToken.minMinutes, maximum: limits.accessToken.maxMinutes },
      hint: t('console.fields.lifetime.hint'),
      isHalf: true,
    }),
    numberKey({
      key: 'refresh_token_days',
      label: t('console.fields.refresh-token-days.label'),
      unit: t('console.shared.unit.days'),
      range: { minimum: limits.refreshToken.minDays, maximum: limits.refreshToken.maxDays },
      hint: t('console.fields.lifetime.hint'),
      isHalf: true,
    }),
    numberKey({
      key: 'default_max_age',
      label: t('console.fields.max-age.label'),
      unit: t('console.shared.unit.seconds'),
      range: { minimum: 0 },
      hint: t('console.fields.max-age.hint'),
    }),
    switchKey({
      key: 'require_auth_time',
      label: t('console.fields.auth-time.label'),
      hint: t('console.fields.auth-time.hint'),
    }),
    switchKey({
      key: 'dpop_bound_access_tokens',
      label: t('console.fields.dpop.label'),
      hint: t('console.fields.dpop.hint'),
    }),
    switchKey(
      {
        key: 'access_evaluation',
        label: t('console.fields.access-evaluation.label'),
        hint: t('console.fields.access-evaluation.hint'),
      },
      { on: 'all_users' },
    ),
  ],
};

export const oidcSigning = ({ signingAlgs }: Choices): KeySection => ({
  title: t('console.fields.signing.title'),
  isAdvanced: true,
  summary: ({ id_token_signed_response_alg: alg = 'RS256', require_pkce }) =>
    t('console.fields.signing.summary', { alg: String(alg), pkce: require_pkce === false ? 'optional' : 'required' }),
  keys: [
    switchKey(
      {
        key: 'require_pkce',
        label: t('console.fields.pkce.label'),
        hint: t('console.fields.pkce.hint'),
      },
      { on: undefined, off: false, isOn: (value) => value !== false },
    ),
    switchKey({
      key: 'require_pushed_authorization_requests',
      label: t('console.fields.par.label'),
      hint: t('console.fields.par.hint'),
    }),
    switchKey({
      key: 'require_signed_request_object',
      label: t('console.fields.jar.label'),
      hint: t('console.fields.jar.hint'),
    }),
    choiceKey(
      {
        key: 'request_object_signing_alg',
        label: t('console.fields.request-alg.label'),
        hint: t('console.fields.request-alg.hint'),
        isHalf: true,
      },
      { options: algs(t('console.fields.request-alg.any'), ...SIGNATURES, 'Ed25519', 'HS256') },
    ),
    choiceKey(
      {
        key: 'id_token_signed_response_alg',
        label: t('console.fields.id-token-alg.label'),
        hint: t('console.fields.id-token-alg.hint'),
        isHalf: true,
      },
      { byDefault: 'RS256', options: algs(undefined, ...signingAlgs) },
    ),
    choiceKey(
      {
        key: 'userinfo_signed_response_alg',
        label: t('console.fields.userinfo-alg.label'),
        hint: t('console.fields.userinfo-alg.hint'),
        isHalf: true,
      },
      { options: algs(t('console.fields.not-signed'), ...signingAlgs) },
    ),
    choiceKey(
      {
        key: 'authorization_signed_response_alg',
        label: t('console.fields.response-alg.label'),
        hint: t('console.fields.response-alg.hint'),
        isHalf: true,
      },
      { options: algs(t('console.fields.response-alg.default'), ...asymmetric(signingAlgs)) },
    ),
    choiceKey(
      {
        key: 'introspection_signed_response_alg',
        label: t('console.fields.introspection-alg.label'),
        hint: t('console.fields.introspection-alg.hint'),
        isHalf: true,
      },
      { options: algs(t('console.fields.not-signed'), ...asymmetric(signingAlgs)) },
    ),
  ],
});
