import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutgoingFetch, type OutgoingOptions } from '../../src/base/network/outgoing-fetch.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}

const loopback = { allowedNetworks: [], allowLoopback: true };
const outgoing = (options: Partial<OutgoingOptions> = {}) =>
  createOutgoingFetch({ rules: () => loopback, timeoutMs: 2000, maxBytes: 10_000, ...options });

describe('the guarded fetch', () => {
  it('posts a body and returns a standard Response', async () => {
    const { url } = await serve(async (request, response) => {
      const sent = Buffer.concat(await request.toArray()).toString();
      response.setHeader('set-cookie', ['a=1', 'b=2']).writeHead(201);
      response.end(`${request.method} ${request.headers['content-type']} ${sent}`);
    });
    const response = await outgoing()(url, { method: 'POST', body: new URLSearchParams({ logout_token: 'x' }) });
    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('POST application/x-www-form-urlencoded;charset=UTF-8 logout_token=x');
  });

  it('calls no server on a forbidden address, given as a number or as a name', async () => {
    let calls = 0;
    const { port } = await serve((_request, response) => {
      calls += 1;
      response.end();
    });
    const guarded = outgoing({ rules: () => ({ ...loopback, allowLoopback: false }) });
    for (const host of ['127.0.0.1', 'localhost', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '0.0.0.0', '[::]']) {
      await expect(guarded(`http://${host}:${port}/`), host).rejects.toMatchObject({ code: 'forbidden_address' });
    }
    expect(calls).toBe(0);
    for (const host of ['localhost', 'app.localhost']) {
      expect((await outgoing()(`http://${host}:${port}/`)).status).toBe(200);
    }
  });

  it('follows a redirect, but not to a forbidden address', async () => {
    const target = await serve((_request, response) => response.end('arrived'));
    const { url } = await serve((request, response) => {
      const host = request.url === '/good' ? '127.0.0.1' : '127.0.0.2';
      response.writeHead(302, { location: `http://${host}:${target.port}/` }).end();
    });
    const guarded = outgoing({ rules: () => ({ allowLoopback: false, allowedNetworks: ['127.0.0.1/32'] }) });
    expect(await (await guarded(`${url}/good`)).text()).toBe('arrived');
    await expect(guarded(`${url}/bad`)).rejects.toMatchObject({ code: 'forbidden_address' });
    const manual = await guarded(`${url}/bad`, { redirect: 'manual' });
    expect(manual.status).toBe(302);
    await expect(guarded(`${url}/good`, { redirect: 'error' })).rejects.toMatchObject({ code: 'redirects' });
    expect((await guarded(`${url}/good`, { method: 'POST', body: 'x' })).status).toBe(302);
  });

  it('rejects an answer in another protocol, which nobody asked for', async () => {
    const { url, server } = await serve(() => {});
    server.on('connection', (socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
    );
    await expect(outgoing()(url)).rejects.toMatchObject({ code: 'network' });
  });

  it('rejects a redirect loop, and a redirect to a URL of another scheme', async () => {
    const { url } = await serve((request, response) => {
      response.writeHead(302, { location: request.url === '/loop' ? '/loop' : 'file:///etc/passwd' }).end();
    });
    await expect(outgoing()(`${url}/loop`)).rejects.toMatchObject({ code: 'redirects' });
    await expect(outgoing()(`${url}/file`)).rejects.toMatchObject({ code: 'forbidden_url' });
  });

  it('sends no credentials to another origin after a redirect', async () => {
    let received: string | undefined = 'nothing';
    const target = await serve((request, response) => {
      received = request.headers.authorization;
      response.end();
    });
    const { url } = await serve((_request, response) => response.writeHead(307, { location: target.url }).end());
    await outgoing()(url, { headers: { authorization: 'Bearer secret' } });
    expect(received).toBeUndefined();
  });

  it.each<[string, RequestInit, string[]]>([
    ['a token', { headers: { authorization: 'Bearer to"ken-of-the-api' } }, ['to"ken-of-the-api']],
    ['a token of another scheme', { headers: { authorization: 'Splunk 0123-4567' } }, ['0123-4567']],
    ['a whole header', { headers: { authorization: '0123-4567-89' } }, ['0123-4567-89']],
    [
      'a password',
      { headers: { authorization: `Basic ${btoa('app:pass-word')}` } },
      ['pass-word', btoa('app:pass-word')],
    ],
    [
      'a client secret',
      { method: 'POST', body: new URLSearchParams({ client_secret: 'se cret/text' }) },
      ['se cret/text'],
    ],
  ])('returns no answer that repeats %s', async (_name, init, secrets) => {
    const { url } = await serve((request, response) => {
      const forms = secrets.flatMap((one) => [one, JSON.stringify(one), encodeURIComponent(one)]);
      response.writeHead(Number(request.url?.slice(1))).end(`I got é ${forms.join(' ')}.`);
    });
    for (const status of [200, 401]) {
      const text = await (await outgoing()(`${url}/${status}`, init)).text();
      expect(text).toMatch(/^I got é [ "…]+\.$/);
    }
    expect(await (await outgoing()(`${url}/401`)).text()).toContain(secrets[0]);
  });

  it('does not name an encoding, which could be a credential that it was sent', async () => {
    const { url } = await serve((request, response) =>
      response.setHeader('content-encoding', request.headers.authorization ?? '').end('x'),
    );
    const call = outgoing()(url, { headers: { authorization: 'Bearer secret-token' } });
    await expect(call).rejects.toThrow(/^(?!.*secret-token)/);
  });

  it('rejects a response above the size limit, with and without Content-Length', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 10_001);
      response.write('x'.repeat(10_000));
      response.end('x');
    });
    await expect(outgoing()(`${url}/announced`)).rejects.toMatchObject({ code: 'too_large' });
    await expect(outgoing()(`${url}/chunked`)).rejects.toMatchObject({ code: 'too_large' });
    expect((await outgoing({ maxBytes: 10_001 })(`${url}/chunked`)).status).toBe(200);
  });

  it('rejects a compressed response, which could unpack to any size', async () => {
    const { url } = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end('x'));
    await expect(outgoing()(url)).rejects.toMatchObject({ code: 'network' });
  });

  it.each(['silent', 'unfinished'])('stops waiting for a %s response after the time limit', async (kind) => {
    const { url } = await serve((_request, response) => {
      if (kind === 'unfinished') response.write('x');
    });
    await expect(outgoing({ timeoutMs: 200 })(url)).rejects.toMatchObject({ code: 'timeout' });
  });

  it('uses an idle connection again, but not under other rules, nor after a response that it did not read', async () => {
    let connections = 0;
    const { url, server } = await serve((request, response) =>
      response.end(request.url === '/long' ? 'x'.repeat(20_000) : 'ok'),
    );
    server.on('connection', () => {
      connections += 1;
    });
    let rules = loopback;
    const guarded = outgoing({ rules: () => rules });
    expect(await (await guarded(url, { method: 'POST', body: 'a=1' })).text()).toBe('ok');
    expect(await (await guarded(url)).text()).toBe('ok');
    expect(connections).toBe(1);
    rules = { allowedNetworks: [], allowLoopback: true };
    await guarded(url);
    expect(connections).toBe(2);
    await expect(guarded(`${url}/long`)).rejects.toMatchObject({ code: 'too_large' });
    await guarded(url);
    expect(connections).toBe(3);
    rules = { ...loopback, allowLoopback: false };
    await expect(guarded(url)).rejects.toMatchObject({ code: 'forbidden_address' });
  });

  it('sends a GET once more when the server closes the idle connection, and no POST', async () => {
    let requests = 0;
    const { url } = await serve((request, response) => {
      requests += 1;
      if (requests % 2 === 0) request.socket.destroy();
      else response.end('ok');
    });
    const guarded = outgoing();
    await guarded(url);
    expect(await (await guarded(url)).text()).toBe('ok');
    expect(requests).toBe(3);
    await expect(guarded(url, { method: 'POST', body: 'a=1' })).rejects.toMatchObject({ code: 'network' });
    expect(requests).toBe(4);
  });

  it('aborts with the signal of its caller', async () => {
    const { url } = await serve(() => {});
    const reason = new Error('enough');
    const controller = new AbortController();
    const call = outgoing()(url, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(call).rejects.toBe(reason);
  });

  it('names the host that it could not reach', async () => {
    const { url } = await serve(() => {});
    servers.splice(0).map((server) => server.close());
    await expect(outgoing()(url)).rejects.toThrow(new RegExp(`${url} could not be reached: .*ECONNREFUSED`));
    await expect(outgoing()('https://does-not-exist.invalid/')).rejects.toMatchObject({ code: 'network' });
  });
});
