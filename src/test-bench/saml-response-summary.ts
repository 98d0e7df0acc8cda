// Displays a SAML Response of this server: its main facts, and the XML with one element per line. Regular expressions are
// enough, because this server has written the XML itself.

import type { Block, Cell } from '../admin/console/blocks.ts';
import { present } from '../base/platform/defined.ts';
import { type PageText, t } from '../base/texts/text.ts';

/**
 * @param isDelivered whether the application really received it
 * @param details blocks between the facts and the message
 */
export function samlResponseBlocks(xml: string, isDelivered = false, details: Block[] = []): Block[] {
  const isSuccess = xml.includes('urn:oasis:names:tc:SAML:2.0:status:Success');
  const isEncrypted = xml.includes('EncryptedAssertion');
  const codes = [...xml.matchAll(/StatusCode Value="([^"]+)"/g)].map(([, code = '']) => code.split(':').at(-1) ?? code);
  const rows: { label: PageText; value: Cell }[] = [
    {
      label: t('console.test-bench.status'),
      value: codes.map((text) => ({ text, tone: isSuccess ? ('good' as const) : ('bad' as const) })),
    },
    { label: t('console.test-bench.message'), value: content(xml, 'StatusMessage') },
    { label: t('console.test-bench.sent-to'), value: attribute(xml, 'Response', 'Destination') },
    { label: 'NameID', value: content(xml, 'NameID') },
    { label: t('console.test-bench.name-id-format'), value: attribute(xml, 'NameID', 'Format') },
    { label: 'Audience', value: content(xml, 'Audience') },
    { label: t('console.test-bench.authentication-context'), value: content(xml, 'AuthnContextClassRef') },
    { label: t('console.test-bench.valid-until'), value: attribute(xml, 'Conditions', 'NotOnOrAfter') },
    { label: t('console.test-bench.session'), value: attribute(xml, 'AuthnStatement', 'SessionIndex') },
  ];
  return present<Block>([
    {
      kind: 'text',
      text: t(
        `console.test-bench.${isSuccess ? 'works' : 'rejected'}.${isDelivered ? 'received' : 'would-receive'}` as const,
      ),
    },
    isEncrypted && { kind: 'text', tone: 'notice', text: t('console.test-bench.encrypted') },
    { kind: 'facts', rows: rows.filter(({ value }) => value !== undefined) },
    isSuccess &&
      !isEncrypted && {
        kind: 'table',
        title: t('console.test-bench.attributes'),
        caption: t('console.test-bench.attributes'),
        columns: [t('console.test-bench.name'), t('console.test-bench.values')],
        rows: attributesOf(xml),
        empty: t('console.test-bench.no-attributes'),
      },
    ...details,
    { kind: 'code', title: t('console.test-bench.response'), label: 'SAML Response', text: indented(xml) },
  ]);
}

/** The entity ID that the Response is for. */
export const audienceOf = (xml: string): string | undefined => content(xml, 'Audience');

/** A row of the table for each attribute. */
function attributesOf(xml: string): Cell[][] {
  return [...xml.matchAll(/<saml:Attribute [^>]*?Name="([^"]+)"[^>]*>([\s\S]*?)<\/saml:Attribute>/g)].map(
    ([, name = '', values = '']): Cell[] => [
      { text: unescaped(name), code: true },
      [...values.matchAll(/<saml:AttributeValue[^>]*>([^<]*)</g)].map(([, value = '']) => ({ text: unescaped(value) })),
    ],
  );
}

function content(xml: string, name: string): string | undefined {
  const found = new RegExp(`<(?:samlp?):${name}(?:\\s[^>]*)?>([^<]*)<`).exec(xml)?.[1];
  return found === undefined ? undefined : unescaped(found);
}

function attribute(xml: string, element: string, name: string): string | undefined {
  const found = new RegExp(`<(?:samlp?):${element}\\s[^>]*?\\b${name}="([^"]*)"`).exec(xml)?.[1];
  return found === undefined ? undefined : unescaped(found);
}

function unescaped(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (name) return named[name] ?? whole;
    return String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

/** One element per line, indented by two spaces for each level, empty ones as `<a/>`. */
export function indented(xml: string): string {
  let depth = 0;
  return xml
    .replace(/<([\w:]+)([^<>]*)><\/\1>/g, '<$1$2/>')
    .replace(/>\s*</g, '>\n<')
    .split('\n')
    .map((line) => {
      if (line.startsWith('</')) depth -= 1;
      const indentedLine = '  '.repeat(Math.max(0, depth)) + line;
      if (/^<[^/?!]/.test(line) && !line.endsWith('/>') && !line.includes('</')) depth += 1;
      return indentedLine;
    })
    .join('\n');
}
