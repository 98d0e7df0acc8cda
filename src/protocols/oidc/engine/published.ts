// What the public documents announce beside the engine's constants: the signing algorithms that the settings publish, and whether clients
// can register themselves now.

import { readMetadata } from '../../../applications/application.ts';
import { signedResponseFields } from '../../../applications/rules/signing-algorithms.ts';
import type { Db } from '../../../base/storage/database.ts';
import type { Core } from '../../../core/core.ts';
import { type KeyAlg, keyAlgs } from '../../../core/keys/rotation.ts';
import { INITIAL_ACCESS_TOKEN } from '../store/registration-tokens.ts';

export interface Published {
  /** Those of the setting `signing_algorithms`, and those that an application or an API uses. */
  algs: readonly string[];
  /** Whether there is an initial access token: without one, /register answers 401 to everybody. */
  registration: boolean;
}

/** How long what was read is used where no revision tells of a change, in milliseconds. */
const REMEMBERED_MS = 1000;

export function createPublished({ db, sql, now, settings }: Core): () => Promise<Published> {
  let last: { revision: number | undefined; at: number; tokensEnd: bigint } | undefined;

  /** When the last initial access token expires, in epoch seconds. */
  async function tokensEnd(): Promise<bigint> {
    const revision = sql.artifactRevision();
    const isRemote = revision === undefined;
    const isCurrent = isRemote ? performance.now() - (last?.at ?? 0) < REMEMBERED_MS : last?.revision === revision;
    if (last && isCurrent) return last.tokensEnd;
    const where = { uid: INITIAL_ACCESS_TOKEN, model: INITIAL_ACCESS_TOKEN };
    const { _max } = await db.oidcArtifact.aggregate({ where, _max: { expiresAt: true } });
    last = { revision, at: performance.now(), tokensEnd: _max.expiresAt ?? 0n };
    return last.tokensEnd;
  }

  return async () => {
    const { signing_algorithms: listed } = settings.latest();
    const unlisted = keyAlgs.filter((alg) => !listed.includes(alg));
    const used = unlisted.length === 0 ? [] : await usedAlgs(db, unlisted);
    const registration = Number(await tokensEnd()) > Math.floor(now().getTime() / 1000);
    return { algs: [...listed, ...used], registration };
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
