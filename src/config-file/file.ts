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
import { at, type Fault } from '../base/platform/faults.ts';
import { type ConnectionEntry, checkConnection } from '../federation/connections/schema.ts';
import { duplicateFaults, userRules } from './rules.ts';
import {
  type Declared,
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
