// How the pages of a sign-in present the application that the user comes from: the links to its terms and its policy (OpenID
// Connect Dynamic Client Registration 1.0, section 2), and where it is.
import type { Client } from 'oidc-provider';

/** For `partials/application-links`. */
export function linksOfApplication(client: Client | undefined) {
  return { policyUrl: client?.policyUri, termsUrl: client?.tosUri };
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
