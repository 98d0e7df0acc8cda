// What the Response to a request without any option would say about a user, without a sign-in: nothing is created or signed. It is made by the
// functions that make the Response, so that the preview, the access check and a sign-in agree.

import type { SamlApplication } from '../../../applications/application.ts';
import type { Account } from '../../../people/accounts/account.ts';
import { attributeStatement, describeAttributes } from '../messages/attributes.ts';
import {
  chooseNameIdFormat,
  type MissingForNameId,
  missingForNameId,
  type NameId,
  nameIdElement,
  nameIdFor,
} from '../messages/name-id.ts';
import { serviceProviderOf } from '../metadata/service-providers.ts';
import { SamlError } from '../xml/errors.ts';
import type { NameIdFormatName } from '../xml/names.ts';
import { canonical, element, type XmlElement } from '../xml/write.ts';
import { attributesOf, cannotEncrypt, nameIdSource } from './responses.ts';
import type { SamlServices } from './saml-services.ts';

export interface AssertionPreview {
  /** The parts of the assertion that tell who the user is. */
  xml: string;
  format: NameIdFormatName;
  /** Undefined where the first sign-in creates it, or where something is missing for it. */
  nameId: string | undefined;
  missing: MissingForNameId | undefined;
  attributes: Record<string, string[]>;
  cannotEncrypt: boolean;
}

/** `invalid`: the registered metadata is rejected, and with it each sign-in; in words. */
export type AssertionPreviews = (
  account: Account,
  application: SamlApplication,
) => Promise<AssertionPreview | { invalid: string }>;

/** In place of a value that only a sign-in creates. */
const NOT_YET = '…';

/** Makes previews for administrators. */
export function createAssertionPreviews({ entityId: issuer, nameIds }: SamlServices): AssertionPreviews {
  async function preview(account: Account, application: SamlApplication): Promise<AssertionPreview> {
    const sp = serviceProviderOf(application);
    const format = chooseNameIdFormat(undefined, sp);
    const stored = await nameIds.persistent(account.id, sp.applicationId, false);
    const source = nameIdSource(sp, account, {
      identityProvider: issuer,
      format,
      persistent: stored ?? (sp.settings.require_allow_create ? undefined : NOT_YET),
      transient: () => NOT_YET,
    });
    const missing = missingForNameId(source);
    const nameId = nameIdFor(missing ? { ...source, verifiedEmail: NOT_YET, persistent: NOT_YET } : source);
    const attributes = attributesOf(sp, account);
    return {
      xml: assertionPreview({ issuer, audience: sp.entityId, nameId, attributes }),
      format,
      nameId: nameId.value === NOT_YET ? undefined : nameId.value,
      missing,
      attributes,
      cannotEncrypt: cannotEncrypt(sp),
    };
  }

  return (account, application) =>
    preview(account, application).catch((error: unknown) => {
      if (error instanceof SamlError) return { invalid: error.message };
      throw error;
    });
}

// What an assertion would say about a user, to read: indented, unsigned, and without what one sign-in alone has.

interface AssertionPreviewInput {
  issuer: string;
  /** Entity ID of the service provider. */
  audience: string;
  nameId: NameId;
  /** Values by the name of the attribute. */
  attributes: Readonly<Record<string, readonly string[]>>;
}

/** The parts of the assertion that tell who the user is, as XML text. */
function assertionPreview({ issuer, audience, nameId, attributes }: AssertionPreviewInput): string {
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
