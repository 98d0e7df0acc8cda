// The tables of docs/configuration.md as the code has them: what may be set, what holds when it is not, what is
// allowed, and what it means where its schema says it (`describe()`). The rest of the last column is written in the document.
import { z } from 'zod';
import { IMPORT_COLUMNS } from '../../src/admin/users/import.ts';
import { oidcClient } from '../../src/applications/fields/oidc-client.ts';
import { proxiedApplication } from '../../src/applications/fields/proxied-application.ts';
import { serviceProvider } from '../../src/applications/fields/service-provider.ts';
import { type Variable, variables } from '../../src/base/config/variables.ts';
import * as file from '../../src/config-file/schema.ts';
import { eventDetails } from '../../src/core/audit/events.ts';
import { settingSchemas } from '../../src/core/settings/settings.ts';
import { connectionKinds } from '../../src/federation/connections/connection.ts';
import { commonHead, commonSettings } from '../../src/federation/connections/kinds/common.ts';
import { ldapEntry } from '../../src/federation/connections/kinds/ldap.ts';
import { oauth2Entry } from '../../src/federation/connections/kinds/oauth2.ts';
import { oidcEntry } from '../../src/federation/connections/kinds/oidc.ts';
import { samlEntry } from '../../src/federation/connections/kinds/saml.ts';
import { taggableClaims } from '../../src/people/accounts/tagged-values.ts';

/** One row: the name, the columns that follow from the code, and what it means. */
export interface Row {
  cells: [name: string, ...columns: string[]];
  meaning?: string | undefined;
}

type Json = {
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

const code = (text: string) => `\`${text}\``;
const list = (words: string[]) => words.filter(Boolean).join(', ');

/** Heading of the document -> its keys whose schema is that of clients; the document names them in one sentence. */
export const keysAsForClients = {
  service_providers: shared(serviceProvider, oidcClient),
  proxied_applications: shared(proxiedApplication, oidcClient),
};

/** Heading of the document -> its rows, in the order of the code. */
export const tables: Record<string, Row[]> = {
  Environment: Object.entries<Variable>(variables).map(([name, { default: value, allowed, file: mayBeFile }]) => ({
    cells: [`${code(name)}${mayBeFile ? `, ${code(`${name}_FILE`)}` : ''}`, value, allowed],
  })),
  settings: rowsOf(z.strictObject(settingSchemas)),
  resources: rowsOf(file.resource),
  clients: rowsOf(oidcClient),
  service_providers: rowsOf(without(serviceProvider, keysAsForClients.service_providers)),
  proxied_applications: rowsOf(without(proxiedApplication, keysAsForClients.proxied_applications)),
  roles: rowsOf(file.role),
  groups: rowsOf(file.group),
  users: rowsOf(file.user),
  sign_up_codes: rowsOf(file.signUpCode),
  scim: rowsOf(file.scimConnection),
  event_streams: rowsOf(file.eventStream),
};

/** The same for docs/events.md, and its types without details, which one sentence names. */
const events = Object.values(eventDetails).flatMap((types) => Object.entries<object>(types));
const isBare = ([, details]: [string, object]) => Object.keys(details).length === 0;
/** Lines of documents that are a list of names. */
export const sentences = [
  {
    document: 'docs/events.md',
    begins: 'Without details',
    names: events.filter(isBare).map(([type]) => code(type)),
  },
  {
    document: 'docs/accounts.md',
    begins: 'Claims that can have them, whatever the schema `user_attributes` says',
    names: [...taggableClaims].map(code),
  },
  {
    document: 'docs/console.md',
    begins: '- Further columns',
    names: IMPORT_COLUMNS.slice(2, IMPORT_COLUMNS.indexOf('sso_id')).map(code),
  },
];
export const eventTables: Record<string, Row[]> = {
  Types: events
    .filter((event) => !isBare(event))
    .map(([type, details]) => ({ cells: [code(type)], meaning: code(JSON.stringify(details)) })),
};

/** The same for docs/connections.md. */
const common = { ...commonHead, kind: z.enum(connectionKinds).optional(), ...commonSettings };
export const connectionTables: Record<string, Row[]> = {
  'Every kind': rowsOf(z.strictObject(common)),
  oidc: ownRows(oidcEntry),
  oauth2: ownRows(oauth2Entry),
  saml: ownRows(samlEntry),
  ldap: ownRows(ldapEntry),
};

/** The fields that only this kind has. */
function ownRows(schema: z.ZodObject): Row[] {
  return rowsOf(z.strictObject(Object.fromEntries(Object.entries(schema.shape).filter(([name]) => !(name in common)))));
}

/** The names of the fields that both objects have with the same schema. */
function shared({ shape }: z.ZodObject, like: z.ZodObject): string[] {
  return Object.keys(shape).filter((name) => shape[name] === like.shape[name]);
}

function without({ shape }: z.ZodObject, names: string[]): z.ZodObject {
  return z.strictObject(Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name))));
}

function rowsOf(schema: z.ZodObject): Row[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  return Object.entries(properties).map(([name, field]) => ({
    cells: [code(name), `${required.includes(name) ? 'required ' : ''}${withDefault(allowedOf(field), field)}`],
    meaning: field.description,
  }));
}

/** With the default in bold. The documents say once that one which is not stated is `false` or empty. */
function withDefault(allowed: string, { default: value, type }: Json): string {
  if (value === undefined || ['false', '[]', '{}'].includes(JSON.stringify(value))) return allowed;
  const text = code(yamlOf(value));
  if (type === 'boolean') return `**${text}**`;
  return allowed.split(/, | or /).includes(text) ? allowed.replace(text, `**${text}**`) : `${allowed}, **${text}**`;
}

function allowedOf(field: Json): string {
  if (field.const !== undefined) return code(String(field.const));
  if (field.enum) return list(field.enum.map((value) => code(String(value))));
  if (field.anyOf) return [...new Set(field.anyOf.map(allowedOf).filter(Boolean))].join(' or ');
  switch (field.type) {
    case 'boolean':
      return 'boolean';
    case 'integer':
      return rangeOf(field.minimum, field.maximum);
    case 'array':
      return `${listOf(allowedOf(field.items ?? {}))}${itemsOf(field)}`;
    case 'object':
      return field.properties ? code(`{${Object.keys(field.properties).join(', ')}}`) : 'map';
    case 'string':
      return `text${lengthOf(field)}`;
    default:
      return Array.isArray(field.type)
        ? list(field.type.flatMap((type) => (type === 'null' ? [] : type === 'string' ? 'text' : code(type))))
        : '';
  }
}

function listOf(item: string): string {
  return item === 'text' ? 'texts' : `list of ${item}`;
}

function rangeOf(minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): string {
  return maximum === Number.MAX_SAFE_INTEGER ? `≥ ${minimum}` : `${minimum}–${maximum}`;
}

/** Only where a short value is wrong: what is too long, the error says. */
function lengthOf({ minLength = 0, maxLength }: Json): string {
  if (minLength <= 1) return '';
  return maxLength === undefined ? ` (≥${minLength})` : ` (${minLength}–${maxLength})`;
}

/** How many there may be; of words from a list there are no more than the list has. */
function itemsOf({ minItems = 0, maxItems, items }: Json): string {
  if (maxItems === undefined || items?.enum) return minItems === 0 ? '' : ` (≥${minItems})`;
  return minItems === 0 ? ` (≤${maxItems})` : ` (${minItems}–${maxItems})`;
}

function yamlOf(value: unknown): string {
  if (typeof value === 'string') return value || "''";
  return JSON.stringify(value).replaceAll('"', '');
}
