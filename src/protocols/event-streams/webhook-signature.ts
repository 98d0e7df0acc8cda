// The secret of a webhook, and the signatures with it (Standard Webhooks 1.0).
import { createHmac, randomBytes } from 'node:crypto';

/** Bytes of a secret, in Base64 after this prefix. */
const SECRET = { prefix: 'whsec_', least: 24, most: 64, made: 32 };
export const newWebhookSecret = (): string => `${SECRET.prefix}${randomBytes(SECRET.made).toString('base64')}`;

export function isWebhookSecret(secret: string): boolean {
  const [, encoded = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(encoded, 'base64');
  return length >= SECRET.least && length <= SECRET.most;
}

/** The header `webhook-signature`: HMAC-SHA-256 over id, time and body under each secret. */
export function signatures(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  const one = (secret: string) => {
    const key = Buffer.from(secret.slice(SECRET.prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return secrets.map(one).join(' ');
}
