// Just enough reading of our own pages to fill in their forms without a browser.

export interface Form {
  action: string;
  method: 'get' | 'post';
  /** What a browser would send if nothing was typed, without the buttons. */
  fields: Record<string, string>;
  /** The fields of one name of which there are several: check boxes that are ticked, rows of a list. */
  ticks: Record<string, string[]>;
  buttons: { name: string; value: string; label: string }[];
}

/** The forms of a page, addresses resolved against the page's own. */
export function formsOf(html: string, base: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(([, attributes = '', body = '']) => {
    const form = attributesOf(attributes);
    return {
      action: new URL(form.action ?? '', base).href,
      method: form.method?.toLowerCase() === 'post' ? 'post' : 'get',
      fields: Object.fromEntries(repeatable(body)),
      ticks: repeatedOf(repeatable(body)),
      buttons: buttonsOf(body),
    };
  });
}

/** Where the forms of a page lead. */
export const actionsOf = ({ forms }: { forms: Form[] }): string[] => forms.map(({ action }) => action);

/** The names of the fields of all forms of a page. */
export const fieldsOf = ({ forms }: { forms: Form[] }): string[] => forms.flatMap(({ fields }) => Object.keys(fields));

/** The addresses that the page's links lead to. */
export function linksOf(html: string, base: string): { href: string; label: string }[] {
  return [...html.matchAll(/<a\b([^>]*)>([\s\S]*?)<\/a>/gi)].map(([, attributes = '', label = '']) => ({
    href: new URL(attributesOf(attributes).href ?? '', base).href,
    label: textOf(label),
  }));
}

/** What a reader sees: no tags, one space between words; sentences without the initials before names. */
export function textOf(html: string): string {
  const words = html
    .replace(/<wbr>/gi, '')
    .replace(/<ol class="events"[\s\S]*?<\/ol>/g, (events) =>
      events.replace(/<span class="logo[^>]*>[^<]*<\/span>/g, ''),
    );
  const visible = words.replace(/<(script|style|template)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
  return unescapeHtml(visible).replace(/\s+/g, ' ').trim();
}

export function unescapeHtml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return named[name.toLowerCase()] ?? whole;
  });
}

function attributesOf(source: string): Record<string, string> {
  const pairs = [...source.matchAll(/([\w:-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)];
  return Object.fromEntries(
    pairs.map(([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      unescapeHtml(double ?? single ?? bare ?? ''),
    ]),
  );
}

function inputsOf(body: string): [name: string, value: string][] {
  return [...body.matchAll(/<input\b([^>]*)>/gi)].flatMap(([, source = '']) => {
    const input = attributesOf(source);
    const type = input.type ?? 'text';
    if (!input.name || 'disabled' in input || ['submit', 'button', 'image', 'reset', 'file'].includes(type)) return [];
    if (['checkbox', 'radio'].includes(type) && !('checked' in input)) return [];
    return [[input.name, input.value ?? (type === 'checkbox' ? 'on' : '')]];
  });
}

function repeatedOf(inputs: readonly [name: string, value: string][]): Record<string, string[]> {
  const names = [...new Set(inputs.map(([name]) => name))];
  const values = names.map((name) => inputs.filter(([one]) => one === name).map(([, value]) => value));
  return Object.fromEntries(
    names.map((name, at) => [name, values[at] ?? []] as const).filter(([, all]) => all.length > 1),
  );
}

/** Every field in the order of its kind: a list may have several inputs, lists and text areas of one name. */
function repeatable(body: string): [name: string, value: string][] {
  return [...inputsOf(body), ...selectsOf(body), ...textAreasOf(body)];
}

function selectsOf(body: string): [name: string, value: string][] {
  const fields: [name: string, value: string][] = [];
  for (const [, source = '', inner = ''] of body.matchAll(/<select\b([^>]*)>([\s\S]*?)<\/select>/gi)) {
    const { name, ...select } = attributesOf(source);
    if ('disabled' in select) continue;
    const options = [...inner.matchAll(/<option\b([^>]*)>([^<]*)/gi)].map(([, attributes = '', label = '']) => ({
      label: textOf(label),
      ...attributesOf(attributes),
    }));
    const chosen: Record<string, string> | undefined = options.find((option) => 'selected' in option) ?? options[0];
    if (name && chosen) fields.push([name, chosen.value ?? chosen.label ?? '']);
  }
  return fields;
}

function textAreasOf(body: string): [name: string, value: string][] {
  const areas = [...body.matchAll(/<textarea\b([^>]*)>([\s\S]*?)<\/textarea>/gi)];
  return areas.map(([, source = '', text = '']) => [
    attributesOf(source).name ?? '',
    unescapeHtml(text).replace(/^\n/, ''),
  ]);
}

function buttonsOf(body: string): Form['buttons'] {
  return [...body.matchAll(/<button\b([^>]*)>([\s\S]*?)<\/button>/gi)].flatMap(([, source = '', label = '']) => {
    const button = attributesOf(source);
    if (button.type === 'button') return [];
    return [{ name: button.name ?? '', value: button.value ?? '', label: textOf(label) }];
  });
}
