// Service providers on two libraries, with sessions of their own: node-saml by redirect, samlify by POST.
import { randomUUID } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { SAML, type SamlConfig, ValidateInResponseTo } from '@node-saml/node-saml';
import samlify from 'samlify';
import { serviceProvider, settingsOf } from '../../../src/applications/fields/service-provider.ts';
import { aCredential, signXml } from '../../saml/support.ts';
import { httpClient } from '../../support/http.ts';
import { type App, type Held, type Idp, page } from './app.ts';
import { type AppAnswer, type AppRequest, type AppServer, appServer, selfSendingForm } from './app-server.ts';

let count = 0;

interface Registration {
  entityId: string;
  origin: string;
  credential: ReturnType<typeof aCredential>;
}

async function register(
  idp: Idp,
  name: string,
  binding: 'redirect' | 'post' | 'soap' | 'none',
  server: () => AppServer,
): Promise<Registration> {
  count += 1;
  const { origin } = server();
  const credential = aCredential();
  const entityId = `https://app${count}.example/metadata`;
  const entry = serviceProvider.parse({
    name,
    entity_id: entityId,
    acs_url: `${origin}/acs`,
    ...(binding !== 'none' && { slo_url: [{ url: `${origin}/slo`, binding }] }),
    certificates: [{ use: 'signing', pem: credential.certificatePem }],
  });
  await idp.services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, undefined) });
  return { entityId, origin, credential };
}

/** How a service provider spoils its answer; `none` is a page of its own. `withoutCookie`: finds nobody without one. */
export type Spoiled = {
  sign?: 'other-key' | 'none';
  status?: 'failure';
  answer?: 'garbage' | 'none' | 'home' | 'unauthorized';

  withoutCookie?: 'rejects' | 'signs-in' | 'looks-for-browser';
};

/** node-saml, by redirect or by SOAP. */
export async function nodeSamlApp(
  idp: Idp,
  name: string,
  { binding = 'redirect', spoiled = {} }: { binding?: 'redirect' | 'soap' | 'none'; spoiled?: Spoiled } = {},
): Promise<App & { spoil(how: Spoiled): void; saml: SAML }> {
  const held = new Map<string, Held>();
  const heard: string[] = [];
  const answers: App['answers'] = [];
  let how = spoiled;

  async function answer({ method, url, query, body, form, cookie }: AppRequest): Promise<AppAnswer> {
    const session = held.get(cookie ?? '');
    switch (`${method} ${url.pathname}`) {
      case 'GET /sign-in':
        return { redirect: await saml.getAuthorizeUrlAsync('', undefined, {}) };
      case 'POST /acs': {
        const { profile } = await saml.validatePostResponseAsync(form);
        if (!profile) return { status: 400 };
        const id = randomUUID();
        held.set(id, { sid: profile.sessionIndex, nameId: profile.nameID, profile });
        return { redirect: '/', cookie: id };
      }
      case 'GET /sign-out':
        held.delete(cookie ?? '');
        return { redirect: await saml.getLogoutUrlAsync(session?.profile as never, 'relay-1', {}), cookie: '' };
      case 'GET /slo': {
        const parameters = Object.fromEntries(url.searchParams);
        const { profile } = await saml.validateRedirectAsync(parameters, query);
        if (parameters.SAMLResponse) {
          answers.push({ codes: codesOf(inflated(parameters.SAMLResponse)), relayState: parameters.RelayState });
          return { redirect: '/' };
        }
        if (!profile) return { status: 400 };
        if (how.withoutCookie === 'looks-for-browser' && cookie === undefined)
          return { redirect: `/slo/browser?${query}` };
        if (!heard.includes('slo')) heard.push('slo');
        const isBlind = how.withoutCookie !== undefined && cookie === undefined;
        if (isBlind && how.withoutCookie === 'signs-in')
          return { redirect: await saml.getAuthorizeUrlAsync('', undefined, {}) };
        if (how.answer === 'home') return { redirect: '/' };
        if (how.answer === 'unauthorized') return { status: 401 };
        if (how.answer === 'none' && !isBlind) return { html: 'stuck here' };
        const isDone = !how.status && !isBlind;
        if (isDone) for (const [id, one] of held) if (one.nameId === profile.nameID) held.delete(id);
        const signer = how.sign === 'other-key' ? withOtherKey : saml;
        const back = await signer.getLogoutResponseUrlAsync(profile, parameters.RelayState ?? '', {}, isDone);
        const garbage = `${idp.issuer}/saml/slo?${new URLSearchParams({ SAMLResponse: 'garbage', RelayState: parameters.RelayState ?? '' })}`;
        return { redirect: how.answer === 'garbage' ? garbage : back };
      }
      case 'POST /slo': {
        const request = /<samlp:LogoutRequest[\s\S]*<\/samlp:LogoutRequest>/.exec(body)?.[0] ?? '';
        const { profile } = await saml.validatePostRequestAsync({
          SAMLRequest: Buffer.from(request).toString('base64'),
        });
        if (!profile) return { status: 400 };
        heard.push('soap');
        if (!how.status) for (const [id, one] of held) if (one.nameId === profile.nameID) held.delete(id);
        const issueInstant = /IssueInstant="([^"]+)"/.exec(request)?.[1] ?? '';
        const response = logoutResponseXml(
          { issuer: entityId, inResponseTo: String(profile.ID), issueInstant },
          how.status,
        );
        const key = how.sign === 'other-key' ? aCredential().privateKey : credential.privateKey;
        return { html: inEnvelope(how.sign === 'none' ? response : signXml(response, { key })) };
      }
      default:
        return page(name, session);
    }
  }

  const server = await appServer(answer);
  const { entityId, origin, credential } = await register(idp, name, binding, () => server);
  const metadata = (await httpClient().get(`${idp.issuer}/saml/metadata`)).text;
  const options: SamlConfig = {
    idpCert: [...metadata.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((match) => match[1] ?? ''),
    issuer: entityId,
    callbackUrl: `${origin}/acs`,
    entryPoint: `${idp.issuer}/saml/sso`,
    logoutUrl: `${idp.issuer}/saml/slo`,
    idpIssuer: `${idp.issuer}/saml/metadata`,
    privateKey: credential.privatePem,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    validateInResponseTo: ValidateInResponseTo.always,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
  };
  const saml = new SAML(options);
  const withOtherKey = new SAML({ ...options, privateKey: aCredential().privatePem });
  const spoil = (next: Spoiled) => {
    how = next;
  };
  return { ...server, name, clientId: entityId, heard, answers, sessions: () => held.size, spoil, saml };
}

/** samlify, by POST. */
export async function samlifyApp(idp: Idp, name: string): Promise<App> {
  const held = new Map<string, Held>();
  const heard: string[] = [];
  const answers: App['answers'] = [];
  samlify.setSchemaValidator({ validate: async () => 'ok' });
  const post = samlify.Constants.namespace.binding.post;

  async function answer({ method, url, form, cookie }: AppRequest): Promise<AppAnswer> {
    const session = held.get(cookie ?? '');
    const body = { body: form };
    switch (`${method} ${url.pathname}`) {
      case 'GET /sign-in': {
        const { context } = sp.createLoginRequest(provider, 'redirect');
        return { redirect: context };
      }
      case 'POST /acs': {
        const { extract } = await sp.parseLoginResponse(provider, 'post', body);
        const id = randomUUID();
        held.set(id, { nameId: String(extract.nameID), sid: String(extract.sessionIndex?.sessionIndex) });
        return { redirect: '/', cookie: id };
      }
      case 'GET /sign-out': {
        held.delete(cookie ?? '');
        const who = { logoutNameID: session?.nameId ?? '', sessionIndex: session?.sid ?? '' };
        const request = sp.createLogoutRequest(provider, 'post', who, 'relay-2') as {
          context: string;
          entityEndpoint: string;
        };
        const fields = { SAMLRequest: request.context, RelayState: 'relay-2' };
        return { html: selfSendingForm(request.entityEndpoint, fields), cookie: '' };
      }
      case 'POST /slo': {
        if (form.SAMLResponse) {
          await sp.parseLogoutResponse(provider, 'post', body);
          answers.push({
            codes: codesOf(Buffer.from(form.SAMLResponse, 'base64').toString()),
            relayState: form.RelayState,
          });
          return { redirect: '/' };
        }
        const { extract } = await sp.parseLogoutRequest(provider, 'post', body);
        if (!heard.includes('slo')) heard.push('slo');
        for (const [id, one] of held) if (one.nameId === extract.nameID) held.delete(id);
        const response = sp.createLogoutResponse(provider, { extract }, 'post', form.RelayState ?? '') as {
          context: string;
          entityEndpoint: string;
        };
        const fields = { SAMLResponse: response.context, RelayState: form.RelayState ?? '' };
        return { html: selfSendingForm(response.entityEndpoint, fields) };
      }
      default:
        return page(name, session);
    }
  }

  const server = await appServer(answer);
  const { entityId, origin, credential } = await register(idp, name, 'post', () => server);
  const sp = samlify.ServiceProvider({
    entityID: entityId,
    privateKey: credential.privatePem,
    signingCert: credential.certificatePem,
    requestSignatureAlgorithm: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    authnRequestsSigned: false,
    nameIDFormat: ['urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'],
    allowCreate: true,
    wantAssertionsSigned: true,
    wantLogoutRequestSigned: true,
    wantLogoutResponseSigned: true,
    assertionConsumerService: [{ Binding: post, Location: `${origin}/acs` }],
    singleLogoutService: [{ Binding: post, Location: `${origin}/slo` }],
  });
  const provider = samlify.IdentityProvider({
    metadata: (await httpClient().get(`${idp.issuer}/saml/metadata`)).text,
    wantLogoutRequestSigned: true,
    wantLogoutResponseSigned: true,
  });
  return { ...server, name, clientId: entityId, heard, answers, sessions: () => held.size };
}

const inflated = (text: string) => inflateRawSync(Buffer.from(text, 'base64')).toString();
const codesOf = (xml: string) => [...xml.matchAll(/StatusCode Value="[^"]*:(\w+)"/g)].map((match) => match[1] ?? '');

function logoutResponseXml(
  { issuer, inResponseTo, issueInstant }: { issuer: string; inResponseTo: string; issueInstant: string },
  failure?: string,
): string {
  const status = `urn:oasis:names:tc:SAML:2.0:status:${failure ? 'Responder' : 'Success'}`;
  return (
    `<samlp:LogoutResponse xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_${randomUUID()}" Version="2.0"` +
    ` IssueInstant="${issueInstant}" InResponseTo="${inResponseTo}">` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${issuer}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status></samlp:LogoutResponse>`
  );
}

function inEnvelope(xml: string): string {
  return `<?xml version="1.0"?><S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Header/><S:Body>${xml}</S:Body></S:Envelope>`;
}
