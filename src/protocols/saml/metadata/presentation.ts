// The descriptive part of metadata: display name, contacts and requested attributes. Those of others are displayed to people and used for
// mails, and decide nothing in the protocol. Ours are written in each offered language (Metadata Extensions for Login and Discovery User
// Interface 2.1).

import type { BrandLook } from '../../../base/http/pages/brand-look.ts';
import { canonicalTag, type OfferedLanguages, SOURCE_LANGUAGE } from '../../../base/texts/languages.ts';
import { inLanguage, t } from '../../../base/texts/text.ts';
import { attribute, booleanAttribute, childOf, childrenOf, textOf } from '../xml/read.ts';
import { element, type XmlElement } from '../xml/write.ts';

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

const MAX_NAME = 200;

/** mdui:DisplayName, else the service or organization name; English where there is a choice. */
export function readDisplayName(entity: Element, role: Element): string | undefined {
  const info = childOf(role, 'md:Extensions');
  const ui = info && childOf(info, 'mdui:UIInfo');
  const service = attributeConsumingService(role);
  const organization = childOf(role, 'md:Organization') ?? childOf(entity, 'md:Organization');
  const name =
    preferEnglish(ui ? childrenOf(ui, 'mdui:DisplayName') : []) ??
    preferEnglish(service ? childrenOf(service, 'md:ServiceName') : []) ??
    preferEnglish(organization ? childrenOf(organization, 'md:OrganizationDisplayName') : []);
  return name?.slice(0, MAX_NAME);
}

/** The names by language: mdui:DisplayName, and for other languages the name of the default AttributeConsumingService. */
export function readNames(role: Element): Record<string, string> {
  const info = childOf(role, 'md:Extensions');
  const ui = info && childOf(info, 'mdui:UIInfo');
  const service = attributeConsumingService(role);
  const named = [
    ...(service ? childrenOf(service, 'md:ServiceName') : []),
    ...(ui ? childrenOf(ui, 'mdui:DisplayName') : []),
  ].map((name) => [canonicalTag(attribute(name, 'xml:lang') ?? ''), textOf(name).slice(0, MAX_NAME)] as const);
  return Object.fromEntries(named.filter(([language, name]) => language && name));
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
  const service = attributeConsumingService(role);
  if (!service) return [];
  return childrenOf(service, 'md:RequestedAttribute').map((requested) => ({
    name: attribute(requested, 'Name') ?? '',
    nameFormat: attribute(requested, 'NameFormat'),
    friendlyName: attribute(requested, 'FriendlyName'),
    isRequired: booleanAttribute(requested, 'isRequired') ?? false,
  }));
}

function attributeConsumingService(role: Element): Element | undefined {
  const services = childrenOf(role, 'md:AttributeConsumingService');
  return services.find((candidate) => booleanAttribute(candidate, 'isDefault')) ?? services[0];
}

function preferEnglish(names: Element[]): string | undefined {
  const english = names.find((name) => /^en\b/i.test(attribute(name, 'xml:lang') ?? ''));
  const chosen = english ?? names[0];
  return (chosen && textOf(chosen)) || undefined;
}

export interface Presentation {
  displayName: string;
  /** The default one first, because some software takes the first; English by default. */
  languages?: readonly string[];
  helpUrl?: string | undefined;
  privacyUrl?: string | undefined;
}

/** As the settings have it. */
export function presentationOf(brand: BrandLook | undefined, { tags, standard }: OfferedLanguages): Presentation {
  const link = (kind: 'help' | 'privacy') => brand?.links.find((one) => one.kind === kind)?.href;
  return {
    displayName: brand?.name ?? 'Gatehouse',
    languages: [standard, ...tags.filter((tag) => tag !== standard)],
    helpUrl: link('help'),
    privacyUrl: link('privacy'),
  };
}

/** An element for each language. */
export function inEachLanguage(
  name: Parameters<typeof element>[0],
  { languages = [SOURCE_LANGUAGE] }: Pick<Presentation, 'languages'>,
  textIn: (language: string) => string,
): XmlElement[] {
  return languages.map((language) => element(name, { 'xml:lang': language }, textIn(language)));
}

/** The md:Extensions of a role. */
export function userInterface(presentation: Presentation, { describes }: { describes: boolean }): XmlElement {
  const { displayName, helpUrl, privacyUrl } = presentation;
  const each = (tag: Parameters<typeof element>[0], textIn: (language: string) => string) =>
    inEachLanguage(tag, presentation, textIn);
  const description = (language: string) =>
    inLanguage(language, () => String(t('page.idp-description', { name: displayName })));
  return element(
    'md:Extensions',
    {},
    element(
      'mdui:UIInfo',
      {},
      ...each('mdui:DisplayName', () => displayName),
      ...(describes ? each('mdui:Description', description) : []),
      ...(helpUrl ? each('mdui:InformationURL', () => helpUrl) : []),
      ...(privacyUrl ? each('mdui:PrivacyStatementURL', () => privacyUrl) : []),
    ),
  );
}
