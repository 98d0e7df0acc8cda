// An application to which people are written: the SCIM service of a second Gatehouse, with a gate in front that counts, breaks and records
// requests.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import type { Provision } from '../../src/applications/fields/provisioning.ts';
import { aConnection, type Connection } from '../scim/support.ts';
import { aClient } from '../support/factories.ts';
import type { TestIdp } from '../support/idp.ts';

export interface Sent {
  method: string;
  path: string;
  authorization: string;
  body: string;
}

type Answer = { status: number; headers?: Record<string, string>; body?: string };
/** What the gate answers instead of the service behind it; undefined: that service answers. */
type Instead = (sent: Sent) => Answer | 'hang' | ((response: http.ServerResponse) => void) | undefined;

export interface Gate {
  url: string;
  sent: Sent[];
  instead: Instead;
  /** Called when the service has answered, before its answer goes on. */
  answered: (sent: Sent, status: number) => void | Promise<void>;
  close(): Promise<void>;
}

/** A server in front of `to`. */
export async function aGate(to: string): Promise<Gate> {
  const gate: Gate = { url: '', sent: [], instead: () => undefined, answered: () => {}, close: async () => {} };
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url: path = '', headers } = request;
    const sent = { method, path, authorization: headers.authorization ?? '', body };
    gate.sent.push(sent);
    const own = gate.instead(sent);
    if (own === 'hang') return;
    if (typeof own === 'function') return own(response);
    if (own) return void response.writeHead(own.status, own.headers).end(own.body);
    const answer = await fetch(`${to}${path}`, {
      method,
      headers: {
        authorization: sent.authorization,
        'content-type': headers['content-type'] ?? 'application/scim+json',
      },
      ...(body && { body }),
    });
    const text = await answer.text();
    await gate.answered(sent, answer.status);
    response.writeHead(answer.status, { 'content-type': 'application/scim+json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  gate.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gate.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return gate;
}

export interface Setup {
  gate: Gate;
  connection: Connection;
  applicationId: string;
  clientId: string;
}

/** An application of `idp` that only the role `role` opens, whose people are written to a connection of `other`. */
export async function aTarget(
  idp: TestIdp,
  other: TestIdp,
  { role, ...provision }: Partial<Provision> & { role: string },
): Promise<Setup> {
  const connection = await aConnection(other);
  const gate = await aGate(other.issuer);
  if (!(await idp.services.roles.find(role))) await idp.services.roles.create({ name: role });
  const { applicationId, clientId } = await aClient(idp.services, {
    redirect_uris: ['https://crm.example.com/cb'],
    access: { roles: [role] },
    provision: { url: `${gate.url}/scim/v2`, token: connection.token, ...provision },
  });
  return { gate, connection, applicationId, clientId };
}

/** Returns a function that keeps an application until the end of its test. */
export function untilTestEnds(idp: () => TestIdp) {
  const open: Setup[] = [];
  afterEach(async () => {
    for (const { gate, applicationId } of open.splice(0)) {
      await idp().services.applications.remove(applicationId);
      await gate.close();
    }
  });
  return (made: Setup): Setup => {
    open.push(made);
    return made;
  };
}

/** Seals the audit log and wakes the jobs, as they run every few seconds, until what happened before is sent. */
export async function settle(idp: TestIdp, { seconds = 60 } = {}): Promise<void> {
  const { auditChain, db, now, wake } = idp.services;
  await auditChain.seal();
  const head = await db.auditChain.findUnique({ where: { id: 'head' } });
  for (const end = Date.now() + seconds * 1000; ; await sleep(200)) {
    wake('provisioning', db);
    const targets = await db.provisioningTarget.findMany();
    const declared = await db.application.count({ where: { enabled: true, metadata: { contains: '"provision":{' } } });
    const isRead = targets.every(
      ({ auditSeq, compareAt, position }) =>
        auditSeq >= (head?.seq ?? 0) &&
        position === null &&
        compareAt !== null &&
        compareAt.getTime() > now().getTime() + 3_600_000,
    );
    if (targets.length === declared && isRead && (await waiting(idp)) === 0) return;
    if (Date.now() > end) expect.fail(`not settled: ${JSON.stringify({ targets, waiting: await waiting(idp) })}`);
  }
}

/** Objects that are to be sent, but for those that were rejected, and leavers who are too many. */
async function waiting({ services: { db } }: TestIdp): Promise<number> {
  const stopped = await db.provisioningTarget.findMany({ where: { stoppedAt: { not: null } } });
  const ids = stopped.map(({ applicationId }) => applicationId);
  const isHeld = { isHeld: true, applicationId: { in: ids } };
  return db.provisionedObject.count({ where: { pending: { not: '' }, lastError: null, NOT: isHeld } });
}

export const usersOf = async ({ connection }: Pick<Setup, 'connection'>) =>
  (await connection.ok('GET', '/Users?count=1000')) as unknown as {
    totalResults: number;
    Resources: Record<string, unknown>[];
  };
