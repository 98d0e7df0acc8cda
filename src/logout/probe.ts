// Whether an application answers at all, asked before a browser is sent there: from an address that is dead nobody comes
// back. We may be wrong (we see another network than the browser does), so a dead one is visited too, but in a frame.
import { limits } from '../limits.ts';
import { OutgoingError } from '../platform/outgoing.ts';
import type { Hop } from './next-hop.ts';

export type Probe = (url: string) => Promise<NonNullable<Hop['reach']>>;

/** What a proxy says whose application is gone. */
const GONE = [502, 503, 504];

export function createProbe({ fetch }: { fetch: typeof globalThis.fetch }): Probe {
  return async (url) => {
    try {
      const signal = AbortSignal.timeout(limits.signOut.probeMs);
      const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal });
      return GONE.includes(response.status) ? 'dead' : 'answers';
    } catch (error) {
      if (!(error instanceof OutgoingError)) return 'dead';
      // An address that we may not call says nothing about the browser.
      if (error.code === 'forbidden_address' || error.code === 'forbidden_url') return 'unknown';
      return error.code === 'too_large' || error.code === 'redirects' ? 'answers' : 'dead';
    }
  };
}
