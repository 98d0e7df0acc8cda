// The key of an authenticator app: its secret, and how codes are made from it (RFC 6238). Other systems use other values
// than the defaults here, so each key has its own; they are imported as base32 or as an otpauth URI.
import { ScureBase32Plugin } from 'otplib';
import { z } from 'zod';
import { invalidInput } from '../../../base/http/errors.ts';
import { limits } from '../../../base/limits.ts';
import { fault } from '../../../base/texts/faults.ts';

const algorithms = ['sha1', 'sha256', 'sha512'] as const;

export interface TotpKey {
  /** Base32, upper case, without padding. */
  secret: string;
  /** The hash of the HMAC. */
  algorithm: (typeof algorithms)[number];
  digits: 6 | 7 | 8;
  /** Seconds of a time step. */
  period: number;
}

const { digits, stepSeconds, minSecretBytes } = limits.totp;
const base32 = new ScureBase32Plugin();

/** The parameters of a key that is made here; every authenticator app supports them. */
export const defaultParameters = { algorithm: 'sha1', digits, period: stepSeconds } as const satisfies Partial<TotpKey>;

const parameters = z.object({
  algorithm: z.string().toLowerCase().pipe(z.enum(algorithms)).default(defaultParameters.algorithm),
  digits: z.coerce
    .number()
    .pipe(z.literal([6, 7, 8]))
    .default(defaultParameters.digits),
  period: z.coerce.number().int().min(15).max(120).default(defaultParameters.period),
});

/**
 * Reads a key as a user or another system gives it: a base32 secret, or an otpauth URI with algorithm, digits and period
 * (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
 *
 * @throws AppError invalid_input (400) when it is malformed or the secret is too short
 */
export function parseTotpKey(text: string): TotpKey {
  if (!/^otpauth:/i.test(text)) return { secret: cleanSecret(text), ...defaultParameters };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'otpauth:' || url.host.toLowerCase() !== 'totp')
    throw invalidInput([fault(['totp_secret'], 'totp-uri')]);
  const { secret = '', ...given } = Object.fromEntries(url.searchParams);
  const parsed = parameters.safeParse(given);
  if (!parsed.success) throw invalidInput([fault(['totp_secret'], 'totp-parameters')]);
  return { secret: cleanSecret(secret), ...parsed.data };
}

/** A text that is equal for equal keys. */
export function totpKeyText({ secret, ...given }: TotpKey): string {
  const isDefault = given.algorithm === 'sha1' && given.digits === digits && given.period === stepSeconds;
  return isDefault ? secret : [secret, given.algorithm, given.digits, given.period].join(' ');
}

/** A typed base32 secret in its canonical form. */
function cleanSecret(secret: string): string {
  const text = secret.replace(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  try {
    if (base32.decode(text).length >= minSecretBytes) return text;
  } catch {
    // falls through to the same error
  }
  throw invalidInput([fault(['totp_secret'], 'totp-secret', { bytes: minSecretBytes })]);
}
