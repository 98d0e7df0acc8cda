// Registrations of OpenID Connect clients with keys of their own, also invalid ones.
import { generateKeyPairSync } from 'node:crypto';
import { signRows } from '../database/row-macs.ts';
import { aClient } from '../factories.ts';
import type { TestIdp } from '../idp.ts';

export const REDIRECT = 'https://app.example.com/cb';
export const rsa = (modulusLength = 2048) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' });
export const ec = (namedCurve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
export const ed = () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
/** A key with every member that a set may have beside it. */
export const good = { ...rsa(), kid: 'a', use: 'sig', alg: 'RS256' };

export const payroll = ({ services }: TestIdp, input: Parameters<typeof aClient>[1] = {}) =>
  aClient(services, { client_name: 'Payroll', redirect_uris: [REDIRECT], ...input });

/** A client whose row has these fields, whatever is wrong with them. */
export async function storedClient(
  idp: TestIdp,
  metadata: object,
): Promise<{ clientId: string; applicationId: string }> {
  const { clientId, applicationId } = await payroll(idp);
  const { db } = idp.services;
  const row = await db.asStored.application.findUniqueOrThrow({ where: { id: applicationId } });
  const changed = JSON.stringify({ ...JSON.parse(row.metadata), ...metadata });
  await db.asStored.application.update({ where: { id: applicationId }, data: { metadata: changed, mac: '' } });
  await signRows(idp.services);
  return { clientId, applicationId };
}

/** The address of an authorization request. */
export const startOf = (clientId: string) =>
  `/authorize?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
  })}`;
