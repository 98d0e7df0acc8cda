// A server with a mailbox, and the functions that the account pages and the command line call.
import { afterAll, beforeAll } from 'vitest';
import { createMailedLinks, type MailedLinks } from '../../src/server/mailed-links.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

export interface Office {
  box: Mailbox;
  idp: TestIdp;
  links: MailedLinks;
  clock: TestClock;
}

/** Started before the tests of the file and stopped after them. */
export function office(): Office {
  const clock = testClock();
  const started = { clock } as Office;
  beforeAll(async () => {
    started.box = await mailbox();
    started.idp = await startIdp({ environment: { SMTP_URL: started.box.url }, now: clock.now });
    started.links = createMailedLinks(started.idp.services);
  });
  afterAll(async () => {
    await started.idp?.stop();
    await started.box?.close();
  });
  return started;
}
