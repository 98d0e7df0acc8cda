// Everything that leaves the server for a destination: logouts, webhooks, batches, alerts, shared signals, people, mail. One of each kind takes
// connections and never answers, and delays none of the others.
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import { deliveryRow } from '../../src/protocols/logout/logout-run.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aStream } from '../event-streams/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { mailbox } from '../support/mailbox.ts';
import { textOf } from '../support/pages/html.ts';

const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
/** As many dead ones of a kind as would take every place if it had a slot for each attempt. */
const MANY = 9;

let idp: TestIdp;
let box: Awaited<ReturnType<typeof mailbox>>;
let mailServer: Awaited<ReturnType<typeof aMailServer>>;
beforeAll(async () => {
  box = await mailbox();
  mailServer = await aMailServer(box.port);
  idp = await startIdp({ environment: { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}` } });
});
afterAll(async () => {
  await idp?.stop();
  await mailServer?.close();
  await box?.close();
});

/** In front of the mailbox: takes connections and says nothing until `isOpen`. */
async function aMailServer(to: number) {
  const state = { isOpen: false, silent: new Set<Socket>() };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (!state.isOpen) return void state.silent.add(socket);
    const upstream = connect(to, '127.0.0.1').on('error', () => socket.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    begun: () => state.silent.size,
    open() {
      state.isOpen = true;
      for (const socket of state.silent) socket.destroy();
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** A destination that answers with what it is to have, or never. */
async function aDestination(answer?: (path: string) => { status: number; body?: object }) {
  const received: string[] = [];
  const server = await listen(async (request, response) => {
    for await (const _ of request);
    received.push(`${request.method} ${request.url}`);
    if (!answer) return;
    const { status, body } = answer(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body && JSON.stringify(body));
  });
  return { ...server, received };
}

/** One destination of each kind, at this server. */
async function oneOfEach(name: string, origin: string, userId: string): Promise<void> {
  const { services } = idp;
  const events = ['sessions.ended-all'];
  await aStream(idp, { name: `${name} hook`, url: `${origin}/hook`, events });
  await aStream(idp, { name: `${name} batch`, url: `${origin}/batch`, events, kind: 'siem' });
  await aStream(idp, { name: `${name} alert`, url: `${origin}/alert`, events, kind: 'alert' });
  const { clientId, applicationId } = await aClient(services, {
    client_id: name,
    client_name: `${name} app`,
    redirect_uris: ['https://app.example.com/cb'],
    backchannel_logout_uri: `${origin}/logout`,
    grant_types: ['authorization_code', 'client_credentials'],
    resources: [ssfApi(idp.issuer)],
    scope: 'openid ssf.manage ssf.read',
    provision: { url: `${origin}/scim`, token: 'a-token-of-the-application' },
  });
  await services.consents.recordUse(userId, applicationId);
  await services.eventStreams.create(
    {
      name: `${name} signals`,
      kind: 'ssf',
      url: `${origin}/signals`,
      format: 'json',
      events: [SESSION_REVOKED],
      applications: [clientId],
      groups: [],
      body: 'thin',
      at_least: 1,
      within_minutes: 10,
      quiet_minutes: 0,
      enabled: true,
    },
    undefined,
    {},
    { receiver: { applicationId, clientId, method: 'urn:ietf:rfc:8935', isPolled: false, format: 'iss_sub' } },
  );
  const to = { participantId: null, clientId, channel: 'back', accountId: userId, sid: undefined };
  await services.db.logoutDelivery.create({ data: deliveryRow(to, new Date()) });
}

it('a dead one of each kind delays no other of any kind, and all are on one page', async () => {
  const { services } = idp;
  const { account } = await aUser(services, { username: 'ann' });
  const dead = await aDestination();
  const live = await aDestination((path) =>
    path.startsWith('/scim') ? { status: 201, body: { id: 'x1', userName: 'ann' } } : { status: 200 },
  );
  await oneOfEach('dead', dead.origin, account.id);
  for (let index = 0; index < MANY; index += 1)
    await aStream(idp, { name: `dead ${index}`, url: `${dead.origin}/hook`, events: ['sessions.ended-all'] });
  const place = { at: new Date() };
  await services.outbox.send({ to: { email: 'ann@example.com' }, kind: 'new-sign-in', place });
  for (let index = 0; index < 3; index += 1)
    await services.audit.record({ type: 'sessions.ended-all', outcome: 'success', subjectId: account.id }, services.db);
  const kindsAt = ({ received }: typeof dead) => new Set(received.map((one) => one.split(/[/?]/)[1]));
  const all = new Set(['hook', 'batch', 'alert', 'logout', 'signals', 'scim']);
  await expect.poll(() => kindsAt(dead)).toEqual(all);
  await expect.poll(mailServer.begun).toBeGreaterThan(0);

  await oneOfEach('live', live.origin, account.id);
  await services.audit.record({ type: 'sessions.ended-all', outcome: 'success', subjectId: account.id }, services.db);
  await expect.poll(() => kindsAt(live)).toEqual(all);
  expect(box.messages).toEqual([]);

  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const rows = async () => textOf((await admin.get('/admin/deliveries')).text);
  for (const row of [
    /dead hook .* Event stream Failing \d/,
    /dead batch .* Event stream Failing \d/,
    /dead alert .* Event stream Failing \d/,
    /dead signals .* Event stream Failing \d/,
    /dead app .* Sign-out Failing \d/,
    /dead app .* Provisioning Failing \d/,
    /127\.0\.0\.1:\d+ .* Email/,
  ])
    await expect.poll(rows, { interval: 500 }).toMatch(row);

  // The mail server is back, and everything else stays as it is.
  mailServer.open();
  services.wake('mail', services.db);
  const mail = await box.waitForMail('ann@example.com', { seconds: 150 });
  expect(mail.subject).not.toBe('');
  await dead.close();
  await live.close();
});
