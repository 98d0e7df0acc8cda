// The pages of event streams in a browser.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn as signInToConsole } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { testClock } from '../support/clock.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { mailbox } from '../support/mailbox.ts';
import { aReceiver, aStream, deliver } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('the list, a new stream and a stream that fails fit a phone and have nothing for axe', async () => {
  const receiver = await aReceiver();
  const { stream } = await aStream(idp, { url: receiver.url, name: 'HR system', events: ['role.*', 'account.*'] });
  await aStream(idp, {
    url: 'https://splunk.example.com/services/collector',
    name: 'Splunk',
    kind: 'siem',
    format: 'splunk',
  });
  receiver.next({ status: 204 }, { status: 400 });
  receiver.always({ status: 503 });
  for (const subjectId of ['a', 'b', 'c'])
    await idp.services.audit.record({ type: 'role.assigned', outcome: 'success', subjectId }, idp.services.db);
  await deliver(idp.services);
  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/event-streams`);
  await signInToConsole(page, await staff(idp, 'admin'));
  await page.waitForSelector('h1:has-text("Event streams")');
  await looksRight(page, 'event-streams');
  await page.goto(`${idp.issuer}/admin/event-streams/new`);
  await looksRight(page, 'event-stream-new');
  await page.goto(`${idp.issuer}/admin/event-streams/${stream.id}`);
  await looksRight(page, 'event-stream');
  receiver.always({ status: 204 });
  await page.getByRole('button', { name: 'Send test event' }).click();
  await page.waitForSelector('text=took the test: status 204');
  await looksRight(page, 'event-stream-tested');
  await receiver.close();
});

it('an alert is put together from what the events say, without a document, and the applications by name', async () => {
  const redirect_uris = ['https://app.example.com/cb'];
  const { clientId } = await aClient(idp.services, { client_name: 'Payroll', redirect_uris });
  await aClient(idp.services, { client_name: 'Wiki', client_id: 'wiki', redirect_uris });
  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/event-streams/new?kind=alert`);
  await signInToConsole(page, await staff(idp, 'admin'));
  await page.getByRole('textbox', { name: 'Name' }).fill('Alerts');
  await page.getByLabel('Address').fill('security@example.com');
  const rows = page.getByRole('group', { name: 'Events' });
  await rows.getByRole('button', { name: 'Add type of event' }).click();
  const last = rows.getByRole('combobox').last();
  await last.fill('reset two-step');
  await page.getByRole('option', { name: /factors\.reset.*reset two-step verification/ }).waitFor();
  await last.fill('added the passkey');
  await page.getByRole('option', { name: /passkey\.enrolled/ }).waitFor();
  await looksRight(page, 'event-stream-suggestions');
  await last.press('ArrowDown');
  await last.press('Enter');
  const applications = page.getByRole('group', { name: 'Applications' });
  for (const name of ['Payroll', 'Wiki']) {
    if (name === 'Wiki') await applications.getByRole('button', { name: 'Add application' }).click();
    await applications.getByRole('combobox').last().fill(name);
    await page.getByRole('option', { name: new RegExp(name) }).click();
  }
  await page.getByText('All types of events').click();
  await looksRight(page, 'event-stream-types');
  await page.getByRole('button', { name: 'Add event stream' }).click();
  await page.waitForSelector('h1:has-text("Alerts")');
  const stream = (await idp.services.eventStreams.list()).find(({ name }) => name === 'Alerts');
  expect(stream).toMatchObject({ url: 'mailto:security@example.com', applications: [clientId, 'wiki'] });
  expect(stream?.events).toContain('passkey.enrolled');
  expect(stream?.events).toContain('administrator.added');
  await page.waitForSelector('dd:has-text("security@example.com")');
  expect(await page.content()).not.toContain('mailto:');
});

itInLongRun(
  'an alert of the console tells an email address and a webhook who became an administrator, and of the next ones a minute later',
  async () => {
    const [box, receiver, clock] = [await mailbox(), await aReceiver(), testClock()];
    const server = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
    const root = await staff(server, 'admin');
    const page = await openPage();
    await page.goto(`${server.issuer}/admin/event-streams/new?kind=alert`);
    await signInToConsole(page, root);
    const add = async (name: string, address: string) => {
      await page.goto(`${server.issuer}/admin/event-streams/new?kind=alert`);
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByLabel('Address').fill(address);
      await page.getByLabel('Minutes until the next alert').fill('30');
      await page.getByRole('button', { name: 'Add event stream' }).click();
      await page.waitForSelector(`h1:has-text("${name}")`);
    };
    await add('Mail', 'soc@example.com');
    await add('Chat', receiver.url);
    const makeAdministrator = async (username: string) => {
      const { account } = await aUser(server.services, { username });
      await page.goto(`${server.issuer}/admin/users/${account.id}/roles/give`);
      await page.selectOption('select[name=role]', { label: 'support' });
      await page.click('main button[type=submit]');
      // The question before a user gets permissions in Gatehouse.
      await page.waitForSelector('input[name=asked]', { state: 'attached' });
      await page.click('form:has(input[name=asked]) button[type=submit]');
      await page.waitForURL(`**/users/${account.id}/roles`);
    };
    const sentence = (username: string) =>
      `Ann Example (${root.username}) made Ann Example (${username}) an administrator with the role support`;
    await makeAdministrator('hedy');
    const { subject, text } = await box.waitForMail('soc@example.com');
    expect([subject, text]).toEqual([`Mail: ${sentence('hedy')}`, expect.stringContaining(sentence('hedy'))]);
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(receiver.received[0]?.body).toContain(sentence('hedy'));
    await makeAdministrator('grace');
    await makeAdministrator('ida');
    await deliver(server.services);
    const alerts = box.messages.filter(({ to }) => to.includes('soc@example.com'));
    expect([alerts.length, receiver.received.length]).toEqual([1, 1]);
    clock.advance({ minutes: 1 });
    const next = await box.waitForMail('soc@example.com', { seconds: 60 });
    expect(next.subject).toBe('Mail: 2 events');
    for (const username of ['grace', 'ida']) expect(next.text).toContain(sentence(username));
    await expect.poll(() => receiver.received.length).toBe(2);
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toMatchObject({ data: { count: 2 } });
    await server.stop();
    await box.close();
    await receiver.close();
  },
);
