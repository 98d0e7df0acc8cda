// Calls to the SCIM service of an application (RFC 7644): in 10 seconds, with bounded answers, to allowed addresses only, and without following
// redirects. What it answers is displayed to administrators as far as it is an error of SCIM, or comes from a public address.
import { limits } from '../../base/limits.ts';
import {
  createOutgoingFetch,
  isPublicAnswer,
  OutgoingError,
  retryAfterSeconds,
  unexpectedAnswer,
} from '../../base/network/outgoing-fetch.ts';
import type { Core } from '../../core/core.ts';

const MOST_TEXT = 300;
const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** The application takes no call now: it cannot be reached, is busy, or rejects the token. */
export class TargetUnavailable extends Error {
  override name = 'TargetUnavailable';
  constructor(
    message: string,
    /** As it asks for (RFC 9110 10.2.3). */
    readonly pauseSeconds?: number,
  ) {
    super(message);
  }
}

/** It answered, and rejects what was sent. */
export class TargetRejected extends Error {
  override name = 'TargetRejected';
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

type Json = Record<string, unknown>;
/** The resource in the answer; empty where the answer is 204. */
export type ScimClient = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json) => Promise<Json>;

/** Statuses of a proxy, of too many calls, and of a token that is not accepted. */
const UNAVAILABLE = [401, 407, 408, 425, 429, 502, 503, 504];

export function createScimClients({ outgoingRules, now }: Core) {
  const { timeoutMs, maxBytes } = limits.provisioning;
  const call = createOutgoingFetch({ rules: outgoingRules, timeoutMs, maxBytes });

  /** Rejects with TargetUnavailable or TargetRejected. */
  return ({ url, token }: { url: string; token: string }): ScimClient =>
    async (method, path, body) => {
      const response = await call(`${url}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/scim+json, application/json',
          ...(body && { 'content-type': 'application/scim+json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch((error: unknown) => {
        if (error instanceof OutgoingError) throw new TargetUnavailable(error.message);
        throw error;
      });
      const { status } = response;
      if (status === 204 && method !== 'GET') return {};
      if (!response.ok) throw await failureOf(response, now());
      const resource = objectOf(await response.text());
      // Such as the login page of a proxy, or its JSON, which has done nothing.
      if (resource?.id === undefined && !Array.isArray(resource?.schemas))
        throw new TargetUnavailable(`answered without SCIM (${status})`);
      return resource;
    };
}

async function failureOf(response: Response, at: Date): Promise<TargetUnavailable | TargetRejected> {
  const { status } = response;
  const text = await textOf(response);
  if (status >= 300 && status < 400) return new TargetUnavailable(`redirects (${status}), which is not followed`);
  if (UNAVAILABLE.includes(status)) return new TargetUnavailable(text, retryAfterSeconds(response, at));
  return new TargetRejected(status, text);
}

/** JSON that is an object; else undefined. */
function objectOf(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

async function textOf(response: Response): Promise<string> {
  const { status } = response;
  const { schemas, scimType, detail } = objectOf(await response.clone().text()) ?? {};
  if (Array.isArray(schemas) && schemas.includes(ERROR)) {
    const words = [scimType, detail].filter((one) => typeof one === 'string').join(': ');
    return `${status} ${words}`.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, MOST_TEXT);
  }
  const { message } = await unexpectedAnswer(response);
  return isPublicAnswer(response) ? message.slice(0, MOST_TEXT) : `answered with status ${status}`;
}

/** A text in a filter (RFC 7644 3.4.2.2). */
export const filterOf = (attribute: string, value: string): string =>
  `filter=${encodeURIComponent(`${attribute} eq ${JSON.stringify(value)}`)}`;

/** The resources of a list. */
export function resourcesOf({ Resources }: Json): Json[] {
  return Array.isArray(Resources)
    ? Resources.filter((one): one is Json => typeof one === 'object' && one !== null)
    : [];
}

/** Whether it is a list, also an empty one. */
export const isList = ({ Resources, totalResults }: Json): boolean =>
  Array.isArray(Resources) || Number(totalResults) === 0;

/** The ID of a resource; undefined where it has none. */
export function idOf({ id }: Json): string | undefined {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && text !== '' && text.length <= 1024 ? text : undefined;
}
