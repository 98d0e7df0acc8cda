// `gatehouse apply` and `export` as a script calls them.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeEach(async () => {
  cli = await commandLine();
  write('good.yaml', good);
});
afterEach(() => cli.close());

const secret = 'at-least-32-bytes-of-secret-material-here';
const good = `
settings: { session_hours: 8 }
clients:
  - client_id: web
    client_secret: ${secret}
    redirect_uris: [http://127.0.0.1:4000/cb]
users: [{ username: alice, password: a long pass phrase that is fine }]
`;
const file = (name: string) => path.join(cli.folder, name);
const write = (name: string, text: string) => writeFileSync(file(name), text);

describe('gatehouse apply', () => {
  it('plans without changing anything', async () => {
    const { code, out, err } = await cli.gatehouse(['plan', file('good.yaml')]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      '+ settings session_hours\n+ clients web\n+ users alice\nPlan: 3 to create, 0 to change, 0 to delete, 0 unchanged\n',
    );
    expect(await cli.db.application.count()).toBe(0);
  });

  it('applies the file, and reports its changes to a script', async () => {
    const { code, out } = await cli.gatehouse(['apply', file('good.yaml'), '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      applied: true,
      create: [
        { section: 'settings', name: 'session_hours' },
        { section: 'clients', name: 'web' },
        { section: 'users', name: 'alice' },
      ],
      change: [],
      delete: [],
      unchanged: 0,
      warnings: [],
    });
    expect(out).not.toMatch(/secret-material|pass phrase/);
  });

  it('changes nothing the second time', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    const { code, out } = await cli.gatehouse(['apply', file('good.yaml')]);
    expect({ code, out }).toEqual({ code: 0, out: 'Applied: 0 created, 0 changed, 0 deleted, 3 unchanged\n' });
  });

  it('prints the changed fields, and hides secrets', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    write(
      'changed.yaml',
      good
        .replace('session_hours: 8', 'session_hours: 9')
        .replace(secret, `${secret}-2`)
        .replace(/users:.*/, ''),
    );
    const { code, out } = await cli.gatehouse(['plan', file('changed.yaml')]);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '- users alice',
      '~ settings session_hours',
      '    value: 8 -> 9',
      '~ clients web',
      '    client_secret (changed)',
      'Plan: 0 to create, 2 to change, 1 to delete, 0 unchanged',
      '',
    ]);
  });

  it('says in words that the file takes entries over', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    await cli.gatehouse(['release', '--all']);
    write('taken.yaml', good.replace('session_hours: 8', 'session_hours: 9'));
    expect((await cli.gatehouse(['plan', file('taken.yaml')])).out.split('\n')).toEqual([
      '~ settings session_hours (now managed by the file)',
      '    value: 8 -> 9',
      '~ clients web (now managed by the file)',
      '~ users alice (now managed by the file)',
      'Plan: 0 to create, 3 to change, 0 to delete, 0 unchanged',
      '',
    ]);
    const { change } = JSON.parse((await cli.gatehouse(['plan', file('taken.yaml'), '--json'])).out);
    expect(change[1].fields).toEqual([{ field: 'source', from: 'local', to: 'file' }]);
  });

  it('rejects an invalid file, reports every fault with its position, and changes nothing', async () => {
    write(
      'bad.yaml',
      'clients:\n  - client_id: web\n    redirect_uri: https://a.example/\nroles: [{ name: x, permissions: [y] }]\n',
    );
    const { code, out, err } = await cli.gatehouse(['apply', file('bad.yaml')]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.trim().split('\n')).toEqual([
      `${file('bad.yaml')}:3:5: clients[0].redirect_uri isn’t a known field. Did you mean redirect_uris?`,
      `${file('bad.yaml')}:4:34: roles[0].permissions[0] must be resource:action, such as articles:read.`,
    ]);
    expect(await cli.db.application.count()).toBe(0);
  });

  it('names a damaged application in one line: where the file declares it, it ends, else it warns', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    const { id } = await cli.db.asStored.application.findUniqueOrThrow({ where: { clientId: 'web' } });
    await cli.db.asStored.application.update({ where: { id }, data: { metadata: '{"redirect_uris":[' } });
    const line = `The application "web" can’t be read, because its stored registration is damaged. Restore the database from a backup, or delete the row of the table applications with the id ${id}.`;
    const ended = await cli.gatehouse(['apply', file('good.yaml')]);
    expect(ended).toEqual({ code: 1, out: '', err: `${line}\n` });
    expect(await cli.gatehouse(['app', 'list'])).toEqual({ code: 1, out: '', err: `${line}\n` });
    await cli.db.asStored.application.update({ where: { id }, data: { source: 'local' } });
    write('other.yaml', 'settings: { session_hours: 8 }\n');
    const skipped = await cli.gatehouse(['plan', file('other.yaml')]);
    expect(skipped).toMatchObject({ code: 0, err: `warning: ${line}\n` });
  });

  it('reports a missing file or an invalid setting in one line', async () => {
    const missing = await cli.gatehouse(['apply', file('none.yaml')]);
    expect(missing).toEqual({ code: 1, out: '', err: `${file('none.yaml')}: cannot be read (ENOENT)\n` });
    const wrong = await cli.gatehouse(['apply', file('good.yaml')], { env: { LOG_LEVEL: 'loud' } });
    expect(wrong).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^LOG_LEVEL: found "loud"; allowed: .+\n$/),
    });
  });
});

describe('gatehouse plan', () => {
  it('says by its exit code whether something would change, and fails where apply would lose the last administrator', async () => {
    const admin = 'users: [{ username: root, password: a long pass phrase that is fine, roles: [admin] }]\n';
    write('admin.yaml', admin);
    const plan = (name: string) => cli.gatehouse(['plan', file(name), '--exit-code']);
    expect(await plan('admin.yaml')).toMatchObject({ code: 2 });
    await cli.gatehouse(['apply', file('admin.yaml')]);
    expect(await plan('admin.yaml')).toMatchObject({ code: 0 });
    write('none.yaml', '{}\n');
    write('other.yaml', admin.replace('[admin]', '[]'));
    for (const name of ['none.yaml', 'other.yaml']) {
      const planned = await plan(name);
      expect([planned.code, planned.err], name).toEqual([1, expect.stringContaining('administrator')]);
      expect((await cli.gatehouse(['apply', file(name)])).err).toBe(planned.err.replace(' plan:', ' apply:'));
    }
    expect(await plan('admin.yaml')).toMatchObject({ code: 0, out: expect.stringContaining('1 unchanged') });
    // 2 is for changes, so a wrong call is an error like others.
    for (const wrong of [['--exit-code'], ['admin.yaml', '--exit-code', '--josn'], ['a', 'b', '--exit-code']])
      expect(await cli.gatehouse(['plan', ...wrong])).toMatchObject({ code: 1 });
    expect(await cli.gatehouse(['plan'])).toMatchObject({ code: 2 });
  });
});

describe('gatehouse release', () => {
  it('hands entries back, so that the file without them deletes nothing', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    const released = await cli.gatehouse(['release', 'clients:web', 'settings:session_hours']);
    expect(released).toMatchObject({ code: 0, out: 'clients:web\nsettings:session_hours\n' });
    write('none.yaml', '{}\n');
    const planned = await cli.gatehouse(['plan', file('none.yaml')]);
    expect(planned.out).toBe('- users alice\nPlan: 0 to create, 0 to change, 1 to delete, 0 unchanged\n');
    expect(await cli.gatehouse(['release', '--all'])).toMatchObject({ code: 0, out: 'users:alice\n' });
    for (const args of [[], ['users:alice', '--all'], ['alice']])
      expect((await cli.gatehouse(['release', ...args])).code, args.join(' ')).toBe(2);
    const again = await cli.gatehouse(['release', 'users:alice']);
    expect([again.code, again.err]).toEqual([1, 'gatehouse release: The configuration file owns no users:alice.\n']);
  });
});

describe('gatehouse export', () => {
  it('prints a file that changes nothing where it came from', async () => {
    await cli.gatehouse(['apply', file('good.yaml')]);
    const { code, out } = await cli.gatehouse(['export']);
    expect(code).toBe(0);
    expect(out).not.toMatch(/secret-material|pass phrase|argon2/);
    write('export.yaml', out);
    const again = await cli.gatehouse(['apply', file('export.yaml'), '--json']);
    expect(JSON.parse(again.out)).toMatchObject({ create: [], change: [], delete: [], unchanged: 3 });
  });
});
