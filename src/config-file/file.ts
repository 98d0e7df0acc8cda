// Reads the configuration file (YAML). Everything that is wrong with it is reported at once, each fault with its line,
// column and path. Each entry is checked alone, so that a fault in one does not hide those of another.

import { type OidcClient, oidcClient } from '../applications/fields/oidc-client.ts';
import { proxiedApplication, proxiedRules } from '../applications/fields/proxied-application.ts';
import {
  type ServiceProviderEntry,
  serviceProvider,
  serviceProviderRules,
} from '../applications/fields/service-provider.ts';
import { oidcRules } from '../applications/oidc-rules.ts';
import { withProfileFields } from '../applications/security-profile.ts';
import { AppError } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { canonicalCode } from '../base/platform/readable-code.ts';
import { at, type Checked, check, type Fault, fault, faultLine } from '../base/texts/faults.ts';
import { checkConnection } from '../federation/connections/schema.ts';
import { nameKey } from '../people/accounts/names.ts';
import { profileColumns } from '../people/accounts/profile.ts';
import { groupKey } from '../people/rbac/names.ts';
import { secretFaults, streamRules } from '../protocols/event-streams/streams.ts';
import {
  type Declared,
  type DeclaredEventStream,
  type DeclaredGroup,
  type DeclaredScimConnection,
  type DeclaredUser,
  type EntrySection,
  emptyDeclaration,
  entrySections,
  eventStream,
  group,
  profileOf,
  resource,
  resourceRules,
  role,
  scimConnection,
  settings,
  signUpCode,
  snakeCase,
  timedFaults,
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

export type FileEntry<Name extends EntrySection> = Declared[Name][number];

/** Parses the text of one entry of a section. */
export function parseEntry<Name extends EntrySection>(
  section: Name,
  text: string,
): { ok: true; value: FileEntry<Name> } | { ok: false; faults: FileFault[] } {
  const { content, faults, locate } = readYaml(text);
  if (faults.length > 0) return { ok: false, faults };
  const checked = sections[section].check(content);
  return checked.ok ? checked : { ok: false, faults: locate(checked.faults) };
}

/** How an entry of a section is checked, and its values that no other entry of the section may have. */
interface EntryRules<Entry> {
  check(entry: unknown): Checked<Entry>;
  unique: Record<string, (entry: Entry) => string | readonly string[] | undefined | null>;
}

const sections: { [Name in EntrySection]: EntryRules<Declared[Name][number]> } = {
  resources: {
    check: (entry) => check(resource, entry, resourceRules),
    unique: { identifier: ({ identifier }) => identifier },
  },
  clients: {
    check: (entry) => check(oidcClient, withProfileFields(entry), oidcRules),
    unique: { client_id: ({ client_id }) => client_id },
  },
  service_providers: {
    check: (entry) => check(serviceProvider, entry, serviceProviderRules),
    unique: { name: ({ name }) => name, entity_id: ({ entity_id }) => entity_id },
  },
  proxied_applications: {
    check: (entry) => check(proxiedApplication, entry, proxiedRules),
    unique: { name: ({ name }) => name, url: ({ url }) => url },
  },
  roles: { check: (entry) => check(role, entry), unique: { name: ({ name }) => name } },
  groups: {
    check: (entry) => check(group, entry, groupRules),
    unique: { name: ({ name }) => groupKey(name) },
  },
  connections: { check: checkConnection, unique: { id: ({ id }) => id, domains: ({ domains }) => domains } },
  users: {
    check: (entry) => check(user, entry, userRules),
    unique: {
      username: ({ username }) => nameKey(username),
      email: ({ email }) => email && nameKey(email),
      sub: ({ sub }) => sub,
    },
  },
  sign_up_codes: {
    check: (entry) => check(signUpCode, entry),
    unique: { name: ({ name }) => name, code: ({ code }) => code && canonicalCode(code) },
  },
  event_streams: {
    check: (entry) => check(eventStream, entry, streamFileRules),
    unique: { id: ({ id }) => id, name: ({ name }) => name },
  },
  scim: {
    check: (entry) => check(scimConnection, entry, scimRules),
    unique: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      client_id: ({ client_id }) => client_id,
      token: ({ token }) => token,
    },
  },
};

function validateSections(content: unknown): { declared: Declared; faults: Fault[] } {
  const whole = check(top, content);
  const faults = whole.ok ? [] : whole.faults;
  const root = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {};
  const declaredSettings = check(settings, root.settings ?? {});
  if (!declaredSettings.ok) faults.push(...at(['settings'], declaredSettings.faults));
  const declared = { ...emptyDeclaration(), settings: declaredSettings.ok ? declaredSettings.value : {} };
  const valid = {} as { [Name in EntrySection]: Map<number, Declared[Name][number]> };
  for (const section of entrySections) {
    const { entries, faults: found } = readEntries(section, root[section]);
    faults.push(...found);
    Object.assign(valid, { [section]: entries });
    Object.assign(declared, { [section]: [...entries.values()] });
  }
  faults.push(...usernamesThatAreAddresses(valid.users), ...entityIdsOfClients(valid));
  return { declared, faults };
}

/** The valid entries of a section by their index, and the faults of the others. */
function readEntries<Name extends EntrySection>(section: Name, list: unknown) {
  const rules = sections[section];
  const entries = new Map<number, Declared[Name][number]>();
  const faults: Fault[] = [];
  for (const [index, entry] of Array.isArray(list) ? list.entries() : []) {
    const checked = rules.check(entry);
    if (checked.ok) entries.set(index, checked.value);
    else faults.push(...at([section, index], checked.faults));
  }
  faults.push(...repeatedValues(section, entries, rules));
  return { entries, faults };
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
  faults.push(...timedFaults('roles', entry.roles));
  if (entry.email_verified === true && entry.email == null)
    faults.push(fault(['email_verified'], 'needs-key', { key: 'email' }));
  return faults;
}

function streamFileRules({ secret, secret_file, ...stream }: DeclaredEventStream): Fault[] {
  const both = secret !== undefined && secret_file !== undefined;
  return [
    ...streamRules(stream),
    ...(secret === undefined ? [] : at(['secret'], secretFaults(stream, secret))),
    ...(both ? [fault(['secret_file'], 'not-with', { key: 'secret' })] : []),
  ];
}

function scimRules({ token, token_file }: DeclaredScimConnection): Fault[] {
  return token !== undefined && token_file !== undefined ? [fault(['token_file'], 'not-with', { key: 'token' })] : [];
}

function groupRules({ members = [], owners = [], groups, roles }: DeclaredGroup): Fault[] {
  return [
    ...timedFaults('members', members, nameKey),
    ...timedFaults('owners', owners, nameKey),
    ...timedFaults('groups', groups),
    ...timedFaults('roles', roles),
  ];
}

/** Nothing may be declared twice. */
function repeatedValues<Entry>(
  section: EntrySection,
  entries: ReadonlyMap<number, Entry>,
  { unique }: EntryRules<Entry>,
): Fault[] {
  const faults: Fault[] = [];
  for (const [field, valuesOf] of Object.entries(unique)) {
    const first = new Map<string, number>();
    for (const [index, entry] of entries)
      for (const value of [valuesOf(entry) || []].flat()) {
        const before = first.get(value);
        if (before === undefined) first.set(value, index);
        else faults.push(fault([section, index, field], 'declared-already', { where: `${section}[${before}]` }));
      }
  }
  return faults;
}

function entityIdsOfClients(valid: {
  clients: ReadonlyMap<number, OidcClient>;
  service_providers: ReadonlyMap<number, ServiceProviderEntry>;
}): Fault[] {
  const taken = new Set([...valid.clients.values()].map(({ client_id }) => client_id));
  return [...valid.service_providers].flatMap(([index, { entity_id: id }]) =>
    id !== undefined && taken.has(id) ? [fault(['service_providers', index, 'entity_id'], 'client-id-above')] : [],
  );
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
