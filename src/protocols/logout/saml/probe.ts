// Probes a service provider with a signed LogoutRequest before the browser is sent there with another one: the browser
// returns only from a service provider that answers with a LogoutResponse. The probe is a real logout for a service
// provider that finds sessions by NameID. Who answers it with a page or an
// error gets a frame instead of the window (docs/decisions/0014-front-channel-logout-in-the-top-level-window.md).
import { limits } from '../../../base/limits.ts';
import { OutgoingError } from '../../../base/network/outgoing-fetch.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../../saml/messages/decode.ts';
import { openMessage } from '../../saml/messages/open-message.ts';
import { receiveLogoutResponse } from '../../saml/messages/read-logout.ts';
import type { ServiceProvider } from '../../saml/metadata/service-providers.ts';
import { SamlError } from '../../saml/xml/errors.ts';
import type { ProbeResult } from '../front-channel/next-step.ts';
import type { Participant } from '../logout-run.ts';
import type { LogoutServices } from '../logout-services.ts';

/** Undefined when the service provider or its endpoint is no longer registered. */
export type SamlProbe = (participant: Participant) => Promise<ProbeResult | undefined>;

export function createSamlProbe(services: LogoutServices): SamlProbe {
  const { now, skewSeconds, validateXml, outgoingMessages, outgoing: fetch, config } = services;
  const { issuer: base } = config;
  const endpoint = `${base}/saml/slo`;
  const { origin } = new URL(base);

  async function isSuccessResponse(decoded: DecodedMessage, sp: ServiceProvider, requestId: string): Promise<boolean> {
    const opened = openMessage(decoded, ['LogoutResponse'], validateXml);
    const expectation = { entityId: sp.entityId, endpoint, now: now(), skewSeconds: skewSeconds(), requestId };
    return (await receiveLogoutResponse(opened, sp, expectation)).succeeded;
  }

  /** The message that the answer sends to this server: by a redirect, or by a form. */
  async function messageIn(response: Response, location: URL | undefined): Promise<DecodedMessage | undefined> {
    if (location)
      return `${location.origin}${location.pathname}` === endpoint
        ? decodeRedirect(location.search.slice(1))
        : undefined;
    const form = formFields(await response.text(), endpoint);
    return form && decodePost(String(form));
  }

  return async (participant) => {
    const probeRequest = await outgoingMessages.probeRequest(participant);
    if (!probeRequest) return undefined;
    const { url, init, sp, messageId } = probeRequest;
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: probeTimeoutSignal() });
      if (isGatewayError(response)) return 'unreachable';
      const location = redirectTarget(response, url);
      const message = await messageIn(response, location);
      if (message) return (await isSuccessResponse(message, sp, messageId)) ? 'confirmed' : 'answers';
      // A service provider that redirects to this server's sign-in or to its own browser check finds the session by a
      // browser cookie.
      const needsCookies = location?.origin === origin || isBrowserCheck(location, new URL(url));
      return needsCookies ? 'unknown' : 'no-return';
    } catch (error) {
      // The service provider answered with an invalid message. The LogoutResponse in the browser is checked separately.
      if (error instanceof SamlError) return 'answers';
      return probeResultOfError(error);
    }
  };
}

/** Another Gatehouse redirects a LogoutRequest without cookies to `/saml/sp/slo/browser`, which only a browser follows. */
function isBrowserCheck(location: URL | undefined, { origin, pathname }: URL): boolean {
  return location?.origin === origin && location.pathname === `${pathname}/browser`;
}

/** The URL that the response redirects to, with its query unchanged. */
function redirectTarget(response: Response, from: string): URL | undefined {
  const location = response.headers.get('location');
  return location !== null && URL.canParse(location, from) ? new URL(location, from) : undefined;
}

// Finds the auto-submitting form of a LogoutResponse by POST (SAML Bindings 3.5.4) in a page. It is no HTML parser: when it
// finds no form, that application is visited in a frame.

/** The fields of the form that goes to `action`, as a browser would send them. Takes linear time, whatever the page. */
export function formFields(page: string, action: string): URLSearchParams | undefined {
  for (const form of piecesAfter(page, /<form\b/i)) {
    if (attributeOf(form.tag, 'action') !== action) continue;
    const [content = ''] = form.rest.split(/<\/form/i, 1);
    const inputs = piecesAfter(content, /<input\b/i).map(({ tag }) => [
      attributeOf(tag, 'name') ?? '',
      attributeOf(tag, 'value') ?? '',
    ]);
    return new URLSearchParams(inputs.filter(([name]) => name !== ''));
  }
  return undefined;
}

/** Each tag that begins so, and what follows it up to the next one. */
function piecesAfter(text: string, start: RegExp): { tag: string; rest: string }[] {
  const [, ...pieces] = text.split(start);
  return pieces.flatMap((piece) => {
    const end = piece.indexOf('>');
    return end < 0 ? [] : [{ tag: piece.slice(0, end), rest: piece.slice(end + 1) }];
  });
}

function attributeOf(tag: string, name: string): string | undefined {
  const [, double, single] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag) ?? [];
  const value = double ?? single;
  return value === undefined ? undefined : unescaped(value);
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name) return named[String(name).toLowerCase()] ?? whole;
    return String.fromCharCode(Number.parseInt(decimal ?? hex, decimal ? 10 : 16));
  });
}

// Probes the front-channel logout page of an OIDC application before it is framed: a frame reports nothing about its
// content.

/** The status codes of a reverse proxy whose application is down. */
const GATEWAY_ERRORS = [502, 503, 504];

export async function probeFrame(url: string, outgoing: typeof fetch): Promise<ProbeResult> {
  try {
    const response = await outgoing(url, { method: 'HEAD', redirect: 'manual', signal: probeTimeoutSignal() });
    return isGatewayError(response) ? 'unreachable' : 'answers';
  } catch (error) {
    return probeResultOfError(error);
  }
}

/** Aborts a probe after `limits.logout.probeMs`. */
function probeTimeoutSignal(): AbortSignal {
  return AbortSignal.timeout(limits.logout.probeMs);
}

/** Whether a reverse proxy answered for an application that is down. */
function isGatewayError({ status }: Response): boolean {
  return GATEWAY_ERRORS.includes(status);
}

/** The result of a probe that failed with this error. */
function probeResultOfError(error: unknown): ProbeResult {
  if (!(error instanceof OutgoingError)) return 'unreachable';
  // An address that this server may not call can still be reached by the browser.
  if (error.code === 'forbidden_address' || error.code === 'forbidden_url') return 'unknown';
  return error.code === 'too_large' || error.code === 'redirects' ? 'answers' : 'unreachable';
}
