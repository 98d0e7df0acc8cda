// The result of one check of `gatehouse doctor`, and how it is printed.

import { plural } from '../../base/platform/plural.ts';
import { type Io, plain } from '../io.ts';

export type Finding = {
  check: string;
  status: 'ok' | 'warning' | 'failure';
  message: string;
  /** What to do. */
  advice?: string;
};

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message });
export const warning = (check: string, message: string, advice?: string): Finding => ({
  check,
  status: 'warning',
  message,
  ...(advice === undefined ? {} : { advice }),
});
export const failure = (check: string, message: string, advice?: string): Finding => ({
  check,
  status: 'failure',
  message,
  ...(advice === undefined ? {} : { advice }),
});

const labels = { ok: 'ok     ', warning: 'WARNING', failure: 'FAILED ' };

export function printFindings(findings: readonly Finding[], io: Io): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, message, advice } of findings) {
    io.out(`${labels[status]}  ${check.padEnd(width)}  ${plain(message)}`);
    if (advice !== undefined && status !== 'ok') io.out(`${' '.repeat(width + 11)}${plain(advice)}`);
  }
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  io.out('');
  io.out(`${count('failure')} failed, ${plural(count('warning'), 'warning')}, ${count('ok')} passed`);
}
