// What the error of a network call to an upstream means, and what to do. Node and OpenSSL name it by a code or by a text of their own,
// which stays in the log, in the API and in the details of the page.
import { type Text, t } from '../../base/texts/text.ts';

/** The first that matches decides. A host is read from the error itself. */
const SENTENCES: readonly (readonly [RegExp, (host: string) => Text])[] = [
  [/\bE(?:NOTFOUND|AI_NONAME) ?(\S*)/, (host) => t('console.network.unknown-host', { host })],
  [/\bE?AI_AGAIN ?(\S*)/, (host) => t('console.network.no-dns', { host })],
  [/\bECONNREFUSED\b/, () => t('console.network.refused')],
  [/\bE(?:HOST|NET)UNREACH\b/, () => t('console.network.no-route')],
  [/\bECONNRESET\b|\bEPIPE\b|socket hang up|socket disconnected/i, () => t('console.network.closed')],
  [/certificate has expired|CERT_HAS_EXPIRED/i, () => t('console.network.certificate-expired')],
  [/certificate is not yet valid|CERT_NOT_YET_VALID/i, () => t('console.network.certificate-future')],
  [/altnames|ERR_TLS_CERT_ALTNAME_INVALID/i, () => t('console.network.certificate-name')],
  [
    /self[- ]signed certificate|local issuer certificate|verify the first certificate|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED_CERT/i,
    () => t('console.network.certificate-issuer'),
  ],
  [/\bEPROTO\b|wrong version number|packet length too long|ERR_SSL/i, () => t('console.network.no-tls')],
  [/\bETIMEDOUT\b|did not answer in|connection timeout|time limit/i, () => t('console.network.timeout')],
  // Active Directory names its reasons by a number.
  [/\bdata 525\b/, () => t('console.network.directory-no-user')],
  [/\bdata 530\b/, () => t('console.network.directory-not-now')],
  [/\bdata 531\b/, () => t('console.network.directory-not-here')],
  [/\bdata 532\b/, () => t('console.network.directory-password-expired')],
  [/\bdata 533\b/, () => t('console.network.directory-account-disabled')],
  [/\bdata 701\b/, () => t('console.network.directory-account-expired')],
  [/\bdata 773\b/, () => t('console.network.directory-password-must-change')],
  [/\bdata 775\b/, () => t('console.network.directory-account-locked')],
  [/\bCode: 0x31\b/, () => t('console.network.directory-wrong-password')],
  [/is in a private or special network/, () => t('console.network.private')],
];

/** The sentence for an administrator; undefined for an error that is not one of the network. */
export function networkSentence(error: string): Text | undefined {
  for (const [pattern, sentence] of SENTENCES) {
    const found = pattern.exec(error);
    if (found) return sentence(found[1] ?? '');
  }
  return undefined;
}
