// Applications that answer anything but SCIM, and other servers at their addresses: a login page, a redirect, an endless answer. Nothing counts as
// done that is not there, and the token reaches nobody.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Provision } from '../../src/applications/fields/provisioning.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { shortPauses } from '../support/waits.ts';
import { aGate, aTarget, type Gate, type Setup, settle, untilTestEnds } from './support.ts';

let idp: TestIdp;
let other: TestIdp;
let count = 0;
beforeAll(async () => {
  shortPauses();
  [idp, other] = await Promise.all([startIdp(), startIdp()]);
});
afterAll(async () => {
  await Promise.all([idp?.stop(), other?.stop()]);
});
const keep = untilTestEnds(() => idp);

/** An application with one person, who is there already. */
async function aPersonThere(given: Partial<Provision> = {}) {
  count += 1;
  const role = `hostile${count}`;
  const made = keep(await aTarget(idp, other, { role, ...given }));
  const { account } = await aUser(idp.services, { username: `${role}-ann` });
  await idp.services.roles.assign(account.id, role);
  await settle(idp);
  const there = async () => (await made.connection.find(`userName eq "${role}-ann"`)).Resources[0];
  expect(await there()).toMatchObject({ active: true, displayName: 'Ann Example' });
  return {
    ...made,
    there,
    rename: () => idp.services.accounts.update(account.id, { name: 'Ann Other' }),
    leave: () => idp.services.roles.unassign(account.id, role),
  };
}

const application = ({ applicationId }: Setup) => idp.services.applications.get(applicationId);
const stateOf = async (setup: Setup) => idp.services.provisioning.state(await application(setup));
const rejectedBy = async (setup: Setup) => idp.services.provisioning.rejected(await application(setup));

/** Until its answer is noted. */
async function untilFailed(setup: Setup, error: RegExp): Promise<void> {
  const { auditChain, db, wake } = idp.services;
  await expect
    .poll(
      async () => {
        await auditChain.seal();
        wake('provisioning', db);
        return [(await stateOf(setup)).lastError, ...(await rejectedBy(setup)).map((one) => one.error)].join(' ');
      },
      { timeout: 40_000, interval: 500 },
    )
    .toMatch(error);
}

async function recover(setup: Setup): Promise<void> {
  setup.gate.instead = () => undefined;
  await idp.services.provisioning.decide(await application(setup), 'compare', {});
  await settle(idp);
}

const html = { 'content-type': 'text/html' };
const json = { 'content-type': 'application/scim+json' };
const garbage: [string, Exclude<ReturnType<Gate['instead']>, undefined>][] = [
  ['a page', { status: 200, headers: html, body: '<html>Please log in</html>' }],
  ['200 without a body', { status: 200, headers: json }],
  ['202 without a body', { status: 202 }],
  ['a list', { status: 200, headers: json, body: '[]' }],
  ['null', { status: 200, headers: json, body: 'null' }],
  ['a part of JSON', { status: 200, headers: json, body: '{"active": fal' }],
  ['JSON that is no resource', { status: 200, headers: json, body: '{"error": "login_required"}' }],
];

describe('what an application did not do', () => {
  it.each(some(2, garbage))('a change is sent again after %s', async (_name, answer) => {
    const made = await aPersonThere();
    made.gate.instead = ({ method }) => (method === 'PATCH' ? answer : undefined);
    await made.rename();
    await untilFailed(made, /answered without SCIM \(20[02]\)/);
    expect((await stateOf(made)).waiting).toBe(1);
    await recover(made);
    expect(await made.there()).toMatchObject({ displayName: 'Ann Other' });
    expect(await stateOf(made)).toMatchObject({ waiting: 0, lastError: null, failingSince: null });
  });

  it.each([
    ...some(1, garbage),
    ['204 for everything', { status: 204 }],
    ['a resource without active', { status: 200, headers: json, body: '{}' }],
    ['a resource that stays active', { status: 200, headers: json, body: '{"id": "1", "active": true}' }],
    ['active as a text', { status: 200, headers: json, body: '{"id": "1", "active": "True"}' }],
  ] as typeof garbage)('a leaver does not count as deactivated after %s', async (_name, answer) => {
    const made = await aPersonThere();
    made.gate.instead = ({ method }) => (method === 'PATCH' ? answer : undefined);
    await made.leave();
    await untilFailed(made, /answered without SCIM|is still active there/);
    expect(await stateOf(made)).toMatchObject({ active: 1, waiting: 1 });
    await recover(made);
    await expect.poll(made.there).toMatchObject({ active: false });
  });

  it.each([
    ['false', { status: 200, headers: json, body: '{"id": "1", "active": false}' }, 0],
    ['False', { status: 200, headers: json, body: '{"id": "1", "active": "False"}' }, 0],
    ['204', { status: 204 }, 1],
  ])('a leaver counts as deactivated after %s, read back where the answer is empty', async (_name, answer, reads) => {
    const made = await aPersonThere();
    const before = made.gate.sent.length;
    made.gate.instead = ({ method }) =>
      method === 'PATCH' ? answer : { status: 200, headers: json, body: '{"id": "1", "active": false}' };
    await made.leave();
    await settle(idp);
    expect(await stateOf(made)).toMatchObject({ active: 0, waiting: 0 });
    expect(made.gate.sent.slice(before).filter(({ method }) => method === 'GET')).toHaveLength(reads);
  });

  it('an account that cannot be found after it was deactivated is gone', async () => {
    const made = await aPersonThere();
    made.gate.instead = ({ method, path }) =>
      path.includes('filter=') ? undefined : { status: method === 'PATCH' ? 204 : 404 };
    await made.leave();
    await settle(idp);
    expect(await stateOf(made)).toMatchObject({ active: 0, waiting: 0 });
  });

  it.each([
    ['404 of a proxy', 404, html, '<html>no such app</html>'],
    [
      '404 of another tenant',
      404,
      json,
      '{"schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": "404"}',
    ],
    ['410', 410, html, ''],
  ])('nobody is gone where nothing is found: %s', async (_name, status, headers, body) => {
    for (const delete_policy of ['deactivate', 'delete'] as const) {
      const made = await aPersonThere({ delete_policy });
      made.gate.instead = () => ({ status, headers, body });
      await made.leave();
      await untilFailed(made, /found nothing \(404\), not even a list/);
      expect(await stateOf(made)).toMatchObject({ active: 1, waiting: 1 });
      await recover(made);
      const left = async () => ((await made.there()) as { active?: boolean } | undefined)?.active ?? false;
      await expect.poll(left).toBe(false);
    }
  });

  it('a login page in answer to a search makes nobody, and is no answer of a test', async () => {
    const made = await aPersonThere();
    made.gate.instead = () => ({ status: 200, headers: html, body: '<html>Please log in</html>' });
    const { account } = await aUser(idp.services, {});
    await idp.services.roles.assign(account.id, `hostile${count}`);
    await untilFailed(made, /answered without SCIM/);
    expect(await rejectedBy(made)).toEqual([]);
    const checks = await idp.services.provisioning.test(await application(made));
    expect(checks.map(({ isOk }) => isOk)).toEqual([false, false]);
    await recover(made);
    expect((await stateOf(made)).active).toBe(2);
  });
});

describe('an application that steals or wears out', () => {
  it.each([
    ['400', 'a person who is rejected'],
    ['401', 'an application that takes no call'],
  ])('a token that is repeated with %s is in no page, API or log: %s', async (status) => {
    const made = await aPersonThere();
    const schemas = ['urn:ietf:params:scim:api:messages:2.0:Error'];
    made.gate.instead = ({ authorization }) => {
      const detail = `bad token ${authorization} (${encodeURIComponent(authorization)})`;
      return { status: Number(status), headers: json, body: JSON.stringify({ schemas, status, detail }) };
    };
    await made.rename();
    await untilFailed(made, /bad token Bearer …/);
    const { db, provisioning } = idp.services;
    const seen = [
      await stateOf(made),
      await rejectedBy(made),
      await provisioning.test(await application(made)),
      await db.auditEvent.findMany(),
      await db.provisionedObject.findMany(),
      await db.provisioningTarget.findMany(),
    ];
    expect(JSON.stringify(seen, (_key, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      made.connection.token,
    );
    expect(idp.log.join()).not.toContain(made.connection.token);
    await recover(made);
    expect(await made.there()).toMatchObject({ displayName: 'Ann Other' });
  });

  it('a redirect is not followed, and its target gets no token', async () => {
    const made = await aPersonThere();
    const thief = await aGate(other.issuer);
    made.gate.instead = ({ path }) => ({ status: 307, headers: { location: `${thief.url}${path}` } });
    await made.rename();
    await untilFailed(made, /redirects \(307\), which is not followed/);
    expect(thief.sent).toEqual([]);
    await thief.close();
    await recover(made);
    expect(await made.there()).toMatchObject({ displayName: 'Ann Other' });
  });

  it('an endless answer ends after a megabyte', async () => {
    const made = await aPersonThere();
    let opened = 0;
    let written = 0;
    made.gate.instead = () => (response) => {
      opened += 1;
      response.on('close', () => {
        opened -= 1;
      });
      response.writeHead(200, json);
      const more = () => {
        if (response.destroyed) return;
        written += 65_536;
        if (response.write('x'.repeat(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    await made.rename();
    await untilFailed(made, /sent more than 1,048,576 bytes/);
    await expect.poll(() => opened, { timeout: 10_000 }).toBe(0);
    // With what the operating system buffers of each of the few calls.
    expect(written).toBeLessThan(64 * 1024 * 1024);
    await recover(made);
  });

  it('an answer that drips ends after ten seconds', async () => {
    const made = await aPersonThere();
    made.gate.instead = () => (response) => {
      response.writeHead(200, json);
      const timer = setInterval(() => response.write(' '), 200);
      response.on('close', () => clearInterval(timer));
    };
    await made.rename();
    await untilFailed(made, /did not answer in 10000 ms/);
    await recover(made);
    expect(await made.there()).toMatchObject({ displayName: 'Ann Other' });
  });
});
