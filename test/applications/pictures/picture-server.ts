// A server that applications name in their logo_uri: good pictures, and others that must not be used.
import type { ServerResponse } from 'node:http';
import { aPng, aSvg } from '../../brand/pictures.ts';
import { type Listening, listen } from '../../support/listen.ts';

export interface PictureServer extends Listening {
  /** The path and the headers of each request, oldest first. */
  requests: { path: string; headers: Record<string, unknown> }[];
  /** How often this path was requested. */
  count(path: string): number;
  /** What /changing answers. */
  changing: { status: number; body: Buffer };
  /** Ends the requests of /slow, which get no answer. */
  endSlow(): void;
}

const HOSTILE_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8" onload="alert(1)"><script>alert(2)</script>' +
  '<rect width="8" height="8" fill="#aa0000" onclick="alert(3)"/></svg>';

export async function pictureServer(): Promise<PictureServer> {
  const requests: PictureServer['requests'] = [];
  const waiting: ServerResponse[] = [];
  const changing = { status: 200, body: aPng() };
  const server = await listen(async ({ url: path = '', headers }, response) => {
    requests.push({ path, headers });
    const answer = (type: string, body: string | Buffer) => response.writeHead(200, { 'content-type': type }).end(body);
    if (path.startsWith('/good')) return void answer('image/png', aPng({ after: Buffer.from('hidden data') }));
    if (path === '/drawing') return void answer('image/png', aSvg());
    if (path === '/hostile.svg') return void answer('image/svg+xml', HOSTILE_SVG);
    if (path === '/page') return void answer('image/png', '<!doctype html><script>alert(1)</script>');
    if (path === '/huge') return void answer('image/png', Buffer.alloc(3_000_000, 1));
    if (path === '/large') return void answer('image/png', aPng({ width: 5000, height: 1 }));
    if (path === '/private') return void response.writeHead(302, { location: 'http://10.0.0.1/logo.png' }).end();
    if (path === '/moved') return void response.writeHead(302, { location: '/good' }).end();
    if (path === '/changing') return void response.writeHead(changing.status).end(changing.body);
    if (path === '/slow') return void waiting.push(response);
    response.writeHead(404).end();
  });
  const endSlow = () => waiting.splice(0).forEach((response) => void response.destroy());
  return {
    ...server,
    requests,
    changing,
    endSlow,
    count: (wanted) => requests.filter(({ path }) => path === wanted).length,
  };
}
