// What a sent form of an application changes beyond its keys: a security profile fixes fields, and a service provider has one source of metadata.

import type { Application } from '../../../applications/application.ts';
import { documentFields, type SecurityProfile } from '../../../applications/fields/oidc-client.ts';
import { fixedFields, isSecurityProfile } from '../../../applications/security-profile.ts';
import { invalidInput } from '../../../base/http/errors.ts';
import { fault } from '../../../base/texts/faults.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { applicationEntry } from '../../../config-file/sections/applications.ts';
import { type KeySection, patchOf, type Values } from '../../console/form-fields.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import type { Declaration } from '../saml-declarations.ts';
import { METADATA_SOURCE } from './own-keys.ts';

/** The declaration, with the name also where it is the client_id. */
export function valuesOf(application: Application): Values {
  const entry = applicationEntry(application);
  return application.protocol === 'oidc' ? { ...entry, client_name: application.name } : entry;
}

/** Keys that another key or the metadata document of the client decides, with the reason. */
export function lockedKeys(
  { source }: Application,
  { profile, token_endpoint_auth_method: method }: Values,
): Record<string, PageText> {
  const fixed = isSecurityProfile(profile) ? Object.keys(fixedFields(profile)) : [];
  const ofDocument = source === 'document' ? [...documentFields, 'consent'] : [];
  return {
    ...Object.fromEntries(ofDocument.map((key) => [key, t('console.fields.document.decides')])),
    ...(method === 'none' && { require_pkce: t('console.fields.pkce.always') }),
    ...Object.fromEntries(fixed.map((key) => [key, t('console.fields.profile.decides')])),
  };
}

/** JSON merge patch of the declaration: only what the form changes. Throws invalid_input. */
export function declarationPatch(application: Application, sections: readonly KeySection[], sent: Sent): Declaration {
  const values = valuesOf(application);
  const locked = lockedKeys(application, values);
  const keys = sections.flatMap((section) => section.keys).filter(({ key }) => locked[key] === undefined);
  const patch = patchOf(keys, values, sent);
  if ('profile' in patch) Object.assign(patch, profileChange(patch.profile, values.profile));
  const source = application.protocol === 'saml' ? sentValue(sent, METADATA_SOURCE) : undefined;
  if (source === undefined) return patch;
  assertHasSource(source, { ...values, ...patch });
  // Addresses that are entered by hand have no document that names the service provider.
  const isNewByHand = source === 'hand' && values.acs_url === undefined;
  return isNewByHand ? { ...patch, entity_id: application.clientId } : patch;
}

/**
 * The part of the JSON merge patch that a change of the profile adds. A chosen profile sets the keys that it fixes. Removing it clears
 * them, but the application keeps private_key_jwt, because it has no secret.
 *
 * @param profile null: it is removed
 */
function profileChange(profile: unknown, before: unknown): Declaration {
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
export const profileName = (profile: SecurityProfile): PageText => t(`console.field.profile.${profile}`);

const sourceKeys: Record<string, string> = { url: 'metadata_url', paste: 'metadata', hand: 'acs_url' };

/** Throws invalid_input unless the chosen source of metadata has a value. @param values after the change */
function assertHasSource(source: string, values: Values): void {
  const key = sourceKeys[source];
  if (key === undefined) return;
  const value = values[key] ?? [];
  if (Array.isArray(value) && value.length === 0) throw invalidInput([fault([key], 'empty')]);
}
