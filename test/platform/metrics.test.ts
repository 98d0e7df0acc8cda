import { expect, it } from 'vitest';
import { createMetrics } from '../../src/base/platform/metrics.ts';

it('metrics of two instances in one process do not mix', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.signIns.inc({ outcome: 'success', method: 'password' });
  one.requests.observe({ method: 'GET', route: '/healthz', status: '200' }, 0.004);
  const text = await one.render();
  expect(text).toContain('gatehouse_sign_ins_total{outcome="success",method="password"} 1');
  expect(text).toContain(
    'gatehouse_http_request_duration_seconds_bucket{le="0.005",method="GET",route="/healthz",status="200"} 1',
  );
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(await two.render()).not.toContain('method="password"');
  expect(one.contentType).toMatch(/^text\/plain/);
});
