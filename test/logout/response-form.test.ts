// The form in which a service provider answers by POST, as the pages of several make it.
import { describe, expect, it } from 'vitest';
import { formFields } from '../../src/protocols/logout/saml/probe.ts';

const endpoint = 'https://idp.example/saml/slo';
const fieldsOf = (page: string) => {
  const fields = formFields(page, endpoint);
  return fields && Object.fromEntries(fields);
};

describe('formFields', () => {
  it.each([
    [
      'double quotes and escapes',
      '<FORM METHOD="post" ACTION="https://idp.example/saml/slo"><input type="hidden" name="SAMLResponse" value="YQ&#x3d;&#61;"/><input name="RelayState" value="a&amp;b"></FORM>',
    ],
    [
      'single quotes and another order',
      "<form action='https://idp.example/saml/slo'>\n<input value='YQ==' type=hidden name='SAMLResponse'>\n<input\nvalue='a&amp;b'\nname='RelayState'></form>",
    ],
    [
      'behind another form',
      '<form action="/search"><input name="q"></form><form action="https://idp.example/saml/slo"><input name="SAMLResponse" value="YQ=="><input name="RelayState" value="a&amp;b"></form><form><input name="x"></form>',
    ],
  ])('finds the response form with %s', (_name, page) => {
    expect(fieldsOf(page)).toEqual({ SAMLResponse: 'YQ==', RelayState: 'a&b' });
  });

  it.each([
    ['no form', '<h1>You are signed in</h1>'],
    ['a form of its own', '<form action="/slo"><input name="SAMLResponse" value="YQ=="></form>'],
    ['a lookalike', '<form action="https://idp.example/saml/slo2"><input name="SAMLResponse" value="YQ=="></form>'],
    ['a tag that never ends', '<form action="https://idp.example/saml/slo" '],
    ['nothing', ''],
  ])('finds no response form in a page with %s', (_name, page) => {
    expect(fieldsOf(page)).toBeUndefined();
  });

  // The time limit of the test is far from what it takes, and near to what quadratic time would.
  it.each(['<form', '<form action="x', '<form>', '<form action="https://idp.example/saml/slo2"><input'])(
    'parses a megabyte of %s in linear time',
    (piece) => {
      expect(fieldsOf(piece.repeat(1_000_000 / piece.length))).toBeUndefined();
    },
  );
});
