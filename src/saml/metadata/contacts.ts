// The descriptive part of metadata: display name, contacts and requested attributes. It is displayed to administrators and
// used for mails, and decides nothing in the protocol.
import { attribute, booleanAttribute, childOf, childrenOf, textOf } from '../xml/read.ts';

export interface Contact {
  type: string;
  name: string | undefined;
  emails: string[];
}

export interface RequestedAttribute {
  name: string;
  nameFormat: string | undefined;
  friendlyName: string | undefined;
  isRequired: boolean;
}

/** mdui:DisplayName, else the service or organization name; English where there is a choice. */
export function readDisplayName(entity: Element, role: Element): string | undefined {
  const info = childOf(role, 'md:Extensions');
  const ui = info && childOf(info, 'mdui:UIInfo');
  const service = childOf(role, 'md:AttributeConsumingService');
  const organization = childOf(role, 'md:Organization') ?? childOf(entity, 'md:Organization');
  const name =
    preferEnglish(ui ? childrenOf(ui, 'mdui:DisplayName') : []) ??
    preferEnglish(service ? childrenOf(service, 'md:ServiceName') : []) ??
    preferEnglish(organization ? childrenOf(organization, 'md:OrganizationDisplayName') : []);
  return name?.slice(0, 200);
}

/** md:ContactPerson with the addresses of its mailto: URIs. */
export function readContacts(entity: Element): Contact[] {
  return childrenOf(entity, 'md:ContactPerson').map((contact) => {
    const name = ['md:GivenName', 'md:SurName']
      .flatMap((part) => childrenOf(contact, part as 'md:GivenName'))
      .map(textOf)
      .join(' ');
    return {
      type: attribute(contact, 'contactType') ?? 'other',
      name: name || undefined,
      emails: childrenOf(contact, 'md:EmailAddress').map((email) => textOf(email).replace(/^mailto:/i, '')),
    };
  });
}

/** md:RequestedAttribute of the default AttributeConsumingService. */
export function readRequestedAttributes(role: Element): RequestedAttribute[] {
  const services = childrenOf(role, 'md:AttributeConsumingService');
  const service = services.find((candidate) => booleanAttribute(candidate, 'isDefault')) ?? services[0];
  if (!service) return [];
  return childrenOf(service, 'md:RequestedAttribute').map((requested) => ({
    name: attribute(requested, 'Name') ?? '',
    nameFormat: attribute(requested, 'NameFormat'),
    friendlyName: attribute(requested, 'FriendlyName'),
    isRequired: booleanAttribute(requested, 'isRequired') ?? false,
  }));
}

function preferEnglish(names: Element[]): string | undefined {
  const english = names.find((name) => /^en\b/i.test(attribute(name, 'xml:lang') ?? ''));
  const chosen = english ?? names[0];
  return (chosen && textOf(chosen)) || undefined;
}
