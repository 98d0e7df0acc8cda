// The country of a sign-in, by a file of the operator: the event for one that is new for the account, the alert, the pages, and a file that is
// replaced, broken or missing.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newStream } from '../../src/admin/event-streams/event-streams.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { commandLine } from '../cli/support.ts';
import { testClock } from '../support/clock.ts';
import { countryDatabase } from '../support/country-database.ts';
import { testFolder } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { mailbox } from '../support/mailbox.ts';

const [SWISS, GERMAN, PRIVATE] = ['203.0.113.7', '198.51.100.9', '10.1.2.3'];
const file = path.join(testFolder(), 'countries.mmdb');
const clock = testClock();

/** As an operator replaces it; the server looks again after ten seconds. */
function write(content: Buffer): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
  clock.advance({ seconds: 11 });
}

let idp: TestIdp;
let box: Awaited<ReturnType<typeof mailbox>>;
beforeAll(async () => {
  write(countryDatabase({ 203: 'CH', 198: 'DE' }));
  box = await mailbox();
  const environment = { COUNTRY_DATABASE: file, TRUST_PROXY: '1', SMTP_URL: box.url };
  idp = await startIdp({ environment, now: clock.now });
});
beforeEach(() => write(countryDatabase({ 203: 'CH', 198: 'DE' })));
afterAll(async () => {
  await idp?.stop();
  await box?.close();
});

async function signIn({ username, password }: TestUser, address: string) {
  const browser = httpClient(idp.issuer, { headers: { 'x-forwarded-for': address } });
  const page = await browser.follow(await browser.get('/dashboard'));
  const done = await browser.follow(await browser.submit(page, { username, password }));
  expect(done.url).toBe(`${idp.issuer}/dashboard`);
  return browser;
}

const countriesOf = async ({ account }: TestUser, type: 'sign-in.completed' | 'sign-in.new-country') => {
  const events = await idp.services.audit.list({ types: [type], subjectId: account.id, isOldestFirst: true });
  return events.map(({ data }) => data.country);
};

it('a sign-in has its country, and one that is new for the account is an event, which is not repeated', async () => {
  const person = await aUser(idp.services);
  for (const address of [SWISS, PRIVATE, SWISS, GERMAN, SWISS, GERMAN]) await signIn(person, address);
  expect(await countriesOf(person, 'sign-in.completed')).toEqual(['CH', undefined, 'CH', 'DE', 'CH', 'DE']);
  expect(await countriesOf(person, 'sign-in.new-country')).toEqual(['DE']);
});

it('the person sees it in the activity and beside the sessions, an administrator in the console', async () => {
  const person = await aUser(idp.services, { username: 'ada' });
  await signIn(person, SWISS);
  const browser = await signIn(person, GERMAN);
  const activity = (await browser.get('/account/activity', { headers: { 'accept-language': 'de' } })).text;
  expect(activity).toContain('Ann Example hat sich aus einem neuen Land angemeldet: Deutschland');
  expect(activity).toContain(`${SWISS} (Schweiz)`);
  expect((await browser.get('/account/sessions')).text).toContain(`${GERMAN} (Germany)`);
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  expect((await admin.get('/admin/sessions?user=ada')).text).toContain(`${SWISS} (Switzerland)`);
  const log = (await admin.get('/admin/audit')).text;
  expect(log).toContain('signed in from a new country: Germany');
  const mail = await box.waitForMail(`${person.username}@example.com`);
  expect(mail.text).toMatch(/\((Switzerland|Germany)\)/);
});

itOnSqlite('an alert mails it', async () => {
  const alert = {
    name: 'Travel',
    kind: 'alert' as const,
    url: 'mailto:soc@example.com',
    events: ['sign-in.new-country'],
  };
  await idp.services.eventStreams.create(newStream.parse(alert), undefined, {});
  const person = await aUser(idp.services, { username: 'bo' });
  await signIn(person, SWISS);
  await signIn(person, GERMAN);
  const { subject } = await box.waitForMail('soc@example.com');
  expect(subject).toBe('Travel: Ann Example (bo) signed in from a new country: Germany');
});

itOnSqlite('a replaced file is read again; a broken or missing one is logged and stops no sign-in', async () => {
  const person = await aUser(idp.services);
  await signIn(person, SWISS);
  write(countryDatabase({ 203: 'AT' }));
  await signIn(person, SWISS);
  expect(await countriesOf(person, 'sign-in.new-country')).toEqual(['AT']);
  write(Buffer.from('half of a file'));
  await signIn(person, SWISS);
  rmSync(file);
  clock.advance({ seconds: 11 });
  await signIn(person, SWISS);
  // The last one that could be read answers.
  expect(await countriesOf(person, 'sign-in.completed')).toEqual(['CH', 'AT', 'AT', 'AT']);
  const warned = idp.log.filter((line) => line.includes('the country database cannot be read'));
  expect(warned.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
    expect.stringContaining('is no MaxMind DB file'),
    expect.stringContaining('ENOENT'),
  ]);
});

itOnSqlite('doctor checks the file', async () => {
  const { gatehouse, close } = await commandLine();
  const found = async (content?: Buffer) => {
    rmSync(file, { force: true });
    if (content) writeFileSync(file, content);
    const { out } = await gatehouse(['doctor', '--json'], { env: { COUNTRY_DATABASE: file } });
    return (JSON.parse(out) as { check: string }[]).find(({ check }) => check === 'countries');
  };
  expect(await found(countryDatabase({ 203: 'CH' }))).toMatchObject({
    status: 'ok',
    message: `${file}, Test-Country of 2026-11-01`,
  });
  expect(await found(countryDatabase({}, 'GeoLite2-ASN'))).toMatchObject({
    status: 'failure',
    message: `${file}: has no countries: its type is GeoLite2-ASN`,
  });
  expect(await found(Buffer.alloc(100))).toMatchObject({ status: 'failure' });
  expect(await found()).toMatchObject({ status: 'failure', message: expect.stringContaining('ENOENT') });
  await close();
});

it('the erasure of a deleted person covers the countries', async () => {
  const person = await aUser(idp.services);
  await signIn(person, SWISS);
  await signIn(person, GERMAN);
  await idp.services.accounts.remove(person.account.id, {});
  await idp.services.auditErasure.erase(person.account.id);
  const left = await idp.services.db.auditEvent.findMany({
    where: { type: { in: ['sign-in.completed', 'sign-in.new-country'] }, erasedBy: { not: null } },
  });
  expect(left.map(({ data, address, subjectId }) => [data, address, subjectId])).toEqual(
    Array.from({ length: 3 }, () => ['{}', null, null]),
  );
});
