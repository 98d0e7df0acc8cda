// From the wire to text: the HTTP-Redirect and HTTP-POST bindings (SAML Bindings 3.4 and 3.5). Nothing is believed
// here; sizes are capped before work is done, and what was signed is kept as the octets that travelled.
import { promisify } from 'node:util';
import { type InputType, inflateRaw, type ZlibOptions } from 'node:zlib';
import { limits } from '../limits.ts';
import { SamlError, type SamlErrorCode } from './errors.ts';
import { bindings } from './names.ts';

export interface DecodedMessage {
  binding: 'redirect' | 'post';
  parameter: 'SAMLRequest' | 'SAMLResponse';
  xml: string;
  /** As it came, percent-decoding aside; to be returned byte for byte. */
  relayState: string | undefined;
  /** Of the redirect binding only: the signature travels beside the message. */
  querySignature: QuerySignature | undefined;
}

export interface QuerySignature {
  algorithm: string;
  value: Buffer;
  /**
   * What may have been signed: `SAMLRequest=…&RelayState=…&SigAlg=…` with the values exactly as in the raw query, and
   * as encodeURIComponent writes them. JavaScript senders (node-saml) sign the latter and then let a URL object spell
   * spaces and apostrophes in another way. Both decode to the same values, so that the second lets nothing else in.
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

/** Decodes a GET. `rawQuery` is the query as it stood in the request line, without the question mark. */
export async function decodeRedirect(rawQuery: string): Promise<DecodedMessage> {
  const values = readParameters(rawQuery);
  const encoding = values.get('SAMLEncoding');
  if (encoding && encoding.text !== bindings.deflate) {
    throw new SamlError('parameter_malformed', { detail: 'SAMLEncoding' });
  }
  const { parameter, value } = messageParameter(values);
  const compressed = decodeBase64(value.text, 'refuse line breaks');
  return {
    binding: 'redirect',
    parameter,
    xml: decodeUtf8(await inflate(compressed)),
    relayState: relayStateOf(values),
    querySignature: querySignatureOf(values, parameter, value),
  };
}

/** Decodes a POST. `body` is the raw application/x-www-form-urlencoded text. */
export function decodePost(body: string): DecodedMessage {
  const values = readParameters(body);
  // HTTP-POST-SimpleSign is not offered; a signature that nobody checks must not look like one that was.
  if (values.has('Signature') || values.has('SigAlg')) {
    throw new SamlError('parameter_malformed', { detail: 'SimpleSign' });
  }
  const { parameter, value } = messageParameter(values);
  const octets = decodeBase64(value.text, 'accept line breaks');
  if (octets.length > limits.saml.messageBytes) throw new SamlError('too_large');
  return {
    binding: 'post',
    parameter,
    xml: decodeUtf8(octets),
    relayState: relayStateOf(values),
    querySignature: undefined,
  };
}

// Our six, and a handful that proxies and applications add; a body of nothing but separators is a quarter of a million.
const maxParameters = 32;
/** Longest percent-encoded form of a message in base64 with line breaks, and of a RelayState: no need to decode more. */
const maxRawLength = { message: 3 * 1.4 * limits.saml.messageBytes, relayState: 3 * limits.saml.relayStateBytes };

function readParameters(encoded: string): Map<Parameter, Value> {
  if (encoded.length > limits.saml.bodyBytes) throw new SamlError('too_large');
  const values = new Map<Parameter, Value>();
  const pairs = encoded.split('&', maxParameters + 1);
  if (pairs.length > maxParameters) throw new SamlError('parameter_malformed', { detail: 'too many' });
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    // Compared decoded: `SAML%52equest` is a second SAMLRequest for whoever reads the form after us.
    const key = decodeName(name);
    if (!isParameter(key)) continue;
    if (values.has(key)) throw new SamlError('parameter_repeated', { detail: key });
    const raw = equals < 0 ? '' : pair.slice(equals + 1);
    if (raw.length > maxRawLength.message) throw new SamlError('too_large', { detail: key });
    if (key === 'RelayState' && raw.length > maxRawLength.relayState) throw new SamlError('relay_state_too_long');
    values.set(key, { raw, text: decodeComponent(raw) });
  }
  return values;
}

function isParameter(name: string): name is Parameter {
  return parameterNames.includes(name);
}

/** A stray parameter of somebody else may be malformed; it then simply is none of ours. */
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
    throw new SamlError('parameter_malformed', { cause });
  }
}

function messageParameter(values: Map<Parameter, Value>): {
  parameter: 'SAMLRequest' | 'SAMLResponse';
  value: Value;
} {
  const request = values.get('SAMLRequest');
  const response = values.get('SAMLResponse');
  if (request && response) throw new SamlError('parameter_repeated', { detail: 'SAMLRequest and SAMLResponse' });
  const value = request ?? response;
  if (!value?.text) throw new SamlError('parameter_missing');
  return { parameter: request ? 'SAMLRequest' : 'SAMLResponse', value };
}

function relayStateOf(values: Map<Parameter, Value>): string | undefined {
  const relayState = values.get('RelayState')?.text;
  if (relayState !== undefined && Buffer.byteLength(relayState) > limits.saml.relayStateBytes) {
    throw new SamlError('relay_state_too_long');
  }
  return relayState;
}

function querySignatureOf(values: Map<Parameter, Value>, parameter: string, value: Value): QuerySignature | undefined {
  const signature = values.get('Signature');
  const algorithm = values.get('SigAlg');
  if (!signature && !algorithm) return undefined;
  if (!signature || !algorithm) throw new SamlError('signature_shape', { detail: 'SigAlg and Signature go together' });
  const relayState = values.get('RelayState');
  const signed: [string, Value][] = [[parameter, value]];
  if (relayState) signed.push(['RelayState', relayState]);
  signed.push(['SigAlg', algorithm]);
  const octets = (spell: (value: Value) => string) => signed.map(([name, it]) => `${name}=${spell(it)}`).join('&');
  return {
    algorithm: algorithm.text,
    value: decodeBase64(signature.text, 'accept line breaks', 'signature_shape'),
    octets: [octets(({ raw }) => raw), octets(({ text }) => encodeURIComponent(text))],
  };
}

/**
 * Strict base64: alphabet, padding and unused bits have to be right, so that one value has one spelling. Line breaks
 * are accepted where the producers in the field (OpenSAML) write MIME base64.
 */
export function decodeBase64(
  text: string,
  lineBreaks: 'accept line breaks' | 'refuse line breaks',
  code: SamlErrorCode = 'bad_base64',
): Buffer {
  const compact = lineBreaks === 'accept line breaks' ? text.replace(/[\r\n]+/g, '') : text;
  const octets = Buffer.from(compact, 'base64');
  if (octets.length === 0 || octets.toString('base64') !== compact) throw new SamlError(code);
  return octets;
}

interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}
// `info` makes the callback answer with the engine too; the type declarations do not know that.
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
    throw new SamlError(tooLarge ? 'too_large' : 'bad_deflate', { cause });
  }
}

function decodeUtf8(octets: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch (cause) {
    throw new SamlError('bad_encoding', { cause });
  }
}
