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
import { AppError } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { canonicalCode } from '../base/platform/readable-code.ts';
import { at, check, type Fault, fault, faultLine } from '../base/texts/faults.ts';
import { type ConnectionEntry, checkConnection } from '../federation/connections/schema.ts';
import { nameKey } from '../people/accounts/names.ts';
import { profileColumns } from '../people/accounts/profile.ts';
import { profileOf, snakeCase } from './plan/users.ts';
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

/** `gatehouse.yaml:12:5: clients[0].redirect_uri isn’t a known field.` */
export function formatFault(name: string, found: FileFault): string {
  return `${name}:${found.position.line}:${found.position.column}: ${faultLine(found)}`;
}

/**
 * Parses the text of a configuration file. An empty file is a fault: a truncated file must not delete everything that an
 * earlier one declared. `{}` declares nothing. `maxSize` is that of `readYaml`.
 */
export function parseFile(text: string, options: { maxSize?: number } = {}): ParsedFile {
  const { content, faults: syntax, locate } = readYaml(text, options);
  if (syntax.length > 0) return { declared: emptyDeclaration(), faults: syntax, locate };
  if (content === null || content === undefined) {
    return { declared: emptyDeclaration(), faults: locate([fault([], 'empty-file')]), locate };
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
  const faults = profileFaults(entry);
  if (entry.password !== undefined && entry.password_hash !== undefined)
    faults.push(fault(['password_hash'], 'not-with', { key: 'password' }));
  // NIST SP 800-63B-4 3.1.1.2: 15 characters without a second factor, 8 with one.
  const isSingle = entry.totp_secret === undefined;
  const minimum = isSingle ? limits.password.minWithoutMfa : limits.password.minWithMfa;
  if (entry.password !== undefined && [...entry.password.normalize('NFKC')].length < minimum)
    faults.push(fault(['password'], 'password-length', { characters: minimum, isSingle: isSingle ? 'yes' : 'no' }));
  if (entry.email_verified === true && entry.email == null)
    faults.push(fault(['email_verified'], 'needs-key', { key: 'email' }));
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
    if (taken.has(id)) faults.push(fault(['service_providers', index, field], 'client-id-above'));
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
    return [fault(['users', index, 'username'], 'email-of-user', { where: `users[${holder}]` })];
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
      : [fault([section, index, field], 'declared-already', { where: `${section}[${before}]` })];
  });
}

/** The faults of the profile, at the keys of the file. */
function profileFaults(entry: DeclaredUser): Fault[] {
  try {
    profileColumns(profileOf(entry), 'any'); // the plan checks the domain of a name, which is a setting
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.faults.map((one) => ({ ...one, path: one.path.map((part) => snakeCase(String(part))) }));
  }
}
