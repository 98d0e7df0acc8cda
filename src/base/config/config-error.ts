// The error for wrong environment variables: one line each that names the variable, its value and what is allowed. A value
// that may contain a password is never repeated.
import { OperatorError } from '../platform/errors.ts';

/** Wrong environment variables or a wrong configuration file: each line names the variable, its value and what is allowed. */
export class ConfigError extends OperatorError {
  /** One line for each fault, without secrets. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The one line: `PORT: found "http", allowed: a whole number from 1 to 65535`. */
export function fault(variable: string, found: string, allowed: string): string {
  return `${variable}: found ${found}; allowed: ${allowed}`.replace(/\s*[\r\n]+\s*/g, ' ');
}

/** A value in quotes, shortened, with control characters made visible. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
}

/** A URL without its password. One that does not parse is cut after the scheme, because a password may be anywhere in it. */
export function quoteUrl(value: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0];
  if (scheme === undefined) return value.includes('@') ? '(a value without a scheme)' : quote(value);
  const rest = value.slice(scheme.length);
  const hidden = `"${scheme}${rest.startsWith('//') ? '//' : ''}…"`;
  if (!rest.startsWith('//')) {
    // `user:password@host` without its scheme: what stands before the colon was taken for one.
    const mayHoldPassword = scheme !== 'file:' && /[@:]/.test(rest);
    return mayHoldPassword ? hidden : quote(value);
  }
  if (!URL.canParse(value)) return hidden;
  const url = new URL(value);
  // An unescaped "/", "?" or "#" inside a password moves the "@" behind the authority: then nothing after the scheme is safe.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) return hidden;
  const secret = [...url.searchParams.keys()].filter((name) => /pass|secret|token|key/i.test(name));
  if (url.password === '' && secret.length === 0) return quote(value);
  if (url.password !== '') url.password = '***';
  for (const name of secret) url.searchParams.set(name, '***');
  return quote(url.href);
}
