// Names that lead elsewhere (DNS rebinding): the address that was looked up and checked is the one that is called, at each connection anew.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { testName } from '../support/dns.ts';
import type { TestIdp } from '../support/idp.ts';
import { aReceiver, aStream, deliver, removeStreams, startWithoutJobs } from './support.ts';

const NAME = 'receiver.example';
const name = testName(NAME);

let idp: TestIdp;
beforeAll(async () => {
  idp = await startWithoutJobs();
});
beforeEach(async () => {
  await removeStreams(idp);
  name.asked = 0;
});
afterAll(async () => {
  name.restore();
  await idp?.stop();
});

async function sendOne(): Promise<void> {
  await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId: 'ann' }, idp.services.db);
  await deliver(idp.services);
}

/** A stream to the name, which a form would take with https alone. */
async function toName(path: string, more: object = {}) {
  const { stream } = await aStream(idp, { url: 'https://x.example', events: ['role.assigned'], ...more });
  await idp.services.db.eventStream.update({ where: { id: stream.id }, data: { url: path } });
  return async () => (await idp.services.eventStreams.get(stream.id)).lastError;
}

it('a name is looked up once for a connection, and the address that was checked is called', async () => {
  const receiver = await aReceiver();
  name.answers = [['127.0.0.1'], ['169.254.169.254']];
  const lastError = await toName(receiver.url.replace('127.0.0.1', NAME));
  await sendOne();
  expect([receiver.received.length, name.asked, await lastError()]).toEqual([1, 1, null]);
  await receiver.close();
  await sendOne();
  expect([receiver.received.length, name.asked]).toEqual([1, 2]);
  expect(await lastError()).toContain('private or special network');
});

it('of several addresses only those are called that are allowed', async () => {
  const receiver = await aReceiver();
  name.answers = [['10.0.0.7', '169.254.169.254', '::ffff:10.0.0.7', '127.0.0.1']];
  const lastError = await toName(receiver.url.replace('127.0.0.1', NAME));
  await sendOne();
  expect([receiver.received.length, await lastError()]).toEqual([1, null]);
  await receiver.close();
});

it('an inner address behind a name is called neither for a webhook nor for syslog', async () => {
  for (const address of ['10.0.0.7', '169.254.169.254', '::ffff:169.254.169.254', 'fd00::1']) {
    name.answers = [[address]];
    const webhook = await toName(`https://${NAME}/events`);
    const syslog = await aStream(idp, {
      url: `syslog://${NAME}:6514`,
      kind: 'siem',
      format: 'syslog',
      events: ['role.assigned'],
    });
    await sendOne();
    expect(await webhook(), address).toContain('private or special network');
    expect((await idp.services.eventStreams.get(syslog.stream.id)).lastError, address).toContain(
      'private or special network',
    );
    await removeStreams(idp);
  }
});
