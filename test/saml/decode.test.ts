import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { decodePost, decodeRedirect } from '../../src/protocols/saml/messages/decode.ts';
import { postBody, redirectQuery, samlErrorCode, signQuery } from './support.ts';

const deflated = (octets: Uint8Array | string) => encodeURIComponent(deflateRawSync(octets).toString('base64'));

describe('the redirect binding', () => {
  it('returns the message and the RelayState unchanged', async () => {
    const relayState = `a b+c%&"'<script>ü😀\n=`;
    const message = await decodeRedirect(redirectQuery('<a>ü</a>', relayState));
    expect(message).toMatchObject({ binding: 'redirect', parameter: 'SAMLRequest', xml: '<a>ü</a>', relayState });
  });

  it('signs over the octets of the raw query in the order of the specification', async () => {
    const value = deflated('<a/>');
    const query = `Signature=AAAA&SigAlg=urn%3ax&foreign=1&RelayState=a%20b+c&SAMLRequest=${value}`;
    const { querySignature } = await decodeRedirect(query);
    expect(querySignature?.octets[0]).toBe(`SAMLRequest=${value}&RelayState=a%20b+c&SigAlg=urn%3ax`);
  });

  it('rejects a deflate bomb without inflating it', async () => {
    const bomb = deflated(Buffer.alloc(100 * 1024 * 1024));
    const before = process.memoryUsage().arrayBuffers;
    expect(await samlErrorCode(() => decodeRedirect(`SAMLRequest=${bomb}`))).toBe('too_large');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  it.each([
    ['no parameter', 'RelayState=x', 'parameter_missing'],
    ['an empty one', 'SAMLRequest=', 'parameter_missing'],
    ['two messages', `SAMLRequest=${deflated('<a/>')}&SAMLRequest=${deflated('<b/>')}`, 'parameter_repeated'],
    ['a second one in disguise', `SAMLRequest=${deflated('<a/>')}&SAML%52equest=x`, 'parameter_repeated'],
    ['a request and a response', `SAMLRequest=${deflated('<a/>')}&SAMLResponse=x`, 'parameter_repeated'],
    ['two RelayStates', `SAMLRequest=${deflated('<a/>')}&RelayState=a&RelayState=b`, 'parameter_repeated'],
    ['two signatures', `SAMLRequest=${deflated('<a/>')}&SigAlg=a&Signature=AAAA&Signature=AAAA`, 'parameter_repeated'],
    ['an algorithm without signature', `SAMLRequest=${deflated('<a/>')}&SigAlg=a`, 'signature_shape'],
    ['a signature without algorithm', `SAMLRequest=${deflated('<a/>')}&Signature=AAAA`, 'signature_shape'],
    ['bad percent-encoding', 'SAMLRequest=%', 'parameter_malformed'],
    ['bad UTF-8 in RelayState', `SAMLRequest=${deflated('<a/>')}&RelayState=%ff`, 'parameter_malformed'],
    ['another encoding', `SAMLRequest=${deflated('<a/>')}&SAMLEncoding=urn:x`, 'parameter_malformed'],
    ['characters outside base64', 'SAMLRequest=ab!d', 'bad_base64'],
    ['base64url', 'SAMLRequest=ab-_', 'bad_base64'],
    ['missing padding', 'SAMLRequest=YQ', 'bad_base64'],
    ['stray bits in the last character', 'SAMLRequest=YR%3D%3D', 'bad_base64'],
    ['what is not deflate', `SAMLRequest=${encodeURIComponent(Buffer.from('<a/>').toString('base64'))}`, 'bad_deflate'],
    [
      'a truncated stream',
      `SAMLRequest=${encodeURIComponent(deflateRawSync('x'.repeat(99)).subarray(0, -3).toString('base64'))}`,
      'bad_deflate',
    ],
    [
      'bytes after the stream',
      `SAMLRequest=${encodeURIComponent(Buffer.concat([deflateRawSync('<a/>'), Buffer.from('more')]).toString('base64'))}`,
      'bad_deflate',
    ],
    [
      'an encoding that is neither Unicode nor Latin',
      `SAMLRequest=${deflated(Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>\xff</a>', 'latin1'))}`,
      'bad_encoding',
    ],
    ['half a character of UTF-16', `SAMLRequest=${deflated(Buffer.from([0xff, 0xfe, 0x3c]))}`, 'bad_encoding'],
    ['a query of more than 256 KB', `x=${'A'.repeat(limits.saml.bodyBytes)}`, 'too_large'],
    ['a longer message than any', `SAMLRequest=${'A'.repeat(5 * limits.saml.messageBytes)}`, 'too_large'],
    ['a quarter of a million parameters', '&'.repeat(limits.saml.bodyBytes - 1), 'parameter_malformed'],
  ])('rejects %s', async (_name, query, code) => {
    expect(await samlErrorCode(() => decodeRedirect(query))).toBe(code);
  });

  it('leaves out a RelayState of more than 8 KB, and says so', async () => {
    const long = 'ü'.repeat(limits.saml.relayStateBytes / 2 + 1);
    const decoded = await decodeRedirect(redirectQuery('<a/>', long));
    expect(decoded).toMatchObject({ relayState: undefined, isRelayStateTooLong: true });
    expect(decodePost(postBody('<a/>', long))).toMatchObject({ relayState: undefined, isRelayStateTooLong: true });
  });

  it('accepts a RelayState of exactly 8 KB, and an empty one', async () => {
    const long = 'x'.repeat(limits.saml.relayStateBytes);
    expect((await decodeRedirect(redirectQuery('<a/>', long))).relayState).toBe(long);
    expect((await decodeRedirect(redirectQuery('<a/>', ''))).relayState).toBe('');
    expect((await decodeRedirect(redirectQuery('<a/>'))).relayState).toBeUndefined();
  });

  it('ignores malformed parameters that are not of SAML', async () => {
    const { xml } = await decodeRedirect(`%zz=1&utm=%ff&${redirectQuery('<a/>')}`);
    expect(xml).toBe('<a/>');
  });
});

describe('the POST binding', () => {
  it('returns the message and the RelayState unchanged', () => {
    const message = decodePost(postBody('<a>ü</a>', `a b+c%&"'<script>ü😀\r\n`, 'SAMLResponse'));
    expect(message).toMatchObject({
      binding: 'post',
      parameter: 'SAMLResponse',
      xml: '<a>ü</a>',
      relayState: `a b+c%&"'<script>ü😀\r\n`,
      querySignature: undefined,
    });
  });

  it('accepts base64 in lines, as OpenSAML sends it', () => {
    const base64 = Buffer.from(`<a>${'x'.repeat(200)}</a>`)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n');
    expect(decodePost(new URLSearchParams({ SAMLRequest: base64 }).toString()).xml).toContain('xxx');
  });

  it('rejects large messages, and signatures that would not be checked', async () => {
    expect(decodePost(postBody('x'.repeat(limits.saml.messageBytes))).xml).toHaveLength(limits.saml.messageBytes);
    expect(await samlErrorCode(() => decodePost(postBody('x'.repeat(limits.saml.messageBytes + 1))))).toBe('too_large');
    expect(await samlErrorCode(() => decodePost('x'.repeat(limits.saml.bodyBytes + 1)))).toBe('too_large');
    expect(await samlErrorCode(() => decodePost(signQuery(postBody('<a/>'))))).toBe('parameter_malformed');
  });
});
