// A server with a mailbox, and the services behind mailed links.
import { afterAll, beforeAll } from 'vitest';
import { type TestClock, testClock } from '../support/clock.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type LinkServices, linkServices } from '../support/link-services.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

export interface Office {
  box: Mailbox;
  idp: TestIdp;
  links: LinkServices;
  clock: TestClock;
}

/** Started before the tests of the file and stopped after them. */
export function office(): Office {
  const clock = testClock();
  const started = { clock } as Office;
  beforeAll(async () => {
    started.box = await mailbox();
    started.idp = await startIdp({ environment: { SMTP_URL: started.box.url }, now: clock.now, hasTamperedRows: true });
    started.links = linkServices(started.idp.services);
  });
  afterAll(async () => {
    await started.idp?.stop();
    await started.box?.close();
  });
  return started;
}
