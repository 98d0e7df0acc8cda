// Finds the assertions of a test that say nothing when they fail, in its syntax tree and without running it.
import { parseAst } from 'vitest/node';

type Node = Record<string, unknown> & { type: string; start: number; end: number };

const ASKING_METHODS = ['includes', 'some', 'every', 'test', 'startsWith', 'endsWith'];
const COMPARING_MATCHERS = ['toEqual', 'toStrictEqual', 'toMatchObject', 'toContainEqual'];

/**
 * A line for each assertion that fails with "expected false to be true", or with an array of booleans in which nobody sees what
 * each of them means.
 */
export function vagueAssertions(source: string): string[] {
  const found: string[] = [];
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (!isNode(value)) return;
    if (isVague(value)) {
      const text = source.slice(value.start, value.end).replace(/\s+/g, ' ');
      found.push(`${source.slice(0, value.start).split('\n').length}: ${text}`);
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseAst(source, { lang: 'ts' }));
  return found;
}

function isVague(call: Node): boolean {
  const matcher = methodOf(call);
  const [expected] = (call.arguments ?? []) as unknown[];
  if (COMPARING_MATCHERS.includes(matcher)) return holdsBooleans(expected);
  return matcher === 'toBe' && isBoolean(expected) && asks(comparedBy(call.callee));
}

/** What was passed to the `expect` in front of a matcher. */
function comparedBy(callee: unknown): unknown {
  let node = callee;
  while (isNode(node) && node.type === 'MemberExpression') node = node.object;
  if (!isNode(node) || node.type !== 'CallExpression') return undefined;
  const isExpect = isNode(node.callee) && node.callee.name === 'expect';
  return isExpect ? (node.arguments as unknown[])[0] : undefined;
}

/** Whether a value is the answer to a question that a matcher would ask better: `text.includes(…)`, `a || b`, `count > 1`. */
function asks(value: unknown): boolean {
  if (!isNode(value)) return false;
  if (value.type === 'UnaryExpression' || value.type === 'AwaitExpression') return asks(value.argument);
  if (value.type === 'ParenthesizedExpression' || value.type === 'ChainExpression') return asks(value.expression);
  return ['BinaryExpression', 'LogicalExpression'].includes(value.type) || ASKING_METHODS.includes(methodOf(value));
}

/** Whether an array anywhere in the value has a boolean as an element. */
function holdsBooleans(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsBooleans);
  if (!isNode(value)) return false;
  if (value.type === 'ArrayExpression' && (value.elements as unknown[]).some(isBoolean)) return true;
  return Object.values(value).some(holdsBooleans);
}

/** The name of the method that is called, or ''. */
function methodOf({ type, callee }: Node): string {
  const property = type === 'CallExpression' && isNode(callee) ? callee.property : undefined;
  return isNode(property) ? String(property.name) : '';
}

function isBoolean(value: unknown): boolean {
  return isNode(value) && value.type === 'Literal' && typeof value.value === 'boolean';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
