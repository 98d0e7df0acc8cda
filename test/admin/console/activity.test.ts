// The activity log in the console: times in a named time zone, addresses, saved filters, and names in the export.
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEventType } from '../../../src/core/audit/events.ts';
import { aClient, aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
let admin: HttpClient;
let actor: TestUser;
let bo: TestUser;
let clientId: string;
let at: Date | undefined;

/** An event of this moment, from this address. */
async function happened(moment: string, reason: string, address = '203.0.113.7'): Promise<void> {
  at = new Date(moment);
  await idp.services.audit.record({
    type: 'sign-in.password',
    outcome: 'failure',
    reason,
    actorId: bo.account.id,
    subjectId: bo.account.id,
    clientId,
    request: { address, userAgent: 'test', requestId: `r-${reason}` },
  });
  at = undefined;
}

beforeAll(async () => {
  idp = await startIdp({ now: () => at ?? new Date() });
  actor = await staff(idp, 'admin');
  bo = await aUser(idp.services, { username: 'bo', name: 'Bo Berg' });
  clientId = (await aClient(idp.services, { client_name: 'Wiki', redirect_uris: ['https://wiki.example/cb'] }))
    .clientId;
  await happened('2025-06-10T07:59:30Z', 'before');
  await happened('2025-06-10T08:00:00Z', 'eight');
  await happened('2025-06-10T09:30:59Z', 'half-past-nine', '2001:db8::1');
  await happened('2025-06-10T09:31:00Z', 'later');
  await happened('2025-01-10T08:00:00Z', 'winter');
  admin = await consoleOf(idp, actor);
});
afterAll(() => idp?.stop());

/** The reasons of the events of a page. */
async function reasons(query: Record<string, string>): Promise<string[]> {
  const page = await admin.get(`/admin/audit?${new URLSearchParams({ kind: 'sign-in', user: 'bo', ...query })}`);
  expect(page.status).toBe(200);
  return ['before', 'eight', 'half-past-nine', 'later', 'winter'].filter((reason) => page.text.includes(`r-${reason}`));
}

describe('a range', () => {
  it('has hours and minutes, in the named time zone', async () => {
    expect(await reasons({ from: '2025-06-10T08:00', until: '2025-06-10T09:30', zone: 'UTC' })).toEqual([
      'eight',
      'half-past-nine',
    ]);
    expect(await reasons({ from: '2025-06-10T10:00', until: '2025-06-10T11:30', zone: 'Europe/Berlin' })).toEqual([
      'eight',
      'half-past-nine',
    ]);
    expect(await reasons({ from: '2025-01-10T09:00', until: '2025-01-10T09:00', zone: 'Europe/Berlin' })).toEqual([
      'winter',
    ]);
    expect(await reasons({ from: '2025-06-10', until: '2025-06-10' })).toHaveLength(4);
    expect(await reasons({ until: '2025-06-09T21:58', zone: 'Pacific/Honolulu' })).toEqual(['winter']);
    // Seldom filters are closed as long as they are empty.
    const filters = /<details class="advanced[^>]*>/;
    expect((await admin.get('/admin/audit?range=today')).text).toMatch(new RegExp(`${filters.source}<summary`));
    const page = await admin.get('/admin/audit?from=2025-06-10');
    expect(filters.exec(page.text)?.[0]).toContain(' open');
    expect(page.text).toMatch(/type="datetime-local"[^>]*name="from"[^>]*value="2025-06-10T00:00"/);
    expect(page.text).toMatch(/<option value="UTC" selected>UTC/);
  });

  it('is in the time zone of the profile unless it names one', async () => {
    await idp.services.accounts.update(actor.account.id, { zoneinfo: 'Europe/Berlin' });
    expect(await reasons({ from: '2025-06-10T10:00', until: '2025-06-10T10:00' })).toEqual(['eight']);
    await idp.services.accounts.update(actor.account.id, { zoneinfo: null });
  });

  it.each(['from=2025-02-30T10:00', 'from=2025-06-10T25:00', 'from=0000-01-01T00:00', 'zone=Mars%2FOlympus'])(
    'with %s is no filter',
    async (query) => {
      expect((await admin.get(`/admin/audit?${query}`)).status).toBe(400);
    },
  );
});

it('events are found by address, however it is written', async () => {
  expect(await reasons({ address: '203.0.113.7' })).toEqual(['before', 'eight', 'later', 'winter']);
  expect(await reasons({ address: '2001:DB8:0:0::1' })).toEqual(['half-past-nine']);
  expect(await reasons({ address: '203.0.113.70' })).toEqual([]);
});

it('the export has the names beside the ids', async () => {
  const csv = await admin.get('/admin/audit/export?format=csv&request=r-eight');
  const [head = '', row = ''] = csv.text.split('\r\n');
  const values = Object.fromEntries(head.split(',').map((name, index) => [name, row.split(',')[index]]));
  expect(values).toMatchObject({
    actorId: bo.account.id,
    actorName: 'Bo Berg (bo)',
    subjectName: 'Bo Berg (bo)',
    clientId,
    clientName: 'Wiki',
    actorAppName: '',
  });
  const signIns = await admin.get('/admin/audit/export?format=csv&client=gatehouse');
  expect(signIns.text).toContain(',gatehouse,Gatehouse,');
  const lines = await admin.get('/admin/audit/export?format=jsonl&request=r-eight');
  expect(JSON.parse(lines.text)).toMatchObject({ subjectName: 'Bo Berg (bo)', clientName: 'Wiki', actorAppName: null });
});

it('has quick ranges, which a saved filter keeps as they are', async () => {
  await idp.services.accounts.update(actor.account.id, { zoneinfo: 'Pacific/Honolulu' });
  at = new Date('2025-06-10T08:30:00Z');
  const list = await admin.get('/admin/audit?user=bo');
  const range = async (label: string, typed: Record<string, string> = {}) => {
    const page = await admin.submit(list, typed, { form: '/admin/audit', button: label });
    expect(page.status).toBe(200);
    return ['before', 'eight', 'half-past-nine', 'later', 'winter'].filter((reason) =>
      page.text.includes(`r-${reason}`),
    );
  };
  expect(await range('Any time')).toHaveLength(5);
  // On Hawaii it is the evening of the day before.
  expect(await range('Today')).toEqual(['before', 'eight', 'half-past-nine', 'later']);
  at = new Date('2025-06-10T09:35:00Z');
  const hour = await range('Last hour');
  at = new Date('2025-06-10T08:30:00Z');
  expect(hour).toEqual(['half-past-nine', 'later']);
  // They are buttons of the filter: what was chosen and not yet filtered counts, and typed times give way.
  expect(await range('Today', { address: '2001:db8::1' })).toEqual(['half-past-nine']);
  expect(await range('Today', { outcome: 'success' })).toEqual([]);
  expect(await range('Today', { from: '2025-06-10T08:00', until: '2025-06-10T08:00' })).toHaveLength(4);
  expect(await range('Any time', { from: '2025-06-10T08:00' })).toHaveLength(5);
  // The filter keeps the range, and times replace it.
  const today = await admin.submit(list, {}, { form: '/admin/audit', button: 'Today' });
  const filtered = await admin.submit(today, { outcome: 'failure' }, { form: '/admin/audit', button: 'Filter' });
  expect(filtered.text).toMatch(/<button[^>]* value="today"[^>]* aria-current="true"/);
  expect(filtered.text).not.toContain('r-winter');
  const timed = await admin.submit(today, { from: '2025-01-01T00:00' }, { form: '/admin/audit', button: 'Filter' });
  expect(timed.text).toContain('r-winter');
  at = new Date('2025-06-10T10:00:00Z');
  expect(await range('Today')).toEqual([]);
  expect(await range('Yesterday')).toEqual(['before', 'eight', 'half-past-nine', 'later']);
  at = new Date('2025-06-15T12:00:00Z');
  expect(await range('7 days')).toEqual(['before', 'eight', 'half-past-nine', 'later']);
  at = new Date('2025-06-17T12:00:00Z');
  expect(await range('7 days')).toEqual([]);
  at = undefined;
  await idp.services.accounts.update(actor.account.id, { zoneinfo: null });
  expect(await reasons({ range: 'today', from: '2025-06-10T08:00', until: '2025-06-10T08:00' })).toEqual(['eight']);
  const csv = await admin.get('/admin/audit/export?format=csv&user=bo&range=today');
  expect(csv.text).not.toContain('r-eight');
});

describe('sign-ins', () => {
  const listed = async (query: Record<string, string>) => {
    const { text } = await admin.get(`/admin/audit?${new URLSearchParams(query)}`);
    return [...text.matchAll(/<li[^>]*>.*?<p>(.*?)<\/p>/gs)].map(([, sentence = '']) => textOf(sentence));
  };

  it('include the requests that were rejected before anybody signed in, of both protocols', async () => {
    const browser = httpClient(idp.issuer);
    const wrong = (parameters: object) =>
      browser.get(`/authorize?${new URLSearchParams({ response_type: 'code', scope: 'openid', ...parameters })}`);
    await wrong({ client_id: 'nobody-knows-it', redirect_uri: 'https://wiki.example/cb' });
    await wrong({ client_id: clientId, redirect_uri: 'https://wiki.example/wrong' });
    const xml = `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"
      ID="_1" Version="2.0" IssueInstant="${new Date().toISOString()}"><saml:Issuer>https://unknown.example/saml</saml:Issuer></samlp:AuthnRequest>`;
    const SAMLRequest = deflateRawSync(xml).toString('base64');
    expect((await browser.get(`/saml/sso?${new URLSearchParams({ SAMLRequest })}`)).status).toBe(400);
    const sentences = await listed({ kind: 'sign-in', range: 'today' });
    expect(sentences.filter((one) => one.includes('rejected'))).toEqual([
      expect.stringContaining('A sign-in request of an application was rejected'),
      expect.stringContaining('A sign-in to Wiki was rejected: the redirect URI isn’t registered'),
      expect.stringContaining('A sign-in to an application was rejected: the client is unknown'),
    ]);
  });

  it('are one item with their steps, whose details it has; a password without what follows is an item', async () => {
    const [cy, address] = [await aUser(idp.services, { username: 'cy', name: 'Cy Clay' }), '203.0.113.9'];
    const about = {
      actorId: cy.account.id,
      subjectId: cy.account.id,
      request: { address, userAgent: 'test', requestId: 'r' },
    };
    const record = (type: 'sign-in.password' | 'sign-in.second-factor' | 'sign-in.completed', data = {}) =>
      idp.services.audit.record({ type, outcome: 'success', ...about, data });
    await record('sign-in.password');
    expect(await listed({ user: 'cy' })).toEqual(expect.arrayContaining(['CC Cy Clay entered the correct password']));
    await record('sign-in.second-factor', { method: 'totp' });
    await record('sign-in.completed', { amr: ['pwd', 'otp'] });
    const sentences = (await listed({ user: 'cy' })).filter((one) => !one.startsWith('The server'));
    expect(sentences).toHaveLength(1);
    const { text } = await admin.get('/admin/audit?user=cy');
    expect(textOf(text)).toContain('2 more events');
    for (const type of ['sign-in.password', 'sign-in.second-factor', 'sign-in.completed']) expect(text).toContain(type);
  });
});

describe('an email', () => {
  it('is part of the item of its cause, and never of something else that happened meanwhile', async () => {
    const { id } = (await aUser(idp.services, { username: 'di', name: 'Di Dorn' })).account;
    const record = (type: AuditEventType, data: Record<string, unknown> = {}) =>
      idp.services.audit.record({ type, outcome: 'success', subjectId: id, data });
    await record('password.changed');
    await record('terms.accepted');
    await record('mail.sent', { message: 'password-changed', recipient: 'di@example.com' });
    await record('mail.sent', { message: 'membership-end', recipient: 'di@example.com' });
    const { text } = await admin.get('/admin/audit?user=di');
    const [, alone, other, cause] =
      /(Event mail.sent.*)(Event terms.accepted.*)(1 more event.*)$/s.exec(textOf(text)) ?? [];
    expect(alone).toContain('membership-end');
    expect(other).not.toContain('mail.sent');
    expect(cause).toMatch(/^1 more event Event password\.changed .*"message": "password-changed"/s);
  });
});

describe('a saved filter', () => {
  const links = async (client: HttpClient, path = '/admin/audit') =>
    linksOf((await client.get(path)).text, idp.issuer).filter(({ label }) => label === 'Bo in June');

  it('is there for the administrator who saved it, and for nobody else', async () => {
    expect((await admin.get('/admin/audit')).text).not.toContain('Save this filter');
    const query = new URLSearchParams({ user: 'bo', from: '2025-06-10T10:00', zone: 'Europe/Berlin' });
    const list = await admin.get(`/admin/audit?${query}`);
    const [save] = linksOf(list.text, idp.issuer).filter(({ label }) => label === 'Save this filter');
    // Beside the filter: above what it found.
    expect(list.text.indexOf('Save this filter')).toBeLessThan(list.text.indexOf('class="events'));
    const page = await admin.get(save?.href ?? '');
    const saved = await admin.follow(
      await admin.submit(page, { name: 'Bo in June' }, { form: '/admin/audit/filters' }),
    );
    expect(textOf(saved.text)).toContain('The filter “Bo in June” was saved.');
    const [link] = await links(admin);
    expect(new URL(link?.href ?? '').searchParams.get('zone')).toBe('Europe/Berlin');
    expect(textOf((await admin.get(link?.href ?? '')).text)).toContain('Delete filter “Bo in June”');
    const other = await consoleOf(idp, await staff(idp, 'admin'));
    expect(await links(other)).toEqual([]);
  });

  it('is replaced by one of its name, and deleted by its owner alone', async () => {
    const page = await admin.get('/admin/audit/filters?outcome=failure');
    await admin.submit(page, { name: 'Bo in June' }, { form: '/admin/audit/filters' });
    const [link, ...more] = await links(admin);
    expect([link?.href, more]).toEqual([`${idp.issuer}/admin/audit?outcome=failure`, []]);
    const shown = await admin.get(link?.href ?? '');
    const remove = shown.forms.find(({ action }) => action.includes('/filters/'));
    const other = await consoleOf(idp, await staff(idp, 'admin'));
    const own = await other.get('/admin/audit?outcome=success');
    await other.post(new URL(remove?.action ?? '', idp.issuer).pathname, {
      form: { _csrf: own.forms.find(({ fields }) => fields._csrf)?.fields._csrf ?? '' },
    });
    expect(await links(admin)).toHaveLength(1);
    await admin.submit(shown, {}, { form: '/filters/' });
    expect(await links(admin)).toEqual([]);
  });

  it('has a name, and a filter that the page understands', async () => {
    const page = await admin.get('/admin/audit/filters?outcome=failure');
    const wrong: Record<string, string>[] = [
      { name: '' },
      { name: 'x'.repeat(61) },
      { name: 'x', query: 'outcome=maybe' },
    ];
    for (const fields of wrong)
      expect((await admin.submit(page, fields, { form: '/admin/audit/filters' })).status).toBe(400);
    expect((await admin.submit(page, { name: 'x', query: 'x=1' }, { form: '/admin/audit/filters' })).location).toMatch(
      /\/admin\/audit$/,
    );
  });
});
