// What `gatehouse doctor` and `gatehouse verify` say after the flows of a test: that the server wrote each protected row as it is, and
// that the audit log is intact.
import { expect } from 'vitest';
import { createProtectedRows } from '../../src/base/storage/protected-rows.ts';
import { rowFindings } from '../../src/cli/doctor/check-rows.ts';
import type { Services } from '../../src/server/services.ts';

/** The rows of which `doctor` would report that another program wrote them. */
export async function forgedRows({ db, vault }: Services): Promise<string[]> {
  const macs = createProtectedRows({ vault, alarm: { raise: async () => {} } });
  return (await rowFindings({ database: { db }, macs })).map(({ message }) => message);
}

/** Fails if `doctor` would report a row that another program wrote. */
export async function expectGenuineRows(services: Services): Promise<void> {
  expect(await forgedRows(services)).toEqual([]);
}

/** Fails if `verify` would report a fault of the audit log. */
export async function expectIntactAuditLog({ auditChain }: Services): Promise<void> {
  expect(await auditChain.verify()).toMatchObject({ ok: true });
}
