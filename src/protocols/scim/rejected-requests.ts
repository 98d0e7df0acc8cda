// Rejected SCIM requests, under a reference that the error has: what a directory asked without the values that it sent, and the broken rule.
import type { Context } from '../../base/http/context.ts';
import type { AppError } from '../../base/http/errors.ts';
import { type RuleId, ruleResults } from '../../core/rejections/rules.ts';
import type { People } from '../../people/people.ts';
import type { ScimConnection } from './connections.ts';
import { errorJson, scimTypeOf } from './errors.ts';

/** A request of a known connection, with its body as far as it was read. */
export interface Call {
  connection: ScimConnection;
  body?: unknown;
}

const MOST_NAMES = 20;
const MOST_TEXT = 300;

const EXPECTED = {
  scim_filter: 'a filter over the attributes at /scim/v2/Schemas',
  scim_owner: 'a user or group that this connection may create and change',
  scim_request: 'attributes, operations and values as at /scim/v2/Schemas',
  scim_resource: 'a user or group of this connection',
  scim_unique: 'a userName, email address, displayName and externalId that nobody else has',
  scim_version: 'the present version (ETag)',
} as const satisfies Partial<Record<RuleId, string>>;

/** Records a rejected request, and returns its reference. Undefined for what is no fault of a request, such as too many of them. */
export function recordRejection(
  { rejections }: People,
  { method, path, query, state: { request } }: Context,
  { connection, body }: Call,
  error: AppError,
): string | undefined {
  const rule = ruleOf(error);
  if (!rule) return undefined;
  const own = body as Readonly<Record<string, unknown>> | undefined;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MOST_TEXT) : undefined);
  const filter = text(own?.filter) ?? text(query.filter);
  const names = own && (Array.isArray(own.Operations) ? operationsIn(own.Operations) : Object.keys(own));
  const sent = names?.slice(0, MOST_NAMES).join(', ').slice(0, MOST_TEXT);
  // The name is what the administrator looks for.
  const taken = rule === 'scim_unique' ? (text(own?.userName) ?? text(own?.displayName)) : undefined;
  const values = { method, path, filter, sent, name: taken, address: request.address };
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const received = (rule === 'scim_filter' ? filter : rule === 'scim_request' ? sent : taken) ?? `${method} ${path}`;
  return rejections.record(request, {
    endpoint: 'scim',
    reason: scimTypeOf(error) ?? error.code,
    message: errorJson(error).detail,
    clientId: connection.id,
    received: Object.fromEntries(given),
    rules: ruleResults([rule], { rule, received, expected: EXPECTED[rule] }),
  });
}

/** The operations of a PATCH by what they do and to which attribute, without values. */
const operationsIn = (operations: readonly unknown[]): string[] =>
  operations.slice(0, MOST_NAMES).map((one) => {
    const { op, path, value } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const names = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
    return [String(op), typeof path === 'string' ? path : names.slice(0, MOST_NAMES).join(' ')].join(' ');
  });

function ruleOf(error: AppError): keyof typeof EXPECTED | undefined {
  const scimType = scimTypeOf(error);
  if (error.status === 400)
    return scimType === 'invalidFilter' || scimType === 'tooMany' ? 'scim_filter' : 'scim_request';
  if (error.status === 403) return 'scim_owner';
  if (error.status === 404) return 'scim_resource';
  if (error.status === 409) return 'scim_unique';
  return error.status === 412 ? 'scim_version' : undefined;
}
