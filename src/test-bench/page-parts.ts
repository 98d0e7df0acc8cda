// Shared parts of the pages of the test bench.

import type { Block } from '../admin/console/blocks.ts';
import { badRequest } from '../base/http/errors.ts';
import { type PageText, t } from '../base/texts/text.ts';

export const TEST_HOME = '/admin/test';

/** A value as indented JSON under a heading. */
export function json(title: PageText, value: unknown, { isClosed = false } = {}): Block {
  return { kind: 'code', title, label: title, text: JSON.stringify(value, undefined, 2), isClosed };
}

/** The error for a response that belongs to no test of this administrator in this browser. */
export function testNotBegun() {
  return badRequest('state_mismatch', {
    message: t('console.test-bench.not-begun'),
    next: { href: '/admin/applications', label: t('console.test-bench.applications') },
  });
}
