// Users from a CSV file: each row creates or changes a user on its own, so that a wrong row stops no other. A trial does the same, and takes
// back what each row did. import-job.ts carries a file out on the server, the command line on its own.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { AppError, invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { CsvError, type CsvRow, parseCsv } from '../../base/platform/csv.ts';
import { present } from '../../base/platform/defined.ts';
import { inTurns } from '../../base/platform/turns.ts';
import type { Tx } from '../../base/storage/database.ts';
import { type Fault, fault, faultText, formatPath, textFault } from '../../base/texts/faults.ts';
import { concatenated, type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { csvCell } from '../../core/audit/export.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { seenAt } from '../../people/accounts/active.ts';
import { nameKey } from '../../people/accounts/names.ts';
import {
  addressColumn,
  addressPartNames,
  languageTag,
  profileOfTexts,
  textClaims,
  textsOf,
} from '../../people/accounts/profile-fields.ts';
import { isFor, type SimpleAttribute, simpleAttributes, titlesOf } from '../../people/accounts/simple-attributes.ts';
import { taggedName } from '../../people/accounts/tagged-values.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { UserAdmin } from './actions.ts';
import { INVITED_WITH_PASSWORD } from './creation.ts';

/** `invited`: created, with an invitation. */
export const importOutcomes = ['created', 'invited', 'changed', 'disabled', 'unchanged', 'failed'] as const;
export type ImportOutcome = (typeof importOutcomes)[number];

/** A row of the file. */
export interface FileRow {
  /** In the file; the header line is 1. */
  line: number;
  username: string;
  cells: string[];
  /** Another row above has the same name or address. */
  error?: PageText | undefined;
}

/** What became of a row. */
export interface ImportRow extends Pick<FileRow, 'line' | 'username'> {
  outcome: ImportOutcome;
  /** Of a failed one. */
  error?: PageText | undefined;
  cells?: string[];
}

export interface UserFile {
  /** The first line of the file. */
  columns: string[];
  rows: FileRow[];
  /** Columns that are left out. */
  unknown: string[];
  /** Columns of each user that an own field is called like, which they do not fill. */
  shared: string[];
  /** A row names a role or a group. */
  givesRoles: boolean;
}

/** What becomes of the rows, beside what their columns say. */
export const importOptions = z.object({
  existing: z
    .enum(['reject', 'update'])
    .default('reject')
    .describe('What happens to a row whose username, or whose email address without one, an account has'),
  unknown_columns: z.enum(['reject', 'ignore']).default('reject').describe('What happens to unknown columns'),
  missing_groups: z
    .enum(['reject', 'create'])
    .default('reject')
    .describe('What happens to a row with a group that does not exist; to create it takes `gatehouse.groups:write`'),
  invite: z.boolean().default(false).describe('Invites each new user who has an email address and no password'),
  message: z.string().max(limits.invitation.message).default('').describe('Plain text that the invitations contain'),
});
export type ImportOptions = z.output<typeof importOptions>;

export type UserImport = ReturnType<typeof createUserImport>;

export const IMPORT_COLUMNS = [
  'username',
  'email',
  ...textClaims,
  'phone_number',
  ...addressPartNames.map(addressColumn),
  'sso_id',
  'sso_connection',
  'attributes',
  'roles',
  'groups',
  'active',
  'active_from',
  'active_until',
  'password_hash',
  'invite',
] as const;
/** Beside these, a column such as `name#ja` has the value in another language (people/accounts/tagged-values.ts). */
export type Values = Partial<Record<(typeof IMPORT_COLUMNS)[number] | `${string}#${string}`, string>>;

interface ImportServices {
  settings: Core['settings'];
  accounts: Accounts;
  users: UserAdmin;
}

/** The import and the export of users, on the same actions as single users. */
export function createUserImport(services: ImportServices) {
  return {
    /** Throws invalid_input for a text without a header line, with too many rows, and with unknown columns unless these are left out. */
    read: (text: string, unknownColumns: ImportOptions['unknown_columns']): Promise<UserFile> =>
      readFile(text, unknownColumns, ownFields(services)),

    /** The own fields, which have a column each. */
    ownColumns: (): string[] => ownFields(services).map(({ name }) => name),
    unknownOf: (columns: readonly string[]): string[] => unknownOf(columns, ownFields(services)),
    /** Returns the function that reads the cells of a row below this first line. */
    reader: (columns: readonly string[]) => readerOf(columns, ownFields(services)),

    /** Throws StepUpNeeded, so that no import stops between two rows. */
    assertMayBegin(
      by: Actor,
      { existing, givesRoles }: { existing: ImportOptions['existing']; givesRoles: boolean },
    ): void {
      if (existing === 'update') assertFreshProof(by, 'users.import-changes');
      if (givesRoles) assertFreshProof(by, 'users.import-with-roles');
    },

    /** Carries out a row, or says what is wrong with it. @param read of `reader` */
    async carryOut(
      { line, username, cells, error }: FileRow,
      read: (cells: readonly string[]) => Values,
      given: RowOptions,
    ): Promise<ImportRow> {
      const result = error ? failed(error) : await resultOf(services, read(cells), given);
      return { line, username, ...result, ...(result.outcome === 'failed' && { cells }) };
    },

    /** All users that the actor may see as CSV. */
    exportAll: (by: Actor): AsyncGenerator<string> => exportUsers(services, by),
  };
}

/** Of a report, before the columns of the file; an import leaves them out. */
const REPORT_COLUMNS = ['line', 'result', 'reason'];

const csvLine = (cells: readonly (string | number)[]) => `${cells.map((cell) => csvCell(cell)).join(',')}\r\n`;

type ReportedColumns = Pick<UserFile, 'columns' | 'unknown'>;
const isLeftOut = (column: string, unknown: readonly string[]) => unknown.includes(columnName(column));

/** The first line of the report (RFC 4180). */
export const reportHeader = ({ columns, unknown }: ReportedColumns): string =>
  csvLine([...REPORT_COLUMNS, ...columns.filter((column) => !isLeftOut(column, unknown))]);

/**
 * The rows of the report: of those that failed all cells but those of columns that were left out, so that they can be corrected and imported
 * again; of the others only who it is.
 */
export function reportOf(rows: readonly ImportRow[], { columns, unknown }: ReportedColumns): string {
  const login = loginColumn(columns);
  const leftOut = columns.map((column) => isLeftOut(column, unknown));
  return rows
    .map(({ line, username, outcome, error, cells }) => [
      ...[line, outcome, error === undefined ? '' : String(error)],
      ...(cells ?? columns.map((_, at) => (at === login ? username : ''))).filter((_, at) => !leftOut[at]),
    ])
    .map(csvLine)
    .join('');
}

/** The place of the usernames, or of the email addresses without these. */
function loginColumn(columns: readonly string[]): number {
  const names = columns.map(columnName);
  return names.includes('username') ? names.indexOf('username') : names.indexOf('email');
}

/** Whether the file has usernames of its own. */
export const hasUsernames = (columns: readonly string[]): boolean => columns.map(columnName).includes('username');

/** The day of the last use, and the state of the invitation; an import leaves them as they are. */
const EXPORTED_ONLY: readonly string[] = ['last_seen_at', 'invitation'];
/** Before the own fields and `attributes`, which has what no other column can. */
const EXPORT_COLUMNS = [
  ...['username', 'email', 'name', 'roles', 'groups', 'active', 'active_from', 'active_until', ...EXPORTED_ONLY],
  ...textClaims.filter((claim) => claim !== 'name'),
  ...['phone_number', ...addressPartNames.map(addressColumn), 'sso_id', 'sso_connection'],
];

/** Users of one turn of the event loop. */
const EXPORTED = 200;

/** All users as CSV, the header line first. */
async function* exportUsers(services: ImportServices, by: Actor): AsyncGenerator<string> {
  const { users, settings } = services;
  const [all, schema, audience] = [
    ownFields(services),
    settings.latest().user_attributes ?? {},
    await users.audienceOf(by),
  ];
  const own = all.filter(
    ({ name }) =>
      isFor(audience, schema, name, 'visible_to') &&
      !isKnown(columnName(name)) &&
      fieldOf(csvCell(name), all)?.name === name,
  );
  yield `${[...EXPORT_COLUMNS, ...own.map(({ name }) => name), 'attributes'].join(',')}\r\n`;
  let after: string | undefined;
  do {
    const page = await users.list({ limit: EXPORTED, after }, by);
    const connections = await users.connectionsOf(page.accounts);
    const groups = await users.groupsOf(page.accounts);
    yield page.accounts
      .map(({ id, username, email, phoneNumber, roles: held, isEnabled, ssoId, attributes, ...account }) => {
        const texts = textsOf(account);
        const cells = own.map((field) => cellOf(attributes[field.name], field));
        const named = new Set(own.filter((_, at) => cells[at] !== undefined).map(({ name }) => name));
        const others = Object.entries(attributes).filter(([name]) => !named.has(name));
        const fixed = {
          username,
          email,
          phone_number: phoneNumber,
          roles: held.join(';'),
          groups: groups.get(id)?.join(';') ?? null,
          active: isEnabled ? 'yes' : 'no',
          active_from: account.activeFrom?.toISOString() ?? null,
          active_until: account.activeUntil?.toISOString() ?? null,
          last_seen_at: seenAt(account)?.toISOString().slice(0, 10) ?? null,
          invitation: account.invitation,
          sso_id: ssoId,
          sso_connection: connections.get(id) ?? null,
        };
        const values: Record<string, string | null> = { ...texts, ...fixed };
        return [
          ...EXPORT_COLUMNS.map((column) => values[column] ?? null),
          ...cells.map((cell) => cell ?? null),
          others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : null,
        ].map((value) => csvCell(value));
      })
      .map((cells) => `${cells.join(',')}\r\n`)
      .join('');
    after = page.next;
    // SQLite answers within the turn, and the stream reads ahead.
    await nextTurn();
  } while (after);
}

export interface RowOptions {
  isTrial: boolean;
  by: Actor;
  options: ImportOptions;
  /** Runs in the transaction of a change that is not a trial. */
  onDone?(outcome: ImportOutcome, tx: Tx, userId: string): Promise<void>;
  /** The job sends the invitations after the last row. */
  isInvitedLater?: boolean;
}

type RowResult = Pick<ImportRow, 'outcome' | 'error'>;
const failed = (error: PageText): RowResult => ({ outcome: 'failed', error });

async function resultOf(
  services: ImportServices,
  values: Values,
  { by: sender, ...rest }: RowOptions,
): Promise<RowResult> {
  // The proof was asked for at the beginning.
  const given = { ...rest, by: withFreshProof(sender) };
  const fault = faultOf(values);
  if (fault) return failed(fault);
  try {
    return await createOrChange(services, values, given);
  } catch (error) {
    return failed(sentenceOf(error, values, ownFields(services)));
  }
}

async function createOrChange(services: ImportServices, values: Values, given: RowOptions): Promise<RowResult> {
  const { users, accounts } = services;
  const { by, options } = given;
  const { username = '', email = '' } = values;
  const existing = await accounts.findByLogin(username);
  // Without a username in the file, its email address is one.
  const isSame = existing !== undefined && (nameKey(existing.username) === nameKey(username) || username === email);
  const seen = isSame && options.existing === 'update' ? await found(services, existing, by) : undefined;
  if (existing && seen) return { outcome: await change(services, { before: existing, seen }, values, given) };
  const groups = { groups: namesIn(values.groups), createsGroups: options.missing_groups === 'create' };
  await users.assertMayCreate(namesIn(values.roles), by, groups);
  if (values.sso_connection) await users.assertMayConnect(values.sso_connection, by);
  if (existing && username !== email) return failed(t('console.import.error.username-taken'));
  if (existing || (email && (await accounts.findByLogin(email)))) return failed(t('console.import.error.email-taken'));
  return { outcome: await create(services, values, given) };
}

/** The account, if the actor may see it. Another one is only a name that is taken. */
const found = ({ users }: ImportServices, { id }: Account, by: Actor): Promise<Account | undefined> =>
  users.find(id, by, 'gatehouse.users:write').catch((error: unknown) => {
    if (error instanceof AppError && error.status === 404) return undefined;
    throw error;
  });

/** What is wrong with the cells themselves. */
function faultOf({ email, active, ...values }: Values): PageText | undefined {
  if (values.sso_connection && !values.sso_id) return t('console.import.error.connection-without-id');
  if (values.invite && !email) return t('console.import.error.invitation-without-email');
  if (values.invite && values.password_hash) return INVITED_WITH_PASSWORD;
  if (active && stateIn(active) === undefined) return t('console.import.error.active');
  const wrong = (['active_from', 'active_until'] as const).find((name) => values[name] && !isMoment(values[name]));
  if (wrong) return t('console.import.error.time', { column: wrong });
  return undefined;
}

async function create(
  { users }: ImportServices,
  values: Values,
  { isTrial, by, options, onDone, isInvitedLater = false }: RowOptions,
): Promise<ImportOutcome> {
  const { password_hash: passwordHash, sso_connection: ssoConnection, email = '', active = '' } = values;
  const isEnabled = stateIn(active) ?? true;
  const isInvited = Boolean(values.invite) || (options.invite && email !== '' && !passwordHash);
  const invite = isInvited && isEnabled;
  const user = {
    ...profileOf(values),
    isEnabled,
    ssoConnection: ssoConnection || null,
    roles: namesIn(values.roles),
    groups: namesIn(values.groups),
    createsGroups: options.missing_groups === 'create',
    ...(passwordHash ? { passwordHash } : { withoutPassword: true }),
    invite: invite && !isInvitedLater,
    message: options.message,
  };
  const outcome = invite ? 'invited' : 'created';
  await orTakenBack(isTrial, (end) =>
    users.create(user, by, async ({ account }, tx) => {
      end();
      await onDone?.(outcome, tx, account.id);
    }),
  );
  return outcome;
}

/** Changes what the cells with a value say; roles become those of the cell, groups are added. */
async function change(
  { users }: ImportServices,
  { before, seen }: { before: Account; seen: Account },
  values: Values,
  { isTrial, by, options, onDone }: RowOptions,
): Promise<ImportOutcome> {
  if (values.password_hash)
    throw invalidInput([textFault(['password_hash'], t('console.import.error.password-of-user'))]);
  const filled: Values = Object.fromEntries(Object.entries(values).filter(([, text]) => text !== ''));
  const { username: _same, email, phoneNumber, ssoId, address, attributes, ...texts } = profileOf(filled);
  const isEnabled = stateIn(filled.active ?? '');
  const changes = {
    ...texts,
    ...(email && { email }),
    ...(phoneNumber && { phoneNumber }),
    ...(ssoId && { ssoId }),
    ...(address && { address: { ...before.address, ...address } }),
    ...(attributes && { attributes: { ...seen.attributes, ...attributes } }),
    ...(filled.sso_connection && { ssoConnection: filled.sso_connection }),
    ...(filled.roles !== undefined && { roles: namesIn(filled.roles) }),
    ...(filled.groups !== undefined && { addedGroups: namesIn(filled.groups) }),
    createsGroups: options.missing_groups === 'create',
    ...(isEnabled !== undefined && { isEnabled }),
  };
  let outcome: ImportOutcome = 'unchanged';
  await orTakenBack(isTrial, (end) =>
    users.update(before.id, changes, by, 'any', async (after, tx) => {
      if (before.isEnabled && !after.isEnabled) outcome = 'disabled';
      else if (JSON.stringify(after) !== JSON.stringify(before)) outcome = 'changed';
      end();
      await onDone?.(outcome, tx, before.id);
    }),
  );
  return outcome;
}

class TakenBack extends Error {}

/** A trial makes the change too, and ends its transaction with an error: so it finds whatever the change would. */
async function orTakenBack(isTrial: boolean, work: (end: () => void) => Promise<unknown>): Promise<void> {
  try {
    await work(() => {
      if (isTrial) throw new TakenBack();
    });
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
  }
}

const withFreshProof = (by: Actor): Actor => ({
  ...by,
  proof: { acr: '', isRecent: true, authTime: new Date(0), minutes: 0, ...by.proof, isFresh: true },
});

/** Whether a user is active; undefined for an empty cell, and for another word. */
function stateIn(cell: string): boolean | undefined {
  if (/^(yes|true|1)$/i.test(cell)) return true;
  return /^(no|false|0)$/i.test(cell) ? false : undefined;
}

/** What an error says about the row. Throws one that is not about the row. */
function sentenceOf(error: unknown, { roles = '', groups = '' }: Values, own: readonly SimpleAttribute[]): PageText {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  const texts = error.faults.length === 0 ? [error.text] : error.faults.map((one) => rowFaultText(one, own));
  const hasCommas =
    (error.code === 'unknown_role' && roles.includes(',')) || (isUnknownGroup(error) && groups.includes(','));
  return sentences(hasCommas ? [...texts, t('console.import.error.semicolons')] : texts);
}

const isUnknownGroup = ({ faults }: AppError) => faults.some(({ code }) => code === 'unknown-group');

/** An own field has the label of the page and the name of its column. */
function rowFaultText(found: Fault, own: readonly SimpleAttribute[]): PageText {
  const { path, code, values } = found;
  if (code === 'unknown-group') return t('console.import.error.unknown-group', { group: String(values?.groups ?? '') });
  const field = path[0] === 'attributes' ? own.find(({ name }) => name === path[1]) : undefined;
  const isCalled = field && titlesOf(field.keywords).length > 0;
  return faultText(found, isCalled ? concatenated([field.label, ` (${field.name})`]) : formatPath(path));
}

/** Rows of one turn of the event loop. */
const ROWS = 100;

const ownFields = ({ settings }: ImportServices) => simpleAttributes(settings.latest().user_attributes ?? {});

async function readFile(
  text: string,
  unknownColumns: ImportOptions['unknown_columns'],
  own: readonly SimpleAttribute[],
): Promise<UserFile> {
  const [header, ...lines] = await parseCsv(text).catch((error: unknown) => {
    if (error instanceof CsvError) throw wrongText(t('console.import.error.form'));
    throw error;
  });
  const first = (header?.cells ?? []).map((cell) => cell.slice(0, MOST_OF_A_NAME));
  // A report that is imported again.
  const isOfReport = first.map((cell) => REPORT_COLUMNS.includes(columnName(cell)) && !fieldOf(columnName(cell), own));
  const kept = <Cell>(cells: readonly Cell[]) => cells.filter((_, at) => !isOfReport[at]);
  const columns = kept(first);
  const names = columns.map(columnName);
  if (!names.includes('username') && !names.includes('email')) {
    throw wrongText(t('console.import.error.columns', { columns: columnList(names) }));
  }
  const { rows: most, columns: mostColumns } = limits.import;
  if (columns.length > mostColumns) throw wrongText(t('console.import.error.too-many-columns', { count: mostColumns }));
  if (lines.length > most) throw wrongText(t('console.import.error.rows', { count: most }));
  const unknown = unknownOf(columns, own);
  if (unknown.length > 0 && unknownColumns === 'reject')
    throw wrongText(t('console.import.error.unknown-columns', { columns: columnList(unknown), count: unknown.length }));
  const shared = names.filter((name) => isKnown(name) && fieldOf(name, own));
  const [read, check] = [readerOf(columns, own), rowChecker(columns.length)];
  const rows: FileRow[] = [];
  let givesRoles = false;
  for await (const { line, cells: all } of inTurns(lines, ROWS)) {
    const cells = kept(all);
    const values = read(cells);
    givesRoles ||= namesIn(values.roles).length + namesIn(values.groups).length > 0;
    rows.push(check({ line, cells }, values));
  }
  return { columns, rows, unknown, shared, givesRoles };
}

/** Characters of the name of a column. */
const MOST_OF_A_NAME = 100;

/** As many columns as a message names. */
export const columnList = (columns: readonly string[]): string => columns.slice(0, 20).join(', ');

const unknownOf = (columns: readonly string[], own: readonly SimpleAttribute[]): string[] =>
  columns.map(columnName).filter((name) => name !== '' && !isKnown(name) && !fieldOf(name, own));

/** Returns the function that reads the cells of a row. */
function readerOf(columns: readonly string[], own: readonly SimpleAttribute[]) {
  const names = columns.map(columnName);
  const fields = names.map((name) => (isKnown(name) ? undefined : fieldOf(name, own)));
  return (cells: readonly string[]): Values => withOwnFields(valuesOf(names, cells), fields, cells);
}

const wrongText = (text: Text) => invalidInput([textFault(['csv'], text)]);

/** Checks one row after the other, from the first one on: two rows about the same name or address are a mistake of the second. */
function rowChecker(columns: number) {
  const lineOf = new Map<string, number>();
  return ({ line, cells }: CsvRow, values: Values): FileRow => {
    const { username = '', email = '', sso_id: ssoId = '', sso_connection: connection = '' } = values;
    const unique = present([
      username !== '' && username !== email && ({ key: `login ${nameKey(username)}`, what: 'username' } as const),
      email !== '' && ({ key: `login ${nameKey(email)}`, what: 'email' } as const),
      ssoId !== '' && ({ key: `sso ${connection} ${ssoId}`, what: 'sso-id' } as const),
    ]);
    const repeated = unique.find(({ key }) => lineOf.has(key));
    const same = repeated && t(`console.import.error.same-${repeated.what}`, { line: lineOf.get(repeated.key) ?? 0 });
    const error = cells.length > columns ? t('console.import.error.cells', { cells: cells.length, columns }) : same;
    for (const { key } of unique) if (!lineOf.has(key)) lineOf.set(key, line);
    return { line, username: username.slice(0, 254), cells, ...(error && { error }) };
  };
}

const isKnown = (name: string) =>
  EXPORTED_ONLY.includes(name) ||
  (IMPORT_COLUMNS as readonly string[]).includes(name) ||
  taggedName(name) !== undefined;

function valuesOf(columns: readonly string[], cells: readonly string[]): Values {
  const named = columns.map((name, index) => [name, cells[index]?.trim() ?? ''] as const);
  const values: Values = Object.fromEntries(named.filter(([name]) => isKnown(name)));
  // As in the form of a new user.
  return { ...values, username: values.username || (values.email ?? '') };
}

/** The own field with this name or label. */
function fieldOf(column: string, own: readonly SimpleAttribute[]): SimpleAttribute | undefined {
  const isCalled = (name: string) => nameKey(name) === nameKey(column);
  return own.find(({ name }) => isCalled(name)) ?? own.find(({ keywords }) => titlesOf(keywords).some(isCalled));
}

/** The cells of own fields, beside the JSON of the row. */
function withOwnFields(
  values: Values,
  fields: readonly (SimpleAttribute | undefined)[],
  cells: readonly string[],
): Values {
  const own = fields.flatMap((field, at) => {
    const text = cells[at]?.trim() ?? '';
    return field === undefined || text === '' ? [] : [[field.name, valueIn(text, field.kind)] as const];
  });
  const json = values.attributes ? parsedJson(values.attributes) : {};
  // What is wrong with the JSON is said about the row.
  if (own.length === 0 || typeof json !== 'object' || json === null || Array.isArray(json)) return values;
  return { ...values, attributes: JSON.stringify({ ...json, ...Object.fromEntries(own) }) };
}

/** The cell that an import reads as this value again; undefined where there is none. */
function cellOf(value: unknown, { kind }: SimpleAttribute): string | undefined {
  if (value === undefined) return undefined;
  const cell = typeof value === 'boolean' ? (value ? 'yes' : 'no') : [value].flat().join(';');
  const isRead = cell !== '' && JSON.stringify(valueIn(cell.trim(), kind)) === JSON.stringify(value);
  return isRead ? cell : undefined;
}

/** A text that is no value of this kind stays one: the schema of the fields rejects it. */
function valueIn(cell: string, kind: SimpleAttribute['kind']): unknown {
  const text = withoutApostrophe(cell);
  if (kind === 'number') return Number.isFinite(Number(text)) ? Number(text) : text;
  if (kind === 'flag') return stateIn(text) ?? text;
  return kind === 'list' ? namesIn(text) : text;
}

/** In lower case, but for a language tag, which has a case of its own. */
function columnName(cell: string): string {
  const [base = '', ...tag] = cell.trim().split('#');
  return [base.toLowerCase(), ...tag].join('#');
}

/** The attributes of a row, if it has any: those of its JSON, and its values in other languages. */
function attributesOf({ attributes = '', ...values }: Values): { attributes?: Record<string, unknown> } {
  const json: unknown = attributes === '' ? {} : parsedJson(attributes);
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalidInput([fault(['attributes'], 'json-object')]);
  const tagged = Object.entries(values).filter(([name, text]) => text && taggedName(name));
  const all = { ...json, ...Object.fromEntries(tagged) };
  return Object.keys(all).length > 0 ? { attributes: all } : {};
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The export writes one before a text that begins like a formula (csvCell). */
const withoutApostrophe = (text: string) => text.replace(/^'(?=[\s\p{Cc}]*[=+\-@|%\uff1d\uff0b\uff0d\uff20])/u, '');

function profileOf(values: Values) {
  const { username = '', email, phone_number = '', sso_id = '' } = values;
  const [phoneNumber, ssoId] = [phone_number, sso_id].map(withoutApostrophe);
  // Other programs may have any text as the language: such a one is left out, and stops no row.
  const { locale = '', ...others } = values;
  return {
    ...profileOfTexts(languageTag(locale) === undefined ? others : values),
    ...attributesOf(values),
    ...timesOf(values),
    username,
    email: email || null,
    phoneNumber: phoneNumber || null,
    ssoId: ssoId || null,
  };
}

/** When the account begins and ends; the end of a day where it has no time. Absent for an empty cell. */
function timesOf({ active_from: from = '', active_until: until = '' }: Values) {
  return {
    ...(from && { activeFrom: momentIn(from, '00:00:00') }),
    ...(until && { activeUntil: momentIn(until, '23:59:59') }),
  };
}

const momentIn = (cell: string, time: string): Date => new Date(isDay(cell) ? `${cell}T${time}Z` : cell);
const isDay = (cell: string): boolean => z.iso.date().safeParse(cell).success;
const isMoment = (cell: string): boolean => isDay(cell) || z.iso.datetime({ offset: true }).safeParse(cell).success;

export const namesIn = (cell = ''): string[] => cell.split(';').flatMap((name) => name.trim() || []);
