// Entries of the audit log as rows of a table.
import type { AuditEntry } from '../../audit/audit.ts';
import type { Cell } from '../console/blocks.ts';
import { applicationCell, type Names, userCell } from '../console/names.ts';

/** The columns and rows for these events, with the names of users and applications. */
export async function eventRows(
  events: readonly AuditEntry[],
  names: Names,
): Promise<{ columns: string[]; rows: Cell[][] }> {
  const [applications, users] = await Promise.all([
    names.applications(events.map(({ clientId }) => clientId)),
    names.users(events.flatMap(({ actorId, subjectId }) => [actorId, subjectId])),
  ]);
  return {
    columns: ['Time', 'Event', 'Outcome', 'User', 'Application', 'Actor', 'IP address'],
    rows: events.map((event) => [
      event.at,
      { text: event.type, small: dataSummary(event) },
      event.outcome === 'success'
        ? { text: 'success', tone: 'good' }
        : { text: event.reason ?? 'failure', tone: 'bad' },
      userCell(event.subjectId, users),
      applicationCell(event.clientId, applications),
      userCell(event.actorId, users) ?? event.actorApp,
      event.address ? { text: event.address, small: event.requestId ?? undefined } : null,
    ]),
  };
}

const MAX_DATA_LENGTH = 140;

/** The other data of the entry, shortened; the export has all of it. */
function dataSummary({ data }: AuditEntry): string | undefined {
  const parts = Object.entries(data).flatMap(([name, value]) => {
    if (value === null || value === '') return [];
    return `${name}: ${typeof value === 'object' ? flattenJson(value) : String(value)}`;
  });
  const text = parts.join('; ');
  return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : text || undefined;
}

/** Shortened JSON for display; not reversible. */
function flattenJson(value: object): string {
  const spaced = JSON.stringify(value)
    .replace(/":/g, '": ')
    .replace(/,(?=["{[])/g, ', ');
  return spaced.replace(/["{}[\]]/g, '');
}
