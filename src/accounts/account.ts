// A person as every other domain sees one, and the one query that loads it with roles and permissions.
// Raw SQL because it runs at every token, userinfo and page: a third of the time of the same query through Prisma.
import type { DatabaseKind } from '../platform/database-url.ts';
import { sqlIn, type Tx } from '../platform/db.ts';
import { keepFresh } from '../platform/kept.ts';
import { type Sql, sqlFor } from '../platform/sql.ts';
import { nameKey } from './names.ts';

export interface Account {
  /** The OIDC `sub`: random, never given to another person. */
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

// Names of roles, resources and actions hold no control characters (rbac/names.ts), so a line break can part them.
const COLUMNS = `u.id, u.username, u.email, u.email_verified AS "emailVerified", u.name, u.given_name AS "givenName",
  u.family_name AS "familyName", u.picture, u.locale, u.zoneinfo, u.phone_number AS "phoneNumber", u.attributes,
  u.sso_id AS "ssoId", u.is_active AS "isActive", u.source, u.created_at AS "createdAt", u.updated_at AS "updatedAt",
  (SELECT string_agg(r.name, '\n') FROM user_roles ur JOIN roles r ON r.id = ur.role_id
    WHERE ur.user_id = u.id) AS roles,
  (SELECT string_agg(p.resource || ':' || p.action, '\n') FROM user_roles ur
    JOIN role_permissions rp ON rp.role_id = ur.role_id JOIN permissions p ON p.id = rp.permission_id
    WHERE ur.user_id = u.id) AS permissions`;

const MAX_KEPT = 1000;

const FROM = `SELECT ${COLUMNS} FROM users u WHERE`;
const SQL = {
  byId: `${FROM} u.id = ?`,
  byEmail: `${FROM} u.email_key = ?`,
  bySsoId: `${FROM} u.sso_id = ?`,
  // Two index look-ups. A user name with an @ is its owner's e-mail address (names.ts), so both find the same account.
  byLogin: `${FROM} u.username_key = ? OR u.email_key = ? LIMIT 1`,
};

/** The ways to find an account; each is one query. By id outside a transaction it is kept, and frozen. */
export function createAccountLookup({ sql, kind }: { sql: Sql; kind: DatabaseKind }) {
  const text = sqlFor(kind, SQL);

  async function one(tx: Tx | undefined, statement: string, ...values: string[]): Promise<Account | undefined> {
    // No account has a NUL in its name, and PostgreSQL refuses to be asked for one.
    if (!values.every(isStorable)) return undefined;
    const [row] = await (tx ? sqlIn(tx) : sql).query<Row>(statement, ...values);
    return row && accountOf(row);
  }

  const kept = keepFresh<Account>(
    sql,
    async (id) => {
      const account = await one(undefined, text.byId, id);
      return account && frozen(account);
    },
    { max: MAX_KEPT },
  );

  return {
    byId: (id: string, tx?: Tx) => (tx ? one(tx, text.byId, id) : kept(id)),
    byLogin: (login: string, tx?: Tx) => one(tx, text.byLogin, nameKey(login), nameKey(login)),
    byEmail: (email: string, tx?: Tx) => one(tx, text.byEmail, nameKey(email)),
    bySsoId: (ssoId: string, tx?: Tx) => one(tx, text.bySsoId, ssoId),
  };
}

function frozen(account: Account): Account {
  for (const part of [account.attributes, account.roles, account.permissions]) Object.freeze(part);
  return Object.freeze(account);
}

function isStorable(value: string): boolean {
  return value !== '' && !value.includes('\0');
}

function accountOf(row: Row): Account {
  return {
    ...row,
    emailVerified: Boolean(row.emailVerified),
    isActive: Boolean(row.isActive),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
    roles: lines(row.roles),
    permissions: lines(row.permissions),
  };
}

function lines(text: string | null): string[] {
  return text ? [...new Set(text.split('\n'))].sort() : [];
}
