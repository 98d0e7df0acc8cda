// A service provider's side of SAML Web Browser SSO: an AuthnRequest by redirect, and the Response in our form.
import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { send } from './load.ts';
import { signIn } from './sign-in.ts';
import { serviceProvider, type Target } from './target.ts';

/** One sign-on after another of a browser that is signed in: request in, Response out. */
export async function samlWorker(target: Target): Promise<() => Promise<void>> {
  const endpoint = `${target.origin}/saml/sso`;
  const { cookie } = await signIn(target);
  const first = await send(samlRequestUrl(endpoint), { headers: { cookie }, expect: 303 });
  const headers = { cookie: [cookie, ...first.cookies].join('; ') };
  return async () => {
    const { location } = await send(samlRequestUrl(endpoint), { headers, expect: 303 });
    const { text } = await send(new URL(location, target.origin).href, { headers });
    if (!text.includes('name="SAMLResponse"')) throw new Error(`no Response in ${text.slice(0, 300)}`);
  };
}

/** The address to which a service provider sends the browser, with a new request; `endpoint` is that of the identity provider. */
export function samlRequestUrl(endpoint: string): string {
  const xml = `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"
    xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${randomBytes(16).toString('hex')}" Version="2.0"
    IssueInstant="${new Date().toISOString()}" Destination="${endpoint}"
    AssertionConsumerServiceURL="${serviceProvider.acsUrl}"
    ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"><saml:Issuer>${serviceProvider.entityId}</saml:Issuer></samlp:AuthnRequest>`;
  const query = { SAMLRequest: deflateRawSync(xml).toString('base64'), RelayState: 'state' };
  return `${endpoint}?${new URLSearchParams(query)}`;
}
