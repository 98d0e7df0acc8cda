// A small OAuth 2.0 server with an API for the user and for groups, as Facebook and others have it.
import { createHmac } from 'node:crypto';
import { listen } from '../listen.ts';

export interface FakeApi {
  origin: string;
  user: Record<string, unknown>;
  groups: { status?: number; body: unknown; link?: string };
  /** With it the API demands `appsecret_proof` (Facebook). */
  proofSecret: string | undefined;
  stop(): Promise<void>;
}

const TOKEN = 'token-of-the-api';

export async function startApi(): Promise<FakeApi> {
  const server = await listen((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', server.origin);
    const json = (body: unknown, { status = 200, link }: { status?: number; link?: string | undefined } = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...(link && { link }) });
      response.end(JSON.stringify(body));
    };
    if (pathname === '/authorize') {
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'a-code');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    if (pathname === '/token') return json({ access_token: TOKEN, token_type: 'Bearer' });
    const { proofSecret } = api;
    const proof = proofSecret && createHmac('sha256', proofSecret).update(TOKEN).digest('hex');
    const isProven = proof === undefined || searchParams.get('appsecret_proof') === proof;
    if (request.headers.authorization !== `Bearer ${TOKEN}` || !isProven) return json({ error: {} }, { status: 400 });
    if (pathname === '/me') return json(api.user);
    return json(api.groups.body, { status: api.groups.status ?? 200, link: api.groups.link });
  });
  const api: FakeApi = {
    origin: server.origin,
    user: {},
    groups: { body: [] },
    proofSecret: undefined,
    stop: server.close,
  };
  return api;
}
