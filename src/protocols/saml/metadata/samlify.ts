// samlify as the second parser of service provider metadata, independent of parse.ts: a document that the two read
// differently is rejected. It does nothing else in this server: it accepts wrapped
// signatures (tngan/samlify#634) and needs ten times as long to sign. Metadata of SAML 1.1 and 2.0 in one entity is ambiguous to it.
import samlify from 'samlify';

export interface SecondReading {
  entityId: string;
  acsUrls: string[];
}

/** What samlify reads, or undefined when it cannot read the document. */
export function readWithSamlify(xml: string): SecondReading | undefined {
  let meta: { getEntityID(): unknown; meta: Record<string, unknown> };
  try {
    meta = samlify.ServiceProvider({ metadata: xml }).entityMeta as unknown as typeof meta;
  } catch {
    return undefined;
  }
  const entityId = meta.getEntityID();
  if (typeof entityId !== 'string') return undefined;
  const services = [meta.meta.assertionConsumerService ?? []].flat() as { location?: unknown }[];
  return {
    entityId: entityId.trim(),
    acsUrls: services.map(({ location }) => String(location).trim()),
  };
}
