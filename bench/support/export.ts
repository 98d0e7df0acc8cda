// How an export streams: when it begins, how long it takes, and the longest pause between two of its pieces.
import http from 'node:http';
import { agent } from './load.ts';

export interface ExportFigures {
  firstByteMs: number;
  wholeMs: number;
  longestPauseMs: number;
  megabytes: number;
}

/** Reads the whole answer of a GET request and forgets it. Rejects when the status is not 200. */
export function readExport(url: string, cookie: string): Promise<ExportFigures> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const request = http.get(url, { agent, family: 4, headers: { cookie } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url} answered ${response.statusCode}`));
      let [firstByteMs, longestPauseMs, bytes, last] = [0, 0, 0, 0];
      response.on('data', (piece: Buffer) => {
        const at = performance.now();
        if (bytes === 0) firstByteMs = at - start;
        else longestPauseMs = Math.max(longestPauseMs, at - last);
        last = at;
        bytes += piece.length;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ firstByteMs, wholeMs: performance.now() - start, longestPauseMs, megabytes: bytes / 1e6 }),
      );
    });
    request.on('error', reject);
  });
}
