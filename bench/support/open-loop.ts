// Requests at a fixed rate, whether or not the answers have come: a slow answer delays no later request, as with people, and its whole delay
// counts (no coordinated omission). Over sockets of its own, because Node's client cannot send 10,000 a second beside anything else.
import { fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface OpenLoop {
  origin: string;
  path: string;
  /** Sent in turn, and again from the first one. */
  headers: readonly Record<string, string>[];
  perSecond: number;
  seconds: number;
  /** The generator has a core of its own, and never sleeps: a sleep of 1 ms takes up to 2, which would count as the server's. */
  hasCore?: boolean;
}

export interface Answers {
  /** Answers a second, from the first request to the last answer. */
  perSecond: number;
  /** How many of each status. */
  statuses: Record<string, number>;
  /** From the time at which each request was due, in ascending order. */
  ms: number[];
}

const SOCKETS = 64;

const CHILD = 'open-loop';

/** In a process of its own. */
export function openLoop(load: OpenLoop): Promise<Answers> {
  const child = fork(fileURLToPath(import.meta.url), [CHILD], { execArgv: ['--import', 'tsx'] });
  child.send(load);
  return new Promise((resolve, reject) => {
    child.once('message', (answers) => resolve(answers as Answers));
    child.once('exit', (code) => reject(new Error(`the generator ended with ${code}`)));
  });
}

/** The figure below which this part of the answers was. */
export const quantile = (ms: readonly number[], part: number): number =>
  ms[Math.min(ms.length - 1, Math.floor(ms.length * part))] ?? Number.NaN;

async function run({ origin, path, headers, perSecond, seconds, hasCore }: OpenLoop): Promise<Answers> {
  const { host, hostname, port } = new URL(origin);
  const requests = headers.map((one) => {
    const lines = Object.entries({ host, ...one }).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  });
  const ms: number[] = [];
  const statuses: Record<string, number> = {};
  const lanes = Array.from({ length: SOCKETS }, () =>
    lane(connect(Number(port), hostname), (status, due) => {
      ms.push(performance.now() - due);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }),
  );
  const begin = performance.now();
  const total = perSecond * seconds;
  let sent = 0;
  while (sent < total) {
    const due = Math.min(total, Math.floor(((performance.now() - begin) * perSecond) / 1000) + 1);
    for (; sent < due; sent += 1) {
      const [first, ...others] = lanes;
      let free = first;
      if (free?.waiting()) for (const one of others) if (one.waiting() < (free?.waiting() ?? 0)) free = one;
      lanes.push(...lanes.splice(0, 1));
      free?.send(requests[sent % requests.length] ?? '', begin + (sent * 1000) / perSecond);
    }
    await (hasCore ? setImmediate() : sleep(1));
  }
  while (ms.length < total && performance.now() - begin < (seconds + 60) * 1000) await sleep(1);
  const took = (performance.now() - begin) / 1000;
  for (const { end } of lanes) end();
  return { perSecond: ms.length / took, statuses, ms: ms.sort((one, other) => one - other) };
}

/** One connection: sends requests, and reads its answers, which come in the same order (RFC 9112 9.3.2). */
function lane(socket: Socket, onAnswer: (status: string, due: number) => void) {
  const waiting: number[] = [];
  let text = '';
  socket.setNoDelay().setEncoding('latin1');
  socket.on('data', (part: string) => {
    text += part;
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = text.slice(0, end);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (/\r\ntransfer-encoding:/i.test(head)) throw new Error(`an answer in chunks: ${head}`);
      if (text.length < end + 4 + length) return;
      text = text.slice(end + 4 + length);
      onAnswer(head.slice(9, 12), waiting.shift() ?? 0);
    }
  });
  return {
    waiting: () => waiting.length,
    send(request: string, due: number) {
      waiting.push(due);
      socket.write(request);
    },
    end: () => socket.destroy(),
  };
}

if (process.argv[2] === CHILD) {
  process.once('message', async (message) => {
    const load = message as OpenLoop;
    // On a core that it shares with the server, the generator waits, and its lateness counts as that of the answers.
    if (!load.hasCore) setPriority(19);
    process.send?.(await run(load), () => process.disconnect());
  });
}
