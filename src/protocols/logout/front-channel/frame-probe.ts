// Probes the front-channel logout page of an OIDC application before it is framed: a frame reports nothing about its
// content.
import { limits } from '../../../base/limits.ts';
import { OutgoingError } from '../../../base/network/outgoing-fetch.ts';
import type { ProbeResult } from './next-step.ts';

export type FrameProbe = (url: string) => Promise<ProbeResult>;

/** The status codes of a reverse proxy whose application is down. */
const GATEWAY_ERRORS = [502, 503, 504];

export function createFrameProbe({ fetch }: { fetch: typeof globalThis.fetch }): FrameProbe {
  return async (url) => {
    try {
      const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: probeTimeoutSignal() });
      return isGatewayError(response) ? 'unreachable' : 'answers';
    } catch (error) {
      return probeResultOfFailure(error);
    }
  };
}

/** Aborts a probe after `limits.logout.probeMs`. */
export function probeTimeoutSignal(): AbortSignal {
  return AbortSignal.timeout(limits.logout.probeMs);
}

/** Whether a reverse proxy answered for an application that is down. */
export function isGatewayError({ status }: Response): boolean {
  return GATEWAY_ERRORS.includes(status);
}

/** The result of a probe that failed with this error. */
export function probeResultOfFailure(error: unknown): ProbeResult {
  if (!(error instanceof OutgoingError)) return 'unreachable';
  // An address that this server may not call can still be reached by the browser.
  if (error.code === 'forbidden_address' || error.code === 'forbidden_url') return 'unknown';
  return error.code === 'too_large' || error.code === 'redirects' ? 'answers' : 'unreachable';
}
