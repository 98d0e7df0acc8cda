// The page with new recovery codes, to be downloaded, printed or written down. The codes are stored, encrypted, for the user and the
// session, so that a reload and a change of language display them again for an hour.

import { type Context, seeOther } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import type { PageOwner, StoredPages } from '../../base/http/stored-pages.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';

/** The server that the codes are for. */
export interface CodesServer {
  address: string;
  brandName(): string | undefined;
}

export type RecoveryCodesPages = ReturnType<typeof createRecoveryCodesPages>;

export function createRecoveryCodesPages(dependencies: { storedPages: StoredPages; server: CodesServer; now: Clock }) {
  const { storedPages, server, now } = dependencies;
  return {
    /** Stores new codes and redirects to their page, `path` with a value; its route calls `show`. */
    async redirect(ctx: Context, path: string, owner: PageOwner, codes: readonly string[]): Promise<void> {
      const value = await storedPages.add('recovery-codes', owner, { codes, madeAt: now() });
      seeOther(ctx, `${path}/${value}`);
    },

    /** Renders the page. Throws not_found for other users and sessions, and after an hour. */
    async show(
      ctx: Context,
      page: { account: Account; owner: PageOwner; value: string; continueUrl: string },
    ): Promise<void> {
      const { account, owner, value, continueUrl } = page;
      const stored = await storedPages.find<{ codes: string[]; madeAt: Date }>('recovery-codes', owner, value);
      if (!stored)
        throw notFound({
          message: t('recovery-codes.expired'),
          next: { href: continueUrl, label: t('page.continue') },
        });
      const { codes, madeAt } = stored;
      const madeOn = madeAt.toISOString().slice(0, 10);
      const service = server.brandName() || 'Gatehouse';
      const { username } = account;
      const of = t('recovery-codes.file', { user: username, service, address: server.address, date: madeOn });
      const head = [of, t('recovery-codes.file-hint')];
      const text = ctx.state.inWords(() => [...head, '', ...codes, ''].join('\r\n'));
      const downloadUri = `data:text/plain;charset=utf-8,${encodeURIComponent(text)}`;
      const address = server.address;
      ctx.render('sign-in/recovery-codes', { codes, downloadUri, username, service, address, madeOn, continueUrl });
    },
  };
}
