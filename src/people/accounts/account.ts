// An account with its roles and permissions, and the statement that loads it, which is executed for every token, userinfo
// request and page (docs/performance.md).

import type { Tx } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import { hotStatements, type Statement } from '../../base/storage/statements.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import type { Core } from '../../core/core.ts';
import { nameKey } from './names.ts';
import { type Address, addressOf, type TextFieldName, textFieldNames, textFields } from './profile-fields.ts';

export interface Account extends Record<TextFieldName, string | null> {
  /** The OIDC `sub`: random, never given to another account. */
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  phoneNumber: string | null;
  /** The user has entered a code that was sent to this number. */
  phoneNumberVerified: boolean;
  address: Address | null;
  /** Custom attributes: text, numbers, booleans or lists of text. */
  attributes: Record<string, unknown>;
  ssoId: string | null;
  isActive: boolean;
  source: string;
  createdAt: Date;
  updatedAt: Date;
  /** Names, sorted. */
  roles: string[];
  /** `resource:action` of all roles together, sorted. */
  permissions: string[];
}

interface Row extends Omit<Account, 'address' | 'attributes' | 'roles' | 'permissions'> {
  address: string | null;
  attributes: string;
  usernameKey: string;
  emailKey: string | null;
  mac: string;
  grants: string | null;
  rolePermissions: string | null;
}

// Names of roles, resources and actions hold no control characters (people/rbac/names.ts), so tabs and line breaks can separate them.
const TEXTS = textFieldNames.map((field) => `u.${textFields[field].claim} AS "${field}"`).join(', ');
const COLUMNS = `u.id, u.username, u.username_key AS "usernameKey", u.email, u.email_key AS "emailKey", u.mac, u.email_verified AS "emailVerified", ${TEXTS},
  u.phone_number AS "phoneNumber", u.phone_number_verified AS "phoneNumberVerified", u.address, u.attributes,
  u.sso_id AS "ssoId", u.is_active AS "isActive", u.source, u.created_at AS "createdAt", u.updated_at AS "updatedAt",
  (SELECT string_agg(ur.role_id || '\t' || ur.via || '\t' || ur.mac || '\t' || r.mac || '\t' || r.name, '\n')
    FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id) AS grants,
  (SELECT string_agg(held.line, '\n') FROM (SELECT DISTINCT ur.role_id || '\t' || p.resource || ':' || p.action AS line
    FROM user_roles ur JOIN role_permissions rp ON rp.role_id = ur.role_id JOIN permissions p ON p.id = rp.permission_id
    WHERE ur.user_id = u.id) held) AS "rolePermissions"`;

const MAX_CACHED = 1000;

const SELECT_ACCOUNT = `SELECT ${COLUMNS} FROM users u WHERE`;
export const statements = hotStatements('accounts', {
  byId: `${SELECT_ACCOUNT} u.id = ?`,
  // Two index look-ups. No username is the email address of another account (accounts.ts), so both find the same one.
  byLogin: `${SELECT_ACCOUNT} u.username_key = ? OR u.email_key = ? LIMIT 1`,
});

/** The look-ups of an account: one that this server did not write is unknown, and such a grant gives no right. By id outside a transaction the account is cached, and frozen. */
export function createAccountLookup({ db, sql }: Pick<Core, 'db' | 'sql'>) {
  async function queryOne(tx: Tx | undefined, statement: Statement, ...values: string[]): Promise<Account | undefined> {
    // An empty key matches no account.
    if (!values.every((value) => value !== '' && isStorable(value))) return undefined;
    const [row] = await (tx ? sql.in(tx) : sql).genuine<Row>('users', statement, ...values);
    return row && accountOf(row, sql.macs);
  }

  const findCached = cacheDirectory<Account>(
    sql,
    async (id) => {
      const account = await queryOne(undefined, statements.byId, id);
      return account && freezeAccount(account);
    },
    { max: MAX_CACHED },
  );

  const byId = (id: string, tx?: Tx) => (tx ? queryOne(tx, statements.byId, id) : findCached(id));

  return {
    byId,
    byLogin: (login: string, tx?: Tx) => queryOne(tx, statements.byLogin, nameKey(login), nameKey(login)),
    async byEmail(email: string, tx?: Tx): Promise<Account | undefined> {
      const emailKey = nameKey(email);
      if (!isStorable(emailKey)) return undefined;
      const row = await (tx ?? db).asStored.user.findUnique({ where: { emailKey }, select: { id: true } });
      return row ? byId(row.id, tx) : undefined;
    },
  };
}

function freezeAccount(account: Account): Account {
  for (const part of [account.address, account.attributes, account.roles, account.permissions]) Object.freeze(part);
  return Object.freeze(account);
}

function accountOf(
  { grants, rolePermissions, usernameKey: _username, emailKey: _email, mac: _mac, ...row }: Row,
  macs: Core['sql']['macs'],
): Account {
  return {
    ...row,
    ...rightsOf(row.id, { grants: fieldsOf(grants), rolePermissions: fieldsOf(rolePermissions) }, macs),
    emailVerified: Boolean(row.emailVerified),
    phoneNumberVerified: Boolean(row.phoneNumberVerified),
    address: addressOf(row.address),
    isActive: Boolean(row.isActive),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
  };
}

/** The names of the genuine roles that genuine grants give, and the permissions of these roles. */
function rightsOf(
  userId: string,
  { grants, rolePermissions }: { grants: string[][]; rolePermissions: string[][] },
  { isGenuine }: Core['sql']['macs'],
): Pick<Account, 'roles' | 'permissions'> {
  const roles = new Set<string>();
  const permissions = new Set<string>();
  for (const [roleId = '', via = '', mac = '', roleMac = '', name = ''] of grants) {
    if (!isGenuine('user_roles', { userId, roleId, via }, mac) || roles.has(name)) continue;
    const own = rolePermissions.flatMap(([id, permission = '']) => (id === roleId ? [permission] : [])).sort();
    if (!isGenuine('roles', { id: roleId, name, permissions: own }, roleMac)) continue;
    roles.add(name);
    for (const permission of own) permissions.add(permission);
  }
  return { roles: [...roles].sort(), permissions: [...permissions].sort() };
}

/** Lines of fields. */
function fieldsOf(text: string | null): string[][] {
  return text ? text.split('\n').map((line) => line.split('\t')) : [];
}
