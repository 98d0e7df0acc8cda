// How long single sign-on sessions live, and what the pages display about them meanwhile.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSweep } from '../../src/jobs/sweep.ts';
import { expiringRows } from '../../src/server/expiring-rows.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { testClock } from '../support/clock.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';

const clock = testClock();
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
let idp: TestIdp;

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
});
afterAll(() => idp?.stop());

function sweep(): Promise<Record<string, number>> {
  const { db, now } = idp.services;
  return createSweep({ db, now, targets: expiringRows })();
}

describe('the browser of a live session', () => {
  it('is still displayed on the account page and in the console after a sweep', async () => {
    const headers = { 'user-agent': FIREFOX };
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user, httpClient(idp.issuer, { headers }));
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    clock.advance({ minutes: 2 });
    await sweep();
    expect((await browser.get('/account/sessions')).text).toContain('Firefox');
    expect((await browser.get('/account/sessions')).text).not.toContain('Unknown browser');
    const listed = await admin.get('/admin/sessions');
    expect(listed.text).toContain(user.username);
    expect(listed.text).toContain('Firefox');
  });
});
