// Many people from a CSV file: each row is checked, and made on its own, so that one that is wrong stops no other. A trial
// run checks the same without making anything.
import type { Accounts } from '../accounts/accounts.ts';
import { nameKey } from '../accounts/names.ts';
import { profileColumns } from '../accounts/profile.ts';
import type { By } from '../audit/audit.ts';
import { csvCell } from '../audit/export.ts';
import { AppError, badRequest } from '../http/errors.ts';
import { parseCsv } from './csv.ts';
import type { RoleAdmin } from './roles.ts';
import type { UserAdmin } from './users.ts';

export interface ImportRow {
  /** In the file, the head line being 1. */
  line: number;
  username: string;
  /** Absent: fine. */
  problem?: string;
}

export interface ImportResult {
  /** Those that were looked at now. */
  rows: ImportRow[];
  /** All rows of the text. */
  total: number;
}

export interface UserImport {
  /** Looks at so many rows of the text, behind those that are done. */
  run(text: string, options: { isTrial: boolean; done: number; limit: number }, by: By): Promise<ImportResult>;
  /** Everybody, in the same columns. */
  exportAll(): AsyncGenerator<string>;
}

export interface UserImportNeeds {
  accounts: Pick<Accounts, 'findByLogin' | 'findByEmail'>;
  users: Pick<UserAdmin, 'create' | 'list'>;
  roles: Pick<RoleAdmin, 'list'>;
}

export const IMPORT_COLUMNS = [
  'username',
  'email',
  'name',
  'given_name',
  'family_name',
  'roles',
  'password_hash',
  'invite',
] as const;
type Values = Partial<Record<(typeof IMPORT_COLUMNS)[number], string>>;

export function createUserImport({ accounts, users, roles }: UserImportNeeds): UserImport {
  async function faultOf(values: Values, known: ReadonlySet<string>): Promise<string | undefined> {
    const { username = '', email } = values;
    profileColumns(profileOf(values));
    const missing = rolesOf(values).filter((role) => !known.has(role));
    if (missing.length > 0) return `There is no role ${missing.join(', ')}.`;
    if (await accounts.findByLogin(username)) return 'This user name is already taken.';
    if (email && (await accounts.findByEmail(email))) return 'This e-mail address is already in use.';
    if (values.invite && !email) return 'An invitation needs an e-mail address.';
    return undefined;
  }

  async function make(values: Values, by: By): Promise<void> {
    const { password_hash: passwordHash, invite } = values;
    await users.create(
      {
        ...profileOf(values),
        roles: rolesOf(values),
        ...(passwordHash ? { passwordHash } : { withoutPassword: true }),
        invite: Boolean(invite),
      },
      by,
    );
  }

  return {
    async run(text, { isTrial, done, limit }, by) {
      const [head, ...lines] = parseCsv(text);
      const columns = (head?.cells ?? []).map((name) => name.trim().toLowerCase());
      if (!columns.includes('username')) {
        const message = `The first line has to name the columns: ${IMPORT_COLUMNS.join(', ')}. Only username is needed.`;
        throw badRequest('invalid_input', { fields: [{ field: 'csv', message }] });
      }
      const known = new Set((await roles.list()).map(({ name }) => name));
      const seen = new Map<string, number>();
      const rows: ImportRow[] = [];
      for (const [index, { line, cells }] of lines.slice(0, done + limit).entries()) {
        const values = valuesOf(columns, cells);
        const { username = '' } = values;
        const before = seen.get(nameKey(username));
        if (before === undefined) seen.set(nameKey(username), line);
        if (index < done) continue;
        const problem = before
          ? `The same user name is in line ${before}.`
          : await problemOf(async () => {
              const fault = await faultOf(values, known);
              if (fault) return fault;
              if (!isTrial) await make(values, by);
              return undefined;
            });
        rows.push({ line, username, ...(problem && { problem }) });
      }
      return { rows, total: lines.length };
    },

    async *exportAll() {
      yield 'username,email,name,roles,active\r\n';
      let after: string | undefined;
      do {
        const page = await users.list({ limit: 500, after });
        yield page.accounts
          .map(({ username, email, name, roles: held, isActive }) => [
            username,
            email,
            name,
            held.join(';'),
            isActive ? 'yes' : 'no',
          ])
          .map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
          .join('');
        after = page.next;
      } while (after);
    },
  };
}

async function problemOf(work: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return error.fields.map(({ field, message }) => `${field}: ${message}`).join(' ') || error.message;
  }
}

function valuesOf(columns: readonly string[], cells: readonly string[]): Values {
  const pairs = columns.map((name, index) => [name, cells[index]?.trim() ?? ''] as const);
  return Object.fromEntries(pairs.filter(([name]) => (IMPORT_COLUMNS as readonly string[]).includes(name)));
}

function profileOf({ username = '', email, name, given_name, family_name }: Values) {
  return {
    username,
    email: email || null,
    name: name || null,
    givenName: given_name || null,
    familyName: family_name || null,
  };
}

function rolesOf({ roles = '' }: Values): string[] {
  return roles.split(';').flatMap((role) => role.trim() || []);
}
