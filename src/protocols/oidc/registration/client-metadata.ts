// The client fields that this server adds to the engine (oidc-provider's `extraClientMetadata`), and the additional rights of an initial
// access token (`features.registration.policies`).

import { fieldsWith } from '../../../applications/fields/application-field.ts';
import { oidcMetadata } from '../../../applications/fields/oidc-client.ts';
import { unlistedAlgFaults } from '../../../applications/rules/signing-algorithms.ts';
import { faultLine } from '../../../base/texts/faults.ts';
import { asciiText } from '../engine/error-description.ts';
import { type Client, type Configuration, errors, type KoaContextWithOIDC } from '../engine/library.ts';
import { profileMetadata } from '../engine/profile-checks.ts';

/** An initial access token with this policy registers confidential clients without PKCE (store/registration-tokens.ts). */
export const WITHOUT_PKCE = 'without-pkce';

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;
type Metadata = Record<string, unknown>;

/** The engine requires an implementation of each policy; this one is applied below, after the defaults of the metadata. */
export const registrationPolicies: Registration['policies'] = { [WITHOUT_PKCE]: () => undefined };

/** The fields of the registration standards (RFC 7591 2, OpenID Connect); an administrator alone sets the others. */
export const registrableFields: readonly string[] = fieldsWith('isRegistrable', oidcMetadata.shape);

export function extraClientMetadata(signingAlgorithms: () => readonly string[]): Configuration['extraClientMetadata'] {
  return {
    // The profile comes last: it fixes `require_pkce`.
    properties: ['require_pkce', ...profileMetadata.properties],
    validator(ctx, key, value, metadata) {
      if (key !== 'require_pkce') return profileMetadata.validator(ctx, key, value, metadata);
      // Without a request, the client is loaded from the database.
      if (!ctx) return;
      setPkceRule(ctx, metadata as Metadata);
      rejectUnlistedAlgs(ctx, metadata as Metadata, signingAlgorithms());
    },
  };
}

/** OpenID Connect Dynamic Client Registration 2: only algorithms that discovery announces. */
function rejectUnlistedAlgs(ctx: KoaContextWithOIDC, metadata: Metadata, listed: readonly string[]): void {
  const { Client: before } = ctx.oidc.entities as { Client?: Client };
  const [found] = unlistedAlgFaults(metadata, listed, before?.metadata() as Metadata | undefined);
  if (found) throw new errors.InvalidClientMetadata(asciiText(faultLine(found)));
}

/** Ignores the value that a client sends: only an initial access token registers a client without PKCE, and an update changes nothing. */
function setPkceRule(ctx: KoaContextWithOIDC, metadata: Metadata): void {
  const { InitialAccessToken: token, Client: before } = ctx.oidc.entities as {
    InitialAccessToken?: { policies?: string[] };
    Client?: Client;
  };
  delete metadata.require_pkce;
  const isConfidential = metadata.token_endpoint_auth_method !== 'none';
  if (token?.policies?.includes(WITHOUT_PKCE) && isConfidential) metadata.require_pkce = false;
  const stored: unknown = before && Reflect.get(before, 'require_pkce');
  if (stored !== undefined) metadata.require_pkce = stored;
}
