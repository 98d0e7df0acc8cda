// From a checked assertion to an identity: attributes under their names, friendly names and the names of OpenID Connect. Pure.

import type { NameId } from '../../protocols/saml/messages/name-id.ts';
import type { Assertion, Authentication, ReceivedAttribute } from '../../protocols/saml/messages/read-assertion.ts';
import { nameIdFormatOf } from '../../protocols/saml/xml/names.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import type { SamlConnection } from '../connections/connection.ts';
import type { Quirks } from '../connections/presets/preset.ts';
import type { UpstreamIdentity } from '../upstream.ts';

const ws = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/';
const microsoft = 'http://schemas.microsoft.com/';

/** The names of attributes for each standard claim, the preferred one first: eduPerson and inetOrgPerson as OIDs, WS-Federation, plain. */
const standardNames: Record<string, readonly string[]> = {
  email: ['urn:oid:0.9.2342.19200300.100.1.3', `${ws}emailaddress`, 'mail', 'email', 'emailAddress'],
  name: ['urn:oid:2.16.840.1.113730.3.1.241', `${microsoft}identity/claims/displayname`, 'displayName', 'name', 'cn'],
  given_name: ['urn:oid:2.5.4.42', `${ws}givenname`, 'givenName', 'given_name', 'firstName'],
  family_name: ['urn:oid:2.5.4.4', `${ws}surname`, 'sn', 'surname', 'family_name', 'lastName'],
  preferred_username: ['urn:oid:0.9.2342.19200300.100.1.1', 'uid', 'username', 'preferred_username', `${ws}upn`],
};

/** The authentication methods of Entra ID and AD FS. */
const METHODS = `${microsoft}claims/authnmethodsreferences`;
/** Entra ID sends it in place of more than 150 groups. */
const GROUPS_LINK = `${microsoft}claims/groups.link`;

/** What identifies the user is missing: an empty subject, which signs nobody in. */
export function identityOf(
  { settings }: Pick<SamlConnection, 'settings'>,
  quirks: Quirks,
  { assertion, authentication }: { assertion: Assertion; authentication: Authentication },
): UpstreamIdentity {
  const claims = claimsOf(assertion.attributes);
  const { nameId } = assertion;
  const { instant, contextClass, sessionIndex } = authentication;
  return {
    subject: subjectOf(settings.subject_attribute, claims, assertion),
    claims,
    groups: settings.groups_claim === undefined ? undefined : groupsOf(claims, settings.groups_claim, quirks),
    acr: contextClass,
    amr: groupNames(claims[METHODS]) ?? [],
    authTime: instant,
    session: nameId && { kind: 'saml', sessionIndex, nameId: { ...nameId } },
  };
}

/** The attribute, with exactly one value; else the persistent NameID. Other NameIDs may change, or pass to another user. */
function subjectOf(
  attribute: string | undefined,
  claims: Record<string, unknown>,
  { nameId, issuer }: Assertion,
): string {
  if (attribute !== undefined) {
    const value = claimAt(claims, attribute);
    return typeof value === 'string' ? value : '';
  }
  return nameId && nameIdFormatOf(nameId.format) === 'persistent' ? qualifiedSubject(nameId, issuer) : '';
}

/** An identifier that another identity provider made is unique together with its name only (Core 8.3.7). */
function qualifiedSubject({ value, nameQualifier }: NameId, issuer: string): string {
  return nameQualifier === undefined || nameQualifier === issuer ? value : `${nameQualifier}!${value}`;
}

function claimsOf(attributes: readonly ReceivedAttribute[]): Record<string, unknown> {
  const valuesBy = (nameOf: (one: ReceivedAttribute) => string | undefined) => {
    const found = new Map<string, string[]>();
    for (const one of attributes) {
      const name = nameOf(one);
      if (name && one.values.length > 0) found.set(name, [...(found.get(name) ?? []), ...one.values]);
    }
    return found;
  };
  // The name is what the upstream defines; a friendly name never replaces an attribute of that name (Core 2.7.3.1).
  const values = new Map([...valuesBy(({ friendlyName }) => friendlyName), ...valuesBy(({ name }) => name)]);
  for (const [claim, names] of Object.entries(standardNames)) {
    const source = values.has(claim) ? claim : names.find((name) => values.has(name));
    if (source !== undefined) values.set(claim, values.get(source) ?? []);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

/** A missing attribute means no groups, so that a user who left the last one loses its role. */
function groupsOf(claims: Record<string, unknown>, path: string, quirks: Quirks): UpstreamIdentity['groups'] {
  const isOverage = quirks.groups === 'entra-overage' && textOf(claims[GROUPS_LINK]) !== undefined;
  return { names: groupNames(claimAt(claims, path)) ?? [], isComplete: !isOverage };
}
