// An account with its roles and permissions, and the statement that loads it, which is executed for every token, userinfo
// request and page (bench/README.md).

import { type AppError, ownedByFile } from '../../base/http/errors.ts';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import { hotStatements, type Sql, type Statement } from '../../base/storage/statements.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import { type AccountState, whereActive, withState } from './active.ts';
import { nameKey } from './names.ts';
import { type Address, addressOf, type TextFieldName, textFieldNames, textFields } from './profile-fields.ts';

export interface Account extends Record<TextFieldName, string | null> {
  /** The OIDC `sub`: random, never given to another account. */
  id: string;
  username: string;
  email: string | null;
  emailVerified: boolean;
  /** By the user, with a mailed link or at an upstream that is trusted; otherwise an administrator says that the address is verified. */
  emailProven: boolean;
  phoneNumber: string | null;
  /** The user has entered a code that was sent to this number. */
  phoneNumberVerified: boolean;
  address: Address | null;
  /** Custom attributes: text, numbers, booleans or lists of text. */
  attributes: Record<string, unknown>;
  ssoId: string | null;
  /** Whether it can be used now, and why not (active.ts). */
  isActive: boolean;
  state: AccountState;
  /** False: an administrator, a directory or the file has disabled it. */
  isEnabled: boolean;
  /** The server disabled it, because nobody used it. */
  wasUnused: boolean;
  /** Null: at once. */
  activeFrom: Date | null;
  /** Null: no end. */
  activeUntil: Date | null;
  /** The day of its last use (UTC); `createdAt`: never used. */
  lastSeenAt: Date;
  source: string;
  /** Of the terms that the person accepted last. */
  termsVersion: string | null;
  termsAcceptedAt: Date | null;
  /** The person asked for the deletion, and can keep the account until then. */
  deleteAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** The names of those that are granted or come from a group now, sorted. */
  roles: string[];
  /** `resource:action` of all roles together, sorted. */
  permissions: string[];
  /** Those that the user is in now, and every group above them, by name. */
  groups: AccountGroup[];
}

/** 403: the configuration file declares the user. */
export const ownedUser = (account: Account): AppError =>
  ownedByFile('user', { id: account.id, name: nameAndUsername(account) });

/** What names a group to applications. */
export interface NamedGroup {
  id: string;
  name: string;
  /** The names from the top: `/Science/Physics`. */
  path: string;
}

export interface AccountGroup extends NamedGroup {
  /** The user is a member; otherwise only through a group below it. */
  isDirect: boolean;
  /** The name of the group whose member the user is. */
  via: string;
  /** When it ends; null: no end. Of several ways in the one that lasts longest. */
  until: Date | null;
}

interface Row
  extends Omit<
    Account,
    'isActive' | 'state' | 'wasUnused' | 'address' | 'attributes' | 'roles' | 'permissions' | 'groups'
  > {
  address: string | null;
  attributes: string;
  usernameKey: string;
  emailKey: string | null;
  idleNotice: string;
  mac: string;
  grants: string | null;
  rolePermissions: string | null;
  memberships: string | null;
  groupAncestors: string | null;
  heldGroups: string | null;
  groupRoles: string | null;
}

// Names of roles, groups, resources and actions hold no control characters (people/rbac/names.ts), so tabs and line breaks can separate them.
// What reads a line (grantOf, createGenuineLines, rightsOf) names its fields in the same order.
const line = (...fields: string[]) => fields.join(" || '\t' || ");
const lines = (...fields: string[]) => `string_agg(${line(...fields)}, '\n')`;
const time = (column: string) => `coalesce(${column} || '', '')`;
const flag = (column: string) => `CASE WHEN ${column} THEN '1' ELSE '' END`;
const TEXTS = textFieldNames.map((field) => `u.${textFields[field].claim} AS "${field}"`).join(', ');
const IN_GROUPS = 'FROM group_members m JOIN group_ancestors a ON a.group_id = m.group_id';
// DISTINCT keeps PostgreSQL from looking for the user in each group below one that gives a role.
const ABOVE = `(SELECT DISTINCT a.ancestor_id AS id ${IN_GROUPS} WHERE m.user_id = u.id) above`;
// Not a join, for which PostgreSQL would read all groups for each user.
const GROUP = `SELECT ${line('g.id', 'g.name', 'g.name_key', 'g.path', flag('g.accepts_requests'), 'g.source', flag('g.file_members'), 'g.mac')}
    FROM groups g WHERE g.id = above.id`;
const COLUMNS = `u.id, u.username, u.username_key AS "usernameKey", u.email, u.email_key AS "emailKey", u.mac, u.email_verified AS "emailVerified", u.email_proven AS "emailProven", ${TEXTS},
  u.phone_number AS "phoneNumber", u.phone_number_verified AS "phoneNumberVerified", u.address, u.attributes,
  u.sso_id AS "ssoId", u.is_enabled AS "isEnabled", u.active_from AS "activeFrom", u.active_until AS "activeUntil", u.last_seen_at AS "lastSeenAt", u.idle_notice AS "idleNotice", u.source, u.terms_version AS "termsVersion", u.terms_accepted_at AS "termsAcceptedAt", u.delete_at AS "deleteAt", u.created_at AS "createdAt", u.updated_at AS "updatedAt",
  (SELECT ${lines('ur.role_id', 'ur.via', time('ur.since'), time('ur.until'), 'ur.mac', 'r.mac', 'r.name')}
    FROM user_roles ur JOIN roles r ON r.id = ur.role_id WHERE ur.user_id = u.id) AS grants,
  (SELECT string_agg(held.line, '\n') FROM (SELECT DISTINCT rp.role_id || '\t' || p.resource || ':' || p.action AS line
    FROM (SELECT ur.role_id FROM user_roles ur WHERE ur.user_id = u.id
      UNION SELECT gr.role_id FROM ${ABOVE} JOIN group_roles gr ON gr.group_id = above.id) ids
    JOIN role_permissions rp ON rp.role_id = ids.role_id JOIN permissions p ON p.id = rp.permission_id) held) AS "rolePermissions",
  (SELECT ${lines('m.group_id', 'm.source', time('m.since'), time('m.until'), 'm.mac')}
    FROM group_members m WHERE m.user_id = u.id) AS memberships,
  (SELECT ${lines('a.group_id', 'a.ancestor_id', 'a.mac')} ${IN_GROUPS}
    WHERE m.user_id = u.id AND a.ancestor_id <> a.group_id) AS "groupAncestors",
  (SELECT string_agg((${GROUP}), '\n') FROM ${ABOVE}) AS "heldGroups",
  (SELECT ${lines('gr.group_id', 'gr.role_id', 'gr.mac', 'r.mac', 'r.name')}
    FROM ${ABOVE} JOIN group_roles gr ON gr.group_id = above.id JOIN roles r ON r.id = gr.role_id) AS "groupRoles"`;

const MAX_CACHED = 1000;

const SELECT_ACCOUNT = `SELECT ${COLUMNS} FROM users u WHERE`;
export const statements = hotStatements('accounts', {
  byId: `${SELECT_ACCOUNT} u.id = ?`,
  // Two index look-ups. No username is the email address of another account (accounts.ts), so both find the same one.
  byLogin: `${SELECT_ACCOUNT} u.username_key = ? OR u.email_key = ? LIMIT 1`,
});

/** An account, and the next moment at which time changes whether it is active, its roles or its groups. */
interface Read {
  account: Account;
  changesAt: number;
}

/**
 * The look-ups of an account: one that this server did not write is unknown, and such a grant gives no right. By id outside a transaction
 * the account is cached until its next change, also by time, and frozen.
 */
export function createAccountLookup({ db, sql, now }: { db: Db; sql: Sql; now: Clock }) {
  const lines = createGenuineLines(() => sql.macs);

  async function queryOne(
    tx: Tx | undefined,
    statement: Statement,
    values: readonly string[],
    counts?: (one: Timed) => boolean,
  ): Promise<Read | undefined> {
    // An empty key matches no account.
    if (!values.every((value) => value !== '' && isStorable(value))) return undefined;
    const [row] = await (tx ? sql.in(tx) : sql).genuine<Row>('users', statement, ...values);
    return row && accountOf(row, lines, sql.macs, now(), counts);
  }

  /** The account as it will be when all its roles and memberships have begun. */
  async function findWithLater(id: string, tx?: Tx): Promise<Account | undefined> {
    const at = now();
    return (await queryOne(tx, statements.byId, [id], ({ until }) => until === null || until > at))?.account;
  }

  const findCached = cacheDirectory<Read>(
    sql,
    async (id) => {
      const read = await queryOne(undefined, statements.byId, [id]);
      return read && { ...read, account: freezeAccount(read.account) };
    },
    { max: MAX_CACHED },
  );

  async function find(id: string, tx?: Tx): Promise<Account | undefined> {
    if (tx) return (await queryOne(tx, statements.byId, [id]))?.account;
    const read = await findCached(id);
    if (!read || read.changesAt > now().getTime()) return read?.account;
    return (await queryOne(undefined, statements.byId, [id]))?.account;
  }

  return {
    find,
    findWithLater,
    /** The groups that the account owns now, each with the roles that it can give. */
    async ownerships(userId: string, tx: Tx = db): Promise<{ group: string; roles: string[] }[]> {
      const owned = await ownershipsOf(userId, now(), tx);
      const names = await inChunks([...new Set(owned.flatMap(({ covers }) => covers))], (some) =>
        tx.asStored.role.findMany({ where: { id: { in: some } }, select: { id: true, name: true } }),
      );
      return owned.map(({ group, covers }) => ({
        group,
        roles: names.filter(({ id }) => covers.includes(id)).map(({ name }) => name),
      }));
    },
    /** Those of these ids that exist, in their order, read in one statement. */
    async findAll(ids: readonly string[]): Promise<Account[]> {
      const read = await inChunks(ids, (piece) => {
        const { byIds } = hotStatements('accounts', { byIds: `${SELECT_ACCOUNT} u.id IN (${piece.map(() => '?')})` });
        return sql.in(db).genuine<Row>('users', byIds, ...piece);
      });
      const found = new Map(read.map((row) => [row.id, accountOf(row, lines, sql.macs, now()).account]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },
    /** By username or email address, in whatever case and spelling. */
    async findByLogin(login: string, tx?: Tx): Promise<Account | undefined> {
      return (await queryOne(tx, statements.byLogin, [nameKey(login), nameKey(login)]))?.account;
    },
    async findByEmail(email: string, tx?: Tx): Promise<Account | undefined> {
      const emailKey = nameKey(email);
      if (!isStorable(emailKey)) return undefined;
      const row = await (tx ?? db).asStored.user.findUnique({ where: { emailKey }, select: { id: true } });
      return row ? find(row.id, tx) : undefined;
    },
  };
}

function freezeAccount(account: Account): Account {
  for (const part of [account.address, account.attributes, account.roles, account.permissions, account.groups])
    Object.freeze(part);
  return Object.freeze(account);
}

type Ownership = NonNullable<Awaited<ReturnType<Tx['groupOwner']['findUnique']>>>;

/** Those that hold now. A deputy's one holds as long as that of the owner, whose account can be used, and covers the same. */
export async function holding<Row extends Ownership>(rows: readonly Row[], at: Date, tx: Tx): Promise<Row[]> {
  const isNow = ({ until }: Ownership) => isCurrent({ since: null, until }, at);
  const current = rows.filter(isNow);
  const deputies = current.filter(({ deputyOf }) => deputyOf !== null);
  if (deputies.length === 0) return current;
  const owners = await inChunks([...new Set(deputies.map(({ groupId }) => groupId))], (some) =>
    tx.groupOwner.findMany({ where: { groupId: { in: some }, deputyOf: null, user: whereActive(at) } }),
  );
  const byKey = new Map(owners.map((owner) => [`${owner.groupId} ${owner.userId}`, owner]));
  return current.flatMap((row) => {
    if (row.deputyOf === null) return row;
    const owner = byKey.get(`${row.groupId} ${row.deputyOf}`);
    return owner && isNow(owner) ? { ...row, covers: owner.covers } : [];
  });
}

/** The groups that a person owns now, or is a deputy in, each with the ids of the roles that the appointment covers. */
export async function ownershipsOf(userId: string, at: Date, tx: Tx) {
  const rows = await tx.groupOwner.findMany({ where: { userId }, include: { group: { select: { name: true } } } });
  return (await holding(rows, at, tx)).map(({ group, covers, ...row }) => ({
    ...row,
    group: group.name,
    covers: JSON.parse(covers) as string[],
  }));
}

function accountOf(
  {
    grants,
    rolePermissions,
    memberships,
    groupAncestors,
    heldGroups,
    groupRoles,
    usernameKey: _username,
    emailKey: _email,
    mac: _mac,
    idleNotice,
    ...row
  }: Row,
  lines: GenuineLines,
  macs: Sql['macs'],
  now: Date,
  counts = (one: Timed): boolean => isCurrent(one, now),
): Read {
  const direct = fieldsOf(grants)
    .map(grantOf)
    .filter(({ mac, ...grant }) => macs.isGenuine('user_roles', { userId: row.id, ...grant }, mac));
  const joined = lines.memberships(row.id, memberships);
  const groups = groupsOf(joined.filter(counts), {
    ancestors: lines.ancestors(groupAncestors),
    held: lines.groups(heldGroups),
  });
  const ids = new Set(groups.map(({ id }) => id));
  const held = [...direct.filter(counts), ...lines.roles(groupRoles).filter(({ groupId }) => ids.has(groupId))];
  const activity = {
    isEnabled: Boolean(row.isEnabled),
    activeFrom: row.activeFrom && new Date(row.activeFrom),
    activeUntil: row.activeUntil && new Date(row.activeUntil),
  };
  const account = {
    ...row,
    ...rightsOf(held, fieldsOf(rolePermissions), macs),
    groups,
    emailVerified: Boolean(row.emailVerified),
    emailProven: Boolean(row.emailProven),
    phoneNumberVerified: Boolean(row.phoneNumberVerified),
    address: addressOf(row.address),
    ...withState(activity, now),
    wasUnused: !activity.isEnabled && (idleNotice === 'disabled' || idleNotice === 'last'),
    lastSeenAt: new Date(row.lastSeenAt),
    termsAcceptedAt: row.termsAcceptedAt && new Date(row.termsAcceptedAt),
    deleteAt: row.deleteAt && new Date(row.deleteAt),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    attributes: JSON.parse(row.attributes) as Record<string, unknown>,
  };
  return {
    account,
    changesAt: nextChange([...direct, ...joined, { since: activity.activeFrom, until: activity.activeUntil }], now),
  };
}

interface Timed {
  since: Date | null;
  until: Date | null;
}

function grantOf([roleId = '', via = '', since = '', until = '', mac = '', roleMac = '', name = '']: string[]) {
  return { roleId, via, since: timeOf(since), until: timeOf(until), mac, roleMac, name };
}

/** The lines about groups that this server wrote. */
type GenuineLines = ReturnType<typeof createGenuineLines>;

/** Lines that are remembered, of some 300 bytes. */
const MAX_LINES = 20_000;

/**
 * Verifies the lines about groups. A person in 50 groups has some hundred, nearly all of them the same for every member, so that what a
 * genuine line says is remembered; one that another program wrote is verified, and raises the alarm, each time.
 */
function createGenuineLines(macs: () => Sql['macs']) {
  /** `read` returns undefined for a line that is not genuine. `of` tells whose it is. */
  function remembering<T>(read: (fields: string[], of: string) => T | undefined) {
    // In two generations: to find the first key of a Map from which many were deleted takes longer with each of them.
    let [known, older] = [new Map<string, T>(), new Map<string, T>()];
    return (text: string | null, of = ''): T[] => {
      if (!text) return [];
      const found: T[] = [];
      for (const line of text.split('\n')) {
        const key = `${of}\n${line}`;
        const value = known.get(key) ?? older.get(key) ?? read(line.split('\t'), of);
        if (value === undefined) continue;
        found.push(value);
        if (known.has(key)) continue;
        if (known.size >= MAX_LINES / 2) [known, older] = [new Map(), known];
        // A copy: a part of the text would keep all of it.
        known.set(Buffer.from(key).toString(), value);
      }
      return found;
    };
  }

  const memberships = remembering(([groupId = '', source = '', since = '', until = '', mac = ''], userId) => {
    const row = { groupId, source, since: timeOf(since), until: timeOf(until) };
    return macs().isGenuine('group_members', { userId, ...row }, mac) ? row : undefined;
  });
  return {
    memberships: (userId: string, text: string | null) => memberships(text, userId),
    ancestors: remembering(([groupId = '', ancestorId = '', mac = '']) =>
      macs().isGenuine('group_ancestors', { groupId, ancestorId }, mac) ? { groupId, ancestorId } : undefined,
    ),
    groups: remembering(([id = '', name = '', groupKey = '', path = '', accepts, source = '', byFile, mac = '']) => {
      const flags = { acceptsRequests: accepts === '1', fileMembers: byFile === '1' };
      const isGenuine = macs().isGenuine('groups', { id, name, nameKey: groupKey, path, source, ...flags }, mac);
      return isGenuine ? { id, name, path } : undefined;
    }),
    roles: remembering(([groupId = '', roleId = '', mac = '', roleMac = '', name = '']) =>
      macs().isGenuine('group_roles', { groupId, roleId }, mac) ? { groupId, roleId, roleMac, name } : undefined,
    ),
  };
}

/** SQLite has ISO 8601; PostgreSQL writes a timestamp in UTC without T and Z. */
function timeOf(text: string): Date | null {
  if (text === '') return null;
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`);
}

/** Whether a grant or a membership has begun and has not ended. */
export function isCurrent({ since, until }: Timed, now: Date): boolean {
  return (since === null || since <= now) && (until === null || until > now);
}

function nextChange(timed: readonly Timed[], now: Date): number {
  const times = timed.flatMap(({ since, until }) => [since, until]).filter((at) => at !== null && at > now);
  return Math.min(...times.map((at) => (at as Date).getTime()));
}

/** The groups of these memberships and all above them. */
function groupsOf(
  memberships: readonly { groupId: string; until: Date | null }[],
  {
    ancestors,
    held,
  }: {
    ancestors: readonly { groupId: string; ancestorId: string }[];
    held: readonly { id: string; name: string; path: string }[];
  },
): AccountGroup[] {
  if (memberships.length === 0) return [];
  const groups = new Map(held.map((group) => [group.id, group]));
  const above = new Map<string, Set<string>>();
  for (const { groupId, ancestorId } of ancestors) {
    const known = above.get(groupId);
    if (known) known.add(ancestorId);
    else above.set(groupId, new Set([ancestorId]));
  }
  const found = new Map<string, AccountGroup>();
  for (const { groupId, until } of memberships) {
    const via = groups.get(groupId)?.name;
    if (via === undefined) continue;
    for (const id of [groupId, ...(above.get(groupId) ?? [])]) {
      const group = groups.get(id);
      const other = found.get(id);
      if (!group) continue;
      const longest = other && !lastsLonger({ isDirect: id === groupId, until }, other) ? other : { via, until };
      const { name, path } = group;
      const isDirect = id === groupId || other?.isDirect === true;
      found.set(id, { id, name, path, isDirect, via: longest.via, until: longest.until });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function lastsLonger(one: { isDirect: boolean; until: Date | null }, other: AccountGroup): boolean {
  const [end, otherEnd] = [one.until?.getTime() ?? Infinity, other.until?.getTime() ?? Infinity];
  return end === otherEnd ? one.isDirect && !other.isDirect : end > otherEnd;
}

/** The names of the genuine roles among these, and the permissions of these roles. */
function rightsOf(
  held: readonly { roleId: string; roleMac: string; name: string }[],
  rolePermissions: string[][],
  { isGenuine }: Sql['macs'],
) {
  const roles = new Set<string>();
  const permissions = new Set<string>();
  for (const { roleId, roleMac, name } of held) {
    if (roles.has(name)) continue;
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
