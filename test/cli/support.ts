// The command line on a database and a folder of its own: in this process, which is quick, or as the process a shell starts.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { vi } from 'vitest';
import { tableLines } from '../../src/cli/io.ts';
import { run } from '../../src/cli/run.ts';
import { databaseKind, testDatabase, testFolder } from '../support/database/database.ts';
import { programArguments } from '../support/program.ts';

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}
export interface CallOptions {
  stdin?: string;
  /** The answers typed at the terminal, in order. */
  answers?: string[];
  env?: Readonly<Record<string, string | undefined>>;
  /** The file to which the process writes its standard output, instead of `out`. */
  outputFile?: string;
}

/** A folder and a database, and `gatehouse …` on them. Relative paths are not below the folder: join them with it. */
export async function commandLine() {
  const { database, url, close } = await testDatabase();
  const folder = testFolder();
  const key = Buffer.alloc(32, 5).toString('base64url');
  const base = {
    DATABASE_URL: url,
    GATEHOUSE_SECRET: key,
    DATA_DIR: path.join(folder, 'data'),
    GATEHOUSE_CONFIG: '',
    ISSUER: '',
    HOST: '',
    PORT: '',
    SMTP_URL: '',
    MAIL_FROM: '',
    TRUST_PROXY: '',
    LOG_LEVEL: '',
    LOG_FORMAT: 'json',
  };

  async function gatehouse(args: string[], { stdin = '', answers, env = {} }: CallOptions = {}): Promise<Ended> {
    const ended: Ended = { code: null, out: '', err: '' };
    const out = (line: string) => {
      ended.out += `${line}\n`;
    };
    const err = (line: string) => {
      ended.err += `${line}\n`;
    };
    for (const [name, value] of Object.entries({ ...base, ...env })) vi.stubEnv(name, value);
    const json = (value: unknown) => out(JSON.stringify(value));
    const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
      tableLines(head, rows).forEach(out);
    const left = [...(answers ?? [])];
    const ask = async (question: string) => {
      const answer = left.shift();
      if (answer === undefined) throw new Error(`nobody answers: ${question}`);
      out(`${question}${answer}`);
      return answer;
    };
    const io = {
      out,
      err,
      json,
      table,
      stdin: async () => stdin.replace(/\n$/, ''),
      ...(answers && { ask }),
    };
    ended.code = await run(args, io);
    return ended;
  }

  function process_(args: string[], { stdin = '', env = {}, outputFile }: CallOptions = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const output = outputFile === undefined ? undefined : openSync(outputFile, 'w');
      const child = spawn(process.execPath, [...programArguments('cli'), ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...base, ...env },
        stdio: ['pipe', output ?? 'pipe', 'pipe'],
      });
      if (output !== undefined) closeSync(output);
      const ended: Ended = { code: null, out: '', err: '' };
      child.stdout?.setEncoding('utf8').on('data', (text) => {
        ended.out += text;
      });
      child.stderr?.setEncoding('utf8').on('data', (text) => {
        ended.err += text;
      });
      child.on('error', reject).on('close', (code) => resolve({ ...ended, code }));
      child.stdin?.end(stdin);
    });
  }
  /** The built program in one process for all of its calls. */
  function builtProgram() {
    const args = programArguments('cli');
    const child = fork(path.join(import.meta.dirname, 'built-program.mjs'), args.slice(-1), {
      cwd: folder,
      execArgv: args.slice(0, -1),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const call = async (args: string[], { stdin = '', env = {} }: CallOptions = {}): Promise<Ended> => {
      const answered = once(child, 'message');
      child.send({ args, stdin, env: { PATH: process.env.PATH, ...base, ...env } });
      return (await Promise.race([answered, crash]))[0];
    };
    const crash = once(child, 'exit').then(([code]) => {
      throw new Error(`the program ended with ${code}`);
    });
    crash.catch(() => {});
    return { call, end: () => void child.kill() };
  }

  return {
    gatehouse,
    process: process_,
    builtProgram,
    folder,
    db: database.db,
    sql: database.sql,
    kind: databaseKind(),
    url,
    close,
  };
}
