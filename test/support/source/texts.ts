// The texts of the repository that people read: string literals of TypeScript and scripts, templates, and documents.
import { parseAst } from 'vitest/node';

export interface TextAt {
  /** Its line, from 1. */
  line: number;
  /** An expression inside of a template literal is `${}`. */
  text: string;
}

type Node = Record<string, unknown> & { type: string; start: number; end: number };

/** Every string literal of a TypeScript or JavaScript file, without import paths and types. */
export function literalsOf(source: string): TextAt[] {
  const found: { at: number; text: string }[] = [];
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (!isNode(value) || value.type === 'ImportDeclaration' || value.type === 'TSLiteralType') return;
    if (value.type === 'Literal' && typeof value.value === 'string') found.push({ at: value.start, text: value.value });
    if (value.type === 'TemplateLiteral') {
      const parts = (value.quasis as { value: { raw: string } }[]).map((part) => part.value.raw);
      // biome-ignore lint/suspicious/noTemplateCurlyInString: stands for any expression
      found.push({ at: value.start, text: parts.join('${}') });
    }
    for (const [key, child] of Object.entries(value)) if (key !== 'type') visit(child);
  };
  visit(parseAst(source, { lang: 'ts' }));
  return found.map(({ at, text }) => ({ line: lineAt(source, at), text }));
}

/** Every comment of a TypeScript or JavaScript file, and every identifier once, as words: `isSignedIn` is `is signed in`. */
export function commentsAndNamesOf(source: string): TextAt[] {
  const literals: { start: number; end: number }[] = [];
  const names = new Map<string, number>();
  const visit = (value: unknown) => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    if (!isNode(value)) return;
    const { type, start, end, name } = value;
    if (type === 'Literal' || type === 'TemplateElement') literals.push({ start, end });
    if (type === 'Identifier' && typeof name === 'string' && !names.has(name)) names.set(name, start);
    for (const child of Object.values(value)) if (typeof child === 'object') visit(child);
  };
  visit(parseAst(source, { lang: 'ts' }));
  let code = '';
  for (const { start, end } of literals.sort((a, b) => a.start - b.start))
    code += source.slice(code.length, start) + source.slice(start, end).replace(/[^\n]/g, ' ');
  code += source.slice(code.length);
  const comments = [...code.matchAll(/\/\/.*|\/\*[\s\S]*?\*\//g)];
  return [
    ...comments.flatMap(({ 0: comment, index }) =>
      comment.split('\n').map((text, at) => ({ line: lineAt(source, index) + at, text })),
    ),
    ...[...names].map(([name, at]) => ({ line: lineAt(source, at), text: wordsOf(name) })),
  ];
}

const wordsOf = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/** The lines of an Eta template without code and comments; the string literals inside of its code stay. */
export function templateTextOf(source: string): TextAt[] {
  const keep = (code: string) => (code.startsWith('<%/*') ? [] : (code.match(/'[^'\n]*'/g) ?? [])).join(' ');
  const text = source.replace(/<%[\s\S]*?%>/g, (code) => keep(code) + '\n'.repeat(code.split('\n').length - 1));
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
}

/** The lines of a Markdown document without code. */
export function proseOf(source: string): TextAt[] {
  const text = source
    .replace(/```[\s\S]*?```/g, (code) => code.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '`')
    .replace(/\]\([^)]*\)/g, ']');
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
}

const lineAt = (source: string, at: number) => source.slice(0, at).split('\n').length;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
