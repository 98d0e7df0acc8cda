// The result of one check of `gatehouse doctor`, and how it is printed.

import { plural } from '../../base/platform/plural.ts';

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

export function findingLines(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  return [
    ...findings.flatMap(({ check, status, message, advice }) => [
      `${labels[status]}  ${check.padEnd(width)}  ${message}`,
      ...(advice !== undefined && status !== 'ok' ? [`${' '.repeat(width + 11)}${advice}`] : []),
    ]),
    '',
    `${count('failure')} failed, ${plural(count('warning'), 'warning')}, ${count('ok')} passed`,
  ];
}
