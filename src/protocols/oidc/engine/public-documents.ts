// Discovery and JWKS are the same for every caller until the keys, the settings or what is registered change: the engine makes them, then they
// are served from memory for a second.

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
  /** The documents that this Provider made while this was announced. A key rotation makes a new Provider. */
  let stored: { by: Provider; of: Published; documents: Map<string, { text: string; type: string }> } | undefined;
  async function currentDocuments() {
    const [by, of] = [provider(), await published()];
    if (stored?.by !== by || stored.of !== of) stored = { by, of, documents: new Map() };
    return stored.documents;
  }
  const isStorable = (ctx: Context) => PUBLIC_DOCUMENTS.has(ctx.path) && ctx.method === 'GET';

  return {
    /** Answers from memory. False when the engine has to answer. */
    async serve(ctx: Context): Promise<boolean> {
      const document = isStorable(ctx) ? (await currentDocuments()).get(ctx.path) : undefined;
      if (!document) return false;
      ctx.body = document.text;
      ctx.type = document.type;
      ctx.set(READABLE_BY_ALL);
      return true;
    },

    /** Stores the document that the engine has just answered with. */
    async store(ctx: Context): Promise<void> {
      if (!isStorable(ctx) || ctx.status !== 200) return;
      (await currentDocuments()).set(ctx.path, { text: JSON.stringify(ctx.body), type: ctx.response.type });
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

/** How long what was read is used while the settings stay the same, in milliseconds. */
const REMEMBERED_MS = 1000;

/** The same object for a second, or until a setting changes. */
export function createPublished({ db, now, settings }: Core): () => Promise<Published> {
  let last: { of: object; at: number; published: Promise<Published> } | undefined;

  async function read(): Promise<Published> {
    const { signing_algorithms: listed } = settings.latest();
    const unlisted = keyAlgs.filter((alg) => !listed.includes(alg));
    const used = unlisted.length === 0 ? [] : await usedAlgs(db, unlisted);
    const where = { uid: INITIAL_ACCESS_TOKEN, model: INITIAL_ACCESS_TOKEN };
    const { _max } = await db.oidcArtifact.aggregate({ where, _max: { expiresAt: true } });
    const hasToken = Number(_max.expiresAt ?? 0n) > Math.floor(now().getTime() / 1000);
    const { documents, selfRegistered } = await agentsWithApi(settings.latest(), db);
    return { algs: [...listed, ...used], registration: hasToken || selfRegistered, documents };
  }

  return () => {
    const [of, at] = [settings.latest(), performance.now()];
    if (last?.of !== of || at - last.at >= REMEMBERED_MS) {
      const published = read();
      last = { of, at, published };
      published.catch(() => {
        last = undefined;
      });
    }
    return last.published;
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
