// The data of the page that shows new recovery codes once, to be downloaded, printed or written down.

import type { Account } from '../../accounts/account.ts';
import type { State } from '../../http/context.ts';
import { t } from '../../texts/text.ts';

export interface RecoveryCodesPage {
  codes: string[];
  /** The codes as a text file, in a data URI. */
  downloadUri: string;
  username: string;
  service: string;
  /** Of this server. */
  address: string;
  /** The day on which they were made, for the printed list. */
  madeOn: string;
}

/** The server that the codes are for. */
export interface CodesServer {
  address: string;
  brandName(): string | undefined;
}

/** @param at the time now; `inWords`: in the language of the page */
export function recoveryCodesPage(
  codes: string[],
  { username }: Pick<Account, 'username'>,
  { address, brandName }: CodesServer,
  at: Date,
  inWords: State['inWords'],
): RecoveryCodesPage {
  const madeOn = at.toISOString().slice(0, 10);
  const service = brandName() || 'Gatehouse';
  const of = t('recovery-codes.file', { user: username, service, address, date: madeOn });
  const head = [of, t('recovery-codes.file-hint')];
  const text = inWords(() => [...head, '', ...codes, ''].join('\r\n'));
  const downloadUri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
  return { codes, downloadUri, username, service, address, madeOn };
}
