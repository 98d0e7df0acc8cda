// A person asks for access on the page that says no, the owner of the group decides with an end, and the end comes: in a real browser.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signIn } from '../admin/console/real-browser.ts';
import { staff } from '../admin/console/support.ts';
import { anApplication } from '../oidc/support.ts';
import { linkIn, mailOf } from '../recovery/support.ts';
import { axe, type Browser, launchBrowser, type Page, phone, screenshot } from '../support/browser/browser.ts';
import { testClock } from '../support/clock.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { type Mailbox, mailbox } from '../support/mailbox.ts';

const clock = testClock();
// The OIDC engine reads the real time, which is that of the end.
clock.set({ days: -11 });
let box: Mailbox;
let idp: TestIdp;
let browser: Browser;

beforeAll(async () => {
  box = await mailbox();
  idp = await startIdp({ environment: { SMTP_URL: box.url }, now: clock.now });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
  await box?.close();
});

async function aPage(): Promise<Page> {
  const context = await browser.newContext({
    ...phone,
    viewport: { width: 320, height: 800 },
    javaScriptEnabled: false,
  });
  return context.newPage();
}

const inWords = (day: string) => new Date(day).toLocaleDateString('en', { dateStyle: 'long', timeZone: 'UTC' });

async function arrive(page: Page, heading: string, name: string): Promise<void> {
  await page.waitForSelector(`h1:has-text("${heading}")`);
  await screenshot(page, `groups-${name}`);
}

it('Ann asks, the owner decides with an end, Ann signs in, and after the end she has no access', {
  timeout: 240_000,
}, async () => {
  const { groups, ends } = idp.services;
  const [ann, owner] = [await aUser(idp.services), await aUser(idp.services)];
  const lab = await groups.create({ name: 'Lab', acceptsRequests: true });
  await groups.appointOwner(lab.id, { userId: owner.account.id });
  const client_uri = `${idp.issuer}/healthz`;
  const application = await anApplication(idp, {
    client_name: 'Wiki',
    client_uri,
    access: { roles: [], groups: ['Lab'] },
  });
  const start = async () => (await application.rp.start({ scope: 'openid' })).url;

  const page = await aPage();
  await page.goto(await start());
  await signIn(page, ann);
  await arrive(page, 'You don’t have access to Wiki', 'denied');
  await page.click('a:has-text("Ask for access")');
  await arrive(page, 'Ask for access to Wiki', 'ask');
  await page.fill('[name=reason]', 'I replace Zoe.');
  await page.click('button:has-text("Send request")');
  await arrive(page, 'Your groups', 'asked');
  expect(await page.textContent('main')).toContain('Waiting for an answer');

  const ownersPage = await aPage();
  const asked = await mailOf(box, owner.account.email ?? '', 'Request to join the group Lab');
  expect(asked.text).not.toContain('I replace Zoe.');
  await ownersPage.goto(/https?:\/\/\S+\/account\/groups\/\S+/.exec(asked.text)?.[0] ?? '');
  await signIn(ownersPage, owner);
  await arrive(ownersPage, 'Lab', 'decide');
  expect(await ownersPage.textContent('main')).toContain('I replace Zoe.');
  const lastDay = new Date(clock.now().getTime() + 10 * 24 * 3_600_000).toISOString().slice(0, 10);
  await ownersPage.fill('form[action$="/decide"] [name=until]', lastDay);
  await ownersPage.click('button:has-text("Approve")');
  await arrive(ownersPage, 'Lab', 'approved');
  expect(await ownersPage.textContent('main')).toContain(ann.username);
  await mailOf(box, ann.account.email ?? '', 'Your request for the group Lab was approved');

  const opensWiki = async () => {
    const answer = page.waitForRequest((request) => request.url().startsWith(application.redirectUri), {
      timeout: 60_000,
    });
    await page.goto(await start()).catch(() => undefined);
    const { searchParams } = new URL((await answer).url());
    // The application does not run: the next page begins when the browser has displayed that.
    await page.waitForURL('chrome-error://chromewebdata/');
    return searchParams.has('code');
  };
  expect(await opensWiki()).toBe(true);

  clock.advance({ days: 4 });
  await ends.warn();
  await mailOf(box, ann.account.email ?? '', `Your time in the group Lab ends on ${inWords(lastDay)}`);
  await mailOf(box, owner.account.email ?? '', 'Memberships in the group Lab end soon');

  clock.advance({ days: 7 });
  await page.goto(await start());
  if (await page.locator('[name=password]').count()) await signIn(page, ann);
  await arrive(page, 'You don’t have access to Wiki', 'ended');
  expect((await idp.services.accounts.find(ann.account.id))?.groups).toEqual([]);
});

it('an administrator makes a group and its owner, the owner invites a guest and adds a colleague with an end, and both see it', {
  timeout: 240_000,
}, async () => {
  const [ann, bob] = [await aUser(idp.services, { name: 'Ann Owner' }), await aUser(idp.services)];
  const guest = 'guest@example.org';
  const lastDay = new Date(clock.now().getTime() + 30 * 24 * 3_600_000).toISOString().slice(0, 10);

  const admins = await aPage();
  await admins.goto(`${idp.issuer}/admin/groups/new`);
  await signIn(admins, await staff(idp, 'admin'));
  await arrive(admins, 'Create group', 'new');
  await admins.fill('[name=name]', 'Field work');
  await admins.click('main button:has-text("Create group")');
  await arrive(admins, 'Field work', 'made');
  await admins.click('a:has-text("Owners")');
  await admins.fill('[name=user]', ann.username);
  await admins.click('main button:has-text("Add owner")');
  await arrive(admins, 'Field work', 'owner');

  const anns = await aPage();
  await anns.goto(`${idp.issuer}/account`);
  await signIn(anns, ann);
  await anns.click('a:has-text("Your groups")');
  await arrive(anns, 'Your groups', 'owned');
  await anns.click('a:has-text("Field work")');
  await arrive(anns, 'Field work', 'owners-page');
  await anns.click('summary:has-text("Add a person")');
  await anns.fill('form[action$="/add"] [name=login]', bob.username);
  await anns.fill('form[action$="/add"] [name=until]', lastDay);
  await anns.click('form[action$="/add"] button');
  await arrive(anns, 'Field work', 'added');
  expect(await anns.textContent('main')).toContain(bob.username);
  await anns.click('summary:has-text("Invite by email")');
  await anns.fill('[name=email]', guest);
  await anns.fill('form[action$="/invite"] [name=until]', lastDay);
  await anns.click('button:has-text("Send invitation")');
  await arrive(anns, 'Field work', 'invited');
  expect(await anns.textContent('main')).toMatch(new RegExp(`${guest}\\s+Open until`));

  const guests = await aPage();
  await guests.goto(linkIn(await mailOf(box, guest, 'Invitation to the group Field work')));
  await arrive(guests, 'Join Field work?', 'join-new');
  expect(await guests.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await guests.fill('[name=name]', 'Gwen Guest');
  await guests.fill('[name=password]', PASSWORD);
  await guests.click('button:has-text("Create account")');
  await arrive(guests, 'Your account is ready', 'joined');
  await guests.click('a:has-text("Sign in")');
  await signIn(guests, { username: guest });
  await arrive(guests, 'Your groups', 'guest');
  const bobs = await aPage();
  await bobs.goto(`${idp.issuer}/account/groups`);
  await signIn(bobs, bob);
  await arrive(bobs, 'Your groups', 'colleague');
  for (const page of [guests, bobs])
    expect(await page.textContent('main')).toMatch(new RegExp(`Field work\\s+Until ${inWords(lastDay)}`));
  await anns.reload();
  expect(await anns.textContent('main')).toMatch(new RegExp(`${guest}\\s+Accepted`));
  expect(await anns.textContent('main')).toContain('Gwen Guest');
});

itInLongRun('the pages of a person and an owner have no accessibility faults', { timeout: 240_000 }, async () => {
  const user = await aUser(idp.services);
  const group = await idp.services.groups.create({ name: 'Library', description: 'Who lends books' });
  await idp.services.groups.appointOwner(group.id, { userId: user.account.id });
  await idp.services.groups.addMembers(group.id, [{ userId: user.account.id }]);
  const [other, closed] = [await aUser(idp.services), await aUser(idp.services)];
  const until = new Date(Date.now() + 30 * 24 * 3_600_000);
  const by = { actorId: user.account.id };
  const invited = { groupId: group.id, email: user.account.email ?? '', until };
  for (const email of ['someone.with.a.long.name@subdomain.of.an.organization.example', invited.email])
    await idp.services.groupInvitations.invite({ ...invited, email }, { by });
  const asking = await idp.services.groups.create({ name: 'Readers', acceptsRequests: true });
  await idp.services.groups.appointOwner(asking.id, { userId: user.account.id });
  const access = { roles: [], groups: ['Readers'] };
  const { applicationId } = await anApplication(idp, { client_name: 'Catalogue', access });
  const wish = { groupId: asking.id, applicationId, reason: 'I order the books.', until };
  const { groupRequests } = idp.services;
  await groupRequests.ask({ ...wish, userId: user.account.id });
  for (const { account } of [other, closed]) await groupRequests.ask({ ...wish, userId: account.id });
  const link = linkIn(await mailOf(box, invited.email, 'Invitation to the group Library'));
  const context = await browser.newContext({ ...phone, viewport: { width: 320, height: 800 } });
  const page = await context.newPage();
  for (const [path, heading] of [
    ['/account/groups', 'Your groups'],
    [`/account/groups/${group.id}`, 'Library'],
    [`/account/groups/${asking.id}`, 'Readers'],
    ['/dashboard', 'Your apps'],
    [link.slice(idp.issuer.length), 'Join Library?'],
  ] as const) {
    await page.goto(`${idp.issuer}${path}`);
    if (await page.locator('[name=password]').count()) await signIn(page, user);
    await page.waitForSelector(`h1:has-text("${heading}")`);
    for (const summary of await page.locator('.results summary').all()) await summary.click();
    await screenshot(page, `groups-page-${heading}`);
    expect(await axe(page, ['light', 'dark'])).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  }
});
