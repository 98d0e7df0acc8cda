// Reads the configuration file (YAML). Everything that is wrong with it is reported at once, each fault with its line,
// column and path. Each entry is checked alone, so that a fault in one does not hide those of another.

import { type OidcClient, oidcClient } from '../applications/fields/oidc-client.ts';
import {
  type ServiceProvider,
  serviceProvider,
  serviceProviderRules,
} from '../applications/fields/service-provider.ts';
import { oidcRules } from '../applications/oidc-rules.ts';
import { withProfileFields } from '../applications/security-profile.ts';
import { check } from '../applications/validation.ts';
import { AppError, type FieldFault } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { at, type Fault } from '../base/platform/faults.ts';
import { plural } from '../base/platform/plural.ts';
import { canonicalCode } from '../base/platform/readable-code.ts';
import { type ConnectionEntry, checkConnection } from '../federation/connections/schema.ts';
import { nameKey } from '../people/accounts/names.ts';
import { profileColumns } from '../people/accounts/profile.ts';
import { profileOf, snakeCase } from './plan/user-profile.ts';
import {
  type Declared,
  type DeclaredUser,
  type EntrySection,
  emptyDeclaration,
  entrySections,
  resource,
  resourceRules,
  role,
  settings,
  signUpCode,
  top,
  user,
} from './schema.ts';
import { type FileFault, readYaml } from './yaml.ts';

/** What a file declares, and its faults, if any; `locate` finds where the entries of further faults stand in it. */
export type ParsedFile = {
  declared: Declared;
  faults: FileFault[];
  locate(faults: readonly Fault[]): FileFault[] | Promise<FileFault[]>;
};

const EMPTY = 'the file is empty; to delete everything that it declared before, write {}';

/** `gatehouse.yaml:12:5: clients[0].redirect_uri: unknown key`. */
export function formatFault(name: string, fault: FileFault): string {
  return [`${name}:${fault.line}:${fault.column}`, fault.path, fault.message].filter((part) => part !== '').join(': ');
}

/**
 * Parses the text of a configuration file. An empty file is a fault: a truncated file must not delete everything that an
 * earlier one declared. `{}` declares nothing. `maxSize` is that of `readYaml`.
 */
export function parseFile(text: string, options: { maxSize?: number } = {}): ParsedFile {
  const { content, faults: syntax, locate } = readYaml(text, options);
  if (syntax.length > 0) return { declared: emptyDeclaration(), faults: syntax, locate };
  if (content === null || content === undefined) {
    return { declared: emptyDeclaration(), faults: [{ line: 1, column: 1, path: '', message: EMPTY }], locate };
  }
  const { declared, faults } = validateSections(content);
  return { declared, faults: locate(faults), locate };
}

function validateSections(content: unknown): { declared: Declared; faults: Fault[] } {
  const whole = check(top, content);
  const faults = whole.ok ? [] : whole.faults;
  const root = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  const read = <Entry>(section: EntrySection, checkEntry: (entry: unknown) => ReturnType<typeof check>) => {
    const list = root[section];
    const valid = new Map<number, Entry>();
    for (const [index, entry] of Array.isArray(list) ? list.entries() : []) {
      const checked = checkEntry(entry);
      if (checked.ok) valid.set(index, checked.value as Entry);
      else faults.push(...at([section, index], checked.faults));
    }
    return valid;
  };
  const declaredSettings = check(settings, root.settings ?? {});
  if (!declaredSettings.ok) faults.push(...at(['settings'], declaredSettings.faults));
  const entries = {
    resources: read<Declared['resources'][number]>('resources', (entry) => check(resource, entry, resourceRules)),
    clients: read<OidcClient>('clients', (entry) => check(oidcClient, withProfileFields(entry), oidcRules)),
    service_providers: read<ServiceProvider>('service_providers', (entry) =>
      check(serviceProvider, entry, serviceProviderRules),
    ),
    roles: read<Declared['roles'][number]>('roles', (entry) => check(role, entry)),
    connections: read<ConnectionEntry>('connections', checkConnection),
    users: read<Declared['users'][number]>('users', (entry) => check(user, entry, userRules)),
    sign_up_codes: read<Declared['sign_up_codes'][number]>('sign_up_codes', (entry) => check(signUpCode, entry)),
  };
  faults.push(...duplicateFaults(entries));
  const lists = Object.fromEntries(entrySections.map((name) => [name, [...entries[name].values()]]));
  return {
    declared: { ...(lists as Omit<Declared, 'settings'>), settings: declaredSettings.ok ? declaredSettings.value : {} },
    faults,
  };
}

// The rules between the fields of a user, and between the entries of the file.

function userRules(entry: DeclaredUser): Fault[] {
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
function duplicateFaults(file: { [Name in EntrySection]: Map<number, Declared[Name][number]> }): Fault[] {
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
