// A TCP proxy in front of a database. It can go silent on the connections that it has, as a firewall that forgot them or the old
// address after a failover does: no data, no end and no error in either direction.
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TcpProxy {
  port: number;
  /** The connections of now never carry a byte again; new ones work. */
  silenceConnections(): void;
  /** New connections are accepted and silent too, until `serve`. */
  silenceAll(): void;
  /** New connections become silent when the database has accepted the login, until `serve`: a pooler in front of a database that is away. */
  silenceAfterLogin(): void;
  /** All connections end, and new ones are refused, until `serve`. */
  refuse(): Promise<void>;
  /** The connections of now are reset, with what they carry. */
  resetConnections(): void;
  /** What the database sends arrives so many milliseconds later. */
  delay(ms: number): void;
  /** What the database sends arrives in single bytes, with so many milliseconds between them; 0: as it comes. */
  drip(ms: number): void;
  /** New connections work. */
  serve(): Promise<void>;
  close(): Promise<void>;
}

/** A message of PostgreSQL, which ends the login. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05', 'latin1');

export async function tcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<{ near: Socket; far: Socket }>();
  let isSilent = false;
  let isSilentAfterLogin = false;
  let delayMs = 0;
  let dripMs = 0;
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    const pair = { near, far };
    pairs.add(pair);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.once('close', () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
    if (isSilent) silence(pair);
    else {
      near.pipe(far);
      far.pipe(isSilentAfterLogin ? untilReady() : delayed()).pipe(near);
    }
  });
  const delayed = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (dripMs > 0) void drop(this, chunk).then(() => done());
        else if (delayMs === 0) done(null, chunk);
        else setTimeout(() => done(null, chunk), delayMs);
      },
    });
  const untilReady = () => {
    let isReady = false;
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (!isReady) this.push(chunk);
        isReady ||= chunk.includes(READY_FOR_QUERY);
        done();
      },
    });
  };
  const drop = async (to: Transform, chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += 1) {
      if (dripMs === 0) return void to.push(chunk.subarray(at));
      to.push(chunk.subarray(at, at + 1));
      await sleep(dripMs);
    }
  };
  const silence = ({ near, far }: { near: Socket; far: Socket }) => {
    near.unpipe(far).pause();
    far.unpipe().pause();
  };
  const silenceConnections = () => {
    for (const pair of pairs) silence(pair);
  };
  const endAll = () => {
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stopListening = () =>
    new Promise<void>((resolve) => {
      if (server.listening) server.close(() => resolve());
      else resolve();
      endAll();
    });
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    port,
    silenceConnections,
    silenceAll() {
      isSilent = true;
      silenceConnections();
    },
    silenceAfterLogin() {
      isSilentAfterLogin = true;
    },
    refuse: stopListening,
    resetConnections() {
      for (const { near, far } of pairs) {
        near.resetAndDestroy();
        far.destroy();
      }
    },
    delay(ms) {
      delayMs = ms;
    },
    drip(ms) {
      dripMs = ms;
    },
    async serve() {
      isSilent = false;
      isSilentAfterLogin = false;
      if (!server.listening) await listen(port);
    },
    close: stopListening,
  };
}
