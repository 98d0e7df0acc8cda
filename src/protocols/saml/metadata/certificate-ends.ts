// When the certificates of a service provider expire, and metadata that was pasted.
import { X509Certificate } from 'node:crypto';
import type { ServiceProviderSettings } from '../../../applications/fields/service-provider.ts';
import { SamlError } from '../xml/errors.ts';
import { parseServiceProviderMetadata } from './parse.ts';

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

/** The `validUntil` of pasted metadata (SAML Metadata 2.3.2) up to this time: nobody reads it again, as that behind a URL. */
export function pastedMetadataEnd(
  { metadata_xml = '', metadata_url }: ServiceProviderSettings,
  until: Date,
): Date | undefined {
  // Parsing is slow, and few documents end soon.
  const written = [...metadata_xml.matchAll(/\bvalidUntil\s*=\s*["']([^"']+)["']/g)].map(
    ([, time = '']) => new Date(time),
  );
  if (metadata_url !== undefined || !written.some((time) => time <= until)) return undefined;
  try {
    const { validUntil } = parseServiceProviderMetadata(metadata_xml, new Date(0));
    return validUntil && validUntil <= until ? validUntil : undefined;
  } catch (error) {
    if (error instanceof SamlError) return undefined;
    throw error;
  }
}
