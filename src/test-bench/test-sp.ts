// The built-in test service provider: writes requests and validates responses as any other service provider would. It knows
// this server by its published certificates only, and signs with a key of its own.

import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import type { AdminServices } from '../admin/admin-services.ts';
import { limits } from '../base/limits.ts';
import { selfSignedCertificate } from '../core/keys/certificate.ts';
import { makeKeyPair } from '../core/keys/key-pair.ts';
import { stableSecret } from '../core/settings/settings.ts';
import { acrLevel } from '../people/mfa/acr.ts';
import { decodePost, decodeRedirect } from '../protocols/saml/messages/decode.ts';
import { newMessageId, redirectUrl } from '../protocols/saml/messages/encode.ts';
import { authenticateMessage, openMessage } from '../protocols/saml/messages/open-message.ts';
import { readLogoutRequest } from '../protocols/saml/messages/read-logout.ts';
import { logoutRequest, logoutResponse } from '../protocols/saml/messages/write-logout.ts';
import { readCertificate } from '../protocols/saml/xml/certificates.ts';
import { verifyEnveloped } from '../protocols/saml/xml/enveloped-signature.ts';
import { bindings, contextClasses, statusCodes } from '../protocols/saml/xml/names.ts';
import { parseXml } from '../protocols/saml/xml/parse.ts';
import { childOf } from '../protocols/saml/xml/read.ts';
import { validateWellFormed } from '../protocols/saml/xml/schema.ts';
import { createSigner, type Signer } from '../protocols/saml/xml/sign.ts';
import { canonical, element, samlTime, wireFormat, type XmlElement } from '../protocols/saml/xml/write.ts';
import { TEST_HOME } from './page-parts.ts';
import {
  assertionChecks,
  type Check,
  checkedSignature,
  headChecks,
  type SpSession,
  sessionOf,
} from './test-sp-checks.ts';

/** A message to send: its text, and the URL with the signed message. */
export interface OutgoingMessage {
  id: string;
  xml: string;
  url: string;
}

export interface ReceivedMessage {
  xml: string;
  checks: Check[];
  relayState: string | undefined;
  /** After a valid sign-in. */
  session?: SpSession | undefined;
}

export type TestSp = ReturnType<typeof createTestSp>;

/** Writes and checks SAML messages; holds no session and no HTTP. Its key is made when it is first needed, and shared by all instances. */
export function createTestSp(services: AdminServices) {
  const provider = providerOf(services);
  return {
    entityId: provider.entityId,
    ...createSender(provider),
    ...createReceiver(provider),
    answerLogout: (query: string) => answerLogout(provider, query),
  };
}

type TestServiceProvider = ReturnType<typeof providerOf>;

function providerOf({ config: { issuer }, db, keyring, now, settings, vault }: AdminServices) {
  /** Also the prefix of its endpoints. */
  const entityId = `${issuer}${TEST_HOME}/sp`;
  const make = () => newTestSpCredential(new URL(issuer).hostname, now());
  return {
    issuer,
    entityId,
    acsUrl: `${entityId}/acs`,
    sloUrl: `${entityId}/slo`,
    now,
    skewSeconds: () => settings.latest().clock_skew_seconds,
    /** The public keys in the metadata of this server. */
    publishedKeys: () =>
      keyring.samlCertificates().map(({ certificatePem }) => readCertificate(certificatePem).publicKey),
    key: testSpKey(async () => (await stableSecret({ db, vault }, 'test-service-provider', make)).toString()),
  };
}

/** Its registration, and the requests that it sends. */
function createSender(provider: TestServiceProvider) {
  const { issuer, entityId, acsUrl, sloUrl, now, key } = provider;
  return {
    /** Its registration. */
    async declaration() {
      const { certificate } = await key();
      return {
        name: 'Test service provider',
        entity_id: entityId,
        acs_url: acsUrl,
        slo_url: sloUrl,
        certificates: [{ use: 'signing', pem: certificate }],
        require_signed_requests: true,
        sign: 'response',
        idp_initiated: true,
        consent: 'implicit',
        attributes: { email: 'email', displayName: 'name', roles: 'roles' },
      };
    },

    authnRequest(options: { forceAuthn: boolean; acr?: string }, relayState: string): Promise<OutgoingMessage> {
      return outgoing(provider, authnRequest(provider, options), `${issuer}/saml/sso`, relayState);
    },

    logoutRequest({ nameId, sessionIndex }: SpSession, relayState: string): Promise<OutgoingMessage> {
      const destination = `${issuer}/saml/slo`;
      const { value, format, nameQualifier, spNameQualifier } = nameId;
      const qualifiers = { ...(nameQualifier && { nameQualifier }), ...(spNameQualifier && { spNameQualifier }) };
      const message = logoutRequest({
        id: newMessageId(),
        issuer: entityId,
        destination,
        now: now(),
        reason: 'user',
        nameId: { value, format, ...qualifiers },
        sessionIndexes: [sessionIndex],
      });
      return outgoing(provider, message, destination, relayState);
    },
  };
}

/** The responses that it receives. */
function createReceiver(provider: TestServiceProvider) {
  const { issuer, entityId, acsUrl, sloUrl, now } = provider;
  const identityProvider = `${issuer}/saml/metadata`;
  return {
    /** Reads and checks a Response that was posted to the ACS. Throws SamlError where there is none. */
    async response(
      body: string,
      requestIdOf: (relayState: string | undefined) => string | undefined,
    ): Promise<ReceivedMessage> {
      const { xml, relayState } = decodePost(body);
      const { checks: signed, root } = await checkedSignature(
        async () => parseXml(await verifyEnveloped(parseXml(xml), sender(provider))).root,
        xml,
      );
      const head = headChecks(root, {
        issuer: identityProvider,
        destination: acsUrl,
        inResponseTo: requestIdOf(relayState),
      });
      const isSuccess = head.at(-1)?.passed;
      const assertion = childOf(root, 'saml:Assertion');
      const checks = [
        ...signed,
        ...head,
        ...(isSuccess ? assertionChecks(assertion, { audience: entityId, recipient: acsUrl, now: now() }) : []),
      ];
      const isGood = checks.every(({ passed }) => passed);
      return { xml, checks, relayState, session: isGood && assertion ? sessionOf(assertion) : undefined };
    },

    /** Reads and checks the LogoutResponse in the query of a redirect. */
    async logoutResponse(query: string, requestIdOf: (relayState: string | undefined) => string | undefined) {
      const decoded = await decodeRedirect(query);
      const { xml, relayState } = decoded;
      const opened = openMessage(decoded, ['LogoutResponse'], validateWellFormed);
      const { checks: signed, root } = await checkedSignature(
        async () => (await authenticateMessage(opened, sender(provider))).root,
        xml,
      );
      const checks = [
        ...signed,
        ...headChecks(root, {
          issuer: identityProvider,
          destination: sloUrl,
          inResponseTo: requestIdOf(relayState) ?? '',
        }),
      ];
      return { xml, checks, relayState } satisfies ReceivedMessage;
    },
  };
}

/** Answers a LogoutRequest of this server; there is no session to end. Returns the URL to redirect to. */
async function answerLogout(provider: TestServiceProvider, query: string): Promise<string> {
  const { issuer, entityId, sloUrl, now, skewSeconds, key } = provider;
  const decoded = await decodeRedirect(query);
  const opened = openMessage(decoded, ['LogoutRequest'], validateWellFormed);
  const expectation = {
    entityId: `${issuer}/saml/metadata`,
    endpoint: sloUrl,
    now: now(),
    skewSeconds: skewSeconds(),
  };
  const request = readLogoutRequest(await authenticateMessage(opened, sender(provider)), expectation);
  const destination = `${issuer}/saml/slo`;
  const message = logoutResponse({
    id: newMessageId(),
    issuer: entityId,
    destination,
    now: now(),
    inResponseTo: request.id,
    status: { code: statusCodes.Success },
  });
  const { relayState } = decoded;
  const target = { location: destination, parameter: 'SAMLResponse' as const, message, relayState };
  return redirectUrl(target, (await key()).signer);
}

/** SAML Core 3.4.1; `acr` becomes a RequestedAuthnContext. */
function authnRequest(
  { issuer, entityId, acsUrl, now }: TestServiceProvider,
  options: { forceAuthn: boolean; acr?: string },
) {
  const contextClass = Object.values(contextClasses)[acrLevel(options.acr) - 1];
  return element(
    'samlp:AuthnRequest',
    {
      AssertionConsumerServiceURL: acsUrl,
      Destination: `${issuer}/saml/sso`,
      ForceAuthn: options.forceAuthn ? 'true' : undefined,
      ID: newMessageId(),
      IssueInstant: samlTime(now()),
      ProtocolBinding: bindings.post,
      Version: '2.0',
    },
    element('saml:Issuer', {}, entityId),
    contextClass &&
      element(
        'samlp:RequestedAuthnContext',
        { Comparison: 'minimum' },
        element('saml:AuthnContextClassRef', {}, contextClass),
      ),
  );
}

/** Signs a request for the redirect binding (SAML Bindings 3.4). */
async function outgoing(
  { key }: TestServiceProvider,
  message: XmlElement,
  location: string,
  relayState: string,
): Promise<OutgoingMessage> {
  const target = { location, parameter: 'SAMLRequest' as const, message, relayState };
  return {
    id: message.attributes.ID ?? '',
    xml: wireFormat(canonical(message)),
    url: redirectUrl(target, (await key()).signer),
  };
}

/** What a message of this server must be signed with. */
function sender({ publishedKeys }: TestServiceProvider) {
  return { signingKeys: publishedKeys(), allowSha1: false, requireSigned: true };
}

// The signing key of the built-in test service provider, and its certificate.

const testSpCredential = z.object({ privateKey: z.string(), certificate: z.string() });

/** A new key and its certificate, as JSON. */
async function newTestSpCredential(host: string, now: Date): Promise<string> {
  const { privateKey, publicKey } = await makeKeyPair('RS256');
  const until = new Date(now.getTime() + limits.saml.certificateDays * 24 * 3600 * 1000);
  const certificate = await selfSignedCertificate({ privateKey, publicKey, host, from: now, until });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return JSON.stringify({ privateKey: pem, certificate } satisfies z.output<typeof testSpCredential>);
}

/** Loads the credential at the first call; after a failure the next call tries again. */
function testSpKey(credential: () => Promise<string>): () => Promise<{ signer: Signer; certificate: string }> {
  let loading: Promise<{ signer: Signer; certificate: string }> | undefined;

  async function load() {
    const { privateKey, certificate } = testSpCredential.parse(JSON.parse(await credential()));
    const signer = createSigner({ privateKey: createPrivateKey(privateKey), certificatePem: certificate });
    return { signer, certificate };
  }

  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
