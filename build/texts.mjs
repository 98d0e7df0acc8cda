// Writes src/generated/texts.ts: the type of each key of views/texts/en, with the placeholders of its message, so that a missing key or
// value does not compile. Does nothing when nothing changed.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const folder = path.join(root, 'views', 'texts', 'en');
const target = path.join(root, 'src', 'generated', 'texts.ts');

/** Types of elements of a parsed message. */
const [ARGUMENT, NUMBER, DATE, TIME, SELECT, PLURAL, TAG] = [1, 2, 3, 4, 5, 6, 8];

const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.json'));
const lines = files
  .sort()
  .flatMap((file) =>
    Object.entries(JSON.parse(readFileSync(path.join(folder, file), 'utf8'))).map(
      ([key, message]) => `  ${JSON.stringify(key)}: ${typeOf(message)};`,
    ),
  );
const content = `// Made by build/texts.mjs from views/texts/en.
import type { Value } from '../base/texts/messages.ts';

export interface TextArguments {
${lines.join('\n')}
}

export type TextKey = keyof TextArguments;
`;
if (read(target) !== content) {
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
}

function typeOf(message) {
  const found = new Map();
  collect(new IntlMessageFormat(message, 'en').getAst(), found);
  if (found.size === 0) return 'undefined';
  return `{ ${[...found].map(([name, type]) => `${name}: ${type}`).join('; ')} }`;
}

function collect(elements, found) {
  for (const { type, value, children, options } of elements) {
    if (type === TAG) {
      if (value === 'a') found.set('href', 'string');
      if (value === 'datetime' || value === 'moment') found.set('at', 'Date');
      collect(children, found);
    } else if (type === NUMBER || type === PLURAL) found.set(value, 'number');
    else if (type === DATE || type === TIME) found.set(value, 'Date');
    else if (type === SELECT) found.set(value, namesOf(options));
    else if (type === ARGUMENT && !found.has(value)) found.set(value, 'Value');
    for (const option of Object.values(options ?? {})) collect(option.value, found);
  }
}

/** `'yes' | 'no'`; with `other` any text. */
function namesOf(options) {
  const names = Object.keys(options);
  return names.includes('other') ? 'string' : names.map((name) => JSON.stringify(name)).join(' | ');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
