// The only importer of samlify. It is the second reader of service provider metadata: independent of ours, so that a
// document that the two understand differently is refused. It verifies, signs and parses nothing else here, because
// its checks of inbound messages can be wrapped (tngan/samlify#634) and its builder costs 8 to 13 ms a Response.
import samlify from 'samlify';

export interface SecondReading {
  entityId: string;
  acsUrls: string[];
}

/** What samlify reads, or undefined when the document is beyond it. */
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
