// The AttributeStatement (SAML Core 2.7.3), with the NameFormat and FriendlyName that receivers expect for each name,
// whether it is a URI, an OID or a plain word.
import { attributeNameFormats } from '../xml/names.ts';
import { element, type XmlElement } from '../xml/write.ts';

export interface SamlAttribute {
  name: string;
  nameFormat: string;
  friendlyName: string | undefined;
  values: readonly string[];
}

/** FriendlyName of the attributes of eduPerson, inetOrgPerson and Microsoft for which accounts have a value. */
const friendlyNames = new Map([
  ['urn:oid:0.9.2342.19200300.100.1.1', 'uid'],
  ['urn:oid:0.9.2342.19200300.100.1.3', 'mail'],
  ['urn:oid:2.16.840.1.113730.3.1.241', 'displayName'],
  ['urn:oid:2.5.4.3', 'cn'],
  ['urn:oid:2.5.4.4', 'sn'],
  ['urn:oid:2.5.4.42', 'givenName'],
  ['urn:oid:1.3.6.1.4.1.5923.1.1.1.6', 'eduPersonPrincipalName'],
  ['urn:oid:1.3.6.1.4.1.5923.1.1.1.7', 'eduPersonEntitlement'],
  ['urn:oid:1.3.6.1.4.1.5923.1.1.1.9', 'eduPersonScopedAffiliation'],
  ['urn:oid:1.3.6.1.4.1.5923.1.5.1.1', 'isMemberOf'],
  ['http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress', 'emailaddress'],
  ['http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name', 'name'],
  ['http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn', 'upn'],
  ['http://schemas.microsoft.com/ws/2008/06/identity/claims/role', 'role'],
]);

/** Names and formats for the values of a user; an attribute without a value is left out. */
export function describeAttributes(values: Readonly<Record<string, readonly string[]>>): SamlAttribute[] {
  return Object.entries(values)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => ({
      name,
      nameFormat: nameFormatOf(name),
      friendlyName: friendlyNames.get(name),
      values: list,
    }));
}

/** The statement; undefined without attributes, because an empty one is not schema valid. */
export function attributeStatement(attributes: readonly SamlAttribute[]): XmlElement | undefined {
  if (attributes.length === 0) return undefined;
  return element('saml:AttributeStatement', {}, ...attributes.map(attributeElement));
}

function attributeElement({ name, nameFormat, friendlyName, values }: SamlAttribute): XmlElement {
  // No xsi:type: exclusive c14n does not see the namespace in its QName value, and receivers do not need it.
  return element(
    'saml:Attribute',
    { Name: name, NameFormat: nameFormat, FriendlyName: friendlyName },
    ...values.map((value) => element('saml:AttributeValue', {}, value)),
  );
}

function nameFormatOf(name: string): string {
  if (/^(urn|https?):/i.test(name)) return attributeNameFormats.uri;
  // `basic` promises an xs:Name (Core 8.2.3).
  return /^[A-Za-z_][\w.-]*$/.test(name) ? attributeNameFormats.basic : attributeNameFormats.unspecified;
}
