// What a rejected AuthnRequest contained, for the list of rejected requests in the console. Nothing here is trusted: the
// certificate is named only when its key made the signature of this request.
import type { ReceivedParameters } from '../../rejections/rejections.ts';
import { authenticateMessage, type OpenedMessage } from '../messages/open-message.ts';
import { readCertificate } from '../xml/certificates.ts';
import { attribute, childOf, textOf } from '../xml/read.ts';

const RECORDED_ATTRIBUTES = [
  'ID',
  'Destination',
  'IssueInstant',
  'AssertionConsumerServiceURL',
  'AssertionConsumerServiceIndex',
  'ProtocolBinding',
  'ForceAuthn',
  'IsPassive',
];

/** The parameters of the request by name; what is absent or empty is left out. */
export async function requestParameters(opened: OpenedMessage): Promise<ReceivedParameters> {
  const { root } = opened.unverified;
  const policy = childOf(root, 'samlp:NameIDPolicy');
  const context = childOf(root, 'samlp:RequestedAuthnContext');
  const certificate = await signerOf(opened);
  return Object.fromEntries(
    [
      ['Issuer', opened.claimedIssuer],
      ['binding', opened.decoded.binding],
      ...RECORDED_ATTRIBUTES.map((name) => [name, attribute(root, name)]),
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

/** The certificate in the request as PEM, if the request was signed with its key. */
async function signerOf(opened: OpenedMessage): Promise<string | undefined> {
  const [element] = Array.from(opened.unverified.root.getElementsByTagNameNS(DS, 'X509Certificate'));
  const base64 = element && textOf(element).replace(/\s+/g, '');
  if (!base64) return undefined;
  const pem = `-----BEGIN CERTIFICATE-----\n${base64.replace(/(.{64})/g, '$1\n').trim()}\n-----END CERTIFICATE-----`;
  try {
    const { publicKey } = readCertificate(pem);
    await authenticateMessage(opened, { signingKeys: [publicKey], allowSha1: false, requireSigned: true });
    return pem;
  } catch {
    return undefined;
  }
}
