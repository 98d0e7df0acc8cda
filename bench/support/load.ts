// The load: plain requests over persistent connections, a few at a time. It shares the machine with the server, so
// the server's CPU time is measured and not its requests per second.
import http from 'node:http';

export interface Answer {
  status: number;
  location: string;
  /** `name=value` of each cookie that is set. */
  cookies: string[];
  text: string;
}

/** Persistent connections, as browsers and applications use them. */
export const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/** One request; a form makes it a POST, and JSON too, unless the method is given. Any other than the expected status is an error, so that a failure does not count as fast. */
export function send(
  url: string,
  {
    headers = {},
    form,
    json,
    method = form || json ? 'POST' : 'GET',
    expect = 200,
  }: {
    headers?: Record<string, string>;
    form?: Record<string, string>;
    json?: object;
    method?: string;
    expect?: number;
  },
): Promise<Answer> {
  const body = form ? new URLSearchParams(form).toString() : json && JSON.stringify(json);
  const kind = form ? 'x-www-form-urlencoded' : 'json';
  const type = body ? { 'content-type': `application/${kind}`, 'content-length': String(Buffer.byteLength(body)) } : {};
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent, family: 4, method, headers: { ...type, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const answer = {
          status: response.statusCode ?? 0,
          location: response.headers.location ?? '',
          cookies: (response.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? ''),
          text: Buffer.concat(chunks).toString(),
        };
        if (answer.status === expect) resolve(answer);
        else reject(new Error(`${url} answered ${answer.status}: ${answer.text.slice(0, 300)} ${answer.location}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Runs the operation the given number of times, `workers` in parallel; each worker has its own operation (and its own state). */
export async function repeat(operations: readonly (() => Promise<unknown>)[], times: number): Promise<void> {
  let left = times;
  await Promise.all(
    operations.map(async (operation) => {
      while (left > 0) {
        left -= 1;
        await operation();
      }
    }),
  );
}

export function closeConnections(): void {
  agent.destroy();
}
