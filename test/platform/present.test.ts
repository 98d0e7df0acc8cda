import { expect, test } from 'vitest';
import { present } from '../../src/base/platform/defined.ts';

test('a list is without the items that are absent, and keeps those that are empty or 0', () => {
  const isAbsent = (): boolean => false;
  const name: string | undefined = undefined;
  expect(present<string | number>(['a', isAbsent() && 'b', name, null, '', 0])).toEqual(['a', '', 0]);
});
