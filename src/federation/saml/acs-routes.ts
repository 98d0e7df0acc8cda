// /saml/acs and /saml/sp/metadata. The assertion consumer service verifies an answer, stores it once for the browser that began
// the request, and signs nobody in: a cross-site POST brings no cookie that proves the browser.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import Router from '@koa/router';
import { z } from 'zod';
import { readForm } from '../../base/http/body.ts';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { t } from '../../base/texts/text.ts';
import { providerErrorPage } from '../../protocols/saml/messages/error-page.ts';
import { openResponse, type TrustedResponse } from '../../protocols/saml/messages/open-response.ts';
import { inResponseToOf } from '../../protocols/saml/messages/read-assertion.ts';
import { SamlError, type SamlErrorCode } from '../../protocols/saml/xml/errors.ts';
import type { SamlConnection } from '../connections/connection.ts';
import { FederationError } from '../faults.ts';
import type { RejectedSignIns } from '../rejected-sign-ins.ts';
import type { UpstreamSignIn } from '../upstream-sign-in.ts';
import { asFederationError, authenticAnswer, decodeAnswer, type UpstreamSamlServices } from './identity-provider.ts';

type AcsServices = UpstreamSamlServices & { rejected: RejectedSignIns; upstreamSignIn: UpstreamSignIn };

const FORM = 'application/x-www-form-urlencoded';
const METADATA = 'application/samlmetadata+xml';
/** What `newMessageId` returns, which requests carry as RelayState. */
const OWN_RELAY_STATE = /^_[\w-]{27}$/;
const metadataQuery = z.object({ connection: z.string().max(64).optional() });

export function acsRoutes(services: AcsServices): Router<State, Extras> {
  const { connections, ownServiceProvider, rateLimit } = services;
  const router = new Router<State, Extras>();

  router.post('/saml/acs', rateLimit, async (ctx) => {
    const path = await receive(services, ctx);
    if (path === undefined) return;
    ctx.set('Cache-Control', 'no-store');
    seeOther(ctx, path);
  });

  router.get('/saml/sp/metadata', async (ctx) => {
    const { connection: id } = parseQuery(ctx, metadataQuery);
    const connection = id === undefined ? undefined : await connections.find(id);
    if (id !== undefined && connection?.kind !== 'saml') throw notFound();
    ctx.type = METADATA;
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = ownServiceProvider.metadata(connection?.kind === 'saml' ? connection : undefined);
  });

  return router;
}

/** Where the browser goes on; undefined when the response was written. */
async function receive(services: AcsServices, ctx: Context): Promise<string | undefined> {
  const { rejected, upstreamSignIn } = services;
  const { xml, relayState, claimedIssuer } = await openForm(services, ctx);
  const { authentic, unauthentic } = await authenticate(services, claimedIssuer, xml);
  const [first] = authentic;
  if (!first) {
    await rejectSignature(ctx, services, unauthentic);
    return undefined;
  }
  const { connection } = first;
  const inResponseTo = inResponseToOf(first.trusted);
  if (inResponseTo === undefined && !OWN_RELAY_STATE.test(relayState ?? ''))
    return `/login?connection=${connection.id}`;
  return rejected.withErrorPage(
    ctx.state.request,
    () => aboutAnswer(connection),
    () => store(upstreamSignIn, authentic, inResponseTo, xml),
  );
}

/**
 * Stores the answer at the connection that sent the request; returns the path where its browser redeems it. Two connections may have the same
 * upstream, under different names of this server.
 */
async function store(
  upstreamSignIn: UpstreamSignIn,
  authentic: readonly AuthenticAnswer[],
  inResponseTo: string | undefined,
  xml: string,
): Promise<string> {
  if (inResponseTo === undefined) throw withoutRequest();
  const failures: FederationError[] = [];
  for (const { connection } of authentic) {
    try {
      return await upstreamSignIn.receive(inResponseTo, connection.id, { SAMLResponse: xml });
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      failures.push(error);
    }
  }
  throw failures[0];
}

/** Decodes the form and reads the claimed issuer; throws 400 or 413, with the code of the rejection. */
async function openForm({ rejected, validateXml }: AcsServices, ctx: Context) {
  try {
    if (!ctx.is(FORM)) throw new SamlError('parameter_missing', { detail: 'no form' });
    const { xml, relayState } = decodeAnswer(await readForm(ctx.req, limits.saml.bodyBytes));
    return { xml, relayState, claimedIssuer: openResponse(xml, validateXml).claimedIssuer };
  } catch (error) {
    // Parsing an untrusted message took one turn of the event loop; writing the page takes another.
    await yieldToEventLoop();
    if (!(error instanceof SamlError)) throw error;
    const code = await rejected.record(ctx.state.request, undefined, asFederationError(error));
    throw providerErrorPage(error, code);
  }
}

interface AuthenticAnswer {
  connection: SamlConnection;
  trusted: TrustedResponse;
}
interface Unauthentic {
  connection: SamlConnection | undefined;
  fault: FederationError;
}

/** The connections of the issuer whose keys verify the answer, and why the last other one rejected it, or that none has this issuer. */
async function authenticate(
  services: UpstreamSamlServices,
  issuer: string,
  xml: string,
): Promise<{ authentic: AuthenticAnswer[]; unauthentic: Unauthentic }> {
  const authentic: AuthenticAnswer[] = [];
  let unauthentic: Unauthentic = { connection: undefined, fault: unknownIssuer(issuer) };
  for (const connection of await services.connections.list()) {
    if (connection.kind !== 'saml' || !(await isIssuer(services, connection, issuer))) continue;
    try {
      const { trusted } = await authenticAnswer(services, connection, xml);
      authentic.push({ connection, trusted });
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      unauthentic = { connection, fault: error };
    }
  }
  return { authentic, unauthentic };
}

/** Whether the upstream of the connection has this entity ID; false while its metadata cannot be read. */
async function isIssuer({ identityProviders }: UpstreamSamlServices, connection: SamlConnection, issuer: string) {
  const { entity_id: declared } = connection.settings;
  if (declared !== undefined && declared !== issuer) return false;
  try {
    return (await identityProviders.of(connection)).entityId === issuer;
  } catch (error) {
    if (error instanceof FederationError) return false;
    throw error;
  }
}

/** Both are read from the message before anything is decrypted, so a page of their own says nothing about a ciphertext. */
const OF_ENCRYPTION: readonly SamlErrorCode[] = ['encryption_algorithm', 'encryption_missing'];

/** Answers 401: in plain text for programs, which rely on it, and as a page with a code for a browser. */
async function rejectSignature(
  ctx: Context,
  { rejected }: AcsServices,
  { connection, fault }: Unauthentic,
): Promise<void> {
  const { rule, reason, expected, received } = fault;
  const isOfEncryption = fault.cause instanceof SamlError && OF_ENCRYPTION.includes(fault.cause.code);
  const code = isOfEncryption ? 'upstream_encryption_not_accepted' : 'upstream_signature_invalid';
  const rejection = new FederationError(code, { rule, reason, expected, received });
  const page = await rejected.recordForPage(ctx.state.request, aboutAnswer(connection), rejection);
  if (ctx.get('Accept').includes('text/html')) throw page;
  ctx.status = 401;
  ctx.type = 'text/plain';
  ctx.body = 'Invalid signature';
}

function aboutAnswer(connection: SamlConnection | undefined) {
  const href = connection ? `/login?connection=${connection.id}` : '/login';
  const next = { href, label: t('logout.sign-in-again') };
  return { connectionId: connection?.id, connectionName: connection?.name, next };
}

function unknownIssuer(issuer: string): FederationError {
  return new FederationError('upstream_signature_invalid', {
    rule: 'issuer',
    reason: 'No connection has the issuer of this answer.',
    expected: 'the entity ID of a connection',
    received: issuer,
  });
}

function withoutRequest(): FederationError {
  return new FederationError('upstream_answer_invalid', {
    rule: 'in_response_to',
    reason: 'The answer has no InResponseTo, but the RelayState of a request of this server.',
    expected: 'InResponseTo',
    received: 'none',
  });
}
