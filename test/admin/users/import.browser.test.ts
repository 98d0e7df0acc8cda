// The pages of an import of users in a real browser, on a narrow phone and on a desktop: their width, what axe finds, and the way from the file
// to its result.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Browser, desktop, launchBrowser, type Page } from '../../support/browser/browser.ts';
import { looksRight } from '../../support/browser/pages.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { signIn } from '../console/real-browser.ts';
import { staff } from '../console/support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  page = await (await browser.newContext(desktop)).newPage();
  await page.goto(`${idp.issuer}/admin/import`);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForSelector('h1:has-text("Import users")');
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

async function upload(text: string): Promise<void> {
  await page.goto(`${idp.issuer}/admin/import`);
  // Only an invitation has a message.
  expect(await page.isVisible('[name=message]')).toBe(false);
  await page.check('[name=invite]');
  expect(await page.isVisible('[name=message]')).toBe(true);
  await page.uncheck('[name=invite]');
  await page.setInputFiles('[name=file]', { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.click('main form .btn-primary');
}

itInLongRun(
  'leads from a file over its unknown columns and its trial to the result, which is in the list',
  {
    timeout: 180_000,
  },
  async () => {
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    const people = Array.from({ length: 59 }, (_, at) => `web-${at},web-${at}@example.com,,,44,`);
    const rows = [
      'web-59,web-59@example.com,,Web Sales,44,',
      `web-role,,${long},"Web Sales, Web IT",43,`,
      'web-0,,,,,',
    ];
    const file = ['username,email,roles,groups,Shoe size,', ...people, ...rows].join('\n');
    await looksRight(page, 'import-upload');
    await upload(file);
    await page.waitForSelector('text=Unknown column');
    expect(await page.textContent('main')).toContain('shoe size');
    await looksRight(page, 'import-question');
    await page.click('text=Check without this column');
    await page.waitForSelector('text=59 can be created, 3 not.');
    await looksRight(page, 'import-groups');
    await page.click('text=Check again with this group');
    // The progress has the same sentence for a moment.
    await page.waitForSelector('text=Import 60 rows');
    await page.waitForSelector('text=60 can be created, 2 not.');
    const report = await page.textContent('main');
    for (const reason of [long, 'Line 2 has the same username.']) expect(report).toContain(reason);
    expect(await idp.services.accounts.findByLogin('web-1')).toBeUndefined();
    await looksRight(page, 'import-trial');
    await page.click('text=Import 60 rows');
    // The page loads itself again.
    await page.waitForSelector('text=Download report', { timeout: 120_000 });
    await page.waitForSelector('text=62 of 62 rows: 60 created, 2 not.');
    await looksRight(page, 'import-result');
    expect(await page.getAttribute('text=View users', 'href')).toBe('/admin/users');
    expect(await idp.services.accounts.findByLogin('web-59')).toMatchObject({ email: 'web-59@example.com' });
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download report')]);
    expect(download.suggestedFilename()).toBe('import-report.csv');
    await page.click('text=Invite them');
    await page.waitForSelector('text=Invite 60 people?');
    await looksRight(page, 'import-invite');
    await page.goto(`${idp.issuer}/admin/import`);
    expect(await page.textContent('main')).toContain('62 / 62');
    await looksRight(page, 'import-list');
  },
);

it('displays the progress of the rows, and of the invitations after them, until it is canceled', {
  timeout: 180_000,
}, async () => {
  await upload('username,email\nweb-invited,web-invited@example.com\n');
  await page.waitForSelector('text=1 can be created, 0 not.');
  const { pathname } = new URL(page.url());
  const { db } = idp.services;
  // Another instance seems to run the job, so the import stays as it is, and so does its page.
  const lockedUntil = new Date(Date.now() + 600_000);
  await db.jobLock.update({ where: { name: 'user-import' }, data: { holder: 'another', lockedUntil } });
  const displayed = async (name: string, data: object, text: string) => {
    await db.bulkChange.update({
      where: { id: pathname.split('/').at(-1) ?? '' },
      data: { state: 'running', ...data },
    });
    await page.goto(`${idp.issuer}${pathname}`);
    await page.route(`**${pathname}`, (route) => route.fulfill({ status: 204 }));
    await page.waitForSelector('progress');
    expect(await page.textContent('main')).toContain(text);
    await looksRight(page, `import-${name}`);
    await page.unroute(`**${pathname}`);
  };
  const rows = { total: 20_000, done: 7500, counts: '{"created":7400,"failed":100}' };
  await displayed('progress', rows, '7,500 of 20,000 rows: 7,400 can be created, 100 not.');
  const sent = { kind: 'import', done: 20_000, changed: 700, counts: '{"invited":20000}' };
  await displayed('invitations', sent, '700 of 20,000 invitations');
  // The page of a canceled import reads its rows.
  const data = { total: 1, done: 1, changed: 0, counts: '{"invited":1}' };
  await db.bulkChange.update({ where: { id: pathname.split('/').at(-1) ?? '' }, data });
  await page.click('button:has-text("Stop invitations")');
  await page.waitForSelector('text=The invitations were stopped.');
  expect(await page.$('progress')).toBeNull();
});
