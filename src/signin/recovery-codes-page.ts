// The page that shows recovery codes, this once, to be downloaded, printed or written down.
import type { Account } from '../accounts/account.ts';

export interface RecoveryCodesPage {
  codes: string[];
  /** The codes as a text file. */
  downloadUri: string;
  username: string;
  host: string;
  /** The day they were made, as paper ought to say. */
  madeOn: string;
}

export function recoveryCodesPage(codes: string[], account: Pick<Account, 'username'>, host: string, at: Date) {
  const madeOn = at.toISOString().slice(0, 10);
  const text = [
    `Recovery codes of ${account.username} at ${host}, made on ${madeOn}.`,
    'Each opens the account once. New codes make these void.',
    '',
    ...codes,
    '',
  ].join('\r\n');
  const downloadUri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  return { codes, downloadUri, username: account.username, host, madeOn } satisfies RecoveryCodesPage;
}
