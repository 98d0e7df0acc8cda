// Finds the long functions of a TypeScript file in its syntax tree, without running it.
import { parseAst } from 'vitest/node';

export interface LongFunction {
  name: string;
  /** Its first line, from 1. */
  line: number;
  /** From its first line to its closing brace. */
  lines: number;
}

type Node = Record<string, unknown> & { type: string; start: number; end: number };

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];

/** Every function, method and arrow function of more than `maxLines` lines, nested ones too. */
export function functionsOver(maxLines: number, source: string): LongFunction[] {
  const lineAt = (offset: number) => source.slice(0, offset).split('\n').length;
  const found: LongFunction[] = [];
  const visit = (value: unknown, name: string) => {
    if (Array.isArray(value)) for (const one of value) visit(one, name);
    if (!isNode(value)) return;
    const line = lineAt(value.start);
    const lines = lineAt(value.end) - line + 1;
    // Nothing inside of it is longer.
    if (lines <= maxLines) return;
    const own = nameOf(value) ?? name;
    if (FUNCTIONS.includes(value.type) && value.body) found.push({ name: own, line, lines });
    for (const child of Object.values(value)) visit(child, own);
  };
  visit(parseAst(source, { lang: 'ts' }), 'anonymous');
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The name that a declaration, a variable or a property gives. */
function nameOf({ id, key }: Node): string | undefined {
  const named = [id, key].find((one) => isNode(one) && typeof one.name === 'string');
  return (named as { name: string } | undefined)?.name;
}
