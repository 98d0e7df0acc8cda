import { readFileSync } from 'node:fs';
import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAssets } from '../../../src/base/http/pages/assets.ts';
import { startApp, type TestApp } from '../app.ts';

const style = readFileSync('dist/assets/people.css');
const url = createAssets({ dirs: ['dist/assets'] }).url('people.css');
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

function fetchRaw(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    // node:http sends the path as it is; fetch would tidy up the dots.
    http
      .get({ host: '127.0.0.1', port: app.port, path, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        });
      })
      .on('error', reject);
  });
}

describe('an asset', () => {
  it('is cached as immutable under a content hash', async () => {
    expect(url).toMatch(/^\/assets\/people\.[0-9a-f]{16}\.css$/);
    const asset = await fetchRaw(url);
    expect(asset.status).toBe(200);
    expect(asset.headers['content-type']).toBe('text/css; charset=utf-8');
    expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(asset.body).toEqual(style);
  });

  it('is compressed with Brotli or gzip for clients that accept it', async () => {
    const brotli = await fetchRaw(url, { 'accept-encoding': 'gzip, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body)).toEqual(style);
    const gzip = await fetchRaw(url, { 'accept-encoding': 'gzip' });
    expect(gunzipSync(gzip.body)).toEqual(style);
    expect(gzip.headers.vary).toContain('Accept-Encoding');
    expect(gzip.body.length).toBeLessThan(style.length / 2);
  });

  it('returns 304 for a matching ETag', async () => {
    const { etag } = (await fetchRaw(url)).headers;
    const again = await fetchRaw(url, { 'if-none-match': String(etag) });
    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
  });

  it('is served under the hash of another release, but not cached', async () => {
    const asset = await fetchRaw('/assets/people.0123456789abcdef.css');
    expect(asset.status).toBe(200);
    expect(asset.headers['cache-control']).toBe('no-store');
  });

  it.each([
    '/assets/../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..\\..\\package.json',
    '/assets/../layout.0123456789abcdef.eta',
    '/assets/nothing.0123456789abcdef.css',
    '/assets/people.css',
    '/assets/__proto__.0123456789abcdef.js',
    '/assets/',
  ])('is answered with 404 at %s', async (path) => {
    const answer = await fetchRaw(path, { accept: 'text/html' });
    expect(answer.status).toBe(404);
    expect(answer.body.toString()).not.toContain('dependencies');
  });

  it('is answered with 404 for POST', async () => {
    expect((await app.client.post(url, { form: {} })).status).toBe(404);
  });

  it('fails the start when it is missing', () => {
    expect(() => createAssets({ dirs: ['views/nowhere'] })).toThrow('ENOENT');
    expect(() => createAssets({ dirs: ['views/assets'], extra: { 'x.js': 'nowhere.js' } })).toThrow('ENOENT');
    expect(() => createAssets({ dirs: ['dist/assets'] }).url('typo.css')).toThrow('typo.css');
  });
});
