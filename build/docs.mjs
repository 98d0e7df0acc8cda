// Renders docs/ for the pages /docs of the program (src/admin/documents/documents.ts), so that they fit its version. A chapter is a list
// of sections; a section is HTML, with code and pictures apart, because templates give those their buttons and addresses.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Marked } from 'marked';

/** Returns the chapters as JSON, and the pictures that they show: name in dist/assets -> content. Throws for HTML that is no picture. */
export function documents(root) {
  const names = readdirSync(path.join(root, 'docs'), { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.split(path.sep).join('/').slice(0, -3))
    .sort();
  const pictures = new Map();
  const chapters = names.map((name) => chapterOf(root, name, new Set(names), pictures));
  return { chapters: JSON.stringify(chapters), pictures };
}

function chapterOf(root, name, names, pictures) {
  const marked = new Marked({
    renderer: {
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href, name, names);
        return address ? `<a href="${escaped(address)}">${text}</a>` : text;
      },
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      html({ text }) {
        if (text.trim() !== '') throw new Error(`docs/${name}.md has HTML that is no picture: ${text}`);
        return '';
      },
      // Wide tables scroll, not the page.
      table(token) {
        // A head without text is no head.
        const cells = (row) =>
          row.map((cell) => this.tablecell({ ...cell, header: cell.header && cell.text !== '' })).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row)}</tr>`).join('');
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(token.header)}</tr></thead><tbody>${rows}</tbody></table></div>`;
      },
    },
  });
  const tokens = marked.lexer(readFileSync(path.join(root, 'docs', `${name}.md`), 'utf8'));
  const sections = [];
  let title = name;
  for (const token of tokens) {
    const isHeading = token.type === 'heading';
    if (isHeading && token.depth === 1) title = plain(token.text);
    else if (isHeading && token.depth <= 3)
      sections.push({ id: idOf(token.text), title: plain(token.text), level: token.depth, parts: [] });
    if (sections.length === 0) sections.push({ id: '', title: '', level: 1, parts: [] });
    if (isHeading && token.depth === 1) continue;
    sections.at(-1).parts.push(...partsOf(token, { root, marked, pictures }));
  }
  return { name, title, sections: sections.map((one) => ({ ...one, parts: joined(one.parts) })) };
}

/** A token of the top level; a list with code in it becomes several parts. */
function partsOf(token, context) {
  if (token.type === 'code') return [{ code: token.text, language: token.lang ?? '' }];
  if (token.type === 'html' && token.text.includes('<picture>')) return [pictureOf(token.text, context)];
  if (token.type !== 'list') return [context.marked.parser([token])];
  const tag = token.ordered ? 'ol' : 'ul';
  const start = token.ordered && token.start !== 1 ? ` start="${token.start}"` : '';
  const items = token.items.flatMap((item) => [
    '<li>',
    ...item.tokens.flatMap((one) =>
      one.type === 'text'
        ? [context.marked.parser([token.loose ? { ...one, type: 'paragraph' } : one])]
        : partsOf(one, context),
    ),
    '</li>',
  ]);
  return [`<${tag}${start}>`, ...items, `</${tag}>`];
}

function pictureOf(html, { root, pictures }) {
  const nameIn = (pattern) => {
    const [, file] = pattern.exec(html) ?? [];
    if (!file) throw new Error(`a picture of the docs has no ${pattern}: ${html}`);
    const name = `docs-${path.basename(file)}`;
    pictures.set(name, readFileSync(path.join(root, 'docs', file)));
    return name;
  };
  const [, alt = ''] = /alt="([^"]*)"/.exec(html) ?? [];
  const [, width = ''] = /width="(\d+)"/.exec(html) ?? [];
  return { light: nameIn(/ src="([^"]+)"/), dark: nameIn(/ srcset="([^"]+)"/), alt, width };
}

function joined(parts) {
  const list = [];
  for (const part of parts) {
    if (typeof part !== 'string') list.push(part);
    else if (list.at(-1)?.html === undefined) list.push({ html: part });
    else list.at(-1).html += part;
  }
  return list;
}

/** The address in the program. Undefined for a file that the program does not have, such as a source. */
function addressOf(href, from, names) {
  // An address with a placeholder, such as http://localhost:$PORT, is text.
  if (/^(https?|mailto):/.test(href)) return URL.canParse(href) ? href : undefined;
  if (href.startsWith('#')) return href;
  const [file, fragment] = href.split('#');
  const target = path.posix.join(path.posix.dirname(from), file).replace(/\.md$/, '');
  if (!names.has(target)) return undefined;
  return `${target === 'README' ? '/docs' : `/docs/${target}`}${fragment ? `#${fragment}` : ''}`;
}

/** As GitHub makes them. */
function idOf(heading) {
  return plain(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** A heading without its marks. */
function plain(text) {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
