// The client fields that this server adds to the engine (oidc-provider's `extraClientMetadata`), and the additional rights of an initial
// access token (`features.registration.policies`).

import type { Client, Configuration, KoaContextWithOIDC } from '../engine/library.ts';
import { profileMetadata } from '../engine/profile-checks.ts';

/** An initial access token with this policy registers confidential clients without PKCE (store/registration-tokens.ts). */
export const WITHOUT_PKCE = 'without-pkce';

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;
type Metadata = Record<string, unknown>;

/** The engine requires an implementation of each policy; this one is applied below, after the defaults of the metadata. */
export const registrationPolicies: Registration['policies'] = { [WITHOUT_PKCE]: () => undefined };

export const extraClientMetadata: Configuration['extraClientMetadata'] = {
  // The profile comes last: it fixes `require_pkce`.
  properties: ['require_pkce', ...profileMetadata.properties],
  validator(ctx, key, value, metadata) {
    if (key !== 'require_pkce') return profileMetadata.validator(ctx, key, value, metadata);
    // Without a request, the client is loaded from the database.
    if (ctx) setPkceRule(ctx, metadata as Metadata);
  },
};

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
