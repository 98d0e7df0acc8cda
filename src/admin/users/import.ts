// Users from a CSV file: each row is checked and created on its own, so that a wrong row stops no other. A trial run checks
// the same and creates nothing.

import { AppError, invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Stopwatch } from '../../base/platform/clock.ts';
import { parseCsv } from '../../base/platform/csv.ts';
import { forSeconds } from '../../base/platform/turns.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import { fault, faultText, formatPath, textFault } from '../../base/texts/faults.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { csvCell } from '../../core/audit/export.ts';
import { attributeFaults } from '../../people/accounts/attributes.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { profileColumns } from '../../people/accounts/profile.ts';
import {
  addressColumn,
  addressPartNames,
  languageTag,
  profileOfTexts,
  textClaims,
  textsOf,
} from '../../people/accounts/profile-fields.ts';
import { taggedName } from '../../people/accounts/tagged-values.ts';
import type { ConsoleServices } from '../console-services.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import type { UserAdmin } from './actions.ts';
import { INVITED_WITH_PASSWORD } from './creation.ts';

export interface ImportRow {
  /** In the file; the header line is 1. */
  line: number;
  username: string;
  /** Absent where the row is right. */
  error?: PageText;
}

export interface ImportResult {
  /** Those of this run. */
  rows: ImportRow[];
  /** All rows of the text. */
  total: number;
}

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
  'password_hash',
  'invite',
] as const;
/** Beside these, a column such as `name#ja` has the value in another language (people/accounts/tagged-values.ts). */
type Values = Partial<Record<(typeof IMPORT_COLUMNS)[number] | `${string}#${string}`, string>>;

/** The import and the export of users, on the same actions as single users. */
export function createUserImport(services: ConsoleServices, stopwatch?: Stopwatch) {
  const { users } = services.admin;
  return {
    /**
     * Handles up to `limit` rows of the text, after the first `done` ones, for `limits.bulk.importSeconds`: one row at least. Throws invalid_input
     * without a header line.
     */
    async run(
      text: string,
      { isTrial, done, limit }: { isTrial: boolean; done: number; limit: number },
      by: Actor,
    ): Promise<ImportResult> {
      const [header, ...lines] = await parseCsv(text);
      const columns = (header?.cells ?? []).map(columnName);
      if (!columns.includes('username')) {
        throw invalidInput([
          textFault(['csv'], t('console.import.error.columns', { columns: IMPORT_COLUMNS.join(', ') })),
        ]);
      }
      const givesRoles = lines.slice(done, done + limit).some(({ cells }) => {
        const values = valuesOf(columns, cells);
        return [...namesIn(values.roles), ...namesIn(values.groups)].length > 0;
      });
      // Before the first row, so that no run stops between two rows.
      if (givesRoles && !isTrial) assertFreshProof(by, 'users.import-with-roles');
      const lineOfUser = new Map<string, number>();
      const read = ({ line, cells }: (typeof lines)[number]) => {
        const values = valuesOf(columns, cells);
        const { username = '' } = values;
        const before = lineOfUser.get(nameKey(username));
        if (before === undefined) lineOfUser.set(nameKey(username), line);
        return { line, username, values, before };
      };
      for (const one of lines.slice(0, done)) read(one);
      const rows: ImportRow[] = [];
      const seconds = limits.bulk.importSeconds;
      for await (const one of forSeconds(seconds, lines.slice(done, done + limit), stopwatch)) {
        const { line, username, values, before } = read(one);
        try {
          const error = before
            ? t('console.import.error.same-username', { line: before })
            : await errorOf(() => handleRow(services, values, { isTrial, by }));
          rows.push({ line, username, ...(error && { error }) });
        } catch (error) {
          // What is done is reported: a run that starts again from the first row would find its own users.
          if (rows.length === 0 || !unavailableIn(error)) throw error;
          break;
        }
      }
      return { rows, total: lines.length };
    },

    /** All users that the actor may see as CSV. */
    exportAll: (by: Actor): AsyncGenerator<string> => exportUsers(users, by),
  };
}

const EXPORT_COLUMNS = [
  ...['username', 'email', 'name', 'roles', 'groups', 'active', ...textClaims.filter((claim) => claim !== 'name')],
  ...['phone_number', ...addressPartNames.map(addressColumn), 'sso_id', 'sso_connection', 'attributes'],
];

/** All users as CSV, the header line first. */
async function* exportUsers(users: UserAdmin, by: Actor): AsyncGenerator<string> {
  yield `${EXPORT_COLUMNS.join(',')}\r\n`;
  let after: string | undefined;
  do {
    const page = await users.list({ limit: 500, after }, by);
    const connections = await users.connectionsOf(page.accounts);
    const groups = await users.groupsOf(page.accounts);
    yield page.accounts
      .map(({ id, username, email, phoneNumber, roles: held, isActive, ssoId, attributes, ...account }) => {
        const texts = textsOf(account);
        const own = {
          username,
          email,
          phone_number: phoneNumber,
          roles: held.join(';'),
          groups: groups.get(id)?.join(';') ?? null,
          active: isActive ? 'yes' : 'no',
          sso_id: ssoId,
          sso_connection: connections.get(id) ?? null,
          attributes: Object.keys(attributes).length > 0 ? JSON.stringify(attributes) : null,
        };
        const values: Record<string, string | null> = { ...texts, ...own };
        return EXPORT_COLUMNS.map((column) => csvCell(values[column] ?? null));
      })
      .map((cells) => `${cells.join(',')}\r\n`)
      .join('');
    after = page.next;
  } while (after);
}

/** Creates the user of a row, if nothing is wrong with it; resolves with what is wrong. */
async function handleRow(
  services: ConsoleServices,
  values: Values,
  { isTrial, by }: { isTrial: boolean; by: Actor },
): Promise<PageText | undefined> {
  const {
    admin: { users },
  } = services;
  await users.assertMayCreate(namesIn(values.roles), by, namesIn(values.groups));
  if (values.sso_connection) await users.assertMayConnect(values.sso_connection, by);
  const fault = await faultOf(services, values);
  if (!fault && !isTrial) await users.create(newUserOf(values), by);
  return fault;
}

/** What is wrong with a row; undefined where nothing is. Throws invalid_input for a wrong profile. */
async function faultOf(
  { accounts, admin: { connections }, attributeSchema }: ConsoleServices,
  values: Values,
): Promise<PageText | undefined> {
  const { username = '', email } = values;
  const profile = profileOf(values);
  profileColumns(profile);
  const wrong = profile.attributes ? attributeFaults(profile.attributes, await attributeSchema()) : [];
  if (wrong.length > 0) throw invalidInput(wrong);
  if (await accounts.findByLogin(username)) return t('console.import.error.username-taken');
  if (email && (await accounts.findByLogin(email))) return t('console.import.error.email-taken');
  if (values.sso_connection && !values.sso_id) return t('console.import.error.connection-without-id');
  if (values.sso_connection) await connections.get(values.sso_connection);
  if (values.invite && !email) return t('console.import.error.invitation-without-email');
  if (values.invite && values.password_hash) return INVITED_WITH_PASSWORD;
  return undefined;
}

function newUserOf(values: Values) {
  const { password_hash: passwordHash, invite, sso_connection: ssoConnection } = values;
  return {
    ...profileOf(values),
    ssoConnection: ssoConnection || null,
    roles: namesIn(values.roles),
    groups: namesIn(values.groups),
    ...(passwordHash ? { passwordHash } : { withoutPassword: true }),
    invite: Boolean(invite),
  };
}

/** The sentence for an expected error of `work`, or the one that it returns. */
async function errorOf(work: () => Promise<PageText | undefined>): Promise<PageText | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    if (error.faults.length === 0) return error.text;
    return sentences(error.faults.map((one) => faultText(one, formatPath(one.path))));
  }
}

function valuesOf(columns: readonly string[], cells: readonly string[]): Values {
  const parseNameValueLines = columns.map((name, index) => [name, cells[index]?.trim() ?? ''] as const);
  return Object.fromEntries(
    parseNameValueLines.filter(([name]) => (IMPORT_COLUMNS as readonly string[]).includes(name) || taggedName(name)),
  );
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

function profileOf(values: Values) {
  const { username = '', email, phone_number = '', sso_id = '' } = values;
  // The export writes an apostrophe before a text that begins like a formula (csvCell).
  const [phoneNumber, ssoId] = [phone_number, sso_id].map((text) => text.replace(/^'(?=[=+\-@|%])/, ''));
  // Other programs may have any text as the language: such a one is left out, and stops no row.
  const { locale = '', ...others } = values;
  return {
    ...profileOfTexts(languageTag(locale) === undefined ? others : values),
    ...attributesOf(values),
    username,
    email: email || null,
    phoneNumber: phoneNumber || null,
    ssoId: ssoId || null,
  };
}

const namesIn = (cell = ''): string[] => cell.split(';').flatMap((name) => name.trim() || []);
