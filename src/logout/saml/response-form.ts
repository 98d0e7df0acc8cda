// Finds the auto-submitting form of a LogoutResponse by POST (SAML Bindings 3.5.4) in a page. It is no HTML parser: when it
// finds no form, that application is visited in a frame.

/** The fields of the form that goes to `action`, as a browser would send them. Takes linear time, whatever the page. */
export function formFields(page: string, action: string): URLSearchParams | undefined {
  for (const form of piecesAfter(page, /<form\b/i)) {
    if (attributeOf(form.tag, 'action') !== action) continue;
    const [content = ''] = form.rest.split(/<\/form/i, 1);
    const inputs = piecesAfter(content, /<input\b/i).map(({ tag }) => [
      attributeOf(tag, 'name') ?? '',
      attributeOf(tag, 'value') ?? '',
    ]);
    return new URLSearchParams(inputs.filter(([name]) => name !== ''));
  }
  return undefined;
}

/** Each tag that begins so, and what follows it up to the next one. */
function piecesAfter(text: string, start: RegExp): { tag: string; rest: string }[] {
  const [, ...pieces] = text.split(start);
  return pieces.flatMap((piece) => {
    const end = piece.indexOf('>');
    return end < 0 ? [] : [{ tag: piece.slice(0, end), rest: piece.slice(end + 1) }];
  });
}

function attributeOf(tag: string, name: string): string | undefined {
  const [, double, single] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag) ?? [];
  const value = double ?? single;
  return value === undefined ? undefined : unescaped(value);
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name) return named[String(name).toLowerCase()] ?? whole;
    return String.fromCharCode(Number.parseInt(decimal ?? hex, decimal ? 10 : 16));
  });
}
