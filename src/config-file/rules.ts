// The rules between the fields of a user, and between the entries of the file.

import { AppError, type FieldFault } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { at, type Fault } from '../base/platform/faults.ts';
import { plural } from '../base/platform/plural.ts';
import { canonicalCode } from '../base/platform/readable-code.ts';
import { nameKey } from '../people/accounts/names.ts';
import { profileColumns } from '../people/accounts/profile.ts';
import { profileOf, snakeCase } from './plan/user-profile.ts';
import type { Declared, DeclaredUser, EntrySection } from './schema.ts';

export function userRules(entry: DeclaredUser): Fault[] {
  const faults: Fault[] = [];
  const reject = (field: string, message: string) => faults.push({ path: [field], message });
  for (const { field, message } of profileFaults(entry)) reject(snakeCase(field), String(message));
  if (entry.password !== undefined && entry.password_hash !== undefined)
    reject('password_hash', 'can’t be combined with password');
  // NIST SP 800-63B-4 3.1.1.2: 15 characters without a second factor, 8 with one.
  const minimum = entry.totp_secret === undefined ? limits.password.minWithoutMfa : limits.password.minWithMfa;
  if (entry.password !== undefined && [...entry.password.normalize('NFKC')].length < minimum) {
    reject(
      'password',
      `must have at least ${plural(minimum, 'character')}${entry.totp_secret === undefined ? ' (8 with a totp_secret)' : ''}`,
    );
  }
  if (entry.email_verified === true && entry.email == null) reject('email_verified', 'needs an email too');
  return faults;
}

/** Rules between the entries: nothing may be declared twice. */
export function duplicateFaults(file: { [Name in EntrySection]: Map<number, Declared[Name][number]> }): Fault[] {
  const faults = [
    ...repeatedValues(
      'resources',
      [...file.resources].map(([index, entry]) => [index, 'identifier', entry.identifier]),
    ),
    ...repeatedValues(
      'roles',
      [...file.roles].map(([index, entry]) => [index, 'name', entry.name]),
    ),
    ...repeatedValues(
      'users',
      [...file.users].map(([index, entry]) => [index, 'username', nameKey(entry.username)]),
    ),
    ...repeatedValues(
      'users',
      [...file.users].flatMap(([index, entry]) => (entry.email ? [[index, 'email', nameKey(entry.email)]] : [])),
    ),
    ...usernamesThatAreAddresses(file.users),
    ...repeatedValues(
      'users',
      [...file.users].flatMap(([index, entry]) => (entry.sub ? [[index, 'sub', entry.sub]] : [])),
    ),
    ...repeatedValues(
      'service_providers',
      [...file.service_providers].map(([index, entry]) => [index, 'name', entry.name]),
    ),
  ];
  faults.push(
    ...repeatedValues(
      'connections',
      [...file.connections].map(([index, entry]) => [index, 'id', entry.id]),
    ),
    ...repeatedValues(
      'connections',
      [...file.connections].flatMap(([index, entry]) =>
        entry.domains.map((domain): Named => [index, 'domains', domain]),
      ),
    ),
  );
  faults.push(
    ...repeatedValues(
      'sign_up_codes',
      [...file.sign_up_codes].map(([index, entry]) => [index, 'name', entry.name]),
    ),
    ...repeatedValues(
      'sign_up_codes',
      [...file.sign_up_codes].flatMap(([index, { code }]): Named[] =>
        code === undefined ? [] : [[index, 'code', canonicalCode(code)]],
      ),
    ),
  );
  const clientIds = [...file.clients].map(([index, entry]): Named => [index, 'client_id', entry.client_id]);
  faults.push(...repeatedValues('clients', clientIds));
  const taken = new Set(clientIds.map(([, , id]) => id));
  const entityIds = [...file.service_providers].flatMap(([index, entry]): Named[] =>
    entry.entity_id === undefined ? [] : [[index, 'entity_id', entry.entity_id]],
  );
  faults.push(...repeatedValues('service_providers', entityIds));
  for (const [index, field, id] of entityIds) {
    if (taken.has(id))
      faults.push({ path: ['service_providers', index, field], message: 'is already the client_id of a client above' });
  }
  return faults;
}

/** Usernames that are the email address of another user of the file. */
function usernamesThatAreAddresses(users: ReadonlyMap<number, DeclaredUser>): Fault[] {
  const holders = new Map(
    [...users].flatMap(([index, { email }]) => (email ? [[nameKey(email), index] as const] : [])),
  );
  return [...users].flatMap(([index, { username }]) => {
    const holder = username.includes('@') ? holders.get(nameKey(username)) : undefined;
    if (holder === undefined || holder === index) return [];
    return [{ path: ['users', index, 'username'], message: `is the email address of users[${holder}]` }];
  });
}

type Named = [index: number, field: string, value: string];

function repeatedValues(section: EntrySection, entries: Array<(string | number)[] | Named>): Fault[] {
  const first = new Map<string, number>();
  return (entries as Named[]).flatMap(([index, field, value]) => {
    const before = first.get(value);
    first.set(value, before ?? index);
    return before === undefined
      ? []
      : at([section, index], [{ path: [field], message: `is already declared in ${section}[${before}]` }]);
  });
}

function profileFaults(entry: DeclaredUser): FieldFault[] {
  try {
    profileColumns(profileOf(entry), 'any'); // the plan checks the domain of a name, which is a setting
    return [];
  } catch (error) {
    if (error instanceof AppError) return error.fields;
    throw error;
  }
}
