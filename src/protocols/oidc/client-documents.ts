// Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): clients that nobody registered, whose client_id is the https
// address of their metadata. Read only where the settings and an API allow it, kept in memory, and stored as an application when a person
// first consents. The engine has this too, as an experiment: it keeps 100 documents of each process and forgets a client with its document.

import { z } from 'zod';
import { type OidcApplication, readMetadata } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { documentFields, metadataOf, type OidcMetadata, oidcClient } from '../../applications/fields/oidc-client.ts';
import { oidcRules } from '../../applications/oidc-rules.ts';
import { documentsClosedBy } from '../../applications/resources.ts';
import { applicationTypeOf, httpsUriFault, redirectUriFault } from '../../applications/uris.ts';
import { forbidden } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { createOutgoingFetch, isPublicAnswer, OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { sha256 } from '../../base/platform/random.ts';
import { check, faultLine } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { People } from '../../people/people.ts';
import { errors } from './engine/library.ts';
import { TooManyAttempts } from './rate-limits.ts';
import { AGENT_LIFETIMES, ignoreMissing, OF_UNREGISTERED, shownName, withoutConsent } from './registration.ts';

const { maxAgeSeconds, minAgeSeconds, perHost, perPerson, total, ...fetchLimits } = limits.clientDocument;

const FAILED_MS = 500;
const NOT_READ = 'its host did not answer with one in time';

/** A client as its document describes it, in the fields that this server takes from it. */
export interface ClientDocument {
  url: string;
  /** Where it is from, and what it says it is. */
  name: string;
  metadata: OidcMetadata;
  /** Of what was taken from it. */
  hash: string;
}

export type ClientDocuments = ReturnType<typeof createClientDocuments>;

/** Whether a client_id is the address of a document, in its one spelling: https with a path, without dot segments, user and fragment. */
export function isDocumentUrl(clientId: string): boolean {
  if (!clientId.startsWith('https://') || !URL.canParse(clientId)) return false;
  const { href, pathname, username, password, hash } = new URL(clientId);
  return href === clientId && pathname !== '/' && !username && !password && !hash && !clientId.endsWith('#');
}

/** The host that a person reads, with its port. */
export const hostOfDocument = (url: string): string => new URL(url).host;

export function createClientDocuments(services: Core & People & ApplicationServices) {
  const { applications, audit, db, logger, now, outgoingRules, rateLimits, settings } = services;
  const call = createOutgoingFetch({ rules: outgoingRules, ...fetchLimits });
  /** By address; the oldest first. */
  const known = new Map<string, { document: ClientDocument; readAt: number; until: number }>();
  /** The calls that have not ended, or failed a moment ago. */
  const calls = new Map<string, Promise<ClientDocument>>();

  function cached(url: string): ClientDocument | undefined {
    const found = known.get(url);
    return found && found.until > now().getTime() ? found.document : undefined;
  }

  /** Keeps a document in memory, in place of the oldest: of its host where that has its share, else of all where the memory is full. */
  function keep(document: ClientDocument, seconds: number): void {
    known.delete(document.url);
    const host = hostOfDocument(document.url);
    const ofHost = [...known.keys()].filter((url) => hostOfDocument(url) === host);
    const [oldestOfHost] = ofHost;
    const [oldest] = known.keys();
    if (ofHost.length >= perHost && oldestOfHost !== undefined) known.delete(oldestOfHost);
    else if (known.size >= total && oldest !== undefined) known.delete(oldest);
    const readAt = now().getTime();
    known.set(document.url, { document, readAt, until: readAt + seconds * 1000 });
  }

  /** Throws InvalidClientMetadata with the cause, and OutgoingError for a host that does not answer. */
  async function fetchDocument(url: string): Promise<ClientDocument> {
    const response = await call(url, { redirect: 'manual', headers: { accept: 'application/json' } });
    try {
      return await documentIn(response, url);
    } catch (error) {
      if (error instanceof OutgoingError || isPublicAnswer(response)) throw error;
      // Why is for the log: the answer would tell about inner networks that mail or webhooks may reach.
      logger.info({ err: error, url }, 'a client metadata document was not accepted');
      throw invalid(url, NOT_READ);
    }
  }

  async function documentIn(response: Response, url: string): Promise<ClientDocument> {
    const { status, headers } = response;
    if (status >= 500) throw new OutgoingError('network', `${new URL(url).origin} answered with status ${status}`);
    if (status !== 200) throw invalid(url, `it was answered with status ${status}; only 200 without a redirect counts`);
    if (!/^application\/([\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? ''))
      throw invalid(url, 'its Content-Type is not application/json');
    const document = documentOf(url, await response.text());
    const [, age] = /(?:^|,)\s*max-age\s*=\s*(\d{1,9})/i.exec(headers.get('cache-control') ?? '') ?? [];
    keep(document, Math.min(maxAgeSeconds, Math.max(minAgeSeconds, Number(age ?? 0))));
    return document;
  }

  /** Counts what is read for each address that asks, and from each host. Throws the error of a rate limit. */
  async function admit(url: string, address: string): Promise<void> {
    const byAddress = await rateLimits.consume('client-document:address', { address });
    if (!byAddress.allowed) throw new TooManyAttempts(byAddress.retryAfterSeconds);
    const byHost = await rateLimits.consume('client-document:host', hostOfDocument(url));
    if (!byHost.allowed) throw new TooManyAttempts(byHost.retryAfterSeconds);
  }

  /** From memory, or from its host. */
  async function read(url: string, address: string): Promise<ClientDocument> {
    const found = cached(url) ?? calls.get(url);
    if (found) return found;
    await admit(url, address);
    // Another request may have called it meanwhile.
    const reading = calls.get(url) ?? fetchDocument(url);
    calls.set(url, reading);
    const forget = () => void calls.delete(url);
    // A failure counts for the rest of the request: its page looks the client up again.
    reading.then(forget, () => void setTimeout(forget, FAILED_MS).unref());
    return reading;
  }

  /** Removes the oldest stored client with this start of its address that nobody consents to any more. False where there is none. */
  async function makeRoom(start: string): Promise<boolean> {
    const of = { source: 'document', clientId: { startsWith: start } };
    const [oldest] = await withoutConsent(services, { before: now(), most: 1, of });
    if (oldest) await applications.remove(oldest.id, { source: 'document', by: SERVER }).catch(ignoreMissing);
    return oldest !== undefined;
  }

  return {
    cached,
    /** Whether the settings and an API allow clients of this host. */
    isAllowed: async (url: string) =>
      (await documentsClosedBy(hostOfDocument(url), settings.latest(), db)) === undefined,

    /** A client without a row. Throws InvalidClientMetadata, and the error of a rate limit. */
    async find(url: string, address: string): Promise<ClientDocument> {
      try {
        return await read(url, address);
      } catch (error) {
        if (!(error instanceof OutgoingError)) throw error;
        logger.info({ err: error, url }, 'a client metadata document could not be read');
        throw invalid(url, NOT_READ);
      }
    },

    /**
     * Reads the document of a stored client anew where that is due. A host that does not answer leaves the client as it was, so that a
     * disturbance there ends nothing; a document that is gone or wrong is an error. What has changed ends the consents, and other redirects or
     * keys also the tokens. True when something has changed.
     */
    async refresh({ id, clientId, name, metadata }: StoredClient, address: string): Promise<boolean> {
      try {
        const storedHash = hashOfClient({ name, metadata });
        let document = await read(clientId, address);
        if (document.hash === storedHash) return false;
        const stored = await applications.find(clientId);
        if (stored?.protocol !== 'oidc') return false;
        // Another instance has read a later one meanwhile.
        if ((known.get(clientId)?.readAt ?? 0) < stored.updatedAt.getTime()) {
          known.delete(clientId);
          document = await read(clientId, address);
          if (document.hash === storedHash) return false;
        }
        const { enabled, access } = stored;
        const input = {
          ...fieldsOf(stored.metadata, (field) => !documentFields.includes(field)),
          ...fieldsOf(document.metadata, (field) => documentFields.includes(field)),
          client_name: document.name,
          enabled,
          access,
        };
        await applications.update('oidc', id, input, { source: 'document', by: SERVER });
        return true;
      } catch (error) {
        // What others ask for from the same address or host ends nothing either.
        if (!(error instanceof OutgoingError || error instanceof TooManyAttempts)) throw error;
        logger.info({ err: error, url: clientId }, 'a client metadata document could not be read again');
        return false;
      }
    },

    /** Stores the client as a person has consented to it. Throws forbidden (403) where there are too many. */
    async store(document: { url: string; name: string; metadata: Partial<OidcMetadata> }, by: Actor): Promise<string> {
      const existing = await applications.find(document.url);
      if (existing) return existing.id;
      const { origin, host } = new URL(document.url);
      const storedBelow = (start: string) =>
        db.application.count({ where: { source: 'document', clientId: { startsWith: start } } });
      const ofPerson = { userId: by.actorId ?? '', application: { source: 'document' } };
      const [stored, ofHost, consented] = await Promise.all([
        storedBelow('https://'),
        storedBelow(`${origin}/`),
        db.consent.count({ where: ofPerson }),
      ]);
      let hasRoom = consented < perPerson;
      if (hasRoom && ofHost >= perHost) hasRoom = await makeRoom(`${origin}/`);
      else if (hasRoom && stored >= total) hasRoom = await makeRoom('https://');
      if (!hasRoom) throw forbidden('forbidden', { message: t('app-error.too-many-agents') });

      const change = { source: 'document', by: { ...by, grantedRights: [] } } as const;
      const input = { ...document.metadata, client_id: document.url, client_name: document.name };
      let id: string;
      try {
        id = (await applications.createOidc(input, change)).application.id;
      } catch (error) {
        // Another person consented at the same moment.
        const other = await applications.find(document.url);
        if (!other) throw error;
        return other.id;
      }
      const data = { name: document.name, host };
      if (ofHost === 0)
        await audit.record({ ...by, type: 'agent-host.added', outcome: 'success', clientId: document.url, data });
      return id;
    },
  };
}

type StoredClient = Pick<OidcApplication, 'id' | 'clientId' | 'name'> & { metadata: Partial<OidcMetadata> };

/** What the document says has no rights that it could give. */
const SERVER = { grantedRights: [] };

const fieldsOf = (metadata: object, isWanted: (field: string) => boolean) =>
  Object.fromEntries(Object.entries(metadata).filter(([field]) => isWanted(field)));

/** Of the name and the fields that are taken from a document. */
export const hashOfClient = ({ name, metadata }: { name: string; metadata: object }): string =>
  sha256(JSON.stringify([name, fieldsOf(metadata, (field) => documentFields.includes(field))]));

const invalid = (url: string, reason: string) =>
  new errors.InvalidClientMetadata(`the client metadata document ${url} was not accepted: ${reason}`);

/** Members that this server reads; all others are ignored. */
const members = z.object({
  client_id: z.string(),
  client_name: z.unknown().optional(),
  redirect_uris: z.array(z.string()).min(1).max(100),
  grant_types: z.array(z.string()).optional(),
  token_endpoint_auth_method: z.string().optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  token_endpoint_auth_signing_alg: z.unknown().optional(),
  jwks: z.unknown().optional(),
  jwks_uri: z.string().optional(),
  dpop_bound_access_tokens: z.unknown().optional(),
  client_secret: z.undefined().optional(),
  client_secret_expires_at: z.undefined().optional(),
});

/**
 * The client of a document: its redirects are judged one by one, and what this server does not have (grants of others, secrets) is left out.
 * Throws InvalidClientMetadata.
 */
export function documentOf(url: string, text: string): ClientDocument {
  const sent = members.safeParse(parsed(text));
  if (!sent.success) {
    const [issue] = sent.error.issues;
    throw invalid(url, `${issue?.path.join('.') || 'it'} is not what a document of a public client has`);
  }
  const { client_id: clientId, client_name, redirect_uris, grant_types = [], jwks, jwks_uri, ...said } = sent.data;
  if (clientId !== url) throw invalid(url, 'its client_id is not the address that it was read from');
  const redirects = [...new Set(redirect_uris)].filter((uri) => redirectUriFault(uri, 'native') === undefined);
  const method = methodOf({ ...said, hasKeys: jwks !== undefined || jwks_uri !== undefined });
  if (method === undefined) throw invalid(url, 'it must authenticate with private_key_jwt or none');
  if (jwks_uri !== undefined && httpsUriFault(jwks_uri)) throw invalid(url, 'its jwks_uri is not an https URL');
  const keys = { jwks, jwks_uri, token_endpoint_auth_signing_alg: said.token_endpoint_auth_signing_alg };
  const input = {
    client_id: url,
    redirect_uris: redirects,
    application_type: applicationTypeOf(redirects),
    grant_types: ['authorization_code', ...(grant_types.includes('refresh_token') ? ['refresh_token'] : [])],
    token_endpoint_auth_method: method,
    ...(method === 'private_key_jwt' && keys),
    ...(said.dpop_bound_access_tokens === true && { dpop_bound_access_tokens: true }),
    // It learns only who the person is; what else it may do, the API says.
    scope: OF_UNREGISTERED.join(' '),
    resources: [],
    ...AGENT_LIFETIMES,
  };
  const checked = check(oidcClient, input, oidcRules);
  if (!checked.ok) throw invalid(url, checked.faults.slice(0, 3).map(faultLine).join(' '));
  // As it is read from a row, so that both can be compared.
  const metadata = readMetadata('oidc', JSON.stringify(metadataOf(checked.value)));
  const name = shownName(hostOfDocument(url), client_name);
  return { url, name, metadata, hash: hashOfClient({ name, metadata }) };
}

/** Some documents list what they support instead of one method. Undefined for one that needs a shared secret. */
function methodOf({
  token_endpoint_auth_method: method,
  token_endpoint_auth_methods_supported: supported = [],
  hasKeys,
}: {
  token_endpoint_auth_method?: string | undefined;
  token_endpoint_auth_methods_supported?: string[] | undefined;
  hasKeys: boolean;
}): 'private_key_jwt' | 'none' | undefined {
  if (method === 'private_key_jwt' || method === 'none') return method;
  if (method !== undefined) return undefined;
  return hasKeys && supported.includes('private_key_jwt') ? 'private_key_jwt' : 'none';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
