// The periodic jobs of the audit log.

import { expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { auditJobs } from '../../src/core/audit/jobs.ts';

it('the clean-up of the audit log deletes expired entries until none is left, however many there are', async () => {
  const remaining = [limits.sweep.batch, limits.sweep.batch, 7];
  const purged: Date[] = [];
  const purge = async (before: Date) => {
    purged.push(before);
    return remaining.shift() ?? 0;
  };
  const now = () => new Date('2027-03-01T00:00:00Z');
  const unused = async () => {
    throw new Error('not called');
  };
  const auditChain = { seal: unused, verify: unused, purge };
  const retentionDays = () => 365;
  const audit = { record: unused };
  const jobs = auditJobs({ auditChain, audit, alarm: { raise: unused }, now, retentionDays } as never);
  const retention = jobs.find(({ name }) => name === 'audit-retention');
  await retention?.run(new AbortController().signal);
  expect(remaining).toEqual([]);
  expect(purged).toEqual(Array(3).fill(new Date('2026-03-01T00:00:00Z')));
});
