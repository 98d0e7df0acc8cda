// A relying party on openid-client, with sessions of its own; it verifies logout tokens itself.
import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { OidcClientInput } from '../../../src/applications/fields/oidc-client.ts';
import { relyingParty } from '../../support/applications/rp.ts';
import { aClient } from '../../support/factories.ts';
import { type App, type Held, type Idp, page } from './app.ts';
import { type AppAnswer, type AppRequest, appServer } from './app-server.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** openid-client; is notified of logouts by back channel, by front channel, or not at all. `parameters` are of its requests, `fields` of its registration. */
export async function oidcApp(
  idp: Idp,
  channel: 'back' | 'front' | 'none',
  name: string,
  parameters: Record<string, string> = {},
  fields: Partial<OidcClientInput> = {},
): Promise<App> {
  const held = new Map<string, Held>();
  const heard: string[] = [];
  const started = new Map<string, Awaited<ReturnType<typeof rp.start>>>();
  const end = (matches: (session: Held) => boolean) => {
    for (const [id, session] of held) if (matches(session)) held.delete(id);
  };

  async function answer({ method, url, form, cookie }: AppRequest): Promise<AppAnswer> {
    const session = held.get(cookie ?? '');
    switch (`${method} ${url.pathname}`) {
      case 'GET /sign-in': {
        const start = await rp.start(parameters);
        started.set(start.checks.expectedState, start);
        return { redirect: start.url };
      }
      case 'GET /cb': {
        const start = started.get(url.searchParams.get('state') ?? '');
        if (!start) return { status: 400 };
        const tokens = await rp.finish(url, start);
        const id = randomUUID();
        const claims = tokens.claims();
        const [sid, acr] = [String(claims?.sid), String(claims?.acr)];
        held.set(id, { sid, idToken: tokens.id_token, sub: claims?.sub, acr });
        return { redirect: '/', cookie: id };
      }
      case 'GET /sign-out':
        held.delete(cookie ?? '');
        return {
          redirect: rp.endSessionUrl({
            ...(session?.idToken && { id_token_hint: session.idToken }),
            post_logout_redirect_uri: `${server.origin}/`,
            state: 'from-app',
          }),
          cookie: '',
        };
      case 'POST /backchannel': {
        const keys = createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
        const options = { issuer: idp.issuer, audience: client.clientId, typ: 'logout+jwt' };
        const { payload } = await jwtVerify(form.logout_token ?? '', keys, options);
        if (!(EVENT in (payload.events as object))) return { status: 400 };
        heard.push('back');
        end(({ sid }) => sid === payload.sid);
        return {};
      }
      case 'GET /frontchannel':
        if (url.searchParams.get('iss') !== idp.issuer) return { status: 400 };
        heard.push('front');
        end(({ sid }) => sid === url.searchParams.get('sid'));
        return { html: 'done' };
      default:
        return page(name, session);
    }
  }

  const server = await appServer(answer);
  const client = await aClient(idp.services, {
    client_name: name,
    redirect_uris: [`${server.origin}/cb`],
    post_logout_redirect_uris: [`${server.origin}/`],
    ...(channel === 'back' && {
      backchannel_logout_uri: `${server.origin}/backchannel`,
      backchannel_logout_session_required: true,
    }),
    ...(channel === 'front' && { frontchannel_logout_uri: `${server.origin}/frontchannel` }),
    ...fields,
  });
  const rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri: `${server.origin}/cb` });
  return { ...server, name, clientId: client.clientId, heard, answers: [], sessions: () => held.size };
}
