// Two nodes of Gatehouse on one PostgreSQL, behind a load balancer that leads each new connection to the next node which takes it.
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { postgresProcess } from '../faults/postgres-process.ts';
import { type ServerProcess, serverProcess } from '../robustness/support.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { freePort } from './programs.ts';

export interface TwoNodes extends Gatehouse {
  /** Starts the other node, as a process of its own that can be killed. */
  startOther(): Promise<ServerProcess>;
  /** From now on these nodes get the connections: `own` is in this process. */
  use(...nodes: ('own' | 'other')[]): void;
}

export async function startTwoNodes(): Promise<TwoNodes> {
  const postgres = await postgresProcess();
  await postgres.start();
  const [front, port, otherPort] = [await freePort(), await freePort(), await freePort()];
  const ports = { own: port, other: otherPort };
  let used = [port];
  let turn = 0;
  const open = new Set<Socket>();
  const balancer = createServer((incoming) => {
    open.add(incoming);
    incoming.on('error', () => incoming.destroy()).on('close', () => open.delete(incoming));
    turn += 1;
    lead(incoming, [...used.slice(turn % used.length), ...used.slice(0, turn % used.length)]);
  });
  await new Promise<void>((resolve) => balancer.listen(front, '127.0.0.2', resolve));

  const shared = {
    ISSUER: `http://127.0.0.2:${front}`,
    DATABASE_URL: postgres.url(postgres.port),
    GATEHOUSE_SECRET: randomBytes(32).toString('base64url'),
  };
  const gatehouse = await startGatehouse('127.0.0.1', 'http', { ...shared, PORT: String(port) });
  const { dataDir } = gatehouse.services.config;
  return {
    ...gatehouse,
    startOther: () => serverProcess({ ...shared, HOST: '127.0.0.1', PORT: String(otherPort), DATA_DIR: dataDir }),
    use(...nodes) {
      used = nodes.map((node) => ports[node]);
      // Open connections would still lead to another node.
      for (const socket of open) socket.destroy();
    },
    async stop() {
      await gatehouse.stop();
      for (const socket of open) socket.destroy();
      balancer.close();
      await postgres.remove();
    },
  };
}

/** To the first of these ports that takes the connection. */
function lead(incoming: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) return void incoming.destroy();
  const outgoing = connect(port, '127.0.0.1');
  let isConnected = false;
  outgoing.once('connect', () => {
    isConnected = true;
    incoming.pipe(outgoing).pipe(incoming);
  });
  outgoing.on('error', () => (isConnected ? incoming.destroy() : lead(incoming, others)));
  outgoing.on('close', () => isConnected && incoming.destroy());
  incoming.on('close', () => outgoing.destroy());
}
