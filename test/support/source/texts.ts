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
