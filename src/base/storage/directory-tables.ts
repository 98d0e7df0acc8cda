// The directory: tables that nearly every request reads and few requests write. What is cached of them (directory-cache.ts) is valid
// while their revision is the same: SQLite counts the statements that write them (sqlite/directory-revision.ts); on PostgreSQL a
// migration gives each a trigger `directory_changed`.

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
