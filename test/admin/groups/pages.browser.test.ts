// Every page of groups, and the access of an application by groups, on a narrow phone and on a desktop: its width, and what axe finds.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  axe,
  type Browser,
  desktop,
  launchBrowser,
  type Page,
  preloadAxe,
  screenshot,
} from '../../support/browser/browser.ts';
import { looksRight } from '../../support/browser/pages.ts';
import { aClient, aUser, manyUsers } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { itInLongRun } from '../../support/it-in-long-run.ts';
import { some } from '../../support/long-run.ts';
import { signIn } from '../console/real-browser.ts';
import { staff } from '../console/support.ts';

let idp: TestIdp;
let browser: Browser;
let page: Page;
/** The paths of the pages, by what each displays. */
let paths: Record<string, string>;

beforeAll(async () => {
  idp = await startIdp();
  browser = await launchBrowser();
  const context = await browser.newContext(desktop);
  await preloadAxe(context);
  page = await context.newPage();
  await page.goto(`${idp.issuer}/admin/groups`);
  await signIn(page, await staff(idp, 'admin'));
  await page.waitForSelector('h1:has-text("Groups")');
  const { groups, roles } = idp.services;
  const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
  const group = await groups.create({
    name: 'Research',
    description: 'Everyone who works in the lab',
    acceptsRequests: true,
  });
  const empty = await groups.create({ name: 'Empty' });
  for (const name of [long, 'Physics', 'Chemistry'])
    await groups.addChild(group.id, (await groups.create({ name })).id);
  const above = await groups.create({ name: 'Company' });
  await groups.addChild(above.id, group.id);
  await groups.addRole(group.id, (await roles.create({ name: 'lab-instruments' })).name);
  const users = [await aUser(idp.services), await aUser(idp.services), await aUser(idp.services)];
  const until = new Date(Date.now() + 30 * 86_400_000);
  await groups.addMembers(
    group.id,
    users.map(({ account }, index) => ({ userId: account.id, until: index ? until : null })),
  );
  for (const { account } of users.slice(1)) await groups.appointOwner(empty.id, { userId: account.id, until });
  const nobody = await aUser(idp.services);
  await roles.create({ name: 'lab-deputy' });
  await roles.assign(users[1]?.account.id ?? '', 'lab-deputy', {}, undefined, { until });
  const { applicationId } = await aClient(idp.services, {
    redirect_uris: ['https://wiki.example.com/cb'],
    access: { roles: ['lab-instruments'], groups: ['Research', long] },
  });
  const open = await groups.create({ name: 'Open', acceptsRequests: true });
  await groups.appointOwner(open.id, { userId: nobody.account.id });
  const access = { roles: [], groups: ['Open'] };
  const wiki = await aClient(idp.services, { redirect_uris: ['https://wiki.example.com/cb'], access });
  const wish = { userId: users[0]?.account.id ?? '', groupId: open.id, applicationId: wiki.applicationId, until };
  await idp.services.groupRequests.ask({ ...wish, reason: `I replace Zoe, who works with the ${long}.` });
  const [request] = await idp.services.groupRequests.openFor([open.id]);
  await idp.services.groupDomains.add(group.id, 'research.example.org', {});
  const many = users.map(({ account }) => ({ userId: account.id, since: null, until: null }));
  const prepared = await idp.services.groupChanges.prepare({ kind: 'add', groupId: group.id, members: many, by: {} });
  const running = await idp.services.groupChanges.prepare({ kind: 'add', groupId: empty.id, members: many, by: {} });
  // Under way, or stopped by the job that takes it up: a bar in both states.
  await idp.services.db.bulkChange.update({
    where: { id: running.id },
    data: { state: 'running', total: 20_000, done: 7500 },
  });
  const path = `/admin/groups/${group.id}`;
  paths = {
    list: '/admin/groups',
    'list-none': '/admin/groups?q=nothing-like-this',
    new: '/admin/groups/new',
    members: path,
    'members-none': `/admin/groups/${empty.id}`,
    bulk: `${path}/bulk`,
    parts: `${path}/parts`,
    'parts-none': `/admin/groups/${empty.id}/parts`,
    'change-prepared': `${path}/changes/${prepared.id}`,
    'change-progress': `/admin/groups/${empty.id}/changes/${running.id}`,
    domains: `${path}/domains`,
    'domains-none': `/admin/groups/${empty.id}/domains`,
    member: `${path}/members/${users[1]?.account.id}`,
    owners: `/admin/groups/${empty.id}/owners`,
    'owners-none': `${path}/owners`,
    requests: `/admin/groups/${open.id}/requests`,
    'requests-none': `${path}/requests`,
    request: `/admin/groups/${open.id}/requests/${request?.id}`,
    applications: `${path}/applications`,
    activity: `${path}/activity`,
    edit: `${path}/edit`,
    delete: `${path}/delete`,
    user: `/admin/users/${users[0]?.account.id}/access`,
    people: `/admin/applications/${applicationId}/people`,
    'people-none': `/admin/applications/${applicationId}/people?q=nothing-like-this`,
    'people-take': `/admin/applications/${applicationId}/people/${users[0]?.account.id}/remove`,
    'user-roles': `/admin/users/${users[1]?.account.id}/roles`,
    'user-roles-none': `/admin/users/${nobody.account.id}/roles`,
    'user-give-role': `/admin/users/${users[1]?.account.id}/roles/give`,
    'user-join': `/admin/users/${users[1]?.account.id}/groups/join`,
    'user-role': `/admin/users/${users[1]?.account.id}/role/lab-deputy`,
    'user-group': `/admin/users/${users[1]?.account.id}/group/${group.id}`,
    'application-access': `/admin/applications/${applicationId}/access`,
  };
});
afterAll(async () => {
  await browser?.close();
  await idp?.stop();
});

// German has the longer words. axe reads each page in one of the two forms, by turns: colors and sizes come from the layout, which
// test/http/pages.test.ts reads in all.
it('fits a narrow phone and a desktop, and passes axe', { timeout: 180_000 }, async () => {
  await page.goto(`${idp.issuer}/language/de?next=/admin/groups`);
  for (const [index, [name, path]] of some(8, Object.entries(paths)).entries()) {
    await page.setViewportSize(desktop.viewport);
    const response = await page.goto(`${idp.issuer}${path}`);
    expect(response?.status(), name).toBe(200);
    for (const [turn, viewport, scheme] of [
      [0, desktop.viewport, 'light'],
      [1, { width: 320, height: 800 }, 'dark'],
    ] as const) {
      await page.setViewportSize(viewport);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, name).toBeLessThanOrEqual(viewport.width);
      // A long name has several lines.
      const cut = await page.$$eval('.checks', (all) => all.filter((one) => one.scrollWidth > one.clientWidth));
      expect(cut, name).toEqual([]);
      // A date or a time is readable beside its icon.
      const fields = await page.$$eval('.day-and-time > input', (all) => all.map((one) => one.clientWidth));
      expect(Math.min(...fields, 100), name).toBe(100);
      await screenshot(page, `group-${name}-${viewport.width}`);
      if (index % 2 === turn) expect(await axe(page, [scheme]), name).toEqual([]);
    }
  }
});

it('links to the form that adds several people, and says what owners do', async () => {
  await page.goto(`${idp.issuer}/language/en?next=${paths.members}`);
  await page.click('text=Add or remove several people');
  await page.waitForSelector('form [name=people]:visible');
  await page.goto(`${idp.issuer}${paths.owners}`);
  expect(await page.textContent('main')).toContain(
    'Owners add and remove people in this group and in those below it. They change neither its name nor its roles.',
  );
});

itInLongRun(
  'displays the progress of a file with 600 people until all are in, and the rows of a file that are wrong',
  {
    timeout: 180_000,
  },
  async () => {
    const { groups, db } = idp.services;
    const { id } = await groups.create({ name: 'Six hundred' });
    const path = `/admin/groups/${id}`;
    const names = await manyUsers(idp.services, 600);
    const upload = async (rows: readonly string[]) => {
      await page.goto(`${idp.issuer}${path}/bulk`);
      const buffer = Buffer.from(['username,until', ...rows].join('\n'));
      await page.setInputFiles('[name=file]', { name: 'people.csv', mimeType: 'text/csv', buffer });
      await page.click('main form .btn-primary');
    };
    await page.goto(`${idp.issuer}/language/en?next=${path}`);
    await upload([...names.slice(0, 599), 'nobody-here', `${names[599]},tomorrow`]);
    await page.waitForSelector('text=2 rows are wrong');
    expect(await page.textContent('main')).toContain('tomorrow is no time');
    await looksRight(page, 'group-mistakes');
    expect(await db.asStored.groupMember.count({ where: { groupId: id } })).toBe(0);
    await upload(names);
    await page.waitForSelector('text=All 600 rows are right');
    await page.click('text=Add 600 people');
    // The page loads itself again.
    await page.waitForSelector('text=600 people were added', { timeout: 120_000 });
    await looksRight(page, 'group-change-done');
    expect(await db.asStored.groupMember.count({ where: { groupId: id } })).toBe(600);
  },
);
