// TXT records of the DNS: the proof that a domain belongs to its owner, and what they say about a sender of email.
import { Resolver } from 'node:dns/promises';

/** The records of a name; empty where there is none. Rejects when the name servers do not answer. */
export type ResolveTxt = (name: string) => Promise<string[]>;

const TRIES = 2;
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

export interface ResolverOptions {
  /** Of one try at one name server, and of all of them together. */
  timeoutMs?: number;
  totalMs?: number;
  /** Those of the system by default. */
  nameServers?: string[];
}

/** Makes a look-up at the system's name servers, or at those given. */
export function createTxtResolver({ timeoutMs = 3000, totalMs = 6000, nameServers }: ResolverOptions = {}): ResolveTxt {
  return async (name) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
    if (nameServers) resolver.setServers(nameServers);
    const tooLate = setTimeout(() => resolver.cancel(), totalMs);
    try {
      const records = await resolver.resolveTxt(name);
      return records.map((parts) => parts.join(''));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (NONE.has(code)) return [];
      if (code === 'ECANCELLED') throw new Error(`no name server answered in ${totalMs} ms`, { cause: error });
      throw error;
    } finally {
      clearTimeout(tooLate);
    }
  };
}
