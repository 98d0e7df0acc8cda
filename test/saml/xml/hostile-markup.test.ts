// Text that must not reach a parser, and text that both parsers have to reject.
import { describe, expect, it } from 'vitest';
import { readAuthnRequest } from '../../../src/protocols/saml/messages/authn-request.ts';
import { SamlError } from '../../../src/protocols/saml/xml/errors.ts';
import { parseXml } from '../../../src/protocols/saml/xml/parse.ts';
import { maySign, receivePost } from '../receive.ts';
import { authnRequestXml, logoutRequestXml, samlErrorCode, signXml, sp } from '../support.ts';

const good = authnRequestXml();
const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`;
const manyNamespaces = (count: number) =>
  Array.from({ length: count }, (_, i) => `<a${i}:b xmlns:a${i}="urn:${i}"/>`).join('');
const laughs = `<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(10)}"><!ENTITY c "${'&b;'.repeat(10)}">]>`;

describe('a message', () => {
  it('is accepted with declaration and byte order mark', async () => {
    expect((await receivePost(good, maySign)).root.localName).toBe('AuthnRequest');
    expect((await receivePost(`\ufeff<?xml version="1.0" encoding="UTF-8"?>\n${good}\n`, maySign)).signed).toBe(false);
  });

  it.each([
    ['a DOCTYPE', `<!DOCTYPE x>${good}`, 'forbidden_markup'],
    ['an external DTD', `<!DOCTYPE x SYSTEM "https://evil.example/x.dtd">${good}`, 'forbidden_markup'],
    ['an external entity', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${good}`, 'forbidden_markup'],
    ['billion laughs', `${laughs}${good.replace(sp.entityId, '&c;')}`, 'forbidden_markup'],
    ['a lower-case doctype', `<!doctype x>${good}`, 'forbidden_markup'],
    ['a processing instruction', `<?php echo 1 ?>${good}`, 'forbidden_markup'],
    ['a style sheet', `<?xml-stylesheet href="x"?>${good}`, 'forbidden_markup'],
    ['a comment', authnRequestXml({ body: '<!-- x -->' }), 'forbidden_markup'],
    ['a comment inside a value', authnRequestXml({ issuer: `${sp.entityId}<!-- -->.evil` }), 'forbidden_markup'],
    ['CDATA', authnRequestXml({ issuer: `<![CDATA[${sp.entityId}]]>` }), 'forbidden_markup'],
    ['a NUL character', good.replace('</samlp', '\u0000</samlp'), 'forbidden_markup'],
    ['XML 1.1', `<?xml version="1.1"?>${good}`, 'forbidden_markup'],
    ['another encoding', `<?xml version="1.0" encoding="UTF-7"?>${good}`, 'bad_encoding'],
    ['an undeclared entity', good.replace(sp.entityId, '&nbsp;'), 'not_xml'],
    ['a reference to a NUL', good.replace(sp.entityId, '&#0;'), 'not_xml'],
    ['no XML', 'hello', 'not_xml'],
    ['HTML', '<html><body><br></body></html>', 'not_xml'],
    ['JSON', '{"a":1}', 'not_xml'],
    ['text before the root', `x${good}`, 'not_xml'],
    ['text after the root', `${good}x`, 'not_xml'],
    ['several roots', good + good, 'not_xml'],
    ['an unclosed element', good.slice(0, -5), 'not_xml'],
    ['an attribute twice', good.replace(' ID=', ' ID="_x" ID='), 'not_xml'],
    [
      'an attribute twice by two prefixes',
      good.replace(' ID=', ' xmlns:a="u" xmlns:b="u" a:x="1" b:x="2" ID='),
      'not_xml',
    ],
    ['an undeclared prefix', good.replace('<samlp:AuthnRequest ', '<samlp:AuthnRequest evil:x="1" '), 'not_xml'],
    [
      'a deep tree',
      authnRequestXml({
        body: `<samlp:Extensions>${'<a xmlns="urn:a">'.repeat(40)}${'</a>'.repeat(40)}</samlp:Extensions>`,
      }),
      'too_large',
    ],
    ['a bottomless tree', `${'<a>'.repeat(300)}${'</a>'.repeat(300)}`, 'too_large'],
    ['thousands of elements', authnRequestXml({ body: '<a/>'.repeat(6000) }), 'too_large'],
    [
      'thousands of attributes',
      good.replace(' ID=', `${Array.from({ length: 6000 }, (_, i) => ` a${i}=""`).join('')} ID=`),
      'too_large',
    ],
    ['another namespace', good.replaceAll('SAML:2.0:protocol', 'SAML:1.0:protocol'), 'not_schema_valid'],
    ['another root', '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>', 'not_schema_valid'],
    [
      'a second Issuer',
      authnRequestXml({ body: `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">x</saml:Issuer>` }),
      'not_schema_valid',
    ],
    ['an element inside the Issuer', authnRequestXml({ issuer: `${sp.entityId}<b/>` }), 'not_schema_valid'],
    ['no Issuer', good.replace(/<saml:Issuer.*<\/saml:Issuer>/, ''), 'wrong_issuer'],
    ['no ID', good.replace(/ ID="[^"]*"/, ''), 'not_schema_valid'],
    ['an ID that is none', authnRequestXml({ id: '1 2' }), 'not_schema_valid'],
    ['a time that is none', good.replace(/IssueInstant="[^"]*"/, 'IssueInstant="yesterday"'), 'not_schema_valid'],
    ['SAML 1.1', good.replace('Version="2.0"', 'Version="1.1"'), 'wrong_version'],
  ])('is rejected with %s', async (_name, xml, code) => {
    expect(await samlErrorCode(() => receivePost(xml, maySign))).toBe(code);
  });

  it.each([
    ['white space inside the Issuer', authnRequestXml({ issuer: `${sp.entityId}${' '.repeat(32_000)}x` })],
    ['references', authnRequestXml({ issuer: '&amp;'.repeat(6_400) })],
    ['elements', signXml(authnRequestXml({ body: extensions('<a xmlns="urn:a"/>'.repeat(185)) }))],
    ['namespaces', signXml(authnRequestXml({ body: extensions(manyNamespaces(185)) }))],
    ['text', signXml(authnRequestXml({ body: extensions(`<a xmlns="urn:a">${'x'.repeat(29_000)}</a>`) }))],
    [
      'the signature of another message',
      signXml(authnRequestXml()).replace(sp.acs, `${sp.acs}${'&lt;'.repeat(7_000)}`),
    ],
  ])('is handled within the time limit, full of %s', async (_name, xml) => {
    const cpu: number[] = [];
    for (let round = 0; round < 15; round += 1) {
      const before = process.cpuUsage();
      try {
        readAuthnRequest(await receivePost(xml, maySign));
      } catch (error) {
        if (!(error instanceof SamlError)) throw error;
      }
      const { user, system } = process.cpuUsage(before);
      cpu.push((user + system) / 1000);
    }
    expect(Math.min(...cpu)).toBeLessThan(200); // 2 ms where it was measured; a quadratic step takes seconds
  });

  it('is rejected in the parameter of the other kind', async () => {
    expect(await samlErrorCode(() => receivePost(good, maySign, 'SAMLResponse'))).toBe('wrong_root');
    expect(await samlErrorCode(() => receivePost(logoutRequestXml(), maySign, 'SAMLResponse'))).toBe('wrong_root');
  });

  it('is rejected as a Response, which is never received here', async () => {
    const response =
      '<p:Response xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0" IssueInstant="2031-01-01T00:00:00Z">' +
      '<p:Status><p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></p:Status></p:Response>';
    expect(await samlErrorCode(() => receivePost(response, maySign, 'SAMLResponse'))).toBe('wrong_root');
  });
});

describe('dropping comments, which metadata may hold', () => {
  it('joins what they separated', () => {
    expect(parseXml('<a>vic<!-- x -->tim</a>', { kind: 'metadata' }).root.textContent).toBe('victim');
  });

  it('takes no longer than the size of the text when none of them is ever closed', async () => {
    const cpu = process.cpuUsage();
    expect(await samlErrorCode(() => parseXml(`<a/>${'<!--'.repeat(250_000)}`, { kind: 'metadata' }))).toBe(
      'forbidden_markup',
    );
    expect(process.cpuUsage(cpu).user / 1000).toBeLessThan(5000); // a quadratic step takes minutes
  });

  it.each([
    ['a DOCTYPE that a comment completes', '<<!-- -->!DOCTYPE x><a/>'],
    ['an instruction that a comment completes', '<<!-- -->?x ?><a/>'],
    ['an unfinished comment', '<a/><!-- '],
    ['CDATA that hides a comment', '<a><![CDATA[<!-- ]]></a>'],
    ['a DOCTYPE', '<!-- ok --><!DOCTYPE a><a/>'],
  ])('still rejects %s', async (_name, xml) => {
    expect(await samlErrorCode(() => parseXml(xml, { kind: 'metadata' }))).toBe('forbidden_markup');
  });
});
