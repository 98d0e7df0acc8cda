// What a service provider does with a LogoutRequest, seen by a call of ours before the browser is sent there with another
// one. Only who answers to us gets the window: from a page of its own, or of a server that is gone, nobody comes back.
// The call is a sign-out in earnest: who finds sessions by NameID has ended this one then, whatever the browser does.
import type { Clock } from '../platform/clock.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../saml/decode.ts';
import { SamlError } from '../saml/errors.ts';
import { authenticateMessage, openMessage } from '../saml/inbound.ts';
import type { ServiceProvider } from '../saml/service-providers.ts';
import { readLogoutResponse } from '../saml/slo.ts';
import type { XmlJudge } from '../saml/xml/schema.ts';
import { formFields } from './answer-form.ts';
import type { Reach } from './next-hop.ts';
import { isGone, probeTime, reachOfFailure } from './probe.ts';
import type { Participant } from './run.ts';
import type { SamlMessages } from './saml-messages.ts';

export interface SamlProbeNeeds {
  /** Public base URL. */
  base: string;
  now: Clock;
  skewSeconds(): number;
  judge: XmlJudge;
  samlMessages: Pick<SamlMessages, 'trial'>;
  fetch: typeof fetch;
}

/** Undefined: it is not registered any more, or has lost that address. */
export type SamlProbe = (participant: Participant) => Promise<Reach | undefined>;

export function createSamlProbe(needs: SamlProbeNeeds): SamlProbe {
  const { base, now, skewSeconds, judge, samlMessages, fetch } = needs;
  const endpoint = `${base}/saml/slo`;
  const { origin } = new URL(base);

  function isDone(decoded: DecodedMessage, sp: ServiceProvider, requestId: string): boolean {
    const opened = openMessage(decoded, ['LogoutResponse'], judge);
    const message = authenticateMessage(opened, { ...sp, requireSigned: true });
    const expectation = { entityId: sp.entityId, endpoint, now: now(), skewSeconds: skewSeconds(), requestId };
    return readLogoutResponse(message, expectation).succeeded;
  }

  return async (participant) => {
    const trial = await samlMessages.trial(participant);
    if (!trial) return undefined;
    const { url, init, sp, messageId } = trial;
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: probeTime() });
      if (isGone(response)) return 'dead';
      const location = targetOf(response, url);
      const query =
        location && `${location.origin}${location.pathname}` === endpoint ? location.search.slice(1) : undefined;
      const form = location ? undefined : formFields(await response.text(), endpoint);
      // Who sends people here to sign in knows them by a cookie, which only the browser has.
      if (query === undefined && form === undefined) return location?.origin === origin ? 'unknown' : 'keeps';
      const decoded = query === undefined ? decodePost(String(form)) : await decodeRedirect(query);
      return isDone(decoded, sp, messageId) ? 'confirmed' : 'answers';
    } catch (error) {
      // It leads back to us, with something that the browser's turn will show to be wrong.
      if (error instanceof SamlError) return 'answers';
      return reachOfFailure(error);
    }
  };
}

/** Where it sends the browser; its query stays as it was sent. */
function targetOf(response: Response, from: string): URL | undefined {
  const location = response.headers.get('location');
  return location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined;
}
