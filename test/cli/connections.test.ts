// `gatehouse connection …`, and what `gatehouse doctor` says about connections.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDirectory } from '../support/upstream/directory.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
});
afterAll(() => cli.close());

const ENTRY = `
id: corp
kind: oidc
name: Example Corp
issuer: https://sso.example.com
client_id: gatehouse
client_secret: [{ value: typed-secret, expires_at: 2000-01-01 }]
domains: [example.com]
`;

describe('gatehouse connection', () => {
  it('adds, lists, shows, disables and removes a connection, and prints no secret', async () => {
    const file = path.join(cli.folder, 'corp.yaml');
    writeFileSync(file, ENTRY);
    const added = await cli.gatehouse(['connection', 'add', file]);
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('/upstream/corp/callback') });
    const list = await cli.gatehouse(['connection', 'list', '--json']);
    expect(JSON.parse(list.out)).toEqual([
      { id: 'corp', name: 'Example Corp', kind: 'oidc', preset: 'generic', enabled: true, source: 'local' },
    ]);
    expect((await cli.gatehouse(['connection', 'list'])).out).toContain('Example Corp');
    const details = await cli.gatehouse(['connection', 'show', 'corp']);
    expect(details.out).toMatch(/issuer: https:\/\/sso\.example\.com/);
    expect(details.out).toMatch(/example\.com is not proven: add the TXT record _gatehouse\.example\.com/);
    const json = await cli.gatehouse(['connection', 'show', 'corp', '--json']);
    expect(JSON.parse(json.out)).toMatchObject({
      issuer: 'https://sso.example.com',
      secrets: [{ purpose: 'client-secret' }],
    });
    expect([added.out, details.out, json.out].join()).not.toContain('typed-secret');
    await cli.gatehouse(['connection', 'disable', 'corp']);
    expect((await cli.gatehouse(['connection', 'list'])).out).toMatch(/generic +no/);
    expect((await cli.gatehouse(['connection', 'enable', 'corp'])).code).toBe(0);
    expect((await cli.gatehouse(['connection', 'show', 'nobody'])).code).toBe(1);
  });

  it('names what is wrong with an entry', async () => {
    const { code, err } = await cli.gatehouse(['connection', 'add', '-'], {
      stdin: '{ id: x, kind: oidc, name: X, issuer: y }',
    });
    expect([code, err]).toEqual([1, expect.stringContaining('client_id is missing')]);
  });

  it('gives `gatehouse doctor` a failure for a secret that has ended, and none once a new one is stored', async () => {
    const findings = async () => {
      const { out } = await cli.gatehouse(['doctor', '--json']);
      const all = JSON.parse(out) as { check: string; status: string; message: string }[];
      return all.filter(({ check }) => check === 'connections');
    };
    expect(await findings()).toMatchObject([
      { status: 'failure', message: 'Example Corp: the client secret expired on 2000-01-01.' },
    ]);
    const stored = await cli.gatehouse(['connection', 'secret', 'corp', '--expires', '2099-01-01'], {
      stdin: 'new-secret\n',
    });
    expect([stored.code, stored.out]).toEqual([0, expect.not.stringContaining('new-secret')]);
    expect(await findings()).toMatchObject([{ status: 'ok' }]);
    await cli.db.asStored.connection.updateMany({ data: { settings: '{}' } });
    expect(await findings()).toMatchObject([
      { status: 'failure', message: expect.stringContaining('Another program') },
    ]);
    expect((await cli.gatehouse(['connection', 'list'])).err).toContain('another program changed');
    expect((await cli.gatehouse(['connection', 'remove', 'corp'])).code).toBe(0);
    expect(await findings()).toEqual([]);
  });

  it('lets `gatehouse doctor` connect to a directory, which fails when it does not accept the account that searches', async () => {
    const search = 'cn=gatehouse,dc=example';
    const directory = await startDirectory([{ dn: search, password: 'right', attributes: {} }]);
    const entry = {
      id: 'directory',
      kind: 'ldap',
      name: 'Directory',
      url: directory.url,
      base_dn: 'dc=example',
      bind_dn: search,
      bind_password: 'stale-secret',
    };
    const added = await cli.gatehouse(['connection', 'add', '-'], { stdin: JSON.stringify(entry) });
    expect(added, added.err).toMatchObject({ code: 0 });
    const finding = async () => {
      const { out } = await cli.gatehouse(['doctor', '--json']);
      const all = JSON.parse(out) as { check: string; status: string; message: string }[];
      return all.find(({ check }) => check === 'connections');
    };
    expect(await finding()).toMatchObject({
      status: 'failure',
      message: expect.stringContaining('rejected the password of the account that searches'),
    });
    expect(JSON.stringify(await finding())).not.toContain('stale-secret');
    // Not sent again.
    expect(directory.binds).toHaveLength(1);
    await cli.gatehouse(['connection', 'secret', 'directory', '--replace'], { stdin: 'right\n' });
    expect(await finding()).toMatchObject({ status: 'ok' });
    await directory.stop();
    expect(await finding()).toMatchObject({ status: 'failure' });
    expect((await cli.gatehouse(['connection', 'remove', 'directory'])).code).toBe(0);
  });
});
