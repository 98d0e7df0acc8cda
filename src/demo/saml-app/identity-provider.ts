// Reads the metadata of Gatehouse into settings of node-saml, which does not read metadata itself. The document comes from
// a known server on this machine, so regular expressions are enough.

export interface IdentityProvider {
  idpIssuer: string;
  idpCert: string[];
  entryPoint: string;
  logoutUrl: string;
}

/** Reads `$ISSUER/saml/metadata`. */
export async function identityProvider(issuer: string): Promise<IdentityProvider> {
  const xml = await (await fetch(`${issuer}/saml/metadata`)).text();
  const byRedirect = (service: string) => first(xml, `<md:${service} Binding="[^"]+:HTTP-Redirect" Location="([^"]+)"`);
  return {
    idpIssuer: first(xml, 'entityID="([^"]+)"'),
    idpCert: [...xml.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? ''),
    entryPoint: byRedirect('SingleSignOnService'),
    logoutUrl: byRedirect('SingleLogoutService'),
  };
}

function first(xml: string, pattern: string): string {
  const found = new RegExp(pattern).exec(xml)?.[1];
  if (found === undefined) throw new Error(`The metadata of Gatehouse has no ${pattern}.`);
  return found;
}
