// /account/activity: what happened to the account, in sentences. Another user who acted is not named.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../base/http/context.ts';
import { parseQuery } from '../base/http/input.ts';
import { displayName } from '../base/http/pages/tokens.ts';
import type { Db } from '../base/storage/database.ts';
import { addressIn, type PageText, t } from '../base/texts/text.ts';
import type { AuditEntry } from '../core/audit/audit.ts';
import { type EventKind, eventTypesByKind } from '../core/audit/events.ts';
import { type Mention, mentionsIn, nameSlot, sentenceOf } from '../core/audit/sentence.ts';
import type { Core } from '../core/core.ts';
import { browserName } from '../core/mail/browser-name.ts';
import { FIRST_PARTY_CLIENT_ID } from '../protocols/oidc/in-process-clients.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const PAGE = 25;
const KINDS: readonly EventKind[] = ['sign-in', 'session', 'account', 'password', 'factor', 'role', 'group', 'request'];
const query = z.object({ before: z.coerce.number().int().positive().optional() });

export function activityRoutes({
  db,
  page,
  audit,
  brandName,
}: Core & {
  page: AccountPageHelpers;
  /** The name of the brand, for the sign-ins to these pages. */
  brandName(): string | undefined;
}): Router<State, Extras> {
  const { signedIn } = page;
  const router = new Router<State, Extras>({ prefix: '/account/activity' });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { before } = parseQuery(ctx, query);
    const types = KINDS.flatMap((kind) => eventTypesByKind[kind]).filter((type) => !type.startsWith('account.note-'));
    const entries = await audit.list({ subjectId: account.id, types, ...(before && { before }), limit: PAGE + 1 });
    const page = entries.slice(0, PAGE);
    const names = new Map([[FIRST_PARTY_CLIENT_ID, brandName() || 'Gatehouse'], ...(await namesIn(db, page))]);
    const nameOf = ({ type, id, name }: Mention) =>
      type === 'user' && id !== account.id
        ? t('activity.actor.administrator')
        : nameSlot(
            type === 'user' ? displayName(account) : (names.get(id) ?? (type === 'directory' ? name : id) ?? id),
          );
    ctx.render('account/activity', {
      events: page.map((entry) => ({
        at: entry.at,
        isBad: entry.outcome !== 'success',
        text: sentenceOf(entry, nameOf),
        // The address of an administrator or a directory is not the user's.
        place: (entry.actorId ?? account.id) === account.id && !entry.data.scim ? placeOf(entry) : [],
      })),
      next: entries.length > PAGE ? `/account/activity?before=${page.at(-1)?.id}` : undefined,
    });
  });

  return router;
}

function placeOf({ userAgent, address, data }: AuditEntry): PageText[] {
  const country = typeof data.country === 'string' ? data.country : undefined;
  return [browserName(userAgent) ?? [], address ? addressIn(address, country) : []].flat();
}

/** The names of the applications and connections that the events mention. */
async function namesIn(db: Db, events: readonly AuditEntry[]): Promise<Map<string, string>> {
  const mentions = mentionsIn(events);
  const idsOf = (type: Mention['type']) => [...new Set(mentions.flatMap((one) => (one.type === type ? [one.id] : [])))];
  const [applications, connections] = await Promise.all([
    db.asStored.application.findMany({
      where: { clientId: { in: idsOf('application') } },
      select: { clientId: true, name: true },
    }),
    db.asStored.connection.findMany({ where: { id: { in: idsOf('connection') } }, select: { id: true, name: true } }),
  ]);
  return new Map([
    ...applications.map(({ clientId, name }) => [clientId, name] as const),
    ...connections.map(({ id, name }) => [id, name] as const),
  ]);
}
