// A small GitHub: authorization, token, /user and /user/emails, with its deviations from OAuth 2.0.
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { listen } from '../listen.ts';

export interface FakeGitHub {
  origin: string;
  user: Record<string, unknown>;
  /** Undefined: the token may not read them. */
  emails: { email: string; primary: boolean; verified: boolean }[] | undefined;
  /** An error of the token endpoint, which GitHub answers with status 200. */
  tokenError: string | undefined;
  stop(): Promise<void>;
}

export async function startGitHub(): Promise<FakeGitHub> {
  const challenges = new Map<string, string>();
  const server = await listen(async (request, response) => {
    const url = new URL(request.url ?? '/', server.origin);
    const json = (body: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (url.pathname === '/login/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const code = `code-${challenges.size}`;
      challenges.set(code, url.searchParams.get('code_challenge') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    if (url.pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(await text(request));
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      if (github.tokenError) return json({ error: github.tokenError, error_description: 'no' });
      if (form.get('client_secret') !== 'github-secret') return json({ error: 'incorrect_client_credentials' });
      if (challenges.get(form.get('code') ?? '') !== challenge) return json({ error: 'bad_verification_code' });
      challenges.delete(form.get('code') ?? '');
      return json({ access_token: 'gho_token', token_type: 'bearer', scope: 'read:user' });
    }
    if (request.headers.authorization !== 'Bearer gho_token') return json({ message: 'Bad credentials' }, 401);
    if (url.pathname === '/user') return json(github.user);
    if (url.pathname === '/user/emails' && github.emails) return json(github.emails);
    json({ message: 'Resource not accessible' }, 403);
  });
  const github: FakeGitHub = {
    origin: server.origin,
    user: { id: 1, login: 'octocat' },
    emails: [],
    tokenError: undefined,
    stop: server.close,
  };
  return github;
}
