// TLS with a certificate of one's own: for a website, and for a proxy in front of this server.
import { generateKeyPairSync } from 'node:crypto';
import { request } from 'node:http';
import { selfSignedCertificate } from '../../src/core/keys/certificate.ts';
import { type Listening, listen } from './listen.ts';

export interface Tls {
  key: string | Buffer;
  cert: string;
}

/** Nobody signed it, so clients must be told to take it. */
export async function aCertificate(host: string): Promise<Tls> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const day = (days: number) => new Date(Date.now() + days * 86_400_000);
  const cert = await selfSignedCertificate({ ...keys, host, from: day(-1), until: day(2) });
  return { key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), cert };
}

/** A TLS proxy before a port of this machine, which says what such a proxy says. */
export function tlsProxy(tls: Tls, port: () => number): Promise<Listening> {
  return listen((incoming, outgoing) => {
    const headers = {
      ...incoming.headers,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': incoming.headers.host,
      'x-forwarded-for': incoming.socket.remoteAddress,
    };
    const { method, url } = incoming;
    const inner = request({ host: '127.0.0.1', port: port(), method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    inner.on('error', () => outgoing.destroy());
    incoming.pipe(inner);
  }, tls);
}
