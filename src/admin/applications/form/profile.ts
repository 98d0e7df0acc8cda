// The security profile of an OpenID Connect application in the console: the choice with what it demands, and what choosing it changes.
import type { SecurityProfile } from '../../../applications/fields/oidc-client.ts';
import { fixedFields, isSecurityProfile } from '../../../applications/security-profile.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import type { Declaration } from '../saml-declarations.ts';
import { choiceKey, jsonKey, type Key, urlKey, type Values } from './keys.ts';

const names: Record<SecurityProfile, PageText> = {
  fapi2: t('console.fields.profile.fapi2'),
  'fapi2-signing': t('console.fields.profile.fapi2-signing'),
};

export const profileOptions = Object.entries(names).map(([value, label]) => ({ value, label }));

export const profileKey: Key = choiceKey(
  { key: 'profile', label: t('console.fields.profile.label'), hint: t('console.fields.profile.hint') },
  { options: [{ value: '', label: t('console.fields.profile.standard') }, ...profileOptions] },
);

export const publicKeys: readonly Key[] = [
  urlKey({
    key: 'jwks_uri',
    label: t('console.fields.jwks-uri.label'),
    hint: t('console.fields.jwks-uri.hint'),
  }),
  jsonKey({ key: 'jwks', label: t('console.fields.jwks.label'), hint: t('console.fields.jwks.hint') }),
];

/** The keys that the profile of this declaration fixes. */
export function fixedKeys({ profile }: Values): readonly string[] {
  return isSecurityProfile(profile) ? Object.keys(fixedFields(profile)) : [];
}

/**
 * The part of the JSON merge patch that a change of the profile adds. A chosen profile sets the keys that it fixes. Removing it clears
 * them, but the application keeps private_key_jwt, because it has no secret.
 */
export function profileChange(profile: unknown, before: unknown): Declaration {
  if (profile === before) return {};
  const cleared = isSecurityProfile(before)
    ? Object.fromEntries(Object.keys(fixedFields(before)).map((field) => [field, null]))
    : {};
  if (!isSecurityProfile(profile)) return { ...cleared, token_endpoint_auth_method: 'private_key_jwt', profile: null };
  return { ...cleared, ...resetAlgorithms, ...fixedFields(profile), profile };
}

/** Clears the algorithms that the application chose before, so that those of the profile apply. */
const resetAlgorithms = {
  id_token_signed_response_alg: null,
  authorization_signed_response_alg: null,
  introspection_signed_response_alg: null,
  userinfo_signed_response_alg: null,
  token_endpoint_auth_signing_alg: null,
  request_object_signing_alg: null,
};

/** The name of a profile. */
export const profileName = (profile: SecurityProfile): PageText => names[profile];
