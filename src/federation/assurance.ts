// What a sign-in at an upstream proves here: amr by the lists of the connection, and whether the authentication is as recent as
// the application demanded. What the upstream does not state is never assumed. Pure.
import { limits } from '../base/limits.ts';
import type { Demands } from './requests.ts';
import type { UpstreamIdentity } from './upstream.ts';

/** The values of acr (or AuthnContext classes) and of amr that are trusted from a connection, by what each proves. */
export interface TrustedValues {
  trusted_acr: Partial<Record<TrustedLevel, readonly string[]>>;
  trusted_amr: Partial<Record<TrustedLevel, readonly string[]>>;
}
type TrustedLevel = 'password' | 'mfa' | 'phr';

const AMR_OF_LEVEL: Record<TrustedLevel, readonly string[]> = { password: ['pwd'], mfa: ['mfa'], phr: ['mfa', 'phr'] };

/** `fed`, and what the trusted values prove; the lists are empty by default. */
export function trustedAmr({ acr, amr }: UpstreamIdentity, { trusted_acr, trusted_amr }: TrustedValues): string[] {
  const levels = (['password', 'mfa', 'phr'] as const).filter(
    (level) =>
      (acr !== undefined && trusted_acr[level]?.includes(acr)) ||
      amr.some((method) => trusted_amr[level]?.includes(method)),
  );
  return [...new Set(['fed', ...levels.flatMap((level) => AMR_OF_LEVEL[level])])];
}

/** `unknown`: freshness was demanded, and the upstream does not say when the user authenticated. */
export type Freshness = 'not-demanded' | 'fresh' | 'old' | 'unknown';

/** Whether the authentication is as recent as was demanded when the request was sent. Clocks may differ by a minute. */
export function freshnessOf(
  { forced, maxAgeSeconds }: Demands,
  { authTime, sentAt }: { authTime: Date | undefined; sentAt: Date },
): Freshness {
  if (!forced && maxAgeSeconds === undefined) return 'not-demanded';
  if (authTime === undefined) return 'unknown';
  const maxAge = forced ? 0 : (maxAgeSeconds ?? 0);
  const oldest = sentAt.getTime() - (maxAge + limits.clockSkew.seconds) * 1000;
  return authTime.getTime() >= oldest ? 'fresh' : 'old';
}

/** The time of the authentication in epoch seconds, never in the future; 0: the upstream does not say. */
export function statedAuthTime(authTime: Date | undefined, now: Date): number {
  if (authTime === undefined) return 0;
  return Math.max(1, Math.floor(Math.min(authTime.getTime(), now.getTime()) / 1000));
}
