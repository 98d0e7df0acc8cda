// Everything that is stored about a person (GDPR, articles 15 and 20), for the page "Your data", the download and administrators.
// docs/decisions/0050-privacy.md says what is left out, and why. test/account/own-data.test.ts fails for a column about a person that is
// neither here nor among its exceptions.

import type { Db } from '../base/storage/database.ts';
import { type PageText, type Text, t } from '../base/texts/text.ts';
import type { Actor, AuditEntry } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { browserName } from '../core/mail/browser-name.ts';
import type { Account } from '../people/accounts/account.ts';
import { type Audience, attributesFor, loggedAttributes } from '../people/accounts/simple-attributes.ts';

export type OwnData = ReturnType<typeof createOwnData>;

type Row = Record<string, unknown>;
type Value = string | number | boolean | null | Date | Value[] | { [key: string]: Value };

/** The rows of one table about a person. */
interface OwnTable {
  /** The model of Prisma. */
  model: string;
  /** The columns that name a row of the person; `id` if absent. */
  key?: readonly string[];
  /** The column with the id of the person; `userId` if absent. */
  by?: string;
  /** Only these of the rows. */
  where?: Row;
  /** The columns, and those of the row that it belongs to. */
  columns: readonly string[];
  with?: { relation: string; columns: readonly string[] };
  /** JSON in a column of text. */
  json?: readonly string[];
  /** The narrowest audience whose export has it. Notes may be about other people too, so an administrator reads them first. */
  leastAudience?: Audience;
  /** On the page: the heading, the columns that name a row, and those with its times. */
  page?: { title: Text; names: readonly string[]; at?: string; since?: string; lastUsed?: string; until?: string };
}

const APPLICATION = { relation: 'application', columns: ['name', 'clientId'] };
const GROUP = { relation: 'group', columns: ['name', 'path'] };

/** Key of the download -> the rows. */
export const ownTables: Readonly<Record<string, OwnTable>> = {
  password: { model: 'passwordCredential', key: ['userId'], columns: ['mustChange', 'long', 'changedAt'] },
  passkeys: {
    model: 'passkey',
    columns: [
      ...['name', 'aaguid', 'transports', 'backedUp', 'discoverable', 'userVerified', 'counter'],
      ...['createdAt', 'lastUsedAt'],
    ],
    json: ['transports'],
    page: { title: t('factors.passkeys'), names: ['name'], since: 'createdAt', lastUsed: 'lastUsedAt' },
  },
  authenticator_app: {
    model: 'totpCredential',
    key: ['userId'],
    columns: ['algorithm', 'digits', 'period', 'confirmedAt', 'createdAt'],
    page: { title: t('factors.app'), names: [], since: 'confirmedAt' },
  },
  phone_for_codes: {
    model: 'phoneFactor',
    key: ['userId'],
    columns: ['number', 'confirmedAt', 'lastUsedAt'],
    page: { title: t('factors.sms'), names: ['number'], since: 'confirmedAt', lastUsed: 'lastUsedAt' },
  },
  recovery_codes: { model: 'recoveryCode', columns: ['createdAt', 'usedAt'] },
  first_factor_approval: {
    model: 'firstFactorApproval',
    key: ['userId'],
    columns: ['requestedAt', 'allowedUntil', 'resetByMailAt'],
  },
  roles: {
    model: 'userRole',
    key: ['roleId', 'via'],
    columns: ['via', 'since', 'until', 'notice'],
    with: { relation: 'role', columns: ['name', 'description'] },
    page: { title: t('own-data.roles'), names: ['role.name'], since: 'since', until: 'until' },
  },
  groups: {
    model: 'groupMember',
    key: ['groupId', 'source'],
    columns: ['source', 'since', 'until', 'notice', 'createdAt'],
    with: GROUP,
    page: { title: t('groups.title'), names: ['group.name'], since: 'createdAt', until: 'until' },
  },
  groups_managed: {
    model: 'groupOwner',
    key: ['groupId'],
    columns: ['until', 'createdAt'],
    with: GROUP,
    where: { deputyOf: null },
    page: { title: t('groups.owned'), names: ['group.name'], since: 'createdAt', until: 'until' },
  },
  groups_as_deputy: {
    model: 'groupOwner',
    key: ['groupId'],
    columns: ['until', 'createdAt'],
    with: GROUP,
    where: { deputyOf: { not: null } },
    page: { title: t('own-data.deputy'), names: ['group.name'], since: 'createdAt', until: 'until' },
  },
  group_deputies: {
    model: 'groupOwner',
    key: ['groupId', 'userId'],
    by: 'deputyOf',
    columns: ['until', 'createdAt'],
    with: GROUP,
  },
  group_requests: {
    model: 'groupRequest',
    columns: ['reason', 'until', 'state', 'answer', 'decidedAt', 'createdAt', 'expiresAt', 'applicationId'],
    with: GROUP,
    page: { title: t('groups.my-requests'), names: ['group.name', 'reason'], since: 'createdAt' },
  },
  group_invitations_accepted: {
    model: 'groupInvitation',
    by: 'acceptedBy',
    columns: ['email', 'until', 'acceptedAt', 'createdAt', 'expiresAt'],
    with: GROUP,
  },
  group_invitations_sent: {
    model: 'groupInvitation',
    by: 'invitedBy',
    columns: ['until', 'acceptedAt', 'createdAt', 'expiresAt'],
    with: GROUP,
  },
  sign_in_services: {
    model: 'externalIdentity',
    columns: ['subject', 'label', 'linkedAt', 'lastUsedAt', 'checkedAt', 'goneSince'],
    with: { relation: 'connection', columns: ['name'] },
    page: {
      title: t('connections.title'),
      names: ['connection.name', 'label'],
      since: 'linkedAt',
      lastUsed: 'lastUsedAt',
    },
  },
  known_browsers: {
    model: 'knownBrowser',
    columns: ['userAgent', 'address', 'trustedUntil', 'createdAt', 'lastSeenAt', 'expiresAt'],
    page: {
      title: t('browsers.title'),
      names: ['userAgent', 'address'],
      since: 'createdAt',
      lastUsed: 'lastSeenAt',
    },
  },
  sessions: {
    model: 'sessionDevice',
    key: ['uid'],
    columns: ['userAgent', 'address', 'createdAt', 'lastSeenAt', 'expiresAt'],
    page: {
      title: t('sessions.title'),
      names: ['userAgent', 'address'],
      since: 'createdAt',
      lastUsed: 'lastSeenAt',
    },
  },
  sessions_at_own_pages: {
    model: 'rpSession',
    columns: ['clientId', 'acr', 'amr', 'authTime', 'createdAt', 'expiresAt'],
    json: ['amr'],
  },
  sessions_at_sign_in_services: {
    model: 'upstreamSession',
    columns: ['connectionId', 'subject', 'createdAt', 'expiresAt'],
  },
  tokens: { model: 'oidcArtifact', by: 'accountId', columns: ['model', 'clientId', 'expiresAt'] },
  apps_with_access: {
    model: 'consent',
    columns: ['granted', 'grantedAt', 'updatedAt'],
    with: APPLICATION,
    json: ['granted'],
    page: { title: t('consents.title'), names: ['application.name'], since: 'grantedAt' },
  },
  apps_used: {
    model: 'applicationUser',
    key: ['applicationId'],
    columns: ['firstUsedAt'],
    with: APPLICATION,
    page: { title: t('own-data.apps-used'), names: ['application.name'], since: 'firstUsedAt' },
  },
  saml_identifiers: { model: 'samlNameId', columns: ['applicationId', 'value', 'createdAt'] },
  saml_sessions: {
    model: 'samlParticipant',
    columns: [
      ...['applicationId', 'nameId', 'nameIdFormat', 'nameQualifier', 'spNameQualifier', 'sessionIndex'],
      ...['createdAt', 'expiresAt', 'endedAt'],
    ],
  },
  logouts: { model: 'logoutRun', columns: ['reason', 'initiator', 'createdAt', 'seenAt', 'finishedAt', 'expiresAt'] },
  logout_messages: {
    model: 'logoutDelivery',
    by: 'accountId',
    columns: ['clientId', 'channel', 'tries', 'createdAt', 'nextTryAt', 'doneAt', 'failedAt', 'lastError'],
  },
  app_passwords: {
    model: 'appPassword',
    columns: ['name', 'createdAt', 'lastUsedAt'],
    with: APPLICATION,
    page: { title: t('app-passwords.title'), names: ['name'], since: 'createdAt', lastUsed: 'lastUsedAt' },
  },
  api_keys: {
    model: 'apiKey',
    columns: ['name', 'lastFour', 'permissions', 'createdAt', 'expiresAt', 'revokedAt', 'lastUsedAt'],
    json: ['permissions'],
    page: {
      title: t('own-data.api-keys'),
      names: ['name'],
      since: 'createdAt',
      lastUsed: 'lastUsedAt',
      until: 'expiresAt',
    },
  },
  saved_filters: { model: 'savedFilter', columns: ['name', 'query', 'createdAt'] },
  emails: {
    model: 'mailMessage',
    columns: ['recipient', 'subject', 'kind', 'createdAt', 'sentAt', 'failedAt', 'tries', 'nextTryAt', 'lastError'],
    page: { title: t('own-data.emails'), names: ['subject'], at: 'createdAt' },
  },
  links_by_email: {
    model: 'mailToken',
    columns: ['purpose', 'data', 'createdAt', 'expiresAt', 'usedAt', 'openedAt', 'bouncedAt'],
    json: ['data'],
  },
  password_resets: { model: 'passwordResetToken', columns: ['createdAt', 'expiresAt', 'usedAt'] },
  codes_sent: { model: 'oneTimeCode', columns: ['channel', 'tries', 'createdAt', 'expiresAt', 'usedAt'] },
  rejected_requests: {
    model: 'rejection',
    by: 'subjectId',
    columns: ['at', 'endpoint', 'reason', 'message', 'clientId', 'data', 'expiresAt'],
    json: ['data'],
  },
  directory: {
    model: 'scimUser',
    key: ['userId'],
    columns: ['externalId', 'deletedAt', 'createdAt', 'updatedAt'],
    with: { relation: 'connection', columns: ['name'] },
    page: { title: t('own-data.directory'), names: ['connection.name'], since: 'createdAt' },
  },
  // May have fields that only administrators see.
  directory_content: {
    model: 'scimUser',
    key: ['userId'],
    columns: ['content'],
    json: ['content'],
    leastAudience: 'administrator',
  },
  accounts_at_apps: {
    model: 'provisionedObject',
    by: 'localId',
    columns: [
      'applicationId',
      'kind',
      'remoteId',
      'isActive',
      'pending',
      'isHeld',
      'tries',
      'nextTryAt',
      'sentAt',
      'leftAt',
      'lastError',
    ],
  },
  groups_at_apps: {
    model: 'provisionedMember',
    key: ['applicationId', 'groupId'],
    columns: ['applicationId', 'groupId', 'state'],
  },
  notes: { model: 'userNote', columns: ['text', 'createdAt'], leastAudience: 'desk' },
};

/** How the download is sent. */
export const OWN_DATA_FILE = { type: 'application/json; charset=utf-8', fileName: 'personal-data.json' };

const RANKS: readonly Audience[] = ['person', 'desk', 'administrator'];
const PAGE = 500;
/** Rows of a table on the page; the download has all. */
const SHOWN = 20;

export function createOwnData(services: Core) {
  const { db, audit, settings, config, now } = services;

  /** The columns of the account itself. */
  function profileOf(account: Account, audience: Audience): Record<string, Value> {
    const { permissions: _permissions, roles: _roles, groups: _groups, attributes, ...columns } = account;
    const seen = attributesFor(audience, settings.latest().user_attributes, attributes);
    return snake({ ...columns, attributes: seen as Value } as Row);
  }

  async function* pieces(account: Account, audience: Audience): AsyncGenerator<string> {
    const head = { issuer: config.issuer, sub: account.id, created_at: now().toISOString() };
    yield `${JSON.stringify(head).slice(0, -1)},\n"profile":${JSON.stringify(profileOf(account, audience))}`;
    for (const [key, table] of Object.entries(ownTables)) {
      if (RANKS.indexOf(audience) < RANKS.indexOf(table.leastAudience ?? 'person')) continue;
      yield `,\n${JSON.stringify(key)}:[`;
      let separator = '\n';
      for await (const rows of allRows(db, table, account.id)) {
        yield separator + rows.map((row) => JSON.stringify(snake(row))).join(',\n');
        separator = ',\n';
      }
      yield ']';
    }
    yield ',\n"activity":[';
    yield* activityPieces(account, audience);
    yield ']}\n';
  }

  async function* activityPieces(account: Account, audience: Audience): AsyncGenerator<string> {
    let separator = '\n';
    let before: number | undefined;
    for (;;) {
      const page = await audit.list({ partyId: account.id, limit: PAGE, ...(before && { before }) });
      const entries = page.filter(({ type }) => audience !== 'person' || !type.startsWith('account.note-'));
      const texts = entries.map((entry) => JSON.stringify(entryOf(entry, account.id, attributesSeenBy(audience))));
      if (texts.length > 0) {
        yield separator + texts.join(',\n');
        separator = ',\n';
      }
      if (page.length < PAGE) return;
      before = page.at(-1)?.id;
    }
  }

  /** Leaves in the data of an entry, such as `before` and `after`, the own fields that they may see. */
  const attributesSeenBy = (audience: Audience) => (data: Row) => {
    const schema = settings.latest().user_attributes;
    const seen: Row = { ...data };
    for (const [key, value] of Object.entries(data)) {
      const { attributes } = (value ?? {}) as { attributes?: unknown };
      if (typeof attributes === 'string')
        seen[key] = { ...(value as Row), attributes: loggedAttributes(audience, schema, attributes) };
    }
    return seen;
  };

  return {
    /**
     * Everything as JSON, piece by piece; the event `user.exported` says who has it.
     * @param audience `person`: without what only administrators see
     */
    async export(account: Account, audience: Audience, by: Actor): Promise<AsyncIterable<string>> {
      await audit.record({ ...by, type: 'user.exported', outcome: 'success', subjectId: account.id });
      return pieces(account, audience);
    },

    /** What the page displays of each table, the newest rows, and how many more the download has. */
    sections: (account: Account) =>
      Promise.all(
        Object.values(ownTables).flatMap((table) => {
          const { page } = table;
          return page ? [sectionOf(db, table, page, account.id)] : [];
        }),
      ),
  };
}

async function sectionOf(db: Db, table: OwnTable, page: NonNullable<OwnTable['page']>, userId: string) {
  const { at: moment, since, lastUsed, until } = page;
  const where = ownRows(table, userId);
  const order = moment ?? since ?? lastUsed;
  const [count, rows] = await Promise.all([
    modelOf(db, table).count({ where }),
    modelOf(db, table).findMany({
      where,
      select: selectOf(table),
      ...(order && { orderBy: { [order]: 'desc' } }),
      take: SHOWN,
    }),
  ]);
  const time = (row: Row, column: string | undefined) => (column ? (row[column] as Date | null) : null);
  return {
    title: page.title,
    rows: rows.map((row) => ({
      names: page.names.map((path) => at(row, path)).filter((name) => name !== ''),
      at: time(row, moment),
      since: time(row, since),
      lastUsed: time(row, lastUsed),
      until: time(row, until),
    })),
    more: count - rows.length,
  };
}

const at = (row: Row, path: string): PageText => {
  const [first = '', second] = path.split('.');
  const value = second === undefined ? row[first] : (row[first] as Row | null)?.[second];
  if (typeof value !== 'string') return '';
  return path === 'userAgent' ? (browserName(value) ?? value) : value;
};

interface Model {
  count(query: { where: Row }): Promise<number>;
  findMany(query: { where: Row; select: Row; orderBy?: Row | Row[]; take: number }): Promise<Row[]>;
}

// As stored: what another program wrote about the person is about the person.
const modelOf = (db: Db, { model }: OwnTable) => (db.asStored as unknown as Record<string, Model>)[model] as Model;

const ownRows = ({ by = 'userId', where }: OwnTable, userId: string): Row => ({ ...where, [by]: userId });

const selectOf = ({ columns, with: joined }: OwnTable): Row => ({
  ...Object.fromEntries(columns.map((name) => [name, true])),
  ...(joined && { [joined.relation]: { select: Object.fromEntries(joined.columns.map((name) => [name, true])) } }),
});

/** A page begins after the key of the row before it, so that rows which come or go meanwhile move none from one page to another. */
async function* allRows(db: Db, table: OwnTable, userId: string): AsyncGenerator<Row[]> {
  const key = table.key ?? ['id'];
  const orderBy = key.map((name) => ({ [name]: 'asc' }));
  const select = { ...selectOf(table), ...Object.fromEntries(key.map((name) => [name, true])) };
  const own = ownRows(table, userId);
  for (let last: Row | undefined; ; ) {
    const where = last ? { AND: [own, { OR: afterKey(key, last) }] } : own;
    const rows = await modelOf(db, table).findMany({ where, select, orderBy, take: PAGE });
    if (rows.length > 0) yield rows.map((row) => exported(row, table));
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

/** Of a key of several columns: a later value of one, where those before it are equal. */
const afterKey = (key: readonly string[], last: Row): Row[] =>
  key.map((name, index) => ({
    ...Object.fromEntries(key.slice(0, index).map((one) => [one, last[one]])),
    [name]: { gt: last[name] },
  }));

function exported(row: Row, { columns, with: joined, json = [] }: OwnTable): Row {
  const value = (name: string) => (json.includes(name) ? JSON.parse(row[name] as string) : row[name]);
  const names = joined ? [...columns, joined.relation] : columns;
  return Object.fromEntries(names.map((name) => [name, value(name)]));
}

/** Column names as the API has them; what a person or an application named itself stays. */
function snake(row: Row): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === 'bigint' ? Number(value) : (value as Value),
    ]),
  );
}

/**
 * An entry of the audit log by or about the person. Other people are not named, and what the person did to others is without its details: they
 * are those of the others (GDPR, article 15(4)).
 */
function entryOf(entry: AuditEntry, userId: string, seen: (data: Row) => Row): Record<string, Value> {
  const { at: time, type, outcome, reason, actorId, actorApp, subjectId, clientId } = entry;
  const { apiKey, scim, ...data } = entry.data;
  const isOwn = (actorId === null || actorId === userId) && !scim;
  const isAbout = subjectId === userId;
  const nameOf = (id: string) => (id === userId ? 'self' : 'another person');
  const application = actorApp === null ? 'nobody who is signed in' : 'application';
  const program = scim ? 'directory' : application;
  return {
    at: time,
    type,
    outcome,
    reason,
    by: actorId === null ? program : nameOf(actorId),
    application: isOwn ? actorApp : null,
    about: subjectId === null ? null : nameOf(subjectId),
    client: clientId,
    ...(isOwn && { address: entry.address, user_agent: entry.userAgent, request_id: entry.requestId }),
    ...(isOwn && apiKey !== undefined && { api_key: apiKey as Value }),
    ...(isAbout && { data: seen(data) as Value }),
  };
}
