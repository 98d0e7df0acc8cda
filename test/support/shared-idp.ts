// One running server per process for test files that need neither a clock nor settings of their own: a start costs a third of
// a second of CPU. Such a file makes its own users and applications, asks only about those, and leaves settings, keys
// and the server alone. Rate limits are off, because all files call from one address; test/rate-limits and others that meet
// them start a server of their own (startIdp).
import { expect } from 'vitest';
import { databaseKind } from './database/database.ts';
import { atFileEnd } from './file-end.ts';
import { startIdp, type TestIdp } from './idp.ts';
import { forgedRows } from './intact.ts';
import { rarePolls, shortWaits } from './waits.ts';

const servers = new Map<string, Promise<TestIdp>>();
/** The servers that this test file uses, and how much they had logged before. */
const inUse = new Map<TestIdp, number>();
/** What earlier files have changed in a database on purpose. */
const tampered = new Map<TestIdp, readonly string[]>();

atFileEnd.add(expectIntactSharedServers);

/** The server of this process and database, started by the first call; it ends with the process. */
export function sharedIdp(): Promise<TestIdp> {
  return shared('plain');
}

/** The same for files that add connections, which change the sign-in page for everyone. */
export function sharedIdpWithConnections(): Promise<TestIdp> {
  return shared('with connections');
}

async function shared(purpose: string): Promise<TestIdp> {
  const name = `${databaseKind()} ${purpose}`;
  const server = servers.get(name) ?? start();
  servers.set(name, server);
  const idp = await server;
  if (!inUse.has(idp)) inUse.set(idp, idp.log.length);
  return idp;
}

/**
 * At the end of each test file: what `doctor` and `verify` say of the servers that it used. A row that a test tampers with
 * raises an alarm as soon as the server reads it.
 */
async function expectIntactSharedServers(): Promise<void> {
  const used = [...inUse];
  inUse.clear();
  for (const [idp, begin] of used) {
    const findings = [...(await forgedRows(idp.services)), ...(await auditFaults(idp))];
    const known = tampered.get(idp) ?? [];
    tampered.set(idp, findings);
    if (idp.log.slice(begin).some((line) => line.includes('"alarm":'))) continue;
    expect(findings.filter((one) => !known.includes(one))).toEqual([]);
  }
}

async function auditFaults({ services }: TestIdp): Promise<string[]> {
  const result = await services.auditChain.verify();
  return result.ok ? [] : [`the audit log is not intact: ${JSON.stringify(result)}`];
}

async function start(): Promise<TestIdp> {
  rarePolls();
  const idp = await startIdp().finally(shortWaits);
  const { settings } = idp.services;
  await settings.set('rate_limits', false);
  await settings.reload();
  return { ...idp, stop: () => Promise.reject(new Error('This server is shared: use startIdp() to stop one')) };
}
