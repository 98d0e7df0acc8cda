// Entries of the audit log as rows of a table.
import type { AuditEntry } from '../../audit/audit.ts';
import type { Cell } from './blocks.ts';
import { applicationMark, type Names, userMark } from './names.ts';

export async function eventRows(
  events: readonly AuditEntry[],
  names: Names,
): Promise<{ columns: string[]; rows: Cell[][] }> {
  const [applications, users] = await Promise.all([
    names.applications(events.map(({ clientId }) => clientId)),
    names.users(events.flatMap(({ actorId, subjectId }) => [actorId, subjectId])),
  ]);
  return {
    columns: ['When', 'What', 'Outcome', 'User', 'Application', 'By', 'From'],
    rows: events.map((event) => [
      event.at,
      { text: event.type, small: dataOf(event) },
      event.outcome === 'success'
        ? { text: 'success', tone: 'good' }
        : { text: event.reason ?? 'failure', tone: 'bad' },
      userMark(event.subjectId, users),
      applicationMark(event.clientId, applications),
      userMark(event.actorId, users) ?? event.actorApp,
      event.address ? { text: event.address, small: event.requestId ?? undefined } : null,
    ]),
  };
}

/** What the entry says beside the usual, in short. */
function dataOf({ data }: AuditEntry): string | undefined {
  const text = JSON.stringify(data);
  if (text === '{}' || text === '{"detail":null}') return undefined;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
