// What an assertion would say about a user, to read: indented, unsigned, and without what one sign-in alone has.
import { canonical, element, type XmlElement } from '../xml/write.ts';
import { attributeStatement, describeAttributes } from './attributes.ts';
import { type NameId, nameIdElement } from './name-id.ts';

export interface AssertionPreviewInput {
  issuer: string;
  /** Entity ID of the service provider. */
  audience: string;
  nameId: NameId;
  /** Values by the name of the attribute. */
  attributes: Readonly<Record<string, readonly string[]>>;
}

/** The parts of the assertion that tell who the user is, as XML text. */
export function assertionPreview({ issuer, audience, nameId, attributes }: AssertionPreviewInput): string {
  const conditions = element('saml:AudienceRestriction', {}, element('saml:Audience', {}, audience));
  return indented(
    element(
      'saml:Assertion',
      { Version: '2.0' },
      element('saml:Issuer', {}, issuer),
      element('saml:Subject', {}, nameIdElement(nameId)),
      element('saml:Conditions', {}, conditions),
      attributeStatement(describeAttributes(attributes)),
    ),
  );
}

/** Each element on a line of its own; one that holds only text stays on one line. */
function indented(root: XmlElement): string {
  let depth = 0;
  const lines = canonical(root).canonical.replaceAll('><', '>\n<').split('\n');
  return lines
    .map((line) => {
      if (line.startsWith('</')) depth -= 1;
      const text = `${'  '.repeat(Math.max(depth, 0))}${line}`;
      if (!line.startsWith('</') && !line.includes('</')) depth += 1;
      return text;
    })
    .join('\n');
}
