// The checks of a service provider on the messages that it receives (SAML Core 3.2.2, Profiles 4.1.4.3).
import { z } from 'zod';
import { type PageText, t } from '../base/texts/text.ts';
import { SamlError } from '../protocols/saml/xml/errors.ts';
import { statusCodes } from '../protocols/saml/xml/names.ts';
import { parseXml } from '../protocols/saml/xml/parse.ts';
import { attribute, childOf, textOf, timeAttribute } from '../protocols/saml/xml/read.ts';

/** One check of a received message. */
export interface Check {
  label: PageText;
  passed: boolean;
  received?: PageText | undefined;
  expected?: string | undefined;
}

/** The session at the service provider: what a LogoutRequest names. */
export const spSession = z.object({
  nameId: z.object({
    value: z.string(),
    format: z.string(),
    nameQualifier: z.string().optional(),
    spNameQualifier: z.string().optional(),
  }),
  sessionIndex: z.string(),
});
export type SpSession = z.output<typeof spSession>;

/** Checks of a Response and of a LogoutResponse alike. */
export function headChecks(
  root: Element,
  { issuer, destination, inResponseTo }: { issuer: string; destination: string; inResponseTo: string | undefined },
): Check[] {
  const issuerElement = childOf(root, 'saml:Issuer');
  const status = childOf(root, 'samlp:Status');
  const code = status && childOf(status, 'samlp:StatusCode');
  const inner = code && childOf(code, 'samlp:StatusCode');
  const received = inner ? attribute(inner, 'Value') : code && attribute(code, 'Value');
  return [
    equalityCheck(t('console.test-bench.check.issuer'), issuerElement && textOf(issuerElement), issuer),
    equalityCheck(t('console.test-bench.check.destination'), attribute(root, 'Destination'), destination),
    inResponseTo === undefined
      ? equalityCheck(t('console.test-bench.check.unsolicited'), attribute(root, 'InResponseTo'), undefined)
      : equalityCheck(t('console.test-bench.check.in-response-to'), attribute(root, 'InResponseTo'), inResponseTo),
    equalityCheck(t('console.test-bench.status'), received, statusCodes.Success),
  ];
}

/** Checks of the assertion in a successful Response (SAML Profiles 4.1.4.3). */
export function assertionChecks(
  assertion: Element | undefined,
  { audience: entityId, recipient, now }: { audience: string; recipient: string; now: Date },
): Check[] {
  if (!assertion) return [{ label: t('console.test-bench.check.assertion'), passed: false }];
  const conditions = childOf(assertion, 'saml:Conditions');
  const restriction = conditions && childOf(conditions, 'saml:AudienceRestriction');
  const audience = restriction && childOf(restriction, 'saml:Audience');
  const confirmation = subjectOf(assertion, 'saml:SubjectConfirmation');
  const data = confirmation && childOf(confirmation, 'saml:SubjectConfirmationData');
  const from = conditions && timeAttribute(conditions, 'NotBefore');
  const until = conditions && timeAttribute(conditions, 'NotOnOrAfter');
  return [
    equalityCheck(t('console.test-bench.check.audience'), audience && textOf(audience), entityId),
    equalityCheck(t('console.test-bench.check.recipient'), data && attribute(data, 'Recipient'), recipient),
    {
      label: t('console.test-bench.check.valid-now'),
      passed: from !== undefined && until !== undefined && from <= now && now < until,
      received: t('console.test-bench.period', {
        from: String(from?.toISOString()),
        until: String(until?.toISOString()),
      }),
      expected: now.toISOString(),
    },
  ];
}

function equalityCheck(label: PageText, received: string | undefined, expected: string | undefined): Check {
  return { label, passed: received === expected, received, expected };
}

/** The signed part; when the signature is invalid, the message as it was received, to display it with the failed check. */
export async function checkedSignature(
  read: () => Promise<Element>,
  xml: string,
): Promise<{ checks: Check[]; root: Element }> {
  const label = t('console.test-bench.check.signature');
  try {
    return { root: await read(), checks: [{ label, passed: true }] };
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    return { root: parseXml(xml).root, checks: [{ label, passed: false, received: error.message }] };
  }
}

function subjectOf(assertion: Element, name: 'saml:NameID' | 'saml:SubjectConfirmation'): Element | undefined {
  const subject = childOf(assertion, 'saml:Subject');
  return subject && childOf(subject, name);
}

/** The session that the assertion begins; undefined when it has no NameID or no SessionIndex. */
export function sessionOf(assertion: Element): SpSession | undefined {
  const nameId = subjectOf(assertion, 'saml:NameID');
  const statement = childOf(assertion, 'saml:AuthnStatement');
  const sessionIndex = statement && attribute(statement, 'SessionIndex');
  if (!nameId || !sessionIndex) return undefined;
  return spSession.parse({
    sessionIndex,
    nameId: {
      value: textOf(nameId),
      format: attribute(nameId, 'Format') ?? '',
      nameQualifier: attribute(nameId, 'NameQualifier'),
      spNameQualifier: attribute(nameId, 'SPNameQualifier'),
    },
  });
}
