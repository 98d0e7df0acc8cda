// Service providers as web applications on two libraries, for the real browser: configured from the IdP metadata alone,
// and registered by their own.

import { text as readText } from 'node:stream/consumers';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import samlify from 'samlify';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import { parseServiceProviderMetadata } from '../../src/protocols/saml/metadata/parse.ts';
import { httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { type Listening, listen } from '../support/listen.ts';
import { aCredential, schemas } from './support.ts';

export interface WebApp {
  entityId: string;
  /** Open it to sign in; `?relay=…`, `?force`, `?passive`. */
  login: string;
  close(): Promise<void>;
}

export interface WebAppOptions {
  binding: 'redirect' | 'post';
  sign?: 'assertion' | 'response' | 'both';
  encrypted?: boolean;
  /** Signs its requests. */
  signed?: boolean;
  settings?: Partial<Parameters<typeof serviceProvider.parse>[0] & object>;
}

/** What the application learns of the person; it throws when it does not believe us. */
interface Library {
  metadata: string;
  login(query: URLSearchParams): Promise<{ redirect: string } | { html: string }>;
  accept(fields: Record<string, string>): Promise<object>;
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`;

let count = 0;

async function webApp(
  idp: TestIdp,
  { settings = {}, sign = 'assertion', encrypted = false }: WebAppOptions,
  library: (about: { entityId: string; origin: string; idpMetadata: string }) => Library,
): Promise<WebApp> {
  let made: Library | undefined;
  const server: Listening = await listen(async (request, response) => {
    const url = new URL(request.url ?? '/', server.origin);
    const send = (status: number, html: string) =>
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
    if (url.pathname === '/login') {
      const next = await made?.login(url.searchParams);
      if (next && 'redirect' in next) response.writeHead(302, { location: next.redirect }).end();
      else send(200, next?.html ?? '');
      return;
    }
    const fields = Object.fromEntries(new URLSearchParams(await readText(request)));
    try {
      const known = JSON.stringify({ ...(await made?.accept(fields)), relayState: fields.RelayState });
      send(200, page('Signed in', `<pre id="known">${escaped(known)}</pre>`));
    } catch (error) {
      send(403, page('Rejected', `<pre id="reason">${escaped(String(error))}</pre>`));
    }
  });
  count += 1;
  const entityId = `${server.origin}/metadata`;
  const idpMetadata = (await httpClient().get(`${idp.issuer}/saml/metadata`)).text;
  made = library({ entityId, origin: server.origin, idpMetadata });
  parseServiceProviderMetadata(made.metadata, new Date());
  const name = `Web app ${count}`;
  const encrypt_assertion = encrypted ? 'always' : 'never';
  const entry = serviceProvider.parse({ name, metadata: made.metadata, sign, encrypt_assertion, ...settings });
  await idp.services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, made.metadata) });
  return { entityId, login: `${server.origin}/login`, close: server.close };
}

export function nodeSamlWebApp(idp: TestIdp, options: WebAppOptions): Promise<WebApp> {
  const { binding, signed = true, encrypted = false, sign = 'assertion' } = options;
  const { privatePem, certificatePem } = aCredential();
  return webApp(idp, options, ({ entityId, origin, idpMetadata }) => {
    const config: SamlConfig = {
      idpCert: [...idpMetadata.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? ''),
      entryPoint: /SingleSignOnService Binding="[^"]*Redirect" Location="([^"]+)"/.exec(idpMetadata)?.[1] ?? '',
      idpIssuer: /entityID="([^"]+)"/.exec(idpMetadata)?.[1] ?? '',
      issuer: entityId,
      callbackUrl: `${origin}/acs`,
      ...(signed && { privateKey: privatePem, publicCert: certificatePem }),
      ...(encrypted && { decryptionPvk: privatePem }),
      signatureAlgorithm: 'sha256',
      digestAlgorithm: 'sha256',
      skipRequestCompression: binding === 'post',
      authnRequestBinding: binding === 'post' ? 'HTTP-POST' : 'HTTP-Redirect',
      wantAssertionsSigned: sign !== 'response',
      wantAuthnResponseSigned: sign !== 'assertion',
      validateInResponseTo: ValidateInResponseTo.always,
      acceptedClockSkewMs: 0,
      // Otherwise it asks for an email address and for exactly a password.
      identifierFormat: null,
      disableRequestedAuthnContext: true,
    };
    const saml = new SAML(config);
    const { cacheProvider } = saml;
    const forcing = new SAML({ ...config, cacheProvider, forceAuthn: true });
    const passive = new SAML({ ...config, cacheProvider, passive: true });
    return {
      metadata: saml.generateServiceProviderMetadata(encrypted ? certificatePem : null, signed ? certificatePem : null),
      async login(query) {
        const by = query.has('force') ? forcing : query.has('passive') ? passive : saml;
        const relay = query.get('relay') ?? '';
        if (binding === 'redirect') return { redirect: await by.getAuthorizeUrlAsync(relay, undefined, {}) };
        return { html: await by.getAuthorizeFormAsync(relay) };
      },
      async accept(fields) {
        const { profile } = await saml.validatePostResponseAsync(fields);
        // So it reads NoPassive.
        if (!profile) throw new Error('nobody is signed in');
        const { nameID, nameIDFormat, sessionIndex, attributes } = profile;
        return { nameId: nameID, format: nameIDFormat, sessionIndex, attributes };
      },
    };
  });
}

export function samlifyWebApp(idp: TestIdp, options: WebAppOptions): Promise<WebApp> {
  const { binding, signed = false, encrypted = false, sign = 'assertion' } = options;
  const { privatePem, certificatePem } = aCredential();
  samlify.setSchemaValidator({
    validate: async (text: string) => {
      const fault = schemas.protocol(text);
      if (fault) throw new Error(fault.reason);
      return 'ok';
    },
  });
  return webApp(idp, options, ({ entityId, origin, idpMetadata }) => {
    const sp = samlify.ServiceProvider({
      entityID: entityId,
      authnRequestsSigned: signed,
      wantAssertionsSigned: sign !== 'response',
      wantMessageSigned: sign !== 'assertion',
      privateKey: privatePem,
      signingCert: certificatePem,
      requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      ...(encrypted && { encPrivateKey: privatePem, encryptCert: certificatePem }),
      assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: `${origin}/acs` }],
    });
    const provider = samlify.IdentityProvider({ metadata: idpMetadata, isAssertionEncrypted: encrypted });
    return {
      metadata: sp.getMetadata(),
      async login(query) {
        if (binding === 'redirect') {
          const { context } = sp.createLoginRequest(provider, 'redirect', {
            relayState: query.get('relay') ?? '',
          } as never);
          return { redirect: context };
        }
        const request = sp.createLoginRequest(provider, 'post') as { context: string; entityEndpoint: string };
        const inputs = Object.entries({ SAMLRequest: request.context, RelayState: query.get('relay') ?? '' }).map(
          ([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`,
        );
        const script = '<script>document.forms[0].submit()</script>';
        return { html: `<form method="post" action="${request.entityEndpoint}">${inputs.join('')}</form>${script}` };
      },
      async accept(fields) {
        const { extract } = await sp.parseLoginResponse(provider, 'post', { body: fields });
        const { nameID, attributes, sessionIndex } = extract as Record<string, unknown>;
        return { nameId: nameID, attributes, sessionIndex };
      },
    };
  });
}
