// The server as a process of its own, which a test can stop or kill.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as oidc from 'openid-client';
import type { Application } from '../oidc/support.ts';
import type { TestIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';

export interface ServerProcess {
  pid: number;
  /** What it has printed so far. */
  printed(): string;
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<{ code: number | null }>;
}

/** Starts the server with this environment; resolves when it has logged that it is ready. */
export async function serverProcess(environment: TestIdp['environment']): Promise<ServerProcess> {
  const child = spawn(process.execPath, programArguments('main'), {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => printed.includes('Gatehouse is ready') && resolve());
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${printed}`)));
  });
  return {
    pid: child.pid ?? 0,
    printed: () => printed,
    async kill(signal) {
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = await ended;
      return { code };
    },
  };
}

/** Gives each call of this application its own connection, so that the load balancer routes every one. */
export function reconnect({ rp }: Application): void {
  rp.config[oidc.customFetch] = (url, { headers, ...options }) =>
    fetch(url, { ...options, headers: { ...headers, connection: 'close' } } as RequestInit);
}
