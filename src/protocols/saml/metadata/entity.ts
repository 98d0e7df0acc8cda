// What the metadata of service providers and identity providers has in common (SAML Metadata 2.3.2, 2.4.2).
import { limits } from '../../../base/limits.ts';
import { SamlError } from '../xml/errors.ts';
import { bindings, namespaces } from '../xml/names.ts';
import { parseXml } from '../xml/parse.ts';
import { attribute, childrenOf, durationAttribute, isElement, timeAttribute } from '../xml/read.ts';
import { type LeftOut, usableEndpointUrl } from './endpoint-url.ts';

export interface SloEndpoint {
  binding: 'redirect' | 'post' | 'soap';
  location: string;
  /** Where responses go, if that is a different URL. */
  responseLocation?: string;
}

const roles = { IDPSSODescriptor: 'identity provider', SPSSODescriptor: 'service provider' } as const;

/** The one entity of a document and its descriptor of this role, unexpired. Throws SamlError metadata_rejected or a code of xml/parse.ts. */
export function openMetadata(xml: string, role: keyof typeof roles, now: Date) {
  if (Buffer.byteLength(xml) > limits.saml.metadataBytes) throw new SamlError('too_large');
  const { root, text } = parseXml(xml, { kind: 'metadata' });
  const entity = singleEntityDescriptor(root);
  const [descriptor, ...others] = childrenOf(entity, `md:${role}`).filter((one) =>
    (attribute(one, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(namespaces.samlp),
  );
  if (!descriptor || others.length > 0) throw rejected(`The metadata has to describe one SAML 2.0 ${roles[role]}.`);
  const validUntil = earliestValidUntil([root, entity, descriptor]);
  if (validUntil && validUntil <= now) throw rejected(`The metadata expired on ${validUntil.toISOString()}.`);
  const entityId = attribute(entity, 'entityID') ?? '';
  if (!entityId || entityId.length > 1024) throw rejected('The entity ID is missing or longer than 1024 characters.');
  return { root, text, entity, descriptor, entityId, validUntil };
}

/** The entity that a document describes. */
function singleEntityDescriptor(root: Element): Element {
  if (isElement(root, 'md:EntityDescriptor')) return root;
  if (!isElement(root, 'md:EntitiesDescriptor'))
    throw new SamlError('wrong_root', { message: 'This is not metadata.' });
  const nested = childrenOf(root, 'md:EntitiesDescriptor');
  const [entity, ...others] = childrenOf(root, 'md:EntityDescriptor');
  if (!entity || others.length > 0 || nested.length > 0) {
    throw rejected('The metadata has to describe exactly one entity.');
  }
  return entity;
}

/** The earliest validUntil of these elements. */
function earliestValidUntil(elements: Element[]): Date | undefined {
  const times = elements
    .filter((element) => attribute(element, 'validUntil') !== undefined)
    .map((element) => timeAttribute(element, 'validUntil')?.getTime());
  if (times.includes(undefined)) throw rejected('validUntil is not a time.');
  return times.length === 0 ? undefined : new Date(Math.min(...times.map(Number)));
}

/** The shortest cacheDuration of these elements, in seconds. */
export function shortestCacheDuration(elements: Element[]): number | undefined {
  const seconds = elements
    .map((element) => durationAttribute(element, 'cacheDuration'))
    .filter((one) => one !== undefined);
  return seconds.length === 0 ? undefined : Math.min(...seconds);
}

/** SingleLogoutService endpoints with a binding that is supported and a URL that can be used. */
export function readSlo(descriptor: Element, leftOut: LeftOut[]): SloEndpoint[] {
  return childrenOf(descriptor, 'md:SingleLogoutService').flatMap((service): SloEndpoint[] => {
    const uri = attribute(service, 'Binding') ?? '';
    const binding = (['redirect', 'post', 'soap'] as const).find((name) => bindings[name] === uri);
    if (!binding) return []; // the artifact binding is not supported
    const location = usableEndpointUrl(attribute(service, 'Location') ?? '', 'SingleLogoutService', leftOut);
    const response = attribute(service, 'ResponseLocation') || undefined;
    const responseLocation = response && usableEndpointUrl(response, 'SingleLogoutService', leftOut);
    // Without its own address for responses, they would go where only requests are understood.
    if (location === undefined || (response && responseLocation === undefined)) return [];
    return [{ binding, location, ...(responseLocation && { responseLocation }) }];
  });
}

/** metadata_rejected with a sentence for the administrator. */
export function rejected(message: string): SamlError {
  return new SamlError('metadata_rejected', { message });
}
