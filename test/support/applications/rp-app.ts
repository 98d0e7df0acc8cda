// The web side of a relying party: it notes what browsers and the provider bring to it, and decides nothing.
import { text as readText } from 'node:stream/consumers';
import { type Listening, listen } from '../listen.ts';

export interface RelyingPartyApp extends Listening {
  redirectUri: string;
  postLogoutRedirectUri: string;
  backchannelLogoutUri: string;
  /** Every address at which a browser came back, the newest last. */
  callbacks: URL[];
  /** Logout tokens as received, not yet checked. */
  logoutTokens: string[];
  /** Waits until this many logout tokens have come. */
  waitForLogoutTokens(count: number, options?: { seconds?: number }): Promise<string[]>;
  /** The status and body that the next back-channel calls are answered with. */
  answerLogoutWith(status: number, body?: string): void;
  /** Leaves back-channel calls without a response until the returned function is called with a status, which later ones get too. */
  holdLogout(): (status: number) => void;
}

/** Starts the application on a free port; its addresses are what a client is registered with. */
export async function relyingPartyApp(): Promise<RelyingPartyApp> {
  const callbacks: URL[] = [];
  const logoutTokens: string[] = [];
  let logoutStatus = 200;
  let logoutBody = '';
  let held: Promise<void> | undefined;

  const server = await listen(async (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    if (url.pathname === '/backchannel') {
      const token = new URLSearchParams(await readText(request)).get('logout_token');
      await held;
      if (token && logoutStatus < 300) logoutTokens.push(token);
      response.writeHead(logoutStatus, { 'cache-control': 'no-store' }).end(logoutBody);
      return;
    }
    if (url.pathname === '/cb') {
      // response_mode=form_post brings the parameters in the body.
      for (const [name, value] of new URLSearchParams(request.method === 'POST' ? await readText(request) : ''))
        url.searchParams.append(name, value);
      callbacks.push(url);
    }
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Application</h1><p>${url.pathname}</p>`);
  });

  return {
    ...server,
    redirectUri: `${server.origin}/cb`,
    postLogoutRedirectUri: `${server.origin}/`,
    backchannelLogoutUri: `${server.origin}/backchannel`,
    callbacks,
    logoutTokens,
    answerLogoutWith: (status, body = '') => {
      logoutStatus = status;
      logoutBody = body;
    },
    holdLogout: () => {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return (status) => {
        logoutStatus = status;
        release();
      };
    },
    waitForLogoutTokens: async (count, { seconds = 20 } = {}) => {
      const deadline = Date.now() + seconds * 1000;
      while (logoutTokens.length < count) {
        if (Date.now() > deadline) throw new Error(`${logoutTokens.length} of ${count} logout tokens in ${seconds} s`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return logoutTokens;
    },
  };
}
