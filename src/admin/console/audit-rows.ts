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

const MAX_TOLD = 140;

/** What the entry says beside the usual, in short; the export has all of it. */
function dataOf({ data }: AuditEntry): string | undefined {
  const told = Object.entries(data).flatMap(([name, value]) => {
    if (value === null || value === '') return [];
    return `${name}: ${typeof value === 'object' ? wordsOf(value) : String(value)}`;
  });
  const text = told.join('; ');
  return text.length > MAX_TOLD ? `${text.slice(0, MAX_TOLD)}…` : text || undefined;
}

/** JSON without the signs that only machines need. */
function wordsOf(value: object): string {
  const spaced = JSON.stringify(value)
    .replace(/":/g, '": ')
    .replace(/,(?=["{[])/g, ', ');
  return spaced.replace(/["{}[\]]/g, '');
}
