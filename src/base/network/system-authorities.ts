// The certificates of authorities that the machine trusts: those of Node.js (Mozilla's), and those that the operator has installed.
import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';

/** Where distributions keep the bundle; the first that exists counts. OpenSSL reads SSL_CERT_FILE instead where it is set. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Alpine
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // Alpine, BSD, macOS
];

/** In PEM form. Read at each call, so that a new certificate counts without a restart. */
export function systemAuthorities(environment: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const { SSL_CERT_FILE: file, NODE_EXTRA_CA_CERTS: extra } = environment;
  const bundle = file ? certificatesIn(file) : (BUNDLES.map(certificatesIn).find((found) => found.length > 0) ?? []);
  return [...new Set([...rootCertificates, ...bundle, ...(extra ? certificatesIn(extra) : [])])];
}

/** None of a file that cannot be read. */
function certificatesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  } catch {
    return [];
  }
}
