// Whether the page of an OIDC application that ends its session in a frame answers at all, asked before it is shown: a
// frame says nothing of what is in it.
import { limits } from '../limits.ts';
import { OutgoingError } from '../platform/outgoing.ts';
import type { Reach } from './next-hop.ts';

export type Probe = (url: string) => Promise<Reach>;

/** What a proxy says whose application is gone. */
const GONE = [502, 503, 504];

export function createProbe({ fetch }: { fetch: typeof globalThis.fetch }): Probe {
  return async (url) => {
    try {
      const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: probeTime() });
      return isGone(response) ? 'dead' : 'answers';
    } catch (error) {
      return reachOfFailure(error);
    }
  };
}

/** How long an application may take. */
export function probeTime(): AbortSignal {
  return AbortSignal.timeout(limits.signOut.probeMs);
}

export function isGone({ status }: Response): boolean {
  return GONE.includes(status);
}

/** What a call that failed says about the application. */
export function reachOfFailure(error: unknown): Reach {
  if (!(error instanceof OutgoingError)) return 'dead';
  // An address that we may not call says nothing about the browser.
  if (error.code === 'forbidden_address' || error.code === 'forbidden_url') return 'unknown';
  return error.code === 'too_large' || error.code === 'redirects' ? 'answers' : 'dead';
}
