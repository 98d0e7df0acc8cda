// The data of the page that shows new recovery codes once, to be downloaded, printed or written down.
import type { Account } from '../../accounts/account.ts';

export interface RecoveryCodesPage {
  codes: string[];
  /** The codes as a text file, in a data URI. */
  downloadUri: string;
  username: string;
  host: string;
  /** The day on which they were made, for the printed list. */
  madeOn: string;
}

/** @param host the host of this server; `at`: the time now */
export function recoveryCodesPage(
  codes: string[],
  { username }: Pick<Account, 'username'>,
  host: string,
  at: Date,
): RecoveryCodesPage {
  const madeOn = at.toISOString().slice(0, 10);
  const text = [
    `Recovery codes for ${username} at ${host}, created ${madeOn}.`,
    'Each code works once. New codes replace these.',
    '',
    ...codes,
    '',
  ].join('\r\n');
  const downloadUri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  return { codes, downloadUri, username, host, madeOn };
}
