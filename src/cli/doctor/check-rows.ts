// doctor: rows that the server does not use, because it did not write them as they are, of every table that has MACs
// (base/storage/protected-rows.ts). Named one by one: no command repairs them.

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { IMAGE_KEY } from '../../applications/brand/image-store.ts';
import { plural } from '../../base/platform/plural.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import {
  type Covered,
  type ProtectedRows,
  type ProtectedTable,
  protectedTables,
  type TableDeclaration,
} from '../../base/storage/protected-rows.ts';
import { APPLIED_KEY } from '../../config-file/applied.ts';
import { coveredSetting, settingNames } from '../../core/settings/settings.ts';
import { MODELS_WITHOUT_MAC } from '../../protocols/oidc/store/protected-artifacts.ts';
import { type Finding, failure } from './findings.ts';

const MAX_NAMED = 20;
const PAGE = 500;

const RESTORE = 'Find out who changed it. Restore it from a backup or delete it.';
const ADVICE_OF_TABLE: Partial<Record<ProtectedTable, string>> = {
  users: 'Find out who changed it. Restore it from a backup, or delete it: gatehouse user delete.',
  password_credentials: 'Find out who changed it. Delete the row and send the user a reset link.',
  passkeys: 'Find out who changed it. Delete the row; the user adds the passkey again.',
  phone_factors: 'Find out who changed it. Delete the row; the user adds the number again.',
  user_roles:
    'Find out who wrote it. Delete the row; an administrator gives the role again if the user should have it.',
  external_identities: 'Find out who wrote it. Delete the row; the user connects the sign-in again.',
};
const BEGIN_AGAIN = 'Find out who wrote it, and delete the row: the user has to start again.';

export async function rowFindings({
  database: { db },
  macs = db.macs,
}: {
  database: { db: Db };
  macs?: ProtectedRows;
}): Promise<Finding[]> {
  const changed: Finding[] = [];
  let more = 0;
  for (const [table, entry] of tablesInOrder) {
    for await (const row of changedRows(db, table, entry, macs)) {
      if (changed.length >= MAX_NAMED) more += 1;
      else {
        const advice = entry.isShortLived ? BEGIN_AGAIN : (ADVICE_OF_TABLE[table] ?? RESTORE);
        const name = nameOfRow(table, row);
        changed.push(failure('rows', `another program wrote ${name}, so Gatehouse ignores it`, advice));
      }
    }
  }
  if (more > 0)
    changed.push(
      failure('rows', `another program wrote ${plural(more, 'more row', 'more rows')}`, 'Restore a backup.'),
    );
  return changed;
}

async function* changedRows(
  db: Db,
  table: ProtectedTable,
  entry: ProtectedTableEntry,
  { isGenuine }: ProtectedRows,
): AsyncGenerator<ProtectedRow> {
  const { key, where = {}, include, omit } = entry;
  const query = {
    where,
    orderBy: key.map((column) => ({ [column]: 'asc' })),
    take: PAGE,
    ...(include && { include }),
    ...(omit && { omit }),
  };
  let last: ProtectedRow | undefined;
  for (;;) {
    const after = last && { cursor: uniqueKey(entry, last), skip: 1 };
    const rows = await rowsOf(db, entry).findMany({ ...query, ...after });
    for (const row of rows) if (!isGenuine(table, coveredOf(entry, row), row.mac)) yield row;
    last = rows.at(-1);
    if (rows.length < PAGE) return;
    await yieldToEventLoop();
  }
}

// How the rows of every table with MACs (base/storage/protected-rows.ts) are read. `gatehouse doctor` verifies them;
// test/cli/protected-tables.test.ts compares the list with the schema. The audit log has MACs and a chain of its own (core/audit/chain/check.ts).

/** A row of any of these tables, as Prisma reads it. */
// biome-ignore lint/suspicious/noExplicitAny: the rows come from the tables, which type them
type ProtectedRow = Record<string, any>;

/** What is needed of a model of Prisma. */
interface Rows {
  findMany(query: object): Promise<ProtectedRow[]>;
  count(query: object): Promise<number>;
  update(change: object): Promise<unknown>;
}

interface ProtectedTableEntry {
  /** The model of Prisma. */
  model: keyof Tx['asStored'];
  /** The primary key. */
  key: readonly string[];
  /** What the MAC covers, where it is not the row as it is read. */
  covered?(row: ProtectedRow): ProtectedRow;
  /** Related rows that it covers too. */
  include?: object;
  /** What is not read, because it is long and the MAC does not cover it. */
  omit?: object;
  /** Which rows have a MAC; all by default. */
  where?: object;
  /** Such a row ends by itself after minutes or hours, and its user begins again. */
  isShortLived?: true;
  /** What doctor calls a row; by default the table with the key. */
  nameOf?(row: ProtectedRow): string;
}

/** What its declaration does not say of a table. */
const details: Partial<Record<ProtectedTable, Partial<ProtectedTableEntry>>> = {
  users: { nameOf: ({ username, id }) => `user ${username} (${id})` },
  roles: {
    include: { permissions: { select: { permission: true } } },
    covered: (row) => ({ ...row, permissions: permissionNames(row.permissions) }),
    nameOf: ({ name }) => `role ${name}`,
  },
  user_roles: { nameOf: ({ userId, roleId }) => `the role ${roleId} of user ${userId} (user_roles)` },
  groups: { nameOf: ({ name, id }) => `group ${name} (${id})` },
  group_members: {
    nameOf: ({ userId, groupId }) => `the user ${userId} in group ${groupId} (group_members)`,
  },
  password_credentials: { nameOf: ({ userId }) => `the password of user ${userId}` },
  passkeys: { nameOf: ({ id, userId }) => `the passkey ${id} of user ${userId}` },
  phone_factors: { nameOf: ({ userId }) => `the phone number for codes of user ${userId}` },
  password_reset_tokens: { isShortLived: true },
  mail_tokens: { isShortLived: true },
  connections: { nameOf: ({ id }) => `connection ${id}` },
  external_identities: { nameOf: ({ id, userId }) => `the connected sign-in ${id} of user ${userId}` },
  applications: { nameOf: ({ clientId }) => `application ${clientId}` },
  application_pictures: {
    omit: { content: true },
    nameOf: ({ applicationId }) => `the picture of application ${applicationId}`,
  },
  resources: { nameOf: ({ identifier }) => `API ${identifier}` },
  // A used row has lost the end of its MAC for good.
  oidc_artifacts: { where: { consumedAt: null, model: { notIn: [...MODELS_WITHOUT_MAC] } } },
  rp_sessions: { isShortLived: true },
  sign_in_attempts: { isShortLived: true },
  saml_requests: { isShortLived: true },
  api_keys: { nameOf: ({ id, userId }) => `the API key ${id} of user ${userId}` },
  event_streams: { nameOf: ({ name }) => `the event stream ${name}` },
  scim_connections: { nameOf: ({ name }) => `the SCIM connection ${name}` },
  scim_tokens: {
    nameOf: ({ id, connectionId }) => `the token ${id} of the SCIM connection ${connectionId}`,
  },
  scim_users: { nameOf: ({ userId }) => `the SCIM attributes of user ${userId}` },
  scim_groups: { nameOf: ({ groupId }) => `the SCIM attributes of group ${groupId}` },
  provisioned_objects: {
    nameOf: ({ kind, localId, applicationId }) => `what application ${applicationId} has of the ${kind} ${localId}`,
  },
  app_passwords: { nameOf: ({ id, userId }) => `the app password ${id} of user ${userId}` },
  sign_up_codes: { nameOf: ({ name }) => `the sign-up code ${name}` },
  logout_runs: { isShortLived: true },
  logout_participants: { isShortLived: true },
  logout_deliveries: { isShortLived: true },
  // And the pictures of brands. The other rows hold nothing but encrypted values, which are bound to their key.
  settings: {
    where: { OR: [{ key: { in: [...settingNames, APPLIED_KEY] } }, { key: { startsWith: IMAGE_KEY } }] },
    covered: (row) => coveredSetting(row as never),
    nameOf: ({ key }) => `setting ${key}`,
  },
};

export const tablesInOrder = Object.entries<TableDeclaration>(protectedTables).map(
  ([name, { model, key, emptyWhenForged, isSealedOnlyWhenSet }]): [ProtectedTable, ProtectedTableEntry] => {
    const where = isSealedOnlyWhenSet && { where: { [emptyWhenForged ?? '']: { not: null } } };
    const table = name as ProtectedTable;
    return [table, { model: model as ProtectedTableEntry['model'], key, ...where, ...details[table] }];
  },
);

/** A row of any table as far as its MAC covers it. */
export function coveredOf({ covered }: ProtectedTableEntry, row: ProtectedRow): Covered<ProtectedTable> {
  return (covered?.(row) ?? row) as Covered<ProtectedTable>;
}

export function rowsOf(db: Tx, { model }: ProtectedTableEntry): Rows {
  return db.asStored[model] as unknown as Rows;
}

/** The row in `where` or `cursor` of Prisma. */
export function uniqueKey({ key }: ProtectedTableEntry, row: ProtectedRow): object {
  const values = Object.fromEntries(key.map((column) => [column, row[column]]));
  return key.length === 1 ? values : { [key.join('_')]: values };
}

/** What a message calls the row. */
function nameOfRow(table: ProtectedTable, row: ProtectedRow): string {
  const { key } = protectedTables[table];
  return details[table]?.nameOf?.(row) ?? `${table} ${key.map((column) => String(row[column])).join(', ')}`;
}

function permissionNames(permissions: { permission: { resource: string; action: string } }[]): string[] {
  return permissions.map(({ permission }) => `${permission.resource}:${permission.action}`).sort();
}
