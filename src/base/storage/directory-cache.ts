// Caches rows of the directory (users, roles, applications, connections) until the directory changes. Each look-up compares the
// revision of the database, which costs a hundredth of reading the rows again on SQLite. On PostgreSQL a request reads it once, beside
// its first rows where it can (request-reads.ts). A disabled user is out at once, on every instance: a cache by time, or LISTEN/NOTIFY, whose
// notices come after the commit, would not do. Cached values are shared, so nobody changes them; what time alone changes is not cached.
import { BoundedMap } from '../platform/bounded-map.ts';
import type { Revision, Sql } from './statements.ts';

export interface DirectoryCacheOptions<T> {
  /** The cache holds at most this many values and drops the oldest first. */
  max: number;
  /** Whether the value depends on the stored rows only, and not on the time, for example. */
  isCacheable?(value: T): boolean;
}

/** Wraps `load` with a cache. All callers share its values and must not change them. */
export function cacheDirectory<T>(
  sql: Sql,
  load: (key: string) => Promise<T | undefined>,
  { max, isCacheable = () => true }: DirectoryCacheOptions<T>,
): (key: string) => Promise<T | undefined> {
  const cache = new BoundedMap<string, { value: T; revision: Revision }>(max);

  async function read(key: string, revision: Revision): Promise<T | undefined> {
    const value = await load(key);
    // Stored with the revision before the read, so that a write during the read invalidates the value.
    if (value !== undefined && revision !== undefined && isCacheable(value)) cache.set(key, { value, revision });
    else cache.delete(key);
    return value;
  }

  function lookUp(key: string, revision: Revision): Promise<T | undefined> {
    const cached = cache.get(key);
    return cached && cached.revision === revision ? Promise.resolve(cached.value) : read(key, revision);
  }

  return (key) => {
    const revision = sql.revision();
    return revision instanceof Promise ? revision.then((now) => lookUp(key, now)) : lookUp(key, revision);
  };
}

// The directory: tables that nearly every request reads and few requests write. SQLite counts the statements that write them
// (sqlite/directory-revision.ts); on PostgreSQL a migration gives each a trigger `directory_changed`.

/** A new table also needs the trigger, in a migration for PostgreSQL. */
export const DIRECTORY_TABLES: readonly string[] = [
  'users',
  'roles',
  'permissions',
  'user_roles',
  'role_permissions',
  'groups',
  'group_members',
  'group_ancestors',
  'group_roles',
  'applications',
  'application_pictures',
  'application_roles',
  'application_groups',
  'client_secrets',
  'connections',
  'connection_secrets',
  'connection_documents',
  'connection_domains',
  'connection_role_mappings',
  'connection_group_mappings',
];
