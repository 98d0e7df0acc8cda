// MACs of rows that give a right, prove a person or decide what an application gets: the one declaration of the tables and of the
// columns that each MAC covers. A program that can write to the database, but has no data key, cannot make or change such a row: it counts
// as absent, and raises an alarm. docs/decisions/0031-macs-of-rows.md has the reasons.
//
// A MAC covers named columns, without those that have their default: a new column with a default changes no MAC, so rows stay valid in an
// upgrade, and two versions on one database accept each other's rows until the column is used. Never rename a column here, and never give it
// another kind or default: that needs another FORMAT, which verifies rows of the one before too.
import type { PrismaClient } from '../../generated/sqlite/client.ts';
import type { Vault } from '../platform/vault.ts';

/** How a value is read, so that both databases and both ways to read a row give the same text. */
interface Values {
  text: string | null;
  number: number | null;
  /** Raw SQL of SQLite reads 0 and 1. */
  flag: boolean | number;
  time: Date | string | number | null;
  bytes: Uint8Array;
  list: readonly string[];
  /** Whether there is a value. */
  given: unknown;
}
type Kind = keyof Values;
/** A kind, or a kind with the default that a column added later has; the default of a kind alone is null. */
type Column = Kind | readonly [Kind, default_: string | number | boolean];
type KindOf<Declared extends Column> = Declared extends readonly [infer One extends Kind, unknown]
  ? One
  : Declared & Kind;
export type CoveredColumns = Readonly<Record<string, Column>>;

export interface TableDeclaration {
  /** The model of Prisma. */
  model: string;
  /** The primary key. */
  key: readonly string[];
  /** The first column names the row in alarms. */
  covers: CoveredColumns;
  /**
   * Every other column, separated by spaces: it decides nothing, or nothing worse than a deleted row. Counts, notices, times of use, what lists
   * show, how far a job is; an encrypted value is bound to its row already.
   */
  uncovered?: string;
  /** A row with a wrong MAC is not absent, but counts as one without a value in this column. */
  emptyWhenForged?: string;
  /** Without a value there, a row has no MAC. */
  isSealedOnlyWhenSet?: true;
  /** The relations that are read with a row, by their field: the table whose rows are verified too, or null for one without MACs. */
  relations?: Readonly<Record<string, string | null>>;
  /** Its folder seals and verifies the rows itself, because their MAC covers more or less than the row as it is read. */
  byHand?: true;
}

/** Table -> what its MAC covers: every value that decides what the row gives or proves. */
export const protectedTables = {
  user_roles: {
    model: 'userRole',
    key: ['userId', 'roleId', 'via'],
    relations: { user: 'users', role: null },
    covers: { userId: 'text', roleId: 'text', via: 'text', since: 'time', until: 'time' },
    uncovered: 'notice',
  },
  groups: {
    model: 'group',
    key: ['id'],
    relations: { members: 'group_members', roles: 'group_roles', owners: 'group_owners' },
    covers: {
      id: 'text',
      name: 'text',
      nameKey: 'text',
      path: 'text',
      acceptsRequests: 'flag',
      source: 'text',
      fileMembers: 'flag',
    },
    uncovered: 'description createdAt updatedAt',
  },
  group_members: {
    model: 'groupMember',
    key: ['groupId', 'userId', 'source'],
    relations: { group: 'groups', user: 'users' },
    covers: { groupId: 'text', userId: 'text', source: 'text', since: 'time', until: 'time' },
    uncovered: 'notice addedBy createdAt',
  },
  group_children: {
    model: 'groupChild',
    key: ['parentId', 'childId'],
    relations: { parent: 'groups', child: 'groups' },
    covers: { parentId: 'text', childId: 'text' },
  },
  group_ancestors: {
    model: 'groupAncestor',
    key: ['groupId', 'ancestorId'],
    relations: { group: 'groups', ancestor: 'groups' },
    covers: { groupId: 'text', ancestorId: 'text' },
  },
  group_roles: {
    model: 'groupRole',
    key: ['groupId', 'roleId'],
    relations: { group: 'groups', role: null },
    covers: { groupId: 'text', roleId: 'text' },
  },
  group_owners: {
    model: 'groupOwner',
    key: ['groupId', 'userId'],
    relations: { group: 'groups', user: 'users' },
    covers: { groupId: 'text', userId: 'text', until: 'time', covers: 'text', deputyOf: 'text' },
    uncovered: 'appointedBy createdAt',
  },
  group_domains: {
    model: 'groupDomain',
    key: ['groupId', 'domain'],
    emptyWhenForged: 'provenAt',
    relations: { group: 'groups' },
    covers: { groupId: 'text', domain: 'text', challenge: 'text', provenAt: 'time', checkedAt: 'time' },
  },
  group_requests: {
    model: 'groupRequest',
    key: ['id'],
    relations: { group: 'groups', user: 'users' },
    covers: { id: 'text', groupId: 'text', userId: 'text', until: 'time', state: 'text', expiresAt: 'time' },
    uncovered: 'applicationId reason answer decidedBy decidedAt createdAt',
  },
  group_invitations: {
    model: 'groupInvitation',
    key: ['id'],
    relations: { group: 'groups' },
    covers: {
      id: 'text',
      groupId: 'text',
      email: 'text',
      emailKey: 'text',
      tokenHash: 'text',
      until: 'time',
      invitedBy: 'text',
      acceptedAt: 'time',
      expiresAt: 'time',
    },
    uncovered: 'acceptedBy createdAt',
  },
  bulk_changes: {
    model: 'bulkChange',
    key: ['id'],
    relations: { group: 'groups', pieces: 'bulk_change_pieces' },
    covers: {
      id: 'text',
      kind: 'text',
      groupId: 'text',
      by: 'text',
      total: 'number',
      state: 'text',
      options: ['text', ''],
    },
    uncovered: 'actor counts done changed error createdAt endedAt expiresAt',
  },
  // An encrypted value is bound to its row already, and `secrets rotate` encrypts it again.
  bulk_change_pieces: {
    model: 'bulkChangePiece',
    key: ['id'],
    relations: { change: 'bulk_changes' },
    covers: { id: 'text', changeId: 'text', position: 'number', members: 'text' },
    uncovered: 'rowsSealed reportSealed',
  },
  // The source of a role, and of a setting, decides who may change it, not what it gives.
  roles: {
    model: 'role',
    key: ['id'],
    byHand: true,
    covers: { id: 'text', name: 'text', permissions: 'list' },
    uncovered: 'description source createdAt',
  },
  password_credentials: {
    model: 'passwordCredential',
    key: ['userId'],
    covers: { userId: 'text', hash: 'text', mustChange: ['flag', false], long: ['flag', false], changedAt: 'time' },
    uncovered: 'kind',
  },
  passkeys: {
    model: 'passkey',
    key: ['id'],
    covers: { id: 'text', userId: 'text', publicKey: 'bytes', userVerified: 'flag' },
    uncovered: 'name counter transports aaguid backedUp discoverable createdAt lastUsedAt',
  },
  phone_factors: {
    model: 'phoneFactor',
    key: ['userId'],
    covers: { userId: 'text', number: 'text' },
    uncovered: 'confirmedAt lastUsedAt',
  },
  password_reset_tokens: {
    model: 'passwordResetToken',
    key: ['id'],
    covers: { id: 'text', userId: 'text', tokenHash: 'text', expiresAt: 'time', usedAt: 'time' },
    uncovered: 'createdAt',
  },
  mail_tokens: {
    model: 'mailToken',
    key: ['id'],
    covers: {
      id: 'text',
      userId: 'text',
      tokenHash: 'text',
      expiresAt: 'time',
      purpose: 'text',
      data: 'text',
      usedAt: 'time',
    },
    uncovered: 'openedAt bouncedAt createdAt',
  },
  connections: {
    model: 'connection',
    key: ['id'],
    covers: {
      id: 'text',
      kind: 'text',
      preset: 'text',
      name: 'text',
      enabled: 'flag',
      position: 'number',
      settings: 'text',
      source: 'text',
    },
    uncovered: 'createdAt updatedAt',
  },
  connection_documents: {
    model: 'connectionDocument',
    key: ['connectionId', 'kind'],
    covers: { connectionId: 'text', kind: 'text', content: 'text' },
    uncovered: 'readAt nextReadAt failingSince lastError',
  },
  connection_domains: {
    model: 'connectionDomain',
    key: ['domain'],
    emptyWhenForged: 'provenAt',
    covers: { domain: 'text', connectionId: 'text', challenge: 'text', provenAt: 'time', checkedAt: 'time' },
  },
  connection_role_mappings: {
    model: 'connectionRoleMapping',
    key: ['connectionId', 'group', 'roleId'],
    relations: { role: null },
    covers: { connectionId: 'text', group: 'text', roleId: 'text' },
  },
  connection_group_mappings: {
    model: 'connectionGroupMapping',
    key: ['connectionId', 'upstream', 'groupId'],
    relations: { group: 'groups' },
    covers: { connectionId: 'text', upstream: 'text', groupId: 'text' },
  },
  external_identities: {
    model: 'externalIdentity',
    key: ['id'],
    covers: {
      connectionId: 'text',
      subject: 'text',
      userId: 'text',
      // When its directory is asked again about the user, and whether it has lost them.
      lastUsedAt: 'time',
      checkedAt: 'time',
      goneSince: 'time',
    },
    uncovered: 'id label linkedAt',
  },
  upstream_sessions: {
    model: 'upstreamSession',
    key: ['id'],
    covers: { id: 'text', sessionUid: 'text', connectionId: 'text', userId: 'text', subject: 'text' },
    uncovered: 'sid nameIdHash dataSealed createdAt expiresAt',
  },
  users: {
    model: 'user',
    key: ['id'],
    relations: { roles: 'user_roles', externalIdentities: 'external_identities', groups: 'group_members' },
    covers: {
      id: 'text',
      username: 'text',
      usernameKey: 'text',
      email: 'text',
      emailKey: 'text',
      emailVerified: 'flag',
      emailProven: 'flag',
      phoneNumber: 'text',
      phoneNumberVerified: 'flag',
      address: 'text',
      attributes: 'text',
      ssoId: 'text',
      isEnabled: 'flag',
      activeFrom: 'time',
      activeUntil: 'time',
      source: 'text',
      termsVersion: 'text',
      termsAcceptedAt: 'time',
      deleteAt: 'time',
      createdAt: 'time',
      name: 'text',
      givenName: 'text',
      middleName: 'text',
      familyName: 'text',
      nickname: 'text',
      profile: 'text',
      picture: 'text',
      website: 'text',
      gender: 'text',
      birthdate: 'text',
      locale: 'text',
      zoneinfo: 'text',
    },
    uncovered: 'searchKey nameKey lastNameKey lastSeenAt endNotice idleNotice idleNoticeAt updatedAt hidesFirstSteps',
  },
  retired_subjects: {
    model: 'retiredSubject',
    key: ['id'],
    covers: { id: 'text', userId: 'text', retiredAt: 'time' },
  },
  known_browsers: {
    model: 'knownBrowser',
    key: ['id'],
    emptyWhenForged: 'trustedUntil',
    isSealedOnlyWhenSet: true,
    covers: { userId: 'text', tokenHash: 'text', trustedUntil: 'time' },
    uncovered: 'id userAgent address createdAt lastSeenAt expiresAt',
  },
  applications: {
    model: 'application',
    key: ['id'],
    relations: { roles: 'application_roles', groups: 'application_groups' },
    covers: {
      id: 'text',
      clientId: 'text',
      protocol: 'text',
      name: 'text',
      enabled: 'flag',
      consent: 'text',
      access: 'text',
      metadata: 'text',
      source: 'text',
    },
    uncovered: 'nameKey createdAt updatedAt',
  },
  application_pictures: {
    model: 'applicationPicture',
    key: ['applicationId'],
    emptyWhenForged: 'name',
    isSealedOnlyWhenSet: true,
    covers: { applicationId: 'text', url: 'text', name: 'text' },
    uncovered: 'content tries nextTryAt lastError updatedAt',
  },
  application_roles: {
    model: 'applicationRole',
    key: ['applicationId', 'roleId'],
    relations: { role: null },
    covers: { applicationId: 'text', roleId: 'text' },
  },
  application_groups: {
    model: 'applicationGroup',
    key: ['applicationId', 'groupId'],
    relations: { group: 'groups' },
    covers: { applicationId: 'text', groupId: 'text' },
  },
  // An encrypted value is bound to its row already, and `secrets rotate` encrypts it again.
  client_secrets: {
    model: 'clientSecret',
    key: ['id'],
    relations: { use: null },
    covers: { id: 'text', applicationId: 'text', secretHash: 'text', secretSealed: 'given', expiresAt: 'time' },
    uncovered: 'lastFour createdAt',
  },
  resources: {
    model: 'resource',
    key: ['identifier'],
    covers: {
      identifier: 'text',
      scopes: 'text',
      scopePermissions: 'text',
      scopeTitles: ['text', '{}'],
      signingAlg: 'text',
      access: ['text', 'everyone'],
      clients: ['text', 'registered'],
      documentHosts: ['text', '[]'],
      agentScopes: ['text', '[]'],
      source: 'text',
    },
    uncovered: 'createdAt',
  },
  consents: {
    model: 'consent',
    key: ['id'],
    covers: { userId: 'text', applicationId: 'text', granted: 'text', updatedAt: 'time' },
    uncovered: 'id grantedAt',
  },
  oidc_artifacts: {
    model: 'oidcArtifact',
    key: ['id'],
    byHand: true,
    covers: {
      id: 'text',
      model: 'text',
      payload: 'text',
      grantId: 'text',
      userCode: 'text',
      uid: 'text',
      accountId: 'text',
      clientId: 'text',
    },
    uncovered: 'consumedAt expiresAt',
  },
  event_streams: {
    model: 'eventStream',
    key: ['id'],
    relations: { deliveries: null },
    covers: {
      id: 'text',
      name: 'text',
      kind: 'text',
      url: 'text',
      format: 'text',
      body: 'text',
      events: 'text',
      applications: 'text',
      groups: 'text',
      atLeast: 'number',
      withinMinutes: 'number',
      quietMinutes: 'number',
      enabled: 'flag',
      receiver: 'text',
      source: 'text',
      // An encrypted value is bound to its row already.
      secretSealed: 'given',
      previousSecretSealed: 'given',
      previousUntil: 'time',
    },
    uncovered:
      'createdAt updatedAt cursor lastSeq replayCursor replayUntil failures failingSince retryAt pausedAt lastError lastSuccessAt',
  },
  // All but the end, because the session ends with its single sign-on session at the latest.
  rp_sessions: {
    model: 'rpSession',
    key: ['id'],
    covers: {
      id: 'text',
      clientId: 'text',
      userId: 'text',
      ssoUid: 'text',
      acr: 'text',
      amr: 'text',
      authTime: 'time',
    },
    uncovered: 'sid createdAt expiresAt',
  },
  sign_in_attempts: {
    model: 'signInAttempt',
    key: ['uid'],
    covers: { uid: 'text', userId: 'text', factors: 'text', data: 'text', expiresAt: 'time' },
    uncovered: 'tries',
  },
  // Without resetByMailAt it is as without the row.
  first_factor_approvals: {
    model: 'firstFactorApproval',
    key: ['userId'],
    emptyWhenForged: 'allowedUntil',
    isSealedOnlyWhenSet: true,
    covers: { userId: 'text', allowedUntil: 'time' },
    uncovered: 'requestedAt resetByMailAt',
  },
  // Once approved, a waiting document decides where assertions go: until then nobody may exchange it.
  saml_metadata: {
    model: 'samlMetadata',
    key: ['applicationId'],
    emptyWhenForged: 'pendingXml',
    isSealedOnlyWhenSet: true,
    covers: { applicationId: 'text', url: 'text', pendingXml: 'text', pendingSince: 'time' },
    uncovered: 'nextReadAt pendingKey rejectedKey',
  },
  // requestId is in data, too. A request that could be answered again is answered to the same browser.
  saml_requests: {
    model: 'samlRequest',
    key: ['id'],
    covers: { id: 'text', applicationId: 'text', browserHash: 'text', data: 'text' },
    uncovered: 'requestId usedAt expiresAt',
  },
  // A NameID cannot be moved to another user.
  saml_name_ids: {
    model: 'samlNameId',
    key: ['id'],
    covers: { userId: 'text', applicationId: 'text', value: 'text' },
    uncovered: 'id createdAt',
  },
  api_keys: {
    model: 'apiKey',
    key: ['id'],
    covers: {
      id: 'text',
      userId: 'text',
      name: 'text',
      secretHash: 'text',
      permissions: 'text',
      createdBy: 'text',
      createdAt: 'time',
      expiresAt: 'time',
      revokedAt: 'time',
    },
    uncovered: 'lastFour lastUsedAt',
  },
  app_passwords: {
    model: 'appPassword',
    key: ['id'],
    relations: { user: 'users', application: 'applications' },
    covers: {
      id: 'text',
      userId: 'text',
      applicationId: 'text',
      name: 'text',
      secretHash: 'text',
      createdAt: 'time',
    },
    uncovered: 'lastUsedAt',
  },
  sign_up_codes: {
    model: 'signUpCode',
    key: ['id'],
    covers: {
      id: 'text',
      name: 'text',
      codeHash: 'text',
      maxUses: 'number',
      uses: 'number',
      source: 'text',
      createdBy: 'text',
      createdAt: 'time',
      expiresAt: 'time',
    },
  },
  scim_connections: {
    model: 'scimConnection',
    key: ['id'],
    covers: {
      id: 'text',
      name: 'text',
      source: 'text',
      clientId: 'text',
      ownedDomains: 'text',
      adopt: 'text',
      mayCreate: 'flag',
      deletePolicy: 'text',
      mappings: 'text',
      removedAt: 'time',
    },
    uncovered: 'isApplied createdAt updatedAt lastRequestAt',
  },
  scim_tokens: {
    model: 'scimToken',
    key: ['id'],
    relations: { connection: 'scim_connections' },
    covers: { id: 'text', connectionId: 'text', secretHash: 'text', source: 'text', expiresAt: 'time' },
    uncovered: 'lastFour createdAt lastUsedAt',
  },
  // The content too: the next change of the client would write it to the account.
  scim_users: {
    model: 'scimUser',
    key: ['userId'],
    relations: { user: 'users', connection: 'scim_connections' },
    covers: { userId: 'text', connectionId: 'text', externalId: 'text', content: 'text', deletedAt: 'time' },
    uncovered: 'createdAt updatedAt',
  },
  scim_groups: {
    model: 'scimGroup',
    key: ['groupId'],
    relations: { group: 'groups', connection: 'scim_connections' },
    covers: { groupId: 'text', connectionId: 'text', externalId: 'text', content: 'text', isOwn: 'flag' },
    uncovered: 'displayKey createdAt updatedAt',
  },
  // Whose account there is changed.
  provisioned_objects: {
    model: 'provisionedObject',
    key: ['id'],
    covers: { id: 'text', applicationId: 'text', kind: 'text', localId: 'text', remoteId: 'text' },
    uncovered: 'accepted isActive pending isHeld version claimedUntil tries nextTryAt lastError sentAt leftAt',
  },
  // Whose the run is, how it ends, until when. The browser and the progress change without the MAC.
  logout_runs: {
    model: 'logoutRun',
    key: ['id'],
    relations: { participants: 'logout_participants' },
    covers: {
      id: 'text',
      userId: 'text',
      reason: 'text',
      initiator: 'text',
      completion: 'text',
      createdAt: 'time',
      expiresAt: 'time',
    },
    uncovered: 'browserHash seenAt finishedAt',
  },
  // Who is notified, of which session. The channel and the progress change without the MAC.
  logout_participants: {
    model: 'logoutParticipant',
    key: ['id'],
    relations: { run: 'logout_runs' },
    covers: {
      id: 'text',
      runId: 'text',
      position: 'number',
      clientId: 'text',
      protocol: 'text',
      name: 'text',
      data: 'text',
    },
    uncovered: 'channel state reason probeResult messageId deadline settledAt',
  },
  logout_deliveries: {
    model: 'logoutDelivery',
    key: ['id'],
    covers: {
      id: 'text',
      channel: 'text',
      participantId: 'text',
      clientId: 'text',
      accountId: 'text',
      sid: 'text',
      createdAt: 'time',
    },
    uncovered: 'tries nextTryAt doneAt failedAt lastError',
  },
  // An administrator may apply a fix that is made of it: an address to register, a subject to connect.
  rejections: {
    model: 'rejection',
    key: ['id'],
    covers: {
      id: 'text',
      endpoint: 'text',
      reason: 'text',
      message: 'text',
      clientId: 'text',
      subjectId: 'text',
      data: 'text',
    },
    uncovered: 'at requestId expiresAt',
  },
  settings: {
    model: 'setting',
    key: ['key'],
    byHand: true,
    covers: { key: 'text', value: 'text', updatedAt: 'time' },
    uncovered: 'source',
  },
} as const satisfies Record<string, TableDeclaration>;

type Declared = typeof protectedTables;
type ColumnsOf<Model extends keyof PrismaClient> = PrismaClient[Model] extends { fields: infer Fields }
  ? keyof Fields
  : never;
type Words<Text> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
type NamedBy<Declaration> =
  | (Declaration extends { covers: infer Columns } ? keyof Columns : never)
  | (Declaration extends { uncovered: infer Names } ? Words<Names> : never);
type Undeclared = {
  [Table in keyof Declared]: `${Table}.${Exclude<ColumnsOf<Declared[Table]['model']>, NamedBy<Declared[Table]> | 'mac'> & string}`;
}[keyof Declared];
type NoneOf<_Undeclared extends never> = keyof Declared;
/** An error here names the columns, as `table.column`, that are neither in `covers` nor in `uncovered`. */
export type ProtectedTable = NoneOf<Undeclared>;
/** A row as far as its MAC covers it. */
export type Covered<Table extends ProtectedTable> = {
  readonly [Name in keyof (typeof protectedTables)[Table]['covers']]: Values[KindOf<
    (typeof protectedTables)[Table]['covers'][Name] & Column
  >];
};

const FORMAT = 1;

/** The text that a MAC covers: the format, and name and value of each column that does not have its default. */
export function coveredText(columns: CoveredColumns, row: Readonly<Record<string, unknown>>): string {
  const text: unknown[] = [FORMAT];
  for (const name in columns) {
    const column = columns[name] as Column;
    const [kind, byDefault] = typeof column === 'string' ? [column, null] : column;
    const value = coveredValue(kind, row[name]);
    if (value !== byDefault) text.push(name, value);
  }
  return JSON.stringify(text);
}

function coveredValue(kind: Kind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'flag') return Boolean(value);
  if (kind === 'given') return true;
  if (kind === 'time') return new Date(value as Date).toISOString();
  if (kind === 'bytes') return Buffer.from(value as Uint8Array).toString('base64url');
  return value;
}

export type ProtectedRows = ReturnType<typeof createProtectedRows>;

export interface ProtectedRowsDependencies {
  vault: Vault;
  /** core/audit/alarm.ts; catches its errors. */
  alarm: { raise(kind: 'row', message: string, data: Record<string, string>): Promise<void> };
}

/** The number of characters that are removed from the end of a MAC when its row is consumed. The rest has 132 bits. */
export const REMOVED_MAC_CHARACTERS = 21;

export function createProtectedRows({ vault, alarm }: ProtectedRowsDependencies) {
  const purpose = (table: ProtectedTable) => `row ${table}`;
  const raise = <Table extends ProtectedTable>(table: Table, row: Covered<Table>): false => {
    const [first = ''] = Object.keys(protectedTables[table].covers);
    const key = String((row as Record<string, unknown>)[first] ?? '');
    // Not awaited, because a transaction may be open.
    void alarm.raise('row', `a row of ${table} was written by another program: ${key}`, { table, key });
    return false;
  };
  return {
    /** The MAC to store with a row. */
    macOf: <Table extends ProtectedTable>(table: Table, row: Covered<Table>): string =>
      vault.mac(coveredText(protectedTables[table].covers, row), purpose(table)),
    /** Whether this server wrote the row; raises an alarm if not. */
    isGenuine: <Table extends ProtectedTable>(table: Table, row: Covered<Table>, mac: string): boolean =>
      vault.macMatches(coveredText(protectedTables[table].covers, row), mac, purpose(table)) || raise(table, row),
    /**
     * The same for a consumed row, whose stored MAC is shortened. The removed characters are lost, so no program can make the row
     * valid again.
     */
    isGenuineConsumed: <Table extends ProtectedTable>(table: Table, row: Covered<Table>, mac: string): boolean =>
      vault.macMatches(coveredText(protectedTables[table].covers, row), mac, purpose(table), REMOVED_MAC_CHARACTERS) ||
      raise(table, row),
  };
}
