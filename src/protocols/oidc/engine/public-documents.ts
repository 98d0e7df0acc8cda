// Discovery and JWKS are the same for every caller until the keys, the offered languages or what is published change: the engine makes them
// once, then they are served from memory.

import { readMetadata } from '../../../applications/application.ts';
import { agentsWithApi } from '../../../applications/resources.ts';
import { signedResponseFields } from '../../../applications/rules/signing-algorithms.ts';
import type { Context } from '../../../base/http/context.ts';
import type { Db } from '../../../base/storage/database.ts';
import type { Core } from '../../../core/core.ts';
import { type KeyAlg, keyAlgs } from '../../../core/keys/rotation.ts';
import { INITIAL_ACCESS_TOKEN } from '../store/registration-tokens.ts';
import type { Provider } from './library.ts';
import { PUBLIC_DOCUMENTS } from './routes.ts';

/** CORS for every origin (docs/decisions/0025-public-documents-for-every-origin.md). */
export const READABLE_BY_ALL = { 'Access-Control-Allow-Origin': '*' };

/**
 * The same for registration while it is open: a client in a browser, such as the MCP Inspector, has no origin yet that could be registered. No
 * cookie counts there, and an initial access token has to be sent.
 */
export function openRegistrationToBrowsers(ctx: Context): void {
  ctx.set(READABLE_BY_ALL);
  if (ctx.method !== 'OPTIONS') return;
  ctx.set({ 'Access-Control-Allow-Methods': 'POST', 'Access-Control-Allow-Headers': '*, Authorization' });
}

export type PublicDocuments = ReturnType<typeof createPublicDocuments>;

export function createPublicDocuments({
  provider,
  published,
}: {
  provider(): Provider;
  published(): Promise<Published>;
}) {
  // A key rotation makes a new Provider, and with it new documents.
  const stored = new WeakMap<Provider, Map<string, { text: string; type: string; variant: string }>>();
  const variantOf = async ({ state }: Context) => {
    const { algs, registration, documents } = await published();
    return [...state.offeredLanguages().tags, ...algs, registration, documents].join();
  };
  const isStorable = (ctx: Context) => PUBLIC_DOCUMENTS.has(ctx.path) && ctx.method === 'GET';

  return {
    /** Answers from memory. False when the engine has to answer. */
    async serve(ctx: Context): Promise<boolean> {
      const document = isStorable(ctx) ? stored.get(provider())?.get(ctx.path) : undefined;
      if (!document || document.variant !== (await variantOf(ctx))) return false;
      ctx.body = document.text;
      ctx.type = document.type;
      ctx.set(READABLE_BY_ALL);
      return true;
    },

    /** Stores the document that the engine has just answered with. */
    async store(ctx: Context): Promise<void> {
      if (!isStorable(ctx) || ctx.status !== 200) return;
      const documents = stored.get(provider()) ?? new Map();
      const document = { text: JSON.stringify(ctx.body), type: ctx.response.type, variant: await variantOf(ctx) };
      stored.set(provider(), documents.set(ctx.path, document));
    },
  };
}

// What the public documents announce beside the engine's constants: the signing algorithms that the settings publish, and whether clients
// can register themselves now.

export interface Published {
  /** Those of the setting `signing_algorithms`, and those that an application or an API uses. */
  algs: readonly string[];
  /** Whether there is an initial access token, or none is needed: else /register answers 401 to everybody. */
  registration: boolean;
  /** Whether clients with a metadata document may ask for an API. */
  documents: boolean;
}

/** How long the last expiry is used on PostgreSQL, where no revision tells of a change, in milliseconds. */
const REMEMBERED_MS = 1000;

export function createPublished({ db, sql, now, settings }: Core): () => Promise<Published> {
  let remembered: { lastExpiry: bigint; revision: number | undefined; readAt: number } | undefined;

  /** When the last initial access token expires, in epoch seconds. */
  async function lastExpiryOfTokens(): Promise<bigint> {
    const revision = sql.artifactRevision();
    if (remembered) {
      const { lastExpiry, readAt } = remembered;
      const isCurrent =
        revision === undefined ? performance.now() - readAt < REMEMBERED_MS : remembered.revision === revision;
      if (isCurrent) return lastExpiry;
    }
    const where = { uid: INITIAL_ACCESS_TOKEN, model: INITIAL_ACCESS_TOKEN };
    const { _max } = await db.oidcArtifact.aggregate({ where, _max: { expiresAt: true } });
    remembered = { lastExpiry: _max.expiresAt ?? 0n, revision, readAt: performance.now() };
    return remembered.lastExpiry;
  }

  return async () => {
    const { signing_algorithms: listed } = settings.latest();
    const unlisted = keyAlgs.filter((alg) => !listed.includes(alg));
    const used = unlisted.length === 0 ? [] : await usedAlgs(db, unlisted);
    const hasToken = Number(await lastExpiryOfTokens()) > Math.floor(now().getTime() / 1000);
    const { documents, selfRegistered } = await agentsWithApi(settings.latest(), db);
    return { algs: [...listed, ...used], registration: hasToken || selfRegistered, documents };
  };
}

/** Which of these algorithms sign something for an application or an API: their keys stay published as long. */
async function usedAlgs(db: Db, algs: readonly KeyAlg[]): Promise<KeyAlg[]> {
  const [applications, apis] = await Promise.all([
    db.asStored.application.findMany({
      where: { protocol: 'oidc', OR: algs.map((alg) => ({ metadata: { contains: `"${alg}"` } })) },
      select: { metadata: true },
    }),
    db.asStored.resource.findMany({ where: { signingAlg: { in: [...algs] } }, select: { signingAlg: true } }),
  ]);
  const used = new Set<string | undefined>(apis.map(({ signingAlg }) => signingAlg));
  for (const { metadata } of applications) {
    const client = readMetadata('oidc', metadata);
    for (const field of signedResponseFields) used.add(client[field]);
  }
  return algs.filter((alg) => used.has(alg));
}
