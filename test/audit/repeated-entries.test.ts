// Equal audit entries that anyone can cause.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditInput } from '../../src/core/audit/audit.ts';
import { createRepeatedEntries, type RepeatedEntries } from '../../src/core/audit/repeated-entries.ts';
import { siteBlock } from '../../src/people/rate-limits/policies.ts';
import { testClock } from '../support/clock.ts';
import { servicesOf } from '../support/services-of.ts';

let written: AuditInput[];
let entries: RepeatedEntries;
const clock = testClock('2026-03-01T12:00:00Z');

beforeEach(() => {
  written = [];
  const audit = { record: async (entry: AuditInput) => void written.push(entry) };
  entries = createRepeatedEntries({
    ...servicesOf({ now: clock.now, logger: { error: vi.fn(), warn: vi.fn() } as never }),
    audit: audit as never,
    networkOf: siteBlock,
  });
});

const rejected = (address: string, reason = 'invalid_scope', clientId = 'wiki'): AuditInput => ({
  type: 'authorization.rejected',
  outcome: 'failure',
  reason,
  clientId,
  request: { address, userAgent: '', requestId: 'x' },
  data: { detail: null },
});

describe('equal entries', () => {
  it('are stored as one entry at once, and one with their count after ten minutes', async () => {
    for (let count = 0; count < 500; count += 1) await entries.record(rejected('192.0.2.1'));
    expect(written).toEqual([rejected('192.0.2.1')]);
    clock.advance({ minutes: 10 });
    await entries.record(rejected('192.0.2.1', 'invalid_client'));
    expect(written[1]).toEqual({ ...rejected('192.0.2.1'), data: { detail: null, repeated: 499 } });
    expect(written[2]).toEqual(rejected('192.0.2.1', 'invalid_client'));
  });

  it('come from one network, also with another IPv6 address each time', async () => {
    for (let count = 0; count < 300; count += 1) {
      await entries.record(rejected(`2001:db8:7:${count.toString(16)}::${count.toString(16)}`));
    }
    expect(written).toHaveLength(1);
    await entries.record(rejected('2001:db8:8::1'));
    await entries.record(rejected('192.0.2.2'));
    await entries.record(rejected('192.0.2.2', 'invalid_scope', 'shop'));
    expect(written).toHaveLength(4);
  });

  it('are all counted when the process stops', async () => {
    for (let count = 0; count < 3; count += 1) await entries.record(rejected('192.0.2.3'));
    await entries.flush();
    await entries.flush();
    expect(written.map(({ data }) => data?.repeated)).toEqual([undefined, 2]);
  });

  it('take limited memory', async () => {
    for (let count = 0; count < 3000; count += 1) {
      const address = `10.0.${count >> 8}.${count & 255}`;
      await entries.record(rejected(address));
      await entries.record(rejected(address));
    }
    // The oldest were written with their number when there were a thousand newer ones.
    const numbered = written.filter(({ data }) => data?.repeated === 1);
    expect(numbered.length).toBeGreaterThanOrEqual(1900);
  });
});
