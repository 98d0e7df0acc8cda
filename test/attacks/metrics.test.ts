// /metrics tells how many users sign in and which errors the server has: it is closed unless the operator opens it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createMetrics } from '../../src/base/platform/metrics.ts';
import { createMetricsServer } from '../../src/server/start.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

const token = 'b7'.repeat(16);
const scrape = (url: string, authorization?: string) =>
  httpClient(url).get('/metrics', { headers: authorization === undefined ? {} : { authorization } });

describe('/metrics on the public port', () => {
  let withToken: TestIdp;
  beforeAll(async () => {
    withToken = await startIdp({ environment: { METRICS_TOKEN: token } });
  });
  afterAll(() => withToken?.stop());

  it('answers 404 by default, like every unknown path', async () => {
    const { issuer } = await sharedIdp();
    for (const authorization of [undefined, `Bearer ${token}`]) {
      const response = await scrape(issuer, authorization);
      expect(response.status).toBe(404);
      expect(response.text).not.toContain('gatehouse_');
    }
  });

  it('is served with METRICS_TOKEN, and only to those who send it', async () => {
    for (const wrong of [undefined, 'Bearer', `Bearer ${token}0`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
      const response = await scrape(withToken.issuer, wrong);
      expect(response.status).toBe(401);
      expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="metrics"/);
      expect(response.text).not.toContain('gatehouse_');
    }
    const response = await scrape(withToken.issuer, `Bearer ${token}`);
    expect(response.status).toBe(200);
    expect(response.headers['content-type']).toContain('text/plain');
    expect(response.text).toContain('gatehouse_http_request_duration_seconds');
    expect(withToken.log.join('')).not.toContain(token);
  });
});

describe('the listener of METRICS_PORT', () => {
  it('serves /metrics and nothing else, keeps it off the public port, and ends with the server', async () => {
    const port = await freePort();
    const idp = await startIdp({ environment: { METRICS_PORT: String(port), METRICS_TOKEN: token } });
    const url = `http://127.0.0.1:${port}`;
    try {
      expect((await scrape(idp.issuer, `Bearer ${token}`)).status).toBe(404);
      expect((await scrape(url)).status).toBe(401);
      const response = await scrape(url, `Bearer ${token}`);
      expect(response.status).toBe(200);
      expect(response.text).toContain('gatehouse_http_request_duration_seconds');
      for (const path of ['/', '/readyz', '/account', '/authorize', '/.well-known/openid-configuration'])
        expect((await httpClient(url).get(path)).status).toBe(404);
      expect((await httpClient(url).post('/metrics', { form: {} })).status).toBe(405);
    } finally {
      await idp.stop();
    }
    await expect(scrape(url, `Bearer ${token}`)).rejects.toThrow();
  });

  it('needs no token where none is set', async () => {
    const logger = createLogger({ level: 'silent', format: 'json' });
    const cookieKeys = { sign: () => '', verify: () => false, index: () => -1 };
    const server = createMetricsServer(
      { config: { metrics: {} }, logger } as never,
      { cookieKeys, metrics: createMetrics() } as never,
    );
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    expect((await scrape(`http://127.0.0.1:${port}`)).status).toBe(200);
    await server.drain({ seconds: 0 });
  });
});
