// Reads YAML of bounded depth and expansion, and finds the line and column of each value in it; writes YAML.
import { isMap, isNode, isPair, isScalar, LineCounter, type Node, type Pair, parseDocument, stringify } from 'yaml';
import { isStorable } from '../base/storage/storable-text.ts';
import { type Fault, fault, type Path, type Position } from '../base/texts/faults.ts';

/** A fault with its place in the file. */
export type FileFault = Fault & { position: Position };

export interface ReadYaml {
  /** Plain values; undefined where there are faults. */
  content: unknown;
  faults: FileFault[];
  /** The faults with the position of their entry, in the order of the file. */
  locate(faults: readonly Fault[]): FileFault[];
}

// Against exponential expansion of aliases ("billion laughs").
const MAX_ALIASES = 100;
const MAX_DEPTH = 32;
const TOO_DEEP = fault([], 'yaml-depth', { depth: MAX_DEPTH });
const TOO_LARGE = fault([], 'yaml-aliases');

/** `maxSize`: of all characters and values together, with every alias expanded. */
export function readYaml(text: string, { maxSize = Number.POSITIVE_INFINITY }: { maxSize?: number } = {}): ReadYaml {
  const lines = new LineCounter();
  let contents: Node | null = null;
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const locate = (faults: readonly Fault[]) =>
    faults
      .map((one) => ({ ...one, position: position(offsetOf(contents, one.path)) }))
      .sort((a, b) => a.position.line - b.position.line || a.position.column - b.position.column);
  const reject = (found: Fault) => ({ content: undefined, faults: locate([found]), locate });

  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, merge: true });
    ({ contents } = document);
    const syntax = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
      ...(code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : fault([], 'not-yaml', { reason: message })),
      position: position(pos[0]),
    }));
    if (syntax.length > 0) return { content: undefined, faults: syntax, locate };
    const content: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const found = contentFault(content, maxSize);
    return found ? reject(found) : { content, faults: [], locate };
  } catch (error) {
    if (error instanceof RangeError) return reject(TOO_DEEP); // the library calls itself for each level
    if (error instanceof ReferenceError) return reject(TOO_LARGE); // more than MAX_ALIASES
    throw error;
  }
}

/** Plain values as YAML, without line breaks inside of values. */
export function writeYaml(content: unknown): string {
  return stringify(content, { lineWidth: 0, aliasDuplicateObjects: false });
}

interface Item {
  value: unknown;
  depth: number;
  key: string;
  parent: Item | undefined;
}

// An alias refers to the same value again, also to the value that it is in: a work list ends at the first limit.
function contentFault(content: unknown, maxSize: number): Fault | undefined {
  const work: Item[] = [{ value: content, depth: 0, key: '', parent: undefined }];
  let size = 0;
  for (let item = work.pop(); item; item = work.pop()) {
    const { value, depth } = item;
    size += typeof value === 'string' ? value.length : 1;
    if (size > maxSize) return TOO_LARGE;
    if (typeof value === 'string' && !isStorable(value)) return fault(pathOf(item), 'unstorable');
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return TOO_DEEP;
    for (const [key, child] of Object.entries(value)) {
      if (!isStorable(key)) return fault(pathOf(item), 'unstorable');
      if (key === '__proto__') return fault([...pathOf(item), key], 'unknown-key', { advice: 'none', known: '' });
      size += key.length;
      work.push({ value: child, depth: depth + 1, key, parent: item });
    }
  }
  return undefined;
}

function pathOf({ key, parent }: Item): Path {
  if (!parent) return [];
  return [...pathOf(parent), Array.isArray(parent.value) ? Number(key) : key];
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
