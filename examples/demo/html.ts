// HTML templates for the demo pages: every value is escaped, unless it is HTML created by this file.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | Part[] | undefined | false;

/** A part of a page. Values are escaped; lists are joined; undefined and false are left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((page, text, index) => `${page}${toText(parts[index - 1])}${text}`));
}

function toText(part: Part): string {
  if (part === undefined || part === false) return '';
  if (Array.isArray(part)) return part.map(toText).join('');
  if (part instanceof Html) return part.text;
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The layout of a page. */
export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text;
}
