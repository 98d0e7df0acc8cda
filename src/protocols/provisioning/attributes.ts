// People and groups as SCIM resources (RFC 7643), and changes of them as PATCH operations (RFC 7644 3.5.2), in the form that the
// application understands. An attribute is named by its path; what an application accepted is remembered as digests only.
import { createHash } from 'node:crypto';
import { type ProvisionSettings, SCIM_PATH } from '../../applications/fields/provisioning.ts';
import { fullName } from '../../base/http/pages/tokens.ts';
import { fieldValue } from '../../people/accounts/claims.ts';
import type { VisibleAccount } from '../../people/accounts/visible-roles.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const EMAIL = 'emails[type eq "work"].value';

type Value = string | number | boolean | readonly string[];
/** Path -> value. */
export type Attributes = ReadonlyMap<string, Value>;
/** Path -> digest of the value that was accepted. */
export type Accepted = Readonly<Record<string, string>>;
export type Dialect = Required<ProvisionSettings>['dialect'];
type Json = Record<string, unknown>;

/** What an application is told of a person. An address that nobody proved is left out: it could be that of another user there. */
export function attributesOfUser(
  account: VisibleAccount,
  { user_name, attributes }: Required<ProvisionSettings>,
  externalId: string,
): Attributes {
  const email = account.emailVerified ? account.email : null;
  const name = fullName(account);
  const all: [string, unknown][] = [
    ['userName', user_name === 'email' ? email : account.username],
    ['externalId', externalId],
    ['displayName', name ?? account.username],
    ['name.formatted', name],
    ['name.givenName', account.givenName],
    ['name.familyName', account.familyName],
    [EMAIL, email],
    ...Object.entries(attributes).map(([path, field]): [string, unknown] => [path, fieldValue(account, field)]),
  ];
  const given = all.filter((pair): pair is [string, Value] => isValue(pair[1]));
  return new Map(given);
}

const isValue = (value: unknown): value is Value =>
  ['number', 'boolean'].includes(typeof value) ||
  (typeof value === 'string' && value !== '') ||
  (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string'));

export const attributesOfGroup = (displayName: string, externalId: string): Attributes =>
  new Map([
    ['displayName', displayName],
    ['externalId', externalId],
  ]);

const digestOf = (objectId: string, path: string, value: Value): string =>
  createHash('sha256')
    .update(JSON.stringify([objectId, path, value]))
    .digest('base64url')
    .slice(0, 16);

export const acceptedOf = (objectId: string, attributes: Attributes): Accepted =>
  Object.fromEntries([...attributes].map(([path, value]) => [path, digestOf(objectId, path, value)]));

/** The paths of the attributes that have another value than the accepted one. */
export function changedPaths(objectId: string, accepted: Accepted, attributes: Attributes): string[] {
  const now = acceptedOf(objectId, attributes);
  const paths = [...new Set([...Object.keys(now), ...Object.keys(accepted)])];
  return paths.filter((path) => (Object.hasOwn(accepted, path) ? accepted[path] : undefined) !== now[path]);
}

interface Parts {
  /** Of an extension; undefined for the schema of users. */
  urn: string | undefined;
  name: string;
  type: string | undefined;
  sub: string | undefined;
}

function partsOf(path: string): Parts {
  const [, urn, name = path, type, sub] = SCIM_PATH.exec(path) ?? [];
  return { urn: urn === USER ? undefined : urn, name, type, sub };
}

/** A list of texts is a list of values (RFC 7643 2.4). */
const jsonOf = (value: Value): unknown => (Array.isArray(value) ? value.map((one) => ({ value: one })) : value);

/** Puts the attributes into objects and lists. */
function nested(attributes: Attributes): Json {
  const resource: Json = {};
  for (const [path, value] of attributes) {
    const { urn, name, type, sub } = partsOf(path);
    const place = urn === undefined ? resource : objectIn(resource, urn);
    if (type !== undefined) {
      place[name] ??= [];
      const list = place[name] as Json[];
      const entry = list.find((one) => one.type === type) ?? { type, ...(list.length === 0 && { primary: true }) };
      if (!list.includes(entry)) list.push(entry);
      entry[sub ?? 'value'] = jsonOf(value);
    } else if (sub !== undefined) objectIn(place, name)[sub] = jsonOf(value);
    else place[name] = jsonOf(value);
  }
  return resource;
}

function objectIn(place: Json, name: string): Json {
  place[name] ??= {};
  return place[name] as Json;
}

/** The body of a POST. */
export function newUser(attributes: Attributes): Json {
  const extensions = [...attributes.keys()].flatMap((path) => partsOf(path).urn ?? []);
  return { schemas: [USER, ...new Set(extensions)], ...nested(attributes), active: true };
}

export const newGroup = (attributes: Attributes): Json => ({ schemas: [GROUP], ...nested(attributes), members: [] });

type Operation = { op: 'add' | 'replace' | 'remove'; path: string; value?: unknown };

/** Entra's operations are capitalized, and its booleans are texts. */
function patch(operations: readonly Operation[], dialect: Dialect): Json {
  const entra = ({ op, value, ...rest }: Operation) => ({
    op: op.charAt(0).toUpperCase() + op.slice(1),
    ...rest,
    ...(value !== undefined && { value: typeof value === 'boolean' ? (value ? 'True' : 'False') : value }),
  });
  return { schemas: [PATCH], Operations: dialect === 'entra' ? operations.map(entra) : operations };
}

/** The body of a PATCH that brings these attributes, and `active` if given, to the values that they have; undefined: nothing changes. */
export function changeOf(
  paths: readonly string[],
  attributes: Attributes,
  { dialect, active }: { dialect: Dialect; active?: boolean | undefined },
): Json | undefined {
  const operations = dialect === 'entra' ? singleValues(paths, attributes) : wholeLists(paths, attributes);
  if (active !== undefined) operations.push({ op: 'replace', path: 'active', value: active });
  return operations.length === 0 ? undefined : patch(operations, dialect);
}

const setOrRemove = (path: string, value: unknown): Operation =>
  value === undefined ? { op: 'remove', path } : { op: 'replace', path, value };

function singleValues(paths: readonly string[], attributes: Attributes): Operation[] {
  return paths.map((path) => {
    const value = attributes.get(path);
    return setOrRemove(path, value === undefined ? undefined : jsonOf(value));
  });
}

/** A list is written as a whole: to replace a value that is not there is an error (RFC 7644 3.5.2.3). */
function wholeLists(paths: readonly string[], attributes: Attributes): Operation[] {
  const single = paths.filter((path) => listOf(path) === undefined);
  const operations = singleValues(single, attributes);
  const lists = new Set(paths.flatMap((path) => listOf(path) ?? []));
  for (const list of lists) {
    const resource = nested(new Map([...attributes].filter(([path]) => listOf(path) === list)));
    const { urn, name } = partsOf(list);
    const parent = urn === undefined ? resource : (resource[urn] as Json | undefined);
    operations.push(setOrRemove(list, parent?.[name]));
  }
  return operations;
}

/** The list to which the value belongs; undefined for a single value. */
function listOf(path: string): string | undefined {
  const { urn, name, type } = partsOf(path);
  if (type === undefined) return undefined;
  return urn === undefined ? name : `${urn}:${name}`;
}

/** The body of a PATCH that adds members, or removes them, by their IDs there. */
export function membersChange(op: 'add' | 'remove', ids: readonly string[], dialect: Dialect): Json {
  const value = ids.map((id) => ({ value: id }));
  if (op === 'add' || dialect === 'entra') return patch([{ op, path: 'members', value }], dialect);
  return patch(
    ids.map((id) => ({ op, path: `members[value eq ${JSON.stringify(id)}]` })),
    dialect,
  );
}
