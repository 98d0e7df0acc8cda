// Each table is written by one folder. Raw SQL and the kind of the database are used only in the files listed here.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder } from '../support/source/imports.ts';

/** Prisma model -> the folder of src that may create, update and delete its rows. */
const owners: Record<string, string> = {
  ApiKey: 'people/api-keys',
  AppPassword: 'applications',
  Application: 'applications',
  ApplicationGroup: 'applications',
  ApplicationPicture: 'applications',
  ApplicationRole: 'applications',
  ApplicationUser: 'applications/consents',
  AuditChain: 'core/audit',
  AuditCheckpoint: 'core/audit',
  AuditEvent: 'core/audit',
  BulkChange: 'people',
  BulkChangePiece: 'people',
  ClientSecret: 'applications',
  ClientSecretUse: 'applications',
  Connection: 'federation/connections',
  ConnectionDocument: 'federation/connections',
  ConnectionDomain: 'federation/connections',
  ConnectionGroupMapping: 'federation/connections',
  ConnectionRoleMapping: 'federation/connections',
  ConnectionSecret: 'federation/connections',
  Consent: 'applications/consents',
  DataKey: 'core/keys',
  DirectoryRevision: 'base/storage',
  ExternalIdentity: 'federation',
  FirstFactorApproval: 'people/mfa',
  Group: 'people/groups',
  GroupAncestor: 'people/groups',
  GroupChild: 'people/groups',
  GroupDomain: 'people/groups',
  GroupInvitation: 'people/groups',
  GroupMember: 'people/groups',
  GroupOwner: 'people/groups',
  GroupRequest: 'people/groups',
  GroupRole: 'people/groups',
  IdempotencyKey: 'admin',
  JobLock: 'core/jobs',
  KnownBrowser: 'people/mfa',
  LogoutDelivery: 'protocols/logout',
  LogoutParticipant: 'protocols/logout',
  LogoutRun: 'protocols/logout',
  MailMessage: 'core/mail',
  MailToken: 'core/mail',
  OidcArtifact: 'protocols/oidc',
  OneTimeCode: 'people/mfa',
  Passkey: 'people/mfa',
  PasswordCredential: 'people/credentials',
  PasswordResetToken: 'core/mail',
  Permission: 'people/rbac',
  PhoneFactor: 'people/mfa',
  ProvisionedMember: 'protocols/provisioning',
  ProvisionedObject: 'protocols/provisioning',
  ProvisioningTarget: 'protocols/provisioning',
  ProvisioningToken: 'applications',
  RateLimit: 'people/rate-limits',
  RecoveryCode: 'people/mfa',
  Rejection: 'core/rejections',
  Resource: 'applications',
  RetiredSubject: 'people/accounts',
  Role: 'people/rbac',
  RolePermission: 'people/rbac',
  RpSession: 'protocols/oidc/store',
  SamlMetadata: 'protocols/saml',
  SamlNameId: 'protocols/saml',
  SamlParticipant: 'protocols/saml',
  SamlRequest: 'protocols/saml',
  SeenMessage: 'base/storage',
  SessionDevice: 'protocols/oidc',
  SavedFilter: 'admin/audit',
  Setting: 'core/settings',
  SignInAttempt: 'sign-in',
  EventDelivery: 'protocols/event-streams',
  EventStream: 'protocols/event-streams',
  ScimAddress: 'protocols/scim',
  ScimConnection: 'protocols/scim',
  ScimGroup: 'protocols/scim',
  ScimToken: 'protocols/scim',
  ScimUser: 'protocols/scim',
  SignUpCode: 'people/sign-up-codes',
  SigningKey: 'core/keys',
  StoredForm: 'base/http',
  TotpCredential: 'people/mfa',
  UpstreamRequest: 'federation',
  UpstreamSession: 'federation',
  User: 'people/accounts',
  UserNote: 'people/accounts',
  UserPicture: 'people/accounts',
  UserRole: 'people/rbac',
  UserValue: 'people/accounts',
};

/** Triggers of PostgreSQL write this table. */
const writtenByTriggers = ['DirectoryRevision'];

/** The sweep deletes expired rows of any table, and does nothing else. */
const sweep = 'server/schedule.ts';

/** The files with raw SQL that is not a hot statement, and the reason. */
const plainSql: Record<string, string> = {
  'base/storage/': 'the connection check, row locks, hot statements inside transactions',
  'cli/doctor/check-database.ts': 'PRAGMA and the migrations table',
  'server/secrets/reseal.ts': 'the same UPDATE for every encrypted column',
  'people/accounts/account-list.ts': 'a search for text that may hold % and _',
  'people/accounts/inactivity.ts': 'a comparison of two columns, by which the index continues where a piece ended',
  'people/accounts/seen.ts': 'an UPDATE that leaves updated_at as it is',
  'applications/application.ts': 'the condition of a partial index, as text',
  'applications/read.ts': 'a search for text that may hold % and _',
  'protocols/oidc/store/clients.ts': 'LIKE on text of any case',
  'core/audit/audit.ts': 'EXISTS over the roles of a user, who is no relation of the event',
  'admin/sessions/sessions.ts': 'the same for a session',
  'admin/applications/usage.ts': 'grouping by day',
  'admin/groups/groups.ts': 'counts up to a limit, in one statement',
  'admin/event-streams/deliveries.ts': 'the newest error of each application',
  'people/groups/read.ts': 'counts up to a limit, in one statement',
  'people/groups/rights.ts': 'joins of groups with those below them and above those, without the rows between',
  'people/rbac/new-administrators.ts': 'people that a statement of its callers finds, counted up to a limit',
  'admin/applications/sign-in-counts.ts': 'the same for all applications',
  'admin/roles/roles.ts': 'counts up to a limit for each role in one statement',
  'admin/overview/statistics.ts': 'UNION, grouping by day, a hint for the index',
  'protocols/oidc/store/sessions/sessions.ts': 'DELETE … RETURNING',
  'protocols/oidc/store/sessions/ended-sessions.ts':
    'INSERT … ON CONFLICT DO NOTHING with a count, inside a transaction',
};

/** The files that depend on the kind of the database; the composition root only names it on the settings page. */
const knowsTheKind = [
  ...['base/storage/', 'base/config.ts', 'cli/backup/', 'cli/upgrade/', 'cli/context.ts', 'cli/doctor/'],
  'admin/settings/console.ts',
];

const files = filesUnder('src', '.ts')
  .filter((file) => !file.startsWith(path.join('src', 'generated')))
  .map((file) => ({
    name: path.relative('src', file).split(path.sep).join('/'),
    source: readFileSync(file, 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, ''),
  }));
const isIn = (name: string, places: readonly string[]) =>
  places.some((place) => (place.endsWith('/') ? name.startsWith(place) : name === place));

const schema = readFileSync('prisma/schema.prisma', 'utf8');
const modelOfTable = new Map(
  [...schema.matchAll(/^model (\w+) \{[\s\S]*?@@map\("(\w+)"\)/gm)].map(([, model = '', table = '']) => [table, model]),
);
const modelOfDelegate = new Map(
  [...modelOfTable.values()].map((model) => [model[0]?.toLowerCase() + model.slice(1), model]),
);

/** The models whose rows this source changes, through Prisma or in SQL. */
function writtenBy(source: string): Set<string> {
  const calls = source.matchAll(/\.(\w+)\s*\.(?:create|update|upsert|delete)(?:Many)?(?:AndReturn)?\(/g);
  const statements = source.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+([a-z_]+)\b/g);
  return new Set([
    ...[...calls].flatMap(([, delegate = '']) => modelOfDelegate.get(delegate) ?? []),
    ...[...statements].flatMap(([, table = '']) => modelOfTable.get(table) ?? []),
  ]);
}

describe('the tables', () => {
  it('have one owner each', () => {
    expect(Object.keys(owners).sort()).toEqual([...modelOfTable.values()].sort());
  });

  it('are written by their owner only, and expired rows deleted by the sweep', () => {
    const writers = files.flatMap(({ name, source }) =>
      name === sweep ? [] : [...writtenBy(source)].map((model) => ({ name, model })),
    );
    const foreign = writers.filter(({ name, model }) => !name.startsWith(`${owners[model]}/`));
    expect(foreign.map(({ name, model }) => `src/${name} writes ${model}, which is ${owners[model]}'s`)).toEqual([]);
    const written = new Set(writers.map(({ model }) => model));
    const unwritten = [...writtenByTriggers].sort();
    expect(Object.keys(owners).filter((model) => !written.has(model))).toEqual(unwritten);
  });
});

describe('the database', () => {
  it('is written past the MACs of rows only to revoke a key that another program changed', () => {
    const write = /\basStored\s*\.\w+\s*\.(?:create|update|upsert)/;
    const writers = files.filter(({ source }) => write.test(source)).map(({ name }) => name);
    expect(writers).toEqual(['people/api-keys/api-keys.ts']);
  });

  it('is queried with raw SQL only by hot statements and where Prisma cannot express the query', () => {
    const users = files.filter(({ source }) => /\$(query|execute)Raw/.test(source)).map(({ name }) => name);
    expect(users.filter((name) => !isIn(name, Object.keys(plainSql)))).toEqual([]);
    expect(Object.keys(plainSql).filter((place) => !users.some((name) => isIn(name, [place])))).toEqual([]);
  });

  it('has its kind, SQLite or PostgreSQL, read only in the listed files', () => {
    const kind = /\bDatabaseKind\b|\bdatabaseKind\b|\bkind === '(sqlite|postgresql)'/;
    const users = files.filter(({ source }) => kind.test(source)).map(({ name }) => name);
    expect(users.filter((name) => !isIn(name, knowsTheKind))).toEqual([]);
  });
});
