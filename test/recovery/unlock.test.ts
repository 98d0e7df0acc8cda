// Unlocking by mail: an attacker can lock an account with failed sign-ins, and its owner ends the lockout by a mailed
// link.
import { describe, expect, it } from 'vitest';
import { office } from '../registration/support.ts';
import { aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import { httpClient } from '../support/http.ts';
import { linkIn, mailIsIdle, mailOf, open } from './support.ts';

const test = office();

async function lock(login: string): Promise<void> {
  for (let tries = 0; tries < 6; tries += 1) {
    await failSignIn(test.idp.services.lockout, { login, address: `192.0.2.${tries}` });
  }
}
async function ask(username: string) {
  const browser = httpClient(test.idp.issuer);
  const answer = await browser.submit(await browser.get('/unlock/ask'), { username });
  const { status, location } = answer;
  return { status, location, text: (await browser.follow(answer)).text };
}
const locked = (login: string) => test.idp.services.lockout.lockedSeconds({ id: 'none', username: login, email: null });

describe('a locked account', () => {
  it('is unlocked by the link, and an attacker who goes on does not lock that browser out', async () => {
    const user = await aUser(test.idp.services);
    await lock(user.username);
    await ask(user.username);
    const link = linkIn(await mailOf(test.box, user.account.email ?? '', 'Unlock your account'));
    const { browser, page } = await open(test.idp, link);
    expect(await locked(user.username)).toBeGreaterThan(0);
    expect((await browser.follow(await browser.submit(page))).url).toBe(`${test.idp.issuer}/unlock/done`);
    expect(await locked(user.username)).toBe(0);
    const known = await test.idp.services.db.knownBrowser.count({ where: { userId: user.account.id } });
    expect(known).toBe(1);
    expect(browser.cookies.headerFor(new URL(test.idp.issuer))).toContain('gatehouse_browser');
    expect((await open(test.idp, link)).page.status).toBe(400);
    const [event] = await test.idp.services.audit.list({ types: ['sign-in.unlocked'] });
    expect(event).toMatchObject({ subjectId: user.account.id, reason: 'by_mail' });
  });

  it('is unlocked under its address as well as its name', async () => {
    const user = await aUser(test.idp.services);
    await lock(user.account.email ?? '');
    await ask(user.username);
    const link = linkIn(await mailOf(test.box, user.account.email ?? '', 'Unlock your account'));
    const { browser, page } = await open(test.idp, link);
    await browser.submit(page);
    expect(await locked(user.account.email ?? '')).toBe(0);
  });
});

describe('a request for an unlock link', () => {
  it('gets the same response for a locked, an unlocked and an unknown account', async () => {
    const [paused, other] = [await aUser(test.idp.services), await aUser(test.idp.services)];
    await lock(paused.username);
    await lock('nobody');
    const answers = [];
    for (const name of [paused.username, other.username, 'nobody']) answers.push(await ask(name));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    await mailIsIdle(test.idp.services);
    expect(test.box.messages.filter(({ to }) => to.includes(other.account.email ?? ''))).toEqual([]);
  });

  it('yields a link that expires after an hour', async () => {
    const user = await aUser(test.idp.services);
    await lock(user.username);
    await ask(user.username);
    const link = linkIn(await mailOf(test.box, user.account.email ?? '', 'Unlock your account'));
    test.clock.advance({ hours: 1 });
    expect((await open(test.idp, link)).page.status).toBe(400);
  });
});
