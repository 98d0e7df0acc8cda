import { createRemoteJWKSet, jwtVerify } from 'jose';

const issuer = 'https://id.example.com';
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
const audience = 'https://wiki.example.com';

export async function userOf(jwt) {
  const options = { issuer, audience, typ: 'gatehouse-website+jwt', algorithms: ['ES256'], requiredClaims: ['exp'] };
  return (await jwtVerify(jwt, keys, options)).payload;
}
