// A refused AuthnRequest for the refusals of the console: what it said, as far as it could be read. Nothing here is trusted;
// a certificate is named only when its key made the signature of this very request.
import type { ReceivedParameters } from '../refusals/refusals.ts';
import { readCertificate } from './certificates.ts';
import { authenticateMessage, type OpenedMessage } from './inbound.ts';
import { attribute, childOf, textOf } from './xml/read.ts';

const SHOWN = [
  'ID',
  'Destination',
  'IssueInstant',
  'AssertionConsumerServiceURL',
  'AssertionConsumerServiceIndex',
  'ProtocolBinding',
  'ForceAuthn',
  'IsPassive',
];

export function receivedOf(opened: OpenedMessage): ReceivedParameters {
  const { root } = opened.unverified;
  const policy = childOf(root, 'samlp:NameIDPolicy');
  const context = childOf(root, 'samlp:RequestedAuthnContext');
  const certificate = signerOf(opened);
  return Object.fromEntries(
    [
      ['Issuer', opened.claimedIssuer],
      ['binding', opened.decoded.binding],
      ...SHOWN.map((name) => [name, attribute(root, name)]),
      ['NameIDPolicy', policy && (attribute(policy, 'Format') ?? 'any')],
      ['RequestedAuthnContext', context && (context.textContent ?? '').trim().replace(/\s+/g, ' ')],
      [
        'signed',
        opened.decoded.querySignature || root.getElementsByTagNameNS(DS, 'Signature').length > 0 ? 'yes' : 'no',
      ],
      ['SignatureMethod', opened.decoded.querySignature?.algorithm ?? methodIn(root)],
      ['certificate', certificate],
    ].filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== ''),
  );
}

const DS = 'http://www.w3.org/2000/09/xmldsig#';
type Root = OpenedMessage['unverified']['root'];

function methodIn(root: Root): string | undefined {
  const [method] = Array.from(root.getElementsByTagNameNS(DS, 'SignatureMethod'));
  return method && attribute(method, 'Algorithm');
}

/** PEM of the certificate that came with the request, if it is the one that the request was signed with. */
function signerOf(opened: OpenedMessage): string | undefined {
  const [element] = Array.from(opened.unverified.root.getElementsByTagNameNS(DS, 'X509Certificate'));
  const base64 = element && textOf(element).replace(/\s+/g, '');
  if (!base64) return undefined;
  const pem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----`;
  try {
    const { publicKey } = readCertificate(pem);
    authenticateMessage(opened, { signingKeys: [publicKey], allowSha1: false, requireSigned: true });
    return pem;
  } catch {
    return undefined;
  }
}
