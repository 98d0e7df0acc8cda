// How the command line is called: help, wrong calls (exit code 2), wrong settings (exit code 1).
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { type Io, tableLines } from '../../src/cli/io.ts';
import { run } from '../../src/cli/run.ts';

async function call(...argv: string[]) {
  const seen = { out: '', err: '' };
  const io: Io = {
    out: (line) => {
      seen.out += `${line}\n`;
    },
    err: (line) => {
      seen.err += `${line}\n`;
    },
    json: () => {},
    table: () => {},
    stdin: async () => '',
  };
  return { code: await run(argv, io), ...seen };
}

describe('gatehouse', () => {
  it('shows all commands and exits as for a wrong call when no command is given', async () => {
    const { code, out, err } = await call();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    for (const { name } of commands) expect(err).toContain(`gatehouse ${name}`);
  });

  it.each([['--help'], ['-h'], ['help']])('shows all commands with %s', async (flag) => {
    const { code, out } = await call(flag);
    expect(code).toBe(0);
    expect(out).toContain('gatehouse doctor');
  });

  it('prints its version with --version', async () => {
    expect(await call('--version')).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: '' });
  });

  it('has every documented command', () => {
    const contract =
      'serve,apply,export,user add,user list,user show,user set-password,user disable,user enable,user unlock,user reset-mfa,app list,app show,app add,keys list,keys rotate,backup,doctor';
    expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(contract.split(',')));
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'describes the command %s with --help',
    async (name, { summary, args = [], options = {} }) => {
      for (const argv of [
        [...name.split(' '), '--help'],
        ['help', ...name.split(' ')],
      ]) {
        const { code, out, err } = await call(...argv);
        expect({ code, err }).toEqual({ code: 0, err: '' });
        for (const text of [summary, ...args, ...Object.keys(options).map((option) => `--${option}`)])
          expect(out).toContain(text);
      }
    },
  );

  it('shows the commands of a group', async () => {
    const { code, out } = await call('user', '--help');
    expect(code).toBe(0);
    expect(out).toContain('user reset-mfa');
    expect(out).not.toContain('app list');
  });

  it.each([
    [['frob'], 'there is no command "frob"'],
    [['user', 'frob'], 'there is no command "user frob"'],
    [['user'], 'there is no command "user"'],
    [['apply'], 'FILE is missing'],
    [['apply', 'a', 'b'], 'unexpected argument: b'],
    [['user', 'list', '--frob'], "Unknown option '--frob'"],
    [['user', 'list', '--json=x'], "Option '--json' does not take an argument"],
    [['user', 'add', 'x', '--email'], "Option '--email <value>' argument missing"],
    [['backup'], 'FILE is missing'],
  ])('rejects the wrong call %j', async (argv, message) => {
    const { code, out, err } = await call(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

describe('a table', () => {
  it('has aligned columns, and no control characters from the database', () => {
    expect(
      tableLines(
        ['A', 'B'],
        [
          ['long \u001b[31mname', 'x'],
          ['é', 'y'],
        ],
      ),
    ).toEqual(['A               B', 'long  [31mname  x', 'é               y']);
  });
});
