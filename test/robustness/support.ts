// The server as a process of its own, which a test can stop or kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as oidc from 'openid-client';
import type { Application } from '../oidc/support.ts';
import type { TestIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';

export interface ServerProcess {
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<{ code: number | null }>;
}

/** Starts the server with this environment; resolves when it has logged that it is ready. */
export async function serverProcess(environment: TestIdp['environment']): Promise<ServerProcess> {
  const child = spawn(process.execPath, programArguments('main'), {
    env: { PATH: process.env.PATH, ...environment, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await ready(child);
  return {
    async kill(signal) {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = await ended;
      return { code };
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (output.includes('Gatehouse is ready')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${output}`)));
  });
}

/** Gives each call of this application its own connection, so that the load balancer routes every one. */
export function connectAnew({ rp }: Application): void {
  rp.config[oidc.customFetch] = (url, { headers, ...options }) =>
    fetch(url, { ...options, headers: { ...headers, connection: 'close' } } as RequestInit);
}
