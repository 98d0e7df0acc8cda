// Reads the configuration file (YAML). Everything that is wrong with it is reported at once, each fault with its line,
// column and path. Each entry is checked alone, so that a fault in one does not hide those of another.
import { isMap, isNode, isPair, isScalar, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { type OidcClient, oidcClient } from '../applications/oidc-client.ts';
import { oidcRules } from '../applications/oidc-rules.ts';
import { type ServiceProvider, serviceProvider, serviceProviderRules } from '../applications/service-provider.ts';
import { check, showPath } from '../applications/validation.ts';
import { at, type Fault, type Path } from '../platform/faults.ts';
import { betweenEntries, userRules } from './rules.ts';
import {
  type Declared,
  type EntrySection,
  entrySections,
  resource,
  resourceRules,
  role,
  settings,
  top,
  user,
} from './schema.ts';

export type Position = { line: number; column: number };
export type FileFault = Position & { path: string; message: string };

/** What a file declares, where each entry stands in it, and its faults, if any. */
export type ParsedFile = { declared: Declared; faults: FileFault[]; locate(faults: readonly Fault[]): FileFault[] };

// Against exponential expansion of YAML aliases ("billion laughs").
const MAX_ALIASES = 100;
const EMPTY = 'the file is empty; to declare nothing, and delete what it declared before, write {}';

/** `gatehouse.yaml:12:5: clients[0].redirect_uri: unknown key`. */
export function showFault(name: string, fault: FileFault): string {
  return [`${name}:${fault.line}:${fault.column}`, fault.path, fault.message].filter((part) => part !== '').join(': ');
}

/**
 * Parses the text of a configuration file. An empty file is a fault: a truncated file must not delete everything that an
 * earlier one declared. `{}` declares nothing.
 */
export function parseFile(text: string): ParsedFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, merge: true });
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const syntax = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    ...position(pos[0]),
    path: '',
    message: `not valid YAML: ${message}`,
  }));
  const locate = (faults: readonly Fault[]) =>
    faults
      .map(({ path, message }) => ({ ...position(offsetOf(document.contents, path)), path: showPath(path), message }))
      .sort((a, b) => a.line - b.line || a.column - b.column);
  if (syntax.length > 0) return { declared: nothing(), faults: syntax, locate };

  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    return { declared: nothing(), faults: [{ ...position(0), path: '', message: 'too many aliases' }], locate };
  }
  if (content === null || content === undefined) {
    return { declared: nothing(), faults: [{ ...position(0), path: '', message: EMPTY }], locate };
  }
  const { declared, faults } = validateSections(content);
  return { declared, faults: locate(faults), locate };
}

function nothing(): Declared {
  return { settings: {}, resources: [], clients: [], service_providers: [], roles: [], users: [] };
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
    clients: read<OidcClient>('clients', (entry) => check(oidcClient, entry, oidcRules)),
    service_providers: read<ServiceProvider>('service_providers', (entry) =>
      check(serviceProvider, entry, serviceProviderRules),
    ),
    roles: read<Declared['roles'][number]>('roles', (entry) => check(role, entry)),
    users: read<Declared['users'][number]>('users', (entry) => check(user, entry, userRules)),
  };
  faults.push(...betweenEntries(entries));
  const lists = Object.fromEntries(entrySections.map((name) => [name, [...entries[name].values()]]));
  return {
    declared: { ...(lists as Omit<Declared, 'settings'>), settings: declaredSettings.ok ? declaredSettings.value : {} },
    faults,
  };
}

// The node at the path: the key of a map entry, the item of a list, or the nearest node that exists.
function offsetOf(root: Node | null, path: Path): number {
  let node: unknown = root;
  let offset = startOf(root);
  for (const part of path) {
    const next = isMap(node) ? node.items.find((pair) => keyOf(pair) === String(part)) : itemOf(node, part);
    if (next === undefined) break;
    offset = isPair(next) ? startOf(next.key) : startOf(next);
    node = isPair(next) ? next.value : next;
  }
  return offset;
}

function keyOf(pair: Pair): string {
  return String(isScalar(pair.key) ? pair.key.value : pair.key);
}

function itemOf(node: unknown, part: string | number): unknown {
  if (typeof node !== 'object' || node === null || !('items' in node) || !Array.isArray(node.items)) return undefined;
  return node.items[Number(part)];
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}
