// Where the demo listens: the ports that the README names, or free ones where those are taken.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** `preferred` when nothing listens there yet, else a free port. */
export async function choosePort(preferred: number): Promise<number> {
  // "localhost" means either address, and a browser may try the second one first.
  const isFree = (await portOf('127.0.0.1', preferred)) !== undefined && (await portOf('::1', preferred)) !== undefined;
  if (isFree) return preferred;
  const free = await portOf('127.0.0.1', 0);
  if (free === undefined) throw new Error('There is no free port on 127.0.0.1.');
  return free;
}

/** The port that was found free; a machine without that address has nothing that listens on it. */
async function portOf(host: string, port: number): Promise<number | undefined> {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' ? port : undefined;
  }
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return address !== null && typeof address === 'object' ? address.port : undefined;
}
