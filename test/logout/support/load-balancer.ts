// One public address for several instances, as behind a load balancer; the test chooses which one answers.
import { connect, createServer, type Socket } from 'node:net';
import { freePort, startIdp, type TestIdp, type TestIdpOptions } from '../../support/idp.ts';

export interface LoadBalancer {
  /** The first instance is there already. */
  instances: TestIdp[];
  /** Starts another instance on the same data. */
  another(): Promise<TestIdp>;
  /** From now on this instance answers; undefined: none does. */
  use(instance: TestIdp | undefined): void;
  close(): Promise<void>;
}

export async function loadBalancer(options: TestIdpOptions = {}): Promise<LoadBalancer> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let target: number | undefined;
  const front = createServer((incoming) => {
    if (target === undefined) return void incoming.destroy();
    const outgoing = connect(target, '127.0.0.1');
    for (const [socket, peer] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(socket);
      // An instance that is killed resets its connections, and its clients must notice.
      socket.on('error', () => peer.destroy()).on('close', () => sockets.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  }).listen(port, '127.0.0.1');

  const instances: TestIdp[] = [];
  async function start(environment: Record<string, string>): Promise<TestIdp> {
    const instance = await startIdp({
      ...options,
      environment: { ...options.environment, ...environment, ISSUER: `http://localhost:${port}` },
    });
    instances.push(instance);
    return instance;
  }
  const first = await start({});
  target = first.port;

  return {
    instances,
    another: () =>
      start({ DATABASE_URL: first.environment.DATABASE_URL ?? '', DATA_DIR: first.environment.DATA_DIR ?? '' }),
    use(instance) {
      target = instance?.port;
      // Open connections would still lead to the other instance.
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      await Promise.all(instances.map((instance) => instance.stop().catch(() => undefined)));
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => front.close(resolve));
    },
  };
}
