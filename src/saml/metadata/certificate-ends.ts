// When the certificates of a service provider expire.
import { X509Certificate } from 'node:crypto';
import type { ServiceProviderSettings } from '../../applications/fields/service-provider.ts';

/** When the certificates of a service provider end; unreadable ones are left out. */
export function certificateEnds({ metadata_xml = '', certificates = [] }: ServiceProviderSettings): Date[] {
  const inMetadata = [...metadata_xml.matchAll(/<(?:\w+:)?X509Certificate>([^<]+)</g)].map(
    ([, base64 = '']) => `-----BEGIN CERTIFICATE-----\n${base64.replace(/\s+/g, '')}\n-----END CERTIFICATE-----`,
  );
  const ends = [...certificates.map(({ pem }) => pem), ...inMetadata].flatMap((pem) => {
    try {
      return [new X509Certificate(pem).validTo];
    } catch {
      return [];
    }
  });
  return [...new Set(ends)].map((end) => new Date(end));
}
