// Which test files run on PostgreSQL too, after all have run on SQLite, and what each is for there. Domain code asks the
// database through Prisma or through hot statements, so a second run is worth its time where the databases differ: the text
// of a statement, types, locks, unique violations, transactions, case, NUL, sort order, several instances at once. What
// else runs on SQLite alone are look-ups, counts, updates and deletions by keys, through Prisma. Browsers, pages and protocol rules see
// nothing of the database: their scenarios run on SQLite. A flow has to execute places that no other file here does. `itOnSqlite` marks the tests of these files in
// which the databases do not differ, `itOnBothInLongRun` those that differ in nothing that another test here does not execute.
//
// What PostgreSQL treats differently, and the file that would notice:
// | On PostgreSQL | File |
// | --- | --- |
// | NUL and half a surrogate pair are errors, also in a key to look up | attacks/malformed-requests, attacks/malformed-claims |
// | Year 0, and cursors outside their range, are errors instead of "nothing found" | admin/changes, authzen/evaluation, audit/audit |
// | An index entry holds 2704 bytes | accounts/accounts |
// | Transactions deadlock or fail to serialize where SQLite lets one wait | storage/database, admin/changes, config-file/concurrent-apply |
// | A unique violation ends its transaction | rbac/roles, applications/applications, mfa/codes |
// | A transaction with a smaller id may commit later | event-streams/attacks |
// | Rows are locked one by one, so "read, compare, write" needs FOR UPDATE | admin/changes, audit/chain |
// | Instances start, migrate, make keys and the first administrator together | storage/migrations-concurrent, keys/first-start, config-file/first-admin |
// | Order and case depend on the collation | accounts/accounts, applications/list, admin/hundred-thousand |
// | Prepared statements have names, per connection | storage/statements |
// | Times, numbers and flags of plain SQL come back as other types | storage/statements, rate-limits/rate-limits |

/** Statements, types, locks and constraints: mostly without a server around them. */
const storageContract = {
  'account/erasure': 'what is left of a person in any table; entries erased piece by piece',
  'account/own-data': 'rows about a person, read table by table',
  'accounts/accounts': 'unique names and addresses by their folded key; lists with search and cursors',
  'accounts/attributes': 'custom attributes as JSON',
  'accounts/changes': 'concurrent changes of one row; retired subjects',
  'accounts/inactivity': 'accounts found by their last use in plain SQL, in pieces; runs at the same moment',
  'accounts/life': 'accounts that begin and end: times in queries, and the state of lists',
  'accounts/username-domains': 'an address that several take at once, as username and as email address',
  'admin/users/hand-over': 'ownerships and contacts that move in one transaction, under the lock of groups',
  'admin/hundred-thousand': 'SQL of the long lists and of the statistics by day',
  'applications/access-decision': 'the access rule as a condition of a query',
  'applications/applications': 'unique client IDs inside a transaction; secrets',
  'applications/list': 'search and cursors',
  'applications/people': 'the list of the people of an application, against the access rule',
  'applications/pictures/pictures': 'bytes; jobs that are claimed and retried; the cache of addresses',
  'attacks/malformed-claims': 'NUL and surrogates in parameters that become keys',
  'attacks/malformed-requests': 'NUL, surrogates and huge numbers at every route',
  'audit/audit': 'times as cursors, filters, pages',
  'audit/chain': 'the chain under a row lock, in any number of batches',
  'audit/erasure': 'entries that are erased in pieces, and by SQL',
  'audit/tampering': 'changes of the audit log by SQL, each named by its row',
  'config-file/groups': 'groups, members and ends of a file, found by names',
  'config-file/unchanged': 'the rows of a file that was applied, which triggers watch',
  'config-file/users': 'users of the file found by name, address and subject',
  'connections/connections': 'the registry without a directory cache; times in the MAC of a domain',
  'connections/documents': 'documents stored by two readers; times of faults',
  'credentials/credentials': 'a rehash loses against a change made meanwhile',
  'diagnostics/access-check': 'look-ups by any text that an administrator types',
  'jobs/destinations': 'jobs of every table claimed and retried by hot statements',
  'jobs/scheduler': 'job locks between instances; a database that is away',
  'jobs/sweep': 'deletion in batches by row identifier',
  'keys/first-start': 'serializable "only if there is none yet"',
  'keys/keyring-rotation': 'rotation by several instances, times that decide it',
  'keys/secrecy': 'what a dump of every table holds',
  'mail/deferred': 'a message whose recipient is looked up later, by one instance',
  'mail/delivery': 'claiming, retrying and giving up mail',
  'mail/outbox': 'mail written in the transaction of its cause',
  'attacks/groups':
    'NUL, half characters and look-alikes as names of groups; a list of members of which nothing is stored',
  'admin/group-desk': 'the people of a group as a condition of lists, sessions and the audit log',
  'groups/changes': 'a change of many members under the locks of groups, while others delete; a killed server',
  'groups/domains': 'a proof that is lost while people join by it; the members of a domain found by their source',
  'groups/one-group': 'roles and groups above, read for each token of a group; the group in stored codes and tokens',
  'oidc/agents/documents': 'clients with a document: rows, counts by prefix, and the end of consents and tokens',
  'oidc/agents/registration': 'unused clients, found by their audit entries and tokens',
  'oidc/tokens/api-access': 'access rules of APIs, read by the ids in them',
  'groups/invitations': 'an invitation that is used at the same time, and twenty at once',
  'groups/owners': 'requests that are asked and decided at the same time; ends compared in SQL',
  'groups/groups': 'the lock of the graph, times of plain SQL, unique names by their key',
  'mfa/codes': 'recovery codes: unique, used once by concurrent tries',
  'mfa/known-browsers': 'browsers by hash, limited in number',
  'mfa/passkeys': 'counters by conditional update, unique credentials',
  'mfa/phone': 'upsert of a number',
  'mfa/totp': 'a time step counts once among concurrent tries',
  'oidc/engine/cors': 'origins found by SQL in the redirect URIs of all clients',
  'oidc/store/read-ahead': 'token, grant, session and revision in one statement',
  'oidc/store/session-store': 'a session that is stored already, in one statement',
  'oidc/store/secrets-at-rest': 'what a dump of every table holds of tokens',
  'rate-limits/lockout': 'failures of a name and of an address counted in one statement',
  'rate-limits/parallel-sign-ins': 'attempts of two instances, begun and decided at the same moment',
  'rate-limits/rate-limits': 'windows and backoff by upsert with arithmetic on times',
  'rate-limits/storage-budget': 'the parts of a budget that two processes report',
  'rbac/access': 'permissions in effect, by SQL',
  'rbac/roles': 'permission sets: duplicates inside a transaction, names in any case',
  'rbac/forged-rights': 'the MACs in the statement that loads an account',
  'rbac/new-administrators': 'who has a role before and after a change, and the statements that count many',
  'saml/metadata/certificate-notice': 'a notice once, whichever instance sends it',
  'settings/settings': 'settings as JSON, seen by another instance',
  'storage/unit-of-work': 'writes of a request in one transaction',
  'storage/database': 'transactions, retries, unique violations, time zones, URLs',
  'storage/directory-cache': 'the revision by triggers, which every instance sees',
  'storage/migrations': 'migrations, their lock and their failures',
  'storage/migrations-agree': 'the migrations give the schema',
  'storage/migrations-concurrent': 'several instances migrate at once',
  'storage/protected-client': 'compare and set, times and flags in MACs',
  'storage/protected-rows': 'a column that a later version adds',
  'storage/pgbouncer': 'parameters of a connection that PgBouncer rejects',
  'storage/released': 'the trial in a schema of its own; databases of released versions',
  'storage/statements': 'hot statements: parameters, rows, prepared names',
  'storage/unavailable': 'silent, refusing and read-only servers',
};

/** One request wins, of several at the same moment or on several instances. */
const races = {
  'forward-auth/checks': 'a session and the revision in one statement; two nodes',
  'faults/long-outage': 'refreshes and a stop while the database is silent',
  'faults/postgresql-away': 'two nodes on a server that is frozen, killed and cut off',
  'faults/surface': 'every endpoint with the database away',
  'federation/active-directory': 'wrong passwords of several nodes counted in a sliding window',
  'federation/attacks': 'an answer is stored once and redeemed once',
  'federation/matching': 'an identity, its account and its roles in one transaction',
  'attacks/saml/replay': 'a message identifier is seen once',
  'config-file/concurrent-apply': 'several instances apply a file',
  'config-file/first-admin': 'several instances make the first administrator',
  'event-streams/attacks': 'an event that is committed after a later one',
  'event-streams/ssf': 'the audit chain behind transactions',
  'event-streams/webhooks': 'two nodes on one cursor',
  'logout/across-instances': 'a logout run that changes instance, and one that a restart interrupts',
  'logout/deliveries': 'claims of two instances, the lease of a killed one, giving up',
  'logout/ended-meanwhile': 'a session that ends while a request writes it',
  'oidc/clients/client-limits': 'one limit for all instances',
  'oidc/store/ended-session': 'a session that was ended is not saved again',
  'oidc/store/parallel-requests': 'one code, one refresh token, one session, many requests',
  'recovery/concurrency': 'one reset link, many posts',
  'registration/sign-up-codes': 'a sign-up code with one use, many accounts',
  'robustness/unwritable': 'a first start on a full disk beside a remote database',
  'robustness/two-instances': 'every flow with each request on another instance',
  'provisioning/failures': 'claims, leases and conditional writes of deliveries',
  'scim/attacks': 'what a directory cannot do; rows that are locked, NUL and half characters in keys',
  'scim/deleted-connections': 'a unique name among the connections that are not deleted',
  'scim/groups': 'fifty changes of one group at the same moment',
  'scim/leavers': 'sessions, tokens and the logout run of the transaction that disables a user',
  'scim/lists': 'filters by indexes, and pages in the order of creation',
  'scim/rejected-requests': 'the budget of a connection, and answers that wait for the stored row',
  'scim/users': 'unique names; a row that is locked while it changes',
  'sign-in/captcha': 'a proof of work counts once, on any instance',
  'sign-in/new-country': 'sign-ins found by a word of their details',
  'sign-in/commits': 'how many transactions a sign-in writes',
  'sign-in/parallel-second-factor': 'one sign-in attempt, many posts',
};

/** Whole flows, from the first request to the last. */
const flows = {
  'connections/attacks': 'rights on connections, and rows that another program wrote',
  'admin/changes': 'changes by the admin API: versions, row locks, idempotency, audit',
  'admin/endpoints': 'every endpoint of the admin API once',
  'admin/numbers': 'counts in SQL, with numbers from the JSON of audit entries',
  'admin/limited-rights': 'limits in the SQL of lists, sessions and the audit log',
  'admin/users/import': 'an import ends before the time of the statements of one request',
  'admin/console/applications': 'the console: an application registered, tried with a real sign-in, changed',
  'authzen/evaluation': 'AuthZEN requests about users, applications and permissions',
  'cli/operations': '`gatehouse doctor`',
  'cli/frozen-database': 'commands on a server that is silent',
  'cli/backup': 'the export, its snapshot under load, and the restore in one transaction',
  'cli/other-database': 'a server that moves from SQLite to PostgreSQL and back',
  'config-file/apply': 'a configuration file: plan, apply, apply again',
  'flows/oidc-sign-in': 'OpenID Connect, from /authorize to userinfo',
  'flows/own-session': 'the session of the account pages: renewed, ended',
  'flows/saml/sp-initiated': 'SAML SSO from the service provider',
  'oidc/tokens/device-flow': 'device authorization (RFC 8628)',
};

/** In a long run alone: the files above have the same statements and locks, with fewer rows. */
const inLongRun = {
  'provisioning/people': 'changes read in the order of the audit chain, members as differences',
  'groups/scale': 'ten thousand rows in one transaction; the list of holders of a role',
  'cli/hundred-thousand-move': 'a hundred thousand users in batches, both ways',
  'flows/portal': 'the portal and its applications',
};

/** Path below test/, without its ending, to the reason. */
export const postgresqlFiles: Readonly<Record<string, string>> = {
  ...storageContract,
  ...races,
  ...flows,
  ...inLongRun,
};

const pathsOf = (files: object): string[] => Object.keys(files).map((name) => `test/${name}.test.ts`);

export const postgresqlInclude: readonly string[] = pathsOf(postgresqlFiles);
/** Those of them that `npm test` leaves to a long run. */
export const postgresqlInLongRun: readonly string[] = pathsOf(inLongRun);

/** Those that `npm test` runs here and not on SQLite, which has its own tests of each part of them: they take long. */
const alone = ['admin/endpoints', 'faults/long-outage', 'faults/surface', 'jobs/destinations'] as const;
export const sqliteInLongRun: readonly string[] = alone.map((name) => `test/${name}.test.ts`);
