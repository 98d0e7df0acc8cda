// Every key of `clients` in the configuration file as fields of the console, by tab and section; those about tokens are in
// oidc-token-keys.ts, those that both protocols have in shared-keys.ts.

import { type PageText, t } from '../../../base/texts/text.ts';
import { MFA_ACR, PASSWORD_ACR, PHISHING_RESISTANT_ACR } from '../../../people/mfa/acr.ts';
import { claimsKey } from './claims-key.ts';
import { checksKey, choiceKey, listKey, switchKey, textKey, urlKey } from './keys.ts';
import { algs, SIGNATURES } from './oidc-token-keys.ts';
import { profileKey, publicKeys } from './profile.ts';
import type { KeySection } from './sections.ts';
import {
  accessKey,
  type Choices,
  consentKey,
  filterKeys,
  mfaKey,
  networksKey,
  presetKey,
  sessionHoursKey,
  sourceKeys,
} from './shared-keys.ts';

export const oidcSettings: readonly KeySection[] = [
  {
    title: t('console.fields.general.title'),
    keys: [
      textKey(
        {
          key: 'client_name',
          label: t('console.shared.name'),
          hint: t('console.fields.name.hint'),
          isHalf: true,
        },
        { required: true },
      ),
      urlKey({
        key: 'client_uri',
        label: t('console.fields.home-page.label'),
        hint: t('console.fields.home-page.hint'),
        isHalf: true,
      }),
      urlKey({
        key: 'logo_uri',
        label: t('console.fields.logo.label'),
        hint: t('console.fields.logo.hint'),
        isHalf: true,
      }),
      urlKey({
        key: 'initiate_login_uri',
        label: t('console.fields.initiate-login.label'),
        hint: t('console.fields.initiate-login.hint'),
        isHalf: true,
      }),
      urlKey({
        key: 'policy_uri',
        label: t('console.fields.privacy-policy.label'),
        hint: t('console.fields.consent-link.hint'),
        isHalf: true,
      }),
      urlKey({
        key: 'tos_uri',
        label: t('console.fields.terms.label'),
        hint: t('console.fields.consent-link.hint'),
        isHalf: true,
      }),
      presetKey('oidc'),
      listKey(
        { key: 'contacts', label: t('console.fields.contacts.label'), hint: t('console.fields.contacts.hint') },
        t('console.fields.contacts.adds'),
      ),
      choiceKey(
        {
          key: 'application_type',
          label: t('console.fields.application-type.label'),
          hint: t('console.fields.application-type.hint'),
        },
        {
          byDefault: 'web',
          asCards: true,
          options: [
            {
              value: 'web',
              label: t('console.fields.application-type.web'),
              hint: t('console.fields.application-type.web-hint'),
            },
            {
              value: 'native',
              label: t('console.fields.application-type.native'),
              hint: t('console.fields.application-type.native-hint'),
            },
          ],
        },
      ),
    ],
  },
  {
    title: t('console.fields.urls.title'),
    keys: [
      listKey(
        {
          key: 'redirect_uris',
          label: t('console.fields.redirect-uris.label'),
          hint: t('console.fields.redirect-uris.hint'),
        },
        t('console.fields.redirect-uris.adds'),
      ),
      listKey(
        {
          key: 'post_logout_redirect_uris',
          label: t('console.fields.post-logout.label'),
          hint: t('console.fields.post-logout.hint'),
        },
        t('console.fields.post-logout.adds'),
      ),
      listKey(
        {
          key: 'allowed_cors_origins',
          label: t('console.fields.cors-origins.label'),
          hint: t('console.fields.cors-origins.hint'),
        },
        t('console.fields.cors-origins.adds'),
      ),
      urlKey({
        key: 'backchannel_logout_uri',
        label: t('console.fields.backchannel-logout.label'),
        hint: t('console.fields.backchannel-logout.hint'),
      }),
      switchKey(
        {
          key: 'backchannel_logout_session_required',
          label: t('console.fields.backchannel-session.label'),
          hint: t('console.fields.backchannel-session.hint'),
        },
        { off: false, isOn: (value) => value !== false },
      ),
      urlKey({
        key: 'frontchannel_logout_uri',
        label: t('console.fields.frontchannel-logout.label'),
        hint: t('console.fields.frontchannel-logout.hint'),
      }),
      switchKey(
        {
          key: 'frontchannel_logout_session_required',
          label: t('console.fields.frontchannel-session.label'),
          hint: t('console.fields.frontchannel-session.hint'),
        },
        { off: false, isOn: (value) => value !== false },
      ),
    ],
  },
];

export const oidcAccess = (choices: Choices): KeySection[] => [
  { title: t('console.fields.who.title'), keys: [accessKey(choices)] },
  {
    title: t('console.fields.requirements.title'),
    keys: [
      mfaKey,
      sessionHoursKey,
      networksKey,
      checksKey(
        {
          key: 'default_acr_values',
          label: t('console.fields.default-acr.label'),
          hint: t('console.fields.default-acr.hint'),
        },
        {
          options: [
            {
              value: PASSWORD_ACR,
              label: t('console.fields.default-acr.password'),
              hint: PASSWORD_ACR,
            },
            { value: MFA_ACR, label: t('console.fields.mfa.label'), hint: MFA_ACR },
            {
              value: PHISHING_RESISTANT_ACR,
              label: t('console.fields.default-acr.phr'),
              hint: PHISHING_RESISTANT_ACR,
            },
          ],
        },
      ),
    ],
  },
  { title: t('console.fields.where.title'), isAdvanced: true, summary: sourceSummary, keys: sourceKeys(choices) },
  { title: t('console.fields.consent.title'), keys: [consentKey('explicit')] },
];

export function sourceSummary({ connections = 'all', local_sign_in }: Record<string, unknown>): PageText {
  const local = local_sign_in === false ? 'no' : 'yes';
  if (connections === 'all') return t('console.fields.sources.summary-all', { local });
  return t('console.fields.sources.summary-selected', { local, count: (connections as string[]).length });
}

export const oidcClaims: readonly KeySection[] = [
  {
    title: t('console.fields.claims.title'),
    lead: t('console.fields.claims.lead'),
    keys: [
      claimsKey,
      switchKey(
        {
          key: 'id_token_claims',
          label: t('console.fields.id-token-claims.label'),
          hint: t('console.fields.id-token-claims.hint'),
        },
        { on: undefined, off: 'conform', isOn: (value) => value !== 'conform' },
      ),
    ],
  },
  {
    title: t('console.fields.subject.title'),
    isAdvanced: true,
    summary: ({ subject_type = 'public' }) => String(subject_type),
    keys: [
      choiceKey(
        {
          key: 'subject_type',
          label: t('console.fields.subject-type.label'),
          hint: t('console.fields.subject-type.hint'),
        },
        {
          byDefault: 'public',
          asCards: true,
          options: [
            {
              value: 'public',
              label: t('console.fields.subject-type.public'),
              hint: t('console.fields.subject-type.public-hint'),
            },
            {
              value: 'pairwise',
              label: t('console.fields.subject-type.pairwise'),
              hint: t('console.fields.subject-type.pairwise-hint'),
            },
          ],
        },
      ),
      urlKey({
        key: 'sector_identifier_uri',
        label: t('console.fields.sector.label'),
        hint: t('console.fields.sector.hint'),
      }),
    ],
  },
  { title: t('console.fields.roles.title'), isAdvanced: true, summary: filterSummary, keys: filterKeys },
];

export function filterSummary({ roles_filter, roles_rename, permissions_filter }: Record<string, unknown>): PageText {
  return roles_filter || roles_rename || permissions_filter
    ? t('console.fields.roles.summary-limited')
    : t('console.fields.roles.summary-all');
}

export const oidcCredentials: readonly KeySection[] = [
  {
    title: t('console.fields.client-auth.title'),
    keys: [
      profileKey,
      choiceKey(
        {
          key: 'token_endpoint_auth_method',
          label: t('console.fields.auth-method.label'),
          hint: t('console.fields.auth-method.hint'),
        },
        {
          byDefault: 'client_secret_basic',
          options: [
            { value: 'client_secret_basic', label: t('console.fields.auth-method.basic') },
            { value: 'client_secret_post', label: t('console.fields.auth-method.post') },
            { value: 'client_secret_jwt', label: t('console.fields.auth-method.secret-jwt') },
            { value: 'private_key_jwt', label: t('console.fields.auth-method.private-key') },
            { value: 'none', label: t('console.fields.auth-method.none') },
          ],
        },
      ),
      choiceKey(
        {
          key: 'token_endpoint_auth_signing_alg',
          label: t('console.fields.auth-alg.label'),
          hint: t('console.fields.auth-alg.hint'),
        },
        { options: algs(t('console.fields.auth-alg.any'), ...SIGNATURES, 'Ed25519', 'HS256') },
      ),
    ],
  },
  {
    title: t('console.fields.public-keys.title'),
    lead: t('console.fields.public-keys.lead'),
    isAdvanced: true,
    summary: ({ jwks, jwks_uri }) =>
      jwks
        ? t('console.fields.jwks.label')
        : jwks_uri
          ? t('console.fields.jwks-uri.label')
          : t('console.fields.public-keys.summary-none'),
    keys: publicKeys,
  },
];
