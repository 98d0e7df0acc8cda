// Whether the ports of the configuration are free, before anything is changed.
import type { Config } from '../base/config.ts';
import { tryListening } from '../base/http/server.ts';

/** Rejects (EADDRINUSE, EACCES) when a port cannot be bound. */
export async function tryPorts({ host, port, metrics }: Config): Promise<void> {
  await tryListening({ host, port });
  if (metrics.listen) await tryListening(metrics.listen);
}
