// A server that delivers events when a test says so, and a receiver: what it got, and what it answers.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { createEventDeliveries } from '../../src/protocols/event-streams/deliveries.ts';
import type { EventBody } from '../../src/protocols/event-streams/event.ts';
import { eventStreamFields, type StreamDeclaration } from '../../src/protocols/event-streams/streams.ts';
import type { Services } from '../../src/server/services.ts';
import type { TestClock } from '../support/clock.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';

/** A server whose jobs do not run: `deliver` does what those of the event streams do. */
export async function startWithoutJobs(clock?: TestClock): Promise<TestIdp> {
  const idp = await startIdp(clock && { now: clock.now });
  await idp.retire();
  return idp;
}

/** Seals the log, finds the events of each stream, and sends them. */
export async function deliver(services: Services): Promise<void> {
  await services.auditChain.seal();
  for (const { run } of createEventDeliveries(services).jobs) await run(new AbortController().signal);
}

export async function removeStreams({ services: { eventStreams } }: TestIdp): Promise<void> {
  for (const { id } of await eventStreams.list()) await eventStreams.remove(id, {});
}

export interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  event: EventBody;
}

/** `answer` is the status of each request, or a status with headers; by default 204. */
export async function aReceiver() {
  const received: Received[] = [];
  const answers: { status: number; headers?: Record<string, string> }[] = [];
  let always: { status: number; headers?: Record<string, string>; body?: string } = { status: 204 };
  const server = await listen(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { status, headers = {} } = answers.shift() ?? always;
    received.push({ headers: request.headers, body, event: JSON.parse(body.split('\n')[0] ?? 'null') as EventBody });
    response.writeHead(status, headers).end(status === 204 ? undefined : (always.body ?? ''));
  });
  return {
    url: `${server.origin}/events`,
    received,
    types: () => received.map(({ event }) => event.type),
    next: (...statuses: { status: number; headers?: Record<string, string> }[]) => answers.push(...statuses),
    always: (answer: { status: number; headers?: Record<string, string>; body?: string }) => {
      always = answer;
    },
    close: server.close,
  };
}

const declared = z.strictObject(eventStreamFields);

export function aStream({ services }: TestIdp, given: Partial<StreamDeclaration> & { url: string }, secret?: string) {
  return services.eventStreams.create(declared.parse({ name: `Stream ${Math.random()}`, ...given }), secret, {});
}

/** Verifies as Standard Webhooks says, with code of its own. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const wanted = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${wanted}`);
}
