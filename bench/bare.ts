// The baseline: oidc-provider alone, with its in-memory adapter. A separate process, started by support/target.ts.
// Every browser is signed in as `alice` and consents, without a page or a password.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { type JWK, Provider } from '../src/protocols/oidc/engine/library.ts';
import { around, storage } from './support/parts.ts';

const { ORIGIN: origin = '', CLIENT = '{}', PARTS = '', FILE = '' } = process.env;
const parts = new Set(PARTS.split(','));
const { id, secret, redirectUri } = JSON.parse(CLIENT);

const key = (alg: 'RS256' | 'ES256'): JWK => {
  const { privateKey } =
    alg === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig' } as JWK;
};

const person = { sub: 'alice', name: 'Alice Example', email: 'alice@example.com', email_verified: true };
const provider = new Provider(origin, {
  ...(parts.has('storage') && { adapter: storage(FILE, parts) }),
  clients: [
    {
      client_id: id,
      client_secret: secret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
  ],
  jwks: { keys: [key('RS256'), key('ES256')] },
  routes: { authorization: '/authorize', introspection: '/introspect', userinfo: '/userinfo' },
  cookies: { keys: ['a', 'b'] },
  claims: { profile: ['name'], email: ['email', 'email_verified'] },
  conformIdTokenClaims: false,
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async (_ctx, _client, code) => code.scopes.has('offline_access'),
  interactions: { url: (_ctx, interaction) => `/signin/${interaction.uid}` },
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => person }),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
  },
});

around(provider, FILE, parts);
const answer = provider.callback();
createServer(async (request, response) => {
  if (!request.url?.startsWith('/signin/')) return void (await answer(request, response));
  const grant = new provider.Grant({ accountId: 'alice', clientId: id });
  grant.addOIDCScope('openid profile email offline_access');
  const result = { login: { accountId: 'alice' }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result);
}).listen(Number(new URL(origin).port), '127.0.0.1');

process.on('SIGTERM', () => process.exit(0));
