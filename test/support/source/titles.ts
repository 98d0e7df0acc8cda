// Reads the titles of a test file in its syntax tree, without running it.
import { readFileSync } from 'node:fs';
import { parseAst } from 'vitest/node';

export interface TestTitle {
  /** The titles of the enclosing `describe`s, the outermost first. */
  subjects: string[];
  /** The title of the test itself. */
  title: string;
  /** From 1. */
  line: number;
}

type Node = Record<string, unknown> & { type: string; start: number; end: number };

/** Every `it` and `test` of the file, with those of `it.each`, `it.skipIf` and `itOnSqlite`. */
export function titlesOf(source: string): TestTitle[] {
  const found: TestTitle[] = [];
  const visit = (value: unknown, subjects: string[]) => {
    if (Array.isArray(value)) for (const one of value) visit(one, subjects);
    if (!isNode(value)) return;
    const name = value.type === 'CallExpression' ? calledName(value.callee) : undefined;
    const title = name && titleOf(value.arguments, source);
    if (name === 'describe' && title) {
      visit((value.arguments as unknown[]).slice(1), [...subjects, title]);
      return;
    }
    if (title) found.push({ subjects, title, line: source.slice(0, value.start).split('\n').length });
    for (const child of Object.values(value)) visit(child, subjects);
  };
  visit(parseAst(source, { lang: 'ts' }), []);
  return found;
}

const read = new Map<string, TestTitle[]>();

/** Whether a test of the file reads as the text: "describe it", or a part of it. */
export function hasTitle(file: string, text: string): boolean {
  const titles = read.get(file) ?? titlesOf(readFileSync(file, 'utf8'));
  read.set(file, titles);
  return titles.some(({ subjects, title }) => [...subjects, title].join(' ').includes(text));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** `describe` or the name of a function that makes tests: that of `it`, `it.each(…)`, `test.skipIf(…)` and `itOnSqlite`. */
function calledName(callee: unknown): string | undefined {
  let node = callee;
  while (isNode(node) && node.type !== 'Identifier') node = node.callee ?? node.object ?? node.tag;
  const name = isNode(node) ? String(node.name) : '';
  return /^(?:describe|test|it(?:[A-Z]\w*)?)$/.test(name) ? name : undefined;
}

/** The text of the first of several arguments; a template keeps its `${…}`. */
function titleOf(args: unknown, source: string): string | undefined {
  const [first, ...others] = args as unknown[];
  if (others.length === 0 || !isNode(first)) return undefined;
  if (first.type === 'Literal' && typeof first.value === 'string') return first.value;
  return first.type === 'TemplateLiteral' ? source.slice(first.start + 1, first.end - 1) : undefined;
}
