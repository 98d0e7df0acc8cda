// Whether the ports of the configuration are free, before anything is changed.
import type { Config } from '../config.ts';
import { tryListening } from '../http/server.ts';

/** Rejects (EADDRINUSE, EACCES) when a port cannot be bound. */
export async function tryPorts({ host, port, metrics }: Config): Promise<void> {
  await tryListening({ host, port });
  if (metrics.listen) await tryListening(metrics.listen);
}
