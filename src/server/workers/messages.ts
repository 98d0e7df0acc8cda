// The messages between the primary process and its workers (node:cluster).
import type { Worker } from 'node:cluster';

export type ToWorker =
  /** The answer to `online`: start, as the worker of this number. The first worker of all announces the addresses. */
  | { type: 'start'; number: number; isFirst: boolean }
  /** The whole server stops. */
  | { type: 'stop' }
  /** Another worker has replaced this one. */
  | { type: 'retire' }
  /** Answer with the metrics of this worker. */
  | { type: 'metrics-request'; id: number }
  /** The metrics of all workers, which this one requested. */
  | { type: 'all-metrics'; id: number; text: string };

export type ToPrimary =
  /** The process can receive messages, and waits for `start`. */
  | { type: 'online' }
  /** The worker serves requests. */
  | { type: 'ready' }
  /** Print this box, with the first administrator that the worker created, when the log of the start is complete. */
  | { type: 'first-admin'; box: string }
  /** Each job of the worker has run once, and so has logged what it does at a start. */
  | { type: 'first-jobs' }
  | { type: 'all-metrics-request'; id: number }
  | { type: 'metrics'; id: number; text: string };

/** Sends a message; does nothing for a worker that has ended. */
export function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
