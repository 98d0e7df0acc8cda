// What `gatehouse doctor` and `gatehouse verify` say after the flows of a test: that the server wrote each protected row as it is, and
// that the audit log is intact.
import { expect } from 'vitest';
import { createProtectedRows } from '../../src/audit/protected-rows.ts';
import { rowFindings } from '../../src/cli/doctor/check-rows.ts';
import type { Services } from '../../src/services.ts';

/** Fails if `doctor` would report a row that another program wrote. */
export async function expectGenuineRows({ db, vault }: Services): Promise<void> {
  const protectedRows = createProtectedRows({ vault, alarm: { raise: async () => {} } });
  const findings = await rowFindings({ database: { db }, protectedRows });
  expect(findings.map(({ message }) => message)).toEqual([]);
}

/** Fails if `verify` would report a fault of the audit log. */
export async function expectIntactAuditLog({ auditChain }: Services): Promise<void> {
  expect(await auditChain.verify()).toMatchObject({ ok: true });
}
