// The ports of the demo: those in the README, or free ones if they are in use.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns `preferred` if it is free, else another free port. */
export async function choosePort(preferred: number): Promise<number> {
  // "localhost" can be either address, and a browser may try the second one first.
  const isFree = (await portOf('127.0.0.1', preferred)) !== undefined && (await portOf('::1', preferred)) !== undefined;
  if (isFree) return preferred;
  const free = await portOf('127.0.0.1', 0);
  if (free === undefined) throw new Error('There is no free port on 127.0.0.1.');
  return free;
}

/** Returns a free port; on a machine without that address the port counts as free. */
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
