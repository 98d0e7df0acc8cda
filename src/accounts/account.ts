// An account with its roles and permissions, and the statement that loads it, which is executed for every token, userinfo
// request and page (docs/performance.md).

import type { Db, Tx } from '../storage/database.ts';
import { cacheDirectory } from '../storage/directory-cache.ts';
import { hotStatements, type Sql, type Statement } from '../storage/statements.ts';
import { isStorable } from '../storage/storable-text.ts';
import { nameKey } from './names.ts';

export interface Account {
  /** The OIDC `sub`: random, never given to another account. */
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
  givenName: string | null;
  familyName: string | null;
  picture: string | null;
  locale: string | null;
  zoneinfo: string | null;
  phoneNumber: string | null;
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

interface Row extends Omit<Account, 'attributes' | 'roles' | 'permissions'> {
  attributes: string;
  roles: string | null;
  permissions: string | null;
}

// Names of roles, resources and actions hold no control characters (rbac/names.ts), so a line break can separate them.
const COLUMNS = `u.id, u.username, u.email, u.email_verified AS "emailVerified", u.name, u.given_name AS "givenName",
  u.family_name AS "familyName", u.picture, u.locale, u.zoneinfo, u.phone_number AS "phoneNumber", u.attributes,
  u.sso_id AS "ssoId", u.is_active AS "isActive", u.source, u.created_at AS "createdAt", u.updated_at AS "updatedAt",
  (SELECT string_agg(held.name, '\n') FROM (SELECT DISTINCT r.name FROM user_roles ur JOIN roles r ON r.id = ur.role_id
    WHERE ur.user_id = u.id) held) AS roles,
  (SELECT string_agg(held.name, '\n') FROM (SELECT DISTINCT p.resource || ':' || p.action AS name FROM user_roles ur
    JOIN role_permissions rp ON rp.role_id = ur.role_id JOIN permissions p ON p.id = rp.permission_id
    WHERE ur.user_id = u.id) held) AS permissions`;

const MAX_CACHED = 1000;

const SELECT_ACCOUNT = `SELECT ${COLUMNS} FROM users u WHERE`;
export const statements = hotStatements('accounts', {
  byId: `${SELECT_ACCOUNT} u.id = ?`,
  // Two index look-ups. A user name with an @ is its owner's e-mail address (names.ts), so both find the same account.
  byLogin: `${SELECT_ACCOUNT} u.username_key = ? OR u.email_key = ? LIMIT 1`,
});

/** The look-ups of an account. By id outside a transaction the account is cached, and frozen. */
export function createAccountLookup({ db, sql }: { db: Db; sql: Sql }) {
  async function queryOne(tx: Tx | undefined, statement: Statement, ...values: string[]): Promise<Account | undefined> {
    // An empty key matches no account.
    if (!values.every((value) => value !== '' && isStorable(value))) return undefined;
    const [row] = await (tx ? sql.in(tx) : sql).query<Row>(statement, ...values);
    return row && accountOf(row);
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
      const row = await (tx ?? db).user.findUnique({ where: { emailKey }, select: { id: true } });
      return row ? byId(row.id, tx) : undefined;
    },
  };
}

function freezeAccount(account: Account): Account {
  for (const part of [account.attributes, account.roles, account.permissions]) Object.freeze(part);
  return Object.freeze(account);
}

function accountOf(row: Row): Account {
  return {
    ...row,
    emailVerified: Boolean(row.emailVerified),
    isActive: Boolean(row.isActive),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    roles: splitLines(row.roles),
    permissions: splitLines(row.permissions),
  };
}

function splitLines(text: string | null): string[] {
  return text ? [...new Set(text.split('\n'))].sort() : [];
}
