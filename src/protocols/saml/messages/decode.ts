// Decodes messages of the HTTP-Redirect and HTTP-POST bindings (SAML Bindings 3.4 and 3.5). Sizes are limited before any
// work, and the signed part of a query is preserved as it was sent. Nothing is authenticated here.
import { promisify } from 'node:util';
import { type InputType, inflateRaw, inflateRawSync, type ZlibOptions, constants as zlib } from 'node:zlib';
import { limits } from '../../../base/limits.ts';
import { decodeBase64, decodeXml } from '../xml/encoding.ts';
import { SamlError, type SamlErrorCode } from '../xml/errors.ts';
import { bindings } from '../xml/names.ts';

export interface DecodedMessage {
  binding: 'redirect' | 'post';
  parameter: 'SAMLRequest' | 'SAMLResponse';
  xml: string;
  /** Percent-decoded and otherwise unchanged; it is returned byte for byte. Undefined also for one that is too long. */
  relayState: string | undefined;
  isRelayStateTooLong: boolean;
  /** Redirect binding only: the signature is a parameter of its own. */
  querySignature: QuerySignature | undefined;
}

export interface QuerySignature {
  algorithm: string;
  value: Buffer;
  /**
   * The texts that may have been signed: `SAMLRequest=…&RelayState=…&SigAlg=…` with the values as in the raw query, as
   * encodeURIComponent writes them, and the same with %2f for %2F. node-saml signs the second and then lets a URL object encode
   * spaces and apostrophes differently; .NET signs the third, and gateways in between encode anew. Each also without an empty
   * RelayState, which java-saml appends after it signed. All decode to the same values, so accepting each is safe.
   */
  octets: readonly string[];
}

type Parameter = 'SAMLRequest' | 'SAMLResponse' | 'RelayState' | 'SigAlg' | 'Signature' | 'SAMLEncoding';
const parameterNames: readonly string[] = [
  'SAMLRequest',
  'SAMLResponse',
  'RelayState',
  'SigAlg',
  'Signature',
  'SAMLEncoding',
];

interface Value {
  raw: string;
  text: string;
}

/** Decodes a GET. `rawQuery` is the query of the request line, without `?`. Throws SamlError. */
export async function decodeRedirect(rawQuery: string): Promise<DecodedMessage> {
  const values = readParameters(rawQuery);
  const encoding = values.get('SAMLEncoding');
  if (encoding && encoding.text !== bindings.deflate) {
    throw new SamlError('parameter_malformed', { detail: 'SAMLEncoding' });
  }
  const { parameter, value } = messageParameter(values);
  const compressed = base64InQuery(value);
  return {
    binding: 'redirect',
    parameter,
    xml: decodeXml(await inflate(compressed)),
    ...relayStateOf(values),
    querySignature: querySignatureOf(values, parameter, value),
  };
}

/** Decodes a POST. `body` is the raw application/x-www-form-urlencoded text. Throws SamlError. */
export function decodePost(body: string, maxBytes: number = limits.saml.messageBytes): DecodedMessage {
  const values = readParameters(body, maxBytes);
  // HTTP-POST-SimpleSign is not supported; its unchecked signature must not look like a checked one.
  if (values.has('Signature') || values.has('SigAlg')) {
    throw new SamlError('parameter_malformed', {
      rule: 'signature_place',
      detail: 'SimpleSign',
      received: 'SigAlg and Signature in the form (SimpleSign)',
      expected: 'a signature inside the message (HTTP-POST)',
    });
  }
  const { parameter, value } = messageParameter(values);
  const octets = decodeBase64(value.text);
  if (octets.length > maxBytes) throw new SamlError('too_large');
  if (isCompressed(octets))
    throw new SamlError('bad_deflate', {
      received: 'a message that is compressed with DEFLATE',
      expected: 'a message that is not compressed (HTTP-POST)',
    });
  return {
    binding: 'post',
    parameter,
    xml: decodeXml(octets),
    ...relayStateOf(values),
    querySignature: undefined,
  };
}

// The six of SAML and a few of proxies and applications; a body of separators alone would have 250,000.
const maxParameters = 32;
/** How much longer the percent-encoded form of a message in base64 with line breaks is. */
const MAX_GROWTH = 3 * 1.4;

function readParameters(encoded: string, maxBytes: number = limits.saml.messageBytes): Map<Parameter, Value> {
  if (encoded.length > limits.saml.bodyBytes) throw new SamlError('too_large');
  const values = new Map<Parameter, Value>();
  const pairs = encoded.split('&', maxParameters + 1);
  if (pairs.length > maxParameters) throw new SamlError('parameter_malformed', { detail: 'too many' });
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    // Names are compared decoded: another reader of the form sees `SAML%52equest` as a second SAMLRequest.
    const key = decodeName(name);
    if (!isParameter(key)) continue;
    if (values.has(key)) throw new SamlError('parameter_repeated', { detail: key });
    const raw = equals < 0 ? '' : pair.slice(equals + 1);
    if (raw.length > MAX_GROWTH * maxBytes) throw new SamlError('too_large', { detail: key });
    values.set(key, { raw, text: decodeComponent(raw) });
  }
  return values;
}

function isParameter(name: string): name is Parameter {
  return parameterNames.includes(name);
}

/** The name of an unrelated parameter may be malformed; it is then ignored. */
function decodeName(raw: string): string {
  if (raw.length > 64) return raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return raw;
  }
}

function decodeComponent(raw: string): string {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch (cause) {
    throw new SamlError('parameter_malformed', { cause, received: 'wrong percent-encoding' });
  }
}

/**
 * Base64 in a query. A `+` there is the plus of base64 that the sender forgot to encode, unless the value has other white space too: then it
 * is a space of a form, as `text` has it.
 */
function base64InQuery({ raw, text }: Value, code?: SamlErrorCode): Buffer {
  const hasWhiteSpace = /[ \t\r\n]/.test(decodeComponent(raw.replaceAll('+', '')));
  return decodeBase64(hasWhiteSpace ? text : decodeComponent(raw.replaceAll('+', '%2B')), code);
}

function messageParameter(values: Map<Parameter, Value>): {
  parameter: 'SAMLRequest' | 'SAMLResponse';
  value: Value;
} {
  const request = values.get('SAMLRequest');
  const response = values.get('SAMLResponse');
  if (request && response) throw new SamlError('parameter_repeated', { detail: 'SAMLRequest and SAMLResponse' });
  const value = request ?? response;
  if (!value?.text) throw new SamlError('parameter_missing', { received: value ? 'an empty one' : 'none' });
  return { parameter: request ? 'SAMLRequest' : 'SAMLResponse', value };
}

/** One that is too long is no reason to reject the message before the sender can be answered. */
function relayStateOf(values: Map<Parameter, Value>): Pick<DecodedMessage, 'relayState' | 'isRelayStateTooLong'> {
  const relayState = values.get('RelayState')?.text;
  const isRelayStateTooLong = Buffer.byteLength(relayState ?? '') > limits.saml.relayStateBytes;
  return { relayState: isRelayStateTooLong ? undefined : relayState, isRelayStateTooLong };
}

function querySignatureOf(values: Map<Parameter, Value>, parameter: string, value: Value): QuerySignature | undefined {
  const signature = values.get('Signature');
  const algorithm = values.get('SigAlg');
  if (!signature && !algorithm) return undefined;
  if (!signature || !algorithm)
    throw new SamlError('signature_shape', {
      detail: 'SigAlg and Signature go together',
      received: signature ? 'Signature alone' : 'SigAlg alone',
      expected: 'SigAlg and Signature',
    });
  const relayState = values.get('RelayState');
  const signed: [string, Value][] = [[parameter, value]];
  if (relayState) signed.push(['RelayState', relayState]);
  signed.push(['SigAlg', algorithm]);
  const spellings: ((value: Value) => string)[] = [
    ({ raw }) => raw,
    ({ text }) => encodeURIComponent(text),
    ({ text }) => encodeURIComponent(text).replace(/%../g, (octet) => octet.toLowerCase()),
  ];
  const octets = spellings.map((spell) => signed.map(([name, it]) => `${name}=${spell(it)}`).join('&'));
  const isEmpty = relayState?.text === '';
  return {
    algorithm: algorithm.text,
    value: base64InQuery(signature, 'signature_shape'),
    octets: isEmpty ? [...octets, ...octets.map((text) => text.replace('&RelayState=&', '&'))] : octets,
  };
}

/** Whether a POST has the message as HTTP-Redirect sends it. */
function isCompressed(octets: Buffer): boolean {
  try {
    const start = inflateRawSync(octets.subarray(0, 256), { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: 1 << 20 });
    return /^\s*</.test(start.toString('latin1', 0, 64));
  } catch {
    return false;
  }
}

/** What was sent in place of DEFLATE. */
function formatOf(octets: Buffer): string {
  if (octets[0] === 0x3c || octets[0] === 0xef) return 'XML that is not compressed';
  if (octets[0] === 0x1f && octets[1] === 0x8b) return 'gzip';
  return octets[0] === 0x78 ? 'DEFLATE with the header of zlib' : 'damaged data';
}

interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}
// With `info` the result has the engine too, which the type declarations lack.
const inflateWithInfo = promisify(inflateRaw) as unknown as (
  octets: InputType,
  options: ZlibOptions,
) => Promise<Inflated>;

async function inflate(octets: Buffer): Promise<Buffer> {
  try {
    const { buffer, engine } = await inflateWithInfo(octets, {
      maxOutputLength: limits.saml.messageBytes,
      info: true,
    });
    if (engine.bytesWritten !== octets.length) throw new SamlError('bad_deflate', { detail: 'trailing bytes' });
    return buffer;
  } catch (cause) {
    if (cause instanceof SamlError) throw cause;
    const tooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    throw tooLarge
      ? new SamlError('too_large', { cause })
      : new SamlError('bad_deflate', { cause, received: formatOf(octets) });
  }
}
