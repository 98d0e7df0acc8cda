// The pages of event streams in a browser.
import { afterAll, beforeAll, it } from 'vitest';
import { createEventDeliveries } from '../../src/protocols/event-streams/deliveries.ts';
import { signIn as signInToConsole } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { looksRight, openPage } from '../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

import { aReceiver, aStream } from './support.ts';

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
  await idp.services.auditChain.seal();
  for (const job of createEventDeliveries(idp.services).jobs) await job.run(new AbortController().signal);
  const page = await openPage();
  await page.goto(`${idp.issuer}/admin/event-streams`);
  await signInToConsole(page, await staff(idp, 'admin'));
  await page.waitForSelector('h1:has-text("Event streams")');
  await looksRight(page, 'event-streams');
  await page.goto(`${idp.issuer}/admin/event-streams/new`);
  await looksRight(page, 'event-stream-new');
  await page.goto(`${idp.issuer}/admin/event-streams/${stream.id}`);
  await looksRight(page, 'event-stream');
  await receiver.close();
});
