// The recent attempts on the page of the access check: events in sentences, with the reference of a rejected request where one was stored.

import { dotted, eventItems } from '../../admin/audit/console-rows.ts';
import type { Block, EventItem, Mark } from '../../admin/console/blocks.ts';
import { listPath } from '../../admin/console/frame.ts';
import { applicationCell, type Names, userCell } from '../../admin/console/names.ts';
import { Slot, type Text, t } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import { rejectionText } from '../rejections/rule-texts.ts';
import type { AccessCheck } from './access-check.ts';
import type { AttemptsQuery } from './attempts.ts';

const MAX_ITEMS = 12;
const DENIED = { icon: 'circle-x' };

export async function attemptsBlock(
  { accessCheck, names }: { accessCheck: AccessCheck; names: Names },
  about: AttemptsQuery,
): Promise<Block> {
  const { events, rejections } = await accessCheck.attempts(about);
  // A rejected request is also an event; the rejection says more.
  const rejected = new Set(rejections.map(({ requestId }) => requestId));
  const others = events.filter(({ requestId, outcome }) => outcome === 'success' || !rejected.has(requestId ?? ''));
  const items = [...(await eventItems(others, names)), ...(await rejectionItems(rejections, names))];
  const { userId, clientId, requestId } = about;
  // In the log the steps of a sign-in, such as the password, belong to the user alone.
  const client = userId ? undefined : clientId;
  return {
    kind: 'events',
    title: t('console.access-check.attempts'),
    caption: t('console.access-check.attempts-caption'),
    items: grouped(items.sort((one, other) => other.at.getTime() - one.at.getTime())).slice(0, MAX_ITEMS),
    empty: t('console.access-check.no-attempts'),
    actions: [
      {
        label: t('console.audit.title'),
        href: listPath('/admin/audit', { user: userId, client, request: requestId }),
      },
    ],
  };
}

/** Equal attempts in a row as one, with their number and the newest of them. */
function grouped(items: readonly EventItem[]): EventItem[] {
  const groups: { item: EventItem; look: string; count: number }[] = [];
  for (const item of items) {
    const look = JSON.stringify([item.sentence, item.place]);
    const last = groups.at(-1);
    if (last?.look === look) last.count += 1;
    else groups.push({ item, look, count: 1 });
  }
  return groups.map(({ item, count }) =>
    count === 1 ? item : { ...item, place: dotted([t('console.audit.times', { count }), item.place]) },
  );
}

async function rejectionItems(rejections: readonly Rejection[], names: Names): Promise<EventItem[]> {
  const [applications, users] = await Promise.all([
    names.applications(rejections.map(({ clientId }) => clientId ?? null)),
    names.users(rejections.map(({ subjectId }) => subjectId ?? null)),
  ]);
  return rejections.map(({ at, code, clientId, endpoint, rules, reason, requestId, subjectId }) => ({
    at,
    ...DENIED,
    tone: 'bad' as const,
    sentence: rejectedSentence(
      code,
      subjectId ? userCell(subjectId, users) : null,
      clientId && endpoint !== 'upstream' ? applicationCell(clientId, applications) : null,
    ),
    place: rejectionText({ endpoint, rules }),
    details: [
      { label: t('console.audit.reason'), value: { text: reason, code: true } },
      { label: t('console.audit.endpoint'), value: { text: endpoint, code: true } },
      { label: t('console.audit.request-id'), value: { text: requestId, code: true } },
    ],
  }));
}

function rejectedSentence(code: string, user: Mark | null, app: Mark | null): Text {
  return t('console.access-check.rejected', {
    about: user && app ? 'both' : user ? 'user' : app ? 'application' : 'none',
    user: new Slot(user ?? { text: '' }),
    app: new Slot(app ?? { text: '' }),
    code: new Slot({ text: code, href: `/admin/rejections/${code}` }),
  });
}
