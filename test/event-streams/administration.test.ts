// Event streams in the console, in the configuration file and on the command line; and how soon an event leaves.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { exportConfiguration } from '../../src/config-file/export.ts';
import { parseFile } from '../../src/config-file/file.ts';
import { addressOf, consoleOf, staff } from '../admin/console/support.ts';
import { commandLine } from '../cli/support.ts';
import { anApplication, authorizeUrl } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { textOf } from '../support/pages/html.ts';
import { aReceiver, aStream, deliver, isSigned } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('the console adds a stream, shows its secret once, tries it, shows what was delivered and sends it again', async () => {
  const receiver = await aReceiver();
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const empty = await admin.get('/admin/event-streams');
  expect(textOf(empty.text)).toContain('No event streams');
  const form = await admin.get('/admin/event-streams/new');
  const wrong = await admin.submit(form, { name: 'HR', url: receiver.url, events: 'nothing.*' });
  expect(wrong.status).toBe(400);
  expect(textOf(wrong.text)).toContain('a type of event');
  const created = await admin.follow(
    await admin.submit(form, { name: 'Console', url: receiver.url, events: 'role.*' }),
  );
  expect(textOf(created.text)).toContain('Secret of Console');
  const [, secret = ''] = /<code data-value>([^<]+)</.exec(created.text.replaceAll('<wbr>', '')) ?? [];
  expect(secret).toMatch(/^whsec_/);
  const [stream] = await idp.services.eventStreams.list();
  const at = `/admin/event-streams/${stream?.id}`;
  const page = await admin.get(at);
  expect(page.text).not.toContain(secret);
  const tested = await admin.follow(await admin.submit(page, {}, { form: `${at}/test` }));
  const host = new URL(receiver.url).host;
  expect(textOf(tested.text)).toMatch(new RegExp(`${host} took the test: status 204 in [\\d,]+ ms\\.`));
  expect(textOf(tested.text)).toMatch(/Deliveries.* Test Delivered 204 1 /);
  const test = receiver.received.find(({ event }) => event.type === 'event-stream.test');
  expect(test && isSigned(test, secret)).toBe(true);
  await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId: 'ann' }, idp.services.db);
  await deliver(idp.services);
  const shown = await admin.get(at);
  expect(textOf(shown.text)).toMatch(
    /… gave … the role … role\.assigned Delivered 204 .*Send again : … gave … the role …/,
  );
  const [, path = ''] = /href="(\/admin\/event-streams\/[^"]+\/deliveries\/[^"]+)"/.exec(shown.text) ?? [];
  const delivered = await admin.get(path);
  expect(textOf(delivered.text)).toMatch(/webhook-id evt_\d+_[0-9a-f]{16}.*What is sent.*"type": "role.assigned"/s);
  expect((await admin.submit(delivered, {}, { form: `${path}/retry` })).status).toBe(303);
  const recorded = await idp.services.audit.list({ types: ['event-stream.redelivered', 'event-stream.tested'] });
  expect(recorded.map(({ type, actorId }) => [type, actorId !== null])).toEqual([
    ['event-stream.redelivered', true],
    ['event-stream.tested', true],
  ]);
  receiver.always({ status: 500 });
  const failed = await admin.follow(await admin.submit(shown, {}, { form: `${at}/test` }));
  expect(textOf(failed.text)).toContain('It answered with status 500');
  expect(textOf(failed.text)).toMatch(/Deliveries.* Test Given up answered with status 500 1 /);
  const [newest] = await idp.services.db.eventDelivery.findMany({ orderBy: { createdAt: 'desc' }, take: 1 });
  const ofTest = await admin.get(`${at}/deliveries/${newest?.id}`);
  expect(textOf(ofTest.text)).toMatch(/Test Given up.*What is sent.*"type": "event-stream.test"/s);
  expect(await idp.services.eventStreams.redeliver(stream?.id ?? '', newest?.id ?? '', {})).toBe(false);
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  expect(textOf((await auditor.get(at)).text)).not.toContain('Send test event');
  expect(addressOf(shown)).toBe(at);
  await receiver.close();
  await idp.services.eventStreams.remove(stream?.id ?? '', {});
});

it('the overview warns of destinations that take nothing for an hour', async () => {
  const { db, eventStreams } = idp.services;
  const { stream } = await aStream(idp, { url: 'https://down.example/', events: ['role.*'] });
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const failsFor = async (minutes: number) => {
    const failingSince = new Date(Date.now() - minutes * 60_000);
    await db.eventStream.updateMany({ where: { id: stream.id }, data: { failingSince } });
    return textOf((await admin.get('/admin')).text);
  };
  expect(await failsFor(59)).not.toContain('destination');
  expect(await failsFor(61)).toContain('Deliveries 1 destination takes nothing');
  await eventStreams.remove(stream.id, {});
});

it('the console adds an alert for addresses as people write them', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const form = await admin.get('/admin/event-streams/new?kind=alert');
  const wrong = await admin.submit(form, { name: 'Alerts', url: 'admin' });
  expect([wrong.status, textOf(wrong.text).includes('10 email addresses')]).toEqual([400, true]);
  const page = await admin.follow(
    await admin.submit(form, { name: 'Alerts', url: 'ann@example.com, bob@example.com' }),
  );
  expect(textOf(page.text)).toContain('The event stream is saved');
  const [stream] = await idp.services.eventStreams.list();
  expect(stream).toMatchObject({ kind: 'alert', url: 'mailto:ann@example.com,bob@example.com', quiet_minutes: 60 });
  await idp.services.eventStreams.remove(stream?.id ?? '', {});
});

it('the console moves a SIEM to another host with the token for there', async () => {
  const url = 'https://siem.example.com/events';
  const { stream } = await aStream(idp, { name: 'SIEM', kind: 'siem', url }, 'the-token-for-example');
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const at = `/admin/event-streams/${stream.id}`;
  const moved = { url: 'https://elsewhere.example/events' };
  const rejected = await admin.submit(await admin.get(at), { ...moved, secret: '' });
  expect(rejected.status).toBe(400);
  const saved = await admin.submit(rejected, { ...moved, secret: 'the-token-for-elsewhere' });
  expect(saved.status).toBe(303);
  expect(await idp.services.eventStreams.secrets(stream.id)).toEqual(['the-token-for-elsewhere']);
  await idp.services.eventStreams.remove(stream.id, {});
});

it('a stream of an application has the failed steps of sign-ins at it', async () => {
  const receiver = await aReceiver();
  const app = await anApplication(idp);
  const { account } = await aUser(idp.services);
  const { stream } = await aStream(idp, { url: receiver.url, events: ['sign-in.*'], applications: [app.clientId] });
  const browser = httpClient(idp.issuer);
  const form = await browser.follow(await browser.get(authorizeUrl(idp, app.clientId)));
  await browser.submit(form, { username: account.username, password: 'a wrong password it is' });
  await vi.waitFor(
    async () => {
      await deliver(idp.services);
      expect(receiver.received.map(({ event }) => [event.type, event.data.outcome, event.data.application])).toEqual([
        ['sign-in.password', 'failure', app.clientId],
      ]);
    },
    { timeout: 60_000 },
  );
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('the deliveries of every kind are on one page, by destination', async () => {
  const { services } = idp;
  const receiver = await aReceiver();
  receiver.always({ status: 503 });
  const { stream } = await aStream(idp, { name: 'Away', url: receiver.url, events: ['group.created'] });
  const at = new Date();
  const wiki = {
    channel: 'back',
    participantId: null,
    clientId: 'gone-wiki',
    accountId: 'ann',
    sid: null,
    createdAt: at,
  };
  await services.db.logoutDelivery.create({
    data: { id: 'given-up', ...wiki, nextTryAt: at, failedAt: at, lastError: 'status 500' },
  });
  const before = { createdAt: new Date(at.getTime() - 1000), nextTryAt: at, lastError: 'status 404' };
  await services.db.logoutDelivery.create({ data: { id: 'given-up-before', ...wiki, failedAt: at, ...before } });
  await services.audit.record({ type: 'group.created', outcome: 'success', subjectId: 'ann' }, services.db);
  await deliver(services);
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  await vi.waitFor(
    async () => {
      const page = textOf((await admin.get('/admin/deliveries')).text);
      expect(page).toMatch(/Away answered with status 503 Event stream Failing 1 0/);
      expect(page).toMatch(/gone-wiki status 500 Sign-out Failing 0 2/);
    },
    { timeout: 60_000, interval: 200 },
  );
  await services.db.logoutDelivery.deleteMany({ where: { clientId: 'gone-wiki' } });
  await services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

it('the configuration file declares streams, whose secrets it never gives away', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const yaml = (more = '') => `
event_streams:
  - { id: hr, name: HR, url: "https://hr.example.com/events", events: [user.*], secret: "${secret}"${more} }
  - { id: splunk, name: Splunk, kind: siem, format: splunk, url: "https://splunk.example.com/services/collector", secret: hec-token-1 }
  - { id: alerts, name: Alerts, kind: alert, url: "mailto:soc@example.com", events: [role.assigned], at_least: 10, within_minutes: 5, quiet_minutes: 15 }
`;
  const { configFile, eventStreams } = idp.services;
  const file = (text: string) => ({ ...parseFile(text), path: '/nowhere/gatehouse.yaml' });
  const apply = async (text: string) => expect(await configFile.apply(file(text))).toMatchObject({ ok: true });
  await apply(yaml());
  expect(await configFile.plan(file(yaml()))).toMatchObject({ ok: true, plan: { steps: [] } });
  expect(await eventStreams.secrets('hr')).toEqual([secret]);
  expect(await eventStreams.get('splunk')).toMatchObject({ kind: 'siem', format: 'splunk', source: 'file' });
  await expect(eventStreams.update('hr', await eventStreams.get('hr'), {})).rejects.toMatchObject({
    code: 'owned_by_file',
  });
  const plan = JSON.stringify(await configFile.plan(file(yaml(', body: full'))));
  expect(plan).toContain('full');
  expect(plan).not.toContain(secret);
  const exported = await exportConfiguration(idp.services, { only: ['event_streams'] });
  expect(exported).toContain('hr.example.com');
  expect(exported).not.toContain('hec-token-1');
  expect(await configFile.plan(file(exported))).toMatchObject({ ok: true, plan: { steps: [] } });
  const wrong = 'event_streams: [{ id: x, name: X, url: "https://x.example", format: ocsf, secret: short-one }]';
  expect(parseFile(wrong).faults.map(({ path: at, code }) => [at.at(-1), code])).toEqual([
    ['format', 'only-siem'],
    ['secret', 'webhook-secret'],
  ]);
  const local = (await aStream(idp, { name: 'Local', url: 'https://local.example.com/events' })).stream;
  const rejected = async (text: string) => {
    const planned = await configFile.plan(file(text));
    return planned.ok ? [] : planned.faults.map(({ path: at, code }) => [at.join('.'), code]);
  };
  const stream = (more: string) => `event_streams: [{ url: "https://x.example", ${more} }]`;
  // Nobody could read a secret that is made here.
  expect(await rejected(stream('id: x, name: X'))).toEqual([['event_streams.0.secret', 'empty']]);
  expect(await rejected(stream('id: x, name: X, kind: siem'))).toEqual([]);
  expect(await rejected(stream(`id: x, name: Local, kind: siem`))).toEqual([
    ['event_streams.0.name', expect.anything()],
  ]);
  expect(await rejected(yaml().replace('mailto:soc@example.com', 'https://chat.example.com'))).toEqual([
    ['event_streams.2.url', 'alert-address'],
  ]);
  const moved = yaml().replace('splunk.example.com', 'elsewhere.example').replace(', secret: hec-token-1', '');
  expect(await rejected(moved)).toEqual([['event_streams.1.secret', 'empty']]);
  // The receiver at the old address knows the secret.
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const webhook = yaml().replace('hr.example.com', 'elsewhere.example');
  expect(await rejected(webhook)).toEqual([['event_streams.0.url', 'stream-origin']]);
  expect(await rejected(webhook.replaceAll(secret, other))).toEqual([]);
  await eventStreams.remove(local.id, {});
  await apply('event_streams: []');
  expect(await idp.services.eventStreams.list()).toEqual([]);
});

it('the path of an address is in no event and on no page of those who may not change the stream', async () => {
  const url = 'https://hooks.example.com/services/T0/a-credential';
  const { stream } = await aStream(idp, { name: 'Chat', kind: 'alert', url });
  await idp.services.eventStreams.update(stream.id, { ...stream, quiet_minutes: 5 }, {});
  const recorded = await idp.services.db.auditEvent.findMany({ where: { type: { startsWith: 'event-stream.' } } });
  expect(JSON.stringify(recorded)).toContain('https://hooks.example.com/…');
  expect(JSON.stringify(recorded)).not.toContain('a-credential');
  const [admin, auditor] = await Promise.all(
    ['admin', 'auditor'].map(async (role) => consoleOf(idp, await staff(idp, role))),
  );
  const at = `/admin/event-streams/${stream.id}`;
  expect((await admin?.get(at))?.text).toContain('a-credential');
  const seen = (await auditor?.get(at))?.text;
  expect(seen).toContain('https://hooks.example.com/…');
  expect(seen).not.toContain('a-credential');
  await idp.services.eventStreams.remove(stream.id, {});
});

it('gatehouse event-stream makes no secret for an email, and names a file that it cannot read', async () => {
  const shell = await commandLine();
  const stdin = '{ id: soc, name: SOC, kind: alert, url: "mailto:soc@example.com" }';
  expect(await shell.gatehouse(['event-stream', 'add', '-'], { stdin })).toMatchObject({ code: 0 });
  const secret = await shell.gatehouse(['event-stream', 'secret', 'soc']);
  expect([secret.code, secret.out, secret.err]).toEqual([1, '', expect.stringContaining('mailto:')]);
  for (const noun of ['event-stream', 'connection'])
    expect(await shell.gatehouse([noun, 'add', 'nowhere.yaml'])).toMatchObject({
      code: 1,
      err: 'nowhere.yaml: cannot be read (ENOENT)\n',
    });
  await shell.close();
});

it('gatehouse audit verify --events says whether received events are all', async () => {
  const receiver = await aReceiver();
  const { stream } = await aStream(idp, { url: receiver.url, kind: 'siem', events: ['role.assigned'] });
  for (const subjectId of ['a', 'b', 'c'])
    await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId }, idp.services.db);
  await deliver(idp.services);
  const received = () => receiver.received.flatMap(({ body }) => JSON.parse(body) as object[]);
  // The job of the server may have taken some of them.
  await vi.waitFor(() => expect(received()).toHaveLength(3), { timeout: 60_000 });
  const events = received().map((event) => JSON.stringify(event));
  const shell = await commandLine();
  const file = path.join(shell.folder, 'events.jsonl');
  await writeFile(file, events.join('\n'));
  const good = await shell.gatehouse(['audit', 'verify', '--events', file]);
  expect(good).toMatchObject({ code: 0, out: expect.stringContaining('3 events from position') });
  await writeFile(file, [events[0], events[2]].join('\n'));
  const bad = await shell.gatehouse(['audit', 'verify', '--events', file, '--json']);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.out)).toMatchObject({ ok: false, events: 2, faults: [{ kind: 'missing' }] });
  await shell.close();
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});

itInLongRun(
  'gatehouse event-stream adds a webhook, tries it, shows its deliveries, sends them again and replaces the secret',
  async () => {
    const receiver = await aReceiver();
    const shell = await commandLine();
    const stream = (...words: string[]) => shell.gatehouse(['event-stream', ...words], { env: idp.environment });
    const declared = JSON.stringify({ id: 'shell', name: 'Shell', url: receiver.url, events: ['role.assigned'] });
    const added = await shell.gatehouse(['event-stream', 'add', '-'], { stdin: declared, env: idp.environment });
    const [secret = ''] = /whsec_\S+/.exec(added.out) ?? [];
    expect(await stream('test', 'Shell'), added.err).toMatchObject({ code: 0, out: expect.stringContaining('took') });
    expect(isSigned(receiver.received[0] ?? expect.fail(), secret)).toBe(true);
    const from = new Date().toISOString();
    await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId: 'ann' }, idp.services.db);
    /** The answer to a delivery may have arrived before it is recorded. */
    const times = (count: number) =>
      vi.waitFor(
        async () => {
          expect(receiver.received).toHaveLength(count);
          expect((await stream('show', 'shell')).out).toMatch(/state +delivering\n(?:.*\n)*.*role\.assigned +done/);
        },
        { timeout: 60_000 },
      );
    await times(2);
    const shown = JSON.parse((await stream('show', 'shell', '--json')).out) as { deliveries: { id: string }[] };
    expect(JSON.stringify(shown)).not.toContain('whsec_');
    const [delivery] = shown.deliveries;
    expect((await stream('redeliver', 'shell', delivery?.id ?? '')).code).toBe(0);
    await times(3);
    const replayed = await stream('replay', 'shell', '--from', from, '--json');
    expect(JSON.parse(replayed.out)).toEqual({ events: expect.any(Number) });
    await times(4);
    const ids = receiver.received.slice(1).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    const [fresh = ''] = /whsec_\S+/.exec((await stream('secret', 'shell')).out) ?? [];
    await stream('test', 'shell');
    const last = receiver.received.at(-1) ?? expect.fail();
    expect([secret, fresh].map((one) => isSigned(last, one))).toEqual([true, true]);
    receiver.always({ status: 500 });
    expect(await stream('test', 'shell')).toMatchObject({ code: 1, err: expect.stringContaining('status 500') });
    expect((await stream('disable', 'shell')).code).toBe(0);
    expect((await stream('list')).out).toMatch(/shell +Shell +webhook +disabled/);
    expect((await stream('delete', 'shell')).code).toBe(0);
    expect(await idp.services.eventStreams.list()).toEqual([]);
    const wrong = '{ id: x, name: X, url: "https://x.example", format: ocsf }';
    const rejected = await shell.gatehouse(['event-stream', 'add', '-'], { stdin: wrong, env: idp.environment });
    expect([rejected.code, rejected.err.includes('-:1:')]).toEqual([1, true]);
    await shell.close();
    await receiver.close();
  },
);

it('an event leaves within a second or two of its commit, and does not wait for the poll', async () => {
  const receiver = await aReceiver();
  const { stream } = await aStream(idp, { url: receiver.url, events: ['role.assigned'] });
  await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId: 'at once' }, idp.services.db);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 60_000 });
  await idp.services.eventStreams.remove(stream.id, {});
  await receiver.close();
});
