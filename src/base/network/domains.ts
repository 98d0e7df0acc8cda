// Email domains, and the DNS record by which the owner of one agrees to what is done with its addresses.
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { limits } from '../limits.ts';
import type { Logger } from '../platform/logger.ts';
import { randomToken } from '../platform/random.ts';
import { rule } from '../texts/faults.ts';
import type { ResolveTxt } from './txt-records.ts';

/** An email domain: ASCII (punycode), in lower case. */
export const emailDomain = z
  .string()
  .max(253)
  .overwrite((value) => domainToASCII(value.trim()).toLowerCase())
  .refine((value) => /^(?=.{4,253}$)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/.test(value), rule('domain'));

/** The part of an address after the last @: ASCII (punycode), in lower case; empty for a text without one. */
export function domainOf(email: string): string {
  const at = email.lastIndexOf('@');
  return at < 0 ? '' : domainToASCII(email.slice(at + 1).trim()).toLowerCase();
}

/** `unreachable`: the name servers did not answer, so nothing changed. */
export type DomainCheck = 'proven' | 'missing' | 'unreachable';

/** The state of a proof, as connections and groups store it. */
export interface DomainProof {
  domain: string;
  /** Where the record is looked up, and what it must be. */
  record: { name: string; value: string };
  /** Null: not proven, so the domain has no effect. */
  provenAt: Date | null;
  checkedAt: Date | null;
}

const CHALLENGE_BYTES = 18;
const PREFIX = 'gatehouse-domain=';

export const newChallenge = (): string => randomToken(CHALLENGE_BYTES);

/** The TXT record that proves the domain. */
export const proofRecord = (domain: string, challenge: string): DomainProof['record'] => ({
  name: `_gatehouse.${domain}`,
  value: `${PREFIX}${challenge}`,
});

/** Looks the record up. */
export async function lookUpProof(
  { resolveTxt, logger }: { resolveTxt: ResolveTxt; logger: Logger },
  { domain, record }: DomainProof,
): Promise<DomainCheck> {
  try {
    const records = await resolveTxt(record.name);
    return records.some((one) => one.trim() === record.value) ? 'proven' : 'missing';
  } catch (err) {
    logger.warn({ err, domain }, 'the DNS record of a domain could not be looked up');
    return 'unreachable';
  }
}

/** Whether the proof was last looked up a day ago, or never. */
export const isProofDue = ({ checkedAt }: DomainProof, now: Date): boolean =>
  checkedAt === null || checkedAt.getTime() <= now.getTime() - limits.connections.readSeconds * 1000;
