// The one judge of addresses to return to, as a browser resolves them.
import { describe, expect, it } from 'vitest';
import { localPath } from '../../src/base/http/local-path.ts';

const ISSUER = 'https://id.example.com';

/** They leave the issuer, or would once their dot segments are resolved, tabs removed or escapes decoded. */
const FOREIGN_ADDRESSES = [
  '//evil.example',
  '///evil.example',
  '////evil.example/x',
  '/.//evil.example',
  '/./\\evil.example',
  '/..//evil.example',
  '/x/..//evil.example',
  '/%2e//evil.example',
  '/%2E%2e//evil.example',
  '/x/%2e%2e//evil.example?y',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/\u0000/evil.example',
  '//evil.example@id.example.com',
  '//[',
  'https://evil.example',
  'https:evil.example',
  'http://id.example.com',
  'javascript:alert(1)',
  'evil.example',
  './/evil.example',
  '',
];

describe('localPath', () => {
  it.each(FOREIGN_ADDRESSES)('rejects the address %j', (address) => {
    expect(localPath(address)).toBeUndefined();
  });

  it.each([
    ['/account', '/account'],
    ['/admin/users?q=a&after=b', '/admin/users?q=a&after=b'],
    ['/admin/users#top', '/admin/users'],
    ['/a/../b', '/b'],
    ['/?next=//evil.example', '/?next=//evil.example'],
    ['/%2F/evil.example', '/%2F/evil.example'],
    ['/%5Cevil.example', '/%5Cevil.example'],
    ['/%252e//evil.example', '/%252e//evil.example'],
    ['/a//b', '/a//b'],
    ['/ä', '/%C3%A4'],
  ])('reads %j as %j on the issuer', (address, path) => {
    expect(localPath(address)).toBe(path);
    expect(new URL(path, ISSUER).origin).toBe(ISSUER);
  });
});
