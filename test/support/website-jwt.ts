// The signed statement for a website (X-Gatehouse-Jwt) before the verifiers of examples/websites/verify: one that is genuine, and those
// that a verifier must reject. A verifier runs as a program of its own that reads the statements from its input.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import {
  base64url,
  decodeJwt,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { WEBSITE_JWT_TYPE } from '../../src/protocols/forward-auth/user-headers.ts';
import type { Services } from '../../src/server/services.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aUser } from './factories.ts';
import { httpClient } from './http.ts';
import { website } from './website.ts';

type Server = { issuer: string; services: Services };

/** The statements for one website by what they are; `genuine` alone is one. */
export async function websiteJwts({ issuer, services }: Server) {
  const site = await website('caddy', () => issuer, ['Remote-User', 'X-Gatehouse-Jwt']);
  try {
    const { origin } = site;
    await services.applications.createProxied({ name: 'Wiki', url: origin, proxy: 'caddy' });
    const user = await aUser(services);
    const browser = httpClient();
    const callback = await completeSignIn(browser, origin, { user, redirectUri: `${origin}/.gatehouse/` });
    const page = await browser.follow(callback);
    const genuine = page.json<{ headers: Record<string, string> }>().headers['x-gatehouse-jwt'] ?? '';
    return { origin, sub: user.account.id, genuine, rejected: await rejectedJwts(services, genuine) };
  } finally {
    await site.close();
  }
}

async function rejectedJwts({ keyring }: Services, genuine: string): Promise<Record<string, string>> {
  const keys = keyring.jwks().keys;
  const own = keys.find(({ alg }) => alg === 'ES256');
  const rsa = keys.find(({ alg }) => alg === 'RS256');
  if (!own || !rsa) throw new Error('the server has keys for ES256 and RS256');
  const key = await importJWK(own as Parameters<typeof importJWK>[0], 'ES256');
  const rsaKey = await importJWK(rsa as Parameters<typeof importJWK>[0], 'RS256');
  const { d: _secret, ...publicJwk } = own as Parameters<typeof importJWK>[0] & { d?: string };
  const publicPem = await exportSPKI((await importJWK(publicJwk, 'ES256', { extractable: true })) as CryptoKey);
  const stranger = await generateKeyPair('ES256');
  const claims = decodeJwt(genuine);
  const { exp: _end, ...endless } = claims;
  const signed = (
    payload: JWTPayload,
    header: Record<string, unknown> = {},
    signingKey: Parameters<SignJWT['sign']>[0] = key,
  ) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', kid: own.kid, typ: WEBSITE_JWT_TYPE, ...header })
      .sign(signingKey);
  const [head, , signature] = genuine.split('.');
  return {
    'for another website': await signed({ ...claims, aud: 'https://other.example.com' }),
    'for nobody': await signed({ ...claims, aud: undefined }),
    'of another issuer': await signed({ ...claims, iss: 'https://other.example.com' }),
    expired: await signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 3600 }),
    'without an end': await signed(endless),
    'another kind of token': await signed(claims, { typ: 'at+jwt' }),
    'no kind of token': await signed(claims, { typ: undefined }),
    'signed by a stranger': await signed(claims, {}, stranger.privateKey),
    'signed with another algorithm of the server': await signed(claims, { alg: 'RS256', kid: rsa.kid }, rsaKey),
    'signed with the public key as a secret': await signed(
      claims,
      { alg: 'HS256' },
      new TextEncoder().encode(publicPem),
    ),
    'not signed': new UnsecuredJWT(claims).encode(),
    changed: [head, base64url.encode(JSON.stringify({ ...claims, sub: 'another' })), signature].join('.'),
    empty: '',
  };
}

/** A language: its example, and what makes a program of it that prints `sub`, or `null` for what it rejects, as a JSON array. */
export interface Language {
  file: string;
  main: { file: string; text: string };
  command: string;
  args: string[];
}

export const node: Language = {
  file: 'website.mjs',
  main: {
    file: 'main.mjs',
    text: `import { text } from 'node:stream/consumers';
import { userOf } from './website.mjs';
const subs = JSON.parse(await text(process.stdin)).map((jwt) => userOf(jwt).then(({ sub }) => sub, () => null));
console.log(JSON.stringify(await Promise.all(subs)));
`,
  },
  command: process.execPath,
  args: ['main.mjs'],
};

/** What the example of the language finds in each statement, with the addresses of this server and website in it. */
export async function subjectsOf(
  { file, main, command, args }: Language,
  folder: string,
  { issuer, origin }: { issuer: string; origin: string },
  statements: readonly string[],
): Promise<(string | null)[]> {
  const example = readFileSync(path.join('examples/websites/verify', file), 'utf8');
  writeFileSync(
    path.join(folder, file),
    example.replaceAll('https://id.example.com', issuer).replaceAll('https://wiki.example.com', origin),
  );
  mkdirSync(path.dirname(path.join(folder, main.file)), { recursive: true });
  writeFileSync(path.join(folder, main.file), main.text);
  const child = execFile(command, args, { cwd: folder });
  const ended = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  child.stdin?.end(JSON.stringify(statements));
  if (!child.stdout || !child.stderr) throw new Error(`${command} did not start`);
  const [found, faults] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await ended) !== 0) throw new Error(`${command} failed:\n${faults}`);
  return JSON.parse(found) as (string | null)[];
}
