// The worker thread of ../worker.ts: loads the module of its task, and sends back the result or the error of each task.
import { parentPort, workerData } from 'node:worker_threads';

if (workerData.endsWith('.ts')) (await import('tsx/esm/api')).register();
const { perform } = await import(workerData);

parentPort?.on('message', async ({ id, task }) => {
  try {
    parentPort?.postMessage({ id, result: await perform(task) });
  } catch (error) {
    parentPort?.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
