// What the pages of tests have in common.
import { badRequest } from '../../http/errors.ts';
import type { Block } from './blocks.ts';

export const TEST_HOME = '/admin/test';

export function json(title: string, value: unknown): Block {
  return { kind: 'code', title, label: title, text: JSON.stringify(value, undefined, 2) };
}

export function notBegun() {
  return badRequest('state_mismatch', {
    message: 'This is not the answer to a test that you began in this browser.',
    next: { href: '/admin/applications', label: 'Applications' },
  });
}
