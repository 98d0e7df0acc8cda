// A server that accepts connections and then behaves as one that hangs, breaks, or never ends does.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export const faults = ['silent', 'reset', 'refused', 'drips', 'endless'] as const;
export type Fault = (typeof faults)[number];

export interface FaultyServer {
  origin: string;
  port: number;
  /** How many connections are open. */
  open(): number;
  close(): Promise<void>;
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
/** Between two bytes: shorter than any limit between two parts of an answer. */
const DRIP_MS = 100;

/** @param head what `drips` and `endless` send before their bytes; by default the head of an HTTP response */
export async function faultyServer(fault: Fault, head = HEAD): Promise<FaultyServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (fault === 'silent') socket.on('end', () => socket.destroy());
    socket.once('data', () => {
      if (fault === 'reset') socket.resetAndDestroy();
      else if (fault === 'drips') drip(socket, head);
      else if (fault === 'endless') flood(socket, head);
    });
    if (head !== HEAD && fault === 'reset') socket.resetAndDestroy();
    else if (head !== HEAD && fault === 'drips') drip(socket, head);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  if (fault === 'refused') await close();
  return { origin: `http://127.0.0.1:${port}`, port, open: () => sockets.size, close };
}

function drip(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(' '), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

function flood(socket: Socket, head: string): void {
  const part = Buffer.alloc(64 * 1024, ' ');
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(part));
  };
  socket.on('drain', more);
  more();
}
