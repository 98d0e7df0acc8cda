// How the pages of a sign-in present the application that the user comes from: its logo, and the links to its terms and its
// policy (OpenID Connect Dynamic Client Registration 1.0, section 2).
import type { Client } from 'oidc-provider';
import { safeLogo } from '../applications/uris.ts';
import type { Context } from '../http/context.ts';
import { relaxPolicy } from '../http/security-headers.ts';

/** For `partials/application-mark` and `partials/application-links`; allows this page to load the logo. */
export function presentApplication(ctx: Context, client: Client | undefined) {
  const logo = safeLogo(client?.logoUri);
  if (logo)
    relaxPolicy(ctx, { directive: 'img-src', sources: [new URL(logo).origin], reason: 'logo of the application' });
  return { logo, policyUrl: client?.policyUri, termsUrl: client?.tosUri };
}
