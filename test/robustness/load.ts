// Requests of several kinds, one after the other in several lanes, until the end; each counts as done or as failed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from '../oidc/support.ts';
import type { HttpClient } from '../support/http.ts';

export interface Load {
  done: number;
  failures: string[];
  /** Resolves when so many more requests were answered. */
  more(count: number): Promise<void>;
  end(): Promise<void>;
}

export interface LoadOptions {
  app: Application;
  /** Signed in. */
  browser: HttpClient;
  lanes?: number;
  /** Milliseconds between two code flows of a lane: time for servers that start meanwhile. */
  pauseMs?: number;
}

/** A code flow in the session of the browser, userinfo and a refresh, again and again. */
export function steadyLoad({ app, browser, lanes = 3, pauseMs = 0 }: LoadOptions): Load {
  let isOver = false;
  const load: Load = {
    done: 0,
    failures: [],
    async more(count) {
      const goal = load.done + count;
      while (load.done < goal && load.failures.length === 0) await sleep(10);
    },
    async end() {
      isOver = true;
      await running;
    },
  };
  const counted = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      load.done += 1;
      return result;
    } catch (error) {
      load.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  };
  async function codeFlow(): Promise<void> {
    const started = await app.rp.start({ scope: 'openid email offline_access', prompt: 'none' });
    const callback = await counted('authorize', async () => {
      const { location = '', status } = await browser.get(started.url);
      if (!location.includes('code=')) throw new Error(`${status} ${location}`);
      return location;
    });
    const tokens = await counted('token', () => app.rp.finish(callback, started));
    await counted('userinfo', () => app.rp.userinfo(tokens));
    await counted('refresh', () => app.rp.refresh(tokens.refresh_token ?? ''));
  }
  async function lane(): Promise<void> {
    while (!isOver) {
      await codeFlow().catch(() => undefined);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
  const running = Promise.all(Array.from({ length: lanes }, lane));
  return load;
}
