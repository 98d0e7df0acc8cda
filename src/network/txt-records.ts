// TXT records of the DNS, for the proof that a domain belongs to its owner.
import { Resolver } from 'node:dns/promises';

/** The records of a name; empty where there is none. Rejects when the name servers do not answer. */
export type ResolveTxt = (name: string) => Promise<string[]>;

const TIMEOUT_MS = 3000;
const TRIES = 2;
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

export const resolveTxt: ResolveTxt = async (name) => {
  try {
    const records = await new Resolver({ timeout: TIMEOUT_MS, tries: TRIES }).resolveTxt(name);
    return records.map((parts) => parts.join(''));
  } catch (error) {
    if (error instanceof Error && 'code' in error && NONE.has(String(error.code))) return [];
    throw error;
  }
};
