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

/**
 * Where the application is, for the consent page: the page that an administrator registered or, for a client that registered
 * itself, where the answer goes. Such a client may claim the page of another, but it cannot receive codes there.
 */
export function placeOfApplication(
  client: Client | undefined,
  { redirect_uri: requested }: Record<string, unknown>,
  registeredItself: boolean,
): { appUrl?: string; appHost?: string; returnsTo?: string } {
  if (registeredItself) return typeof requested === 'string' ? { returnsTo: placeOf(requested) } : {};
  const appUrl = client?.clientUri;
  return appUrl ? { appUrl, appHost: new URL(appUrl).host } : {};
}

/** The host, or the scheme of an app on the device (RFC 8252 7.1), which has none. */
function placeOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host || protocol;
}
