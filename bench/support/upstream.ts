// The least that an OpenID Connect upstream does: every browser is signed in as the same user. It runs in the process of the load,
// whose CPU time is not measured.
import { generateKeyPairSync } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { exportJWK, SignJWT } from 'jose';
import { type Listening, listen } from '../../test/support/listen.ts';

export const connection = {
  id: 'upstream',
  clientId: 'gatehouse',
  clientSecret: 'a-secret-of-the-upstream-for-the-bench',
};

export async function startUpstream(): Promise<Listening> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = 'bench';
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] };
  const claims = { sub: 'upstream-user', name: 'Uma Upstream', email: 'uma@upstream.example', email_verified: true };
  const server = await listen(async (request, response) => {
    const { origin } = server;
    const url = new URL(request.url ?? '/', origin);
    const json = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', url.searchParams.get('nonce') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/jwks') return void json(jwks);
    if (url.pathname === '/userinfo') return void json(claims);
    if (url.pathname !== '/token')
      return void json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        userinfo_endpoint: `${origin}/userinfo`,
        jwks_uri: `${origin}/jwks`,
      });
    const nonce = new URLSearchParams(await text(request)).get('code') ?? '';
    const idToken = await new SignJWT({ ...claims, nonce })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuer(origin)
      .setAudience(connection.clientId)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey);
    json({ access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: idToken });
  });
  return server;
}
