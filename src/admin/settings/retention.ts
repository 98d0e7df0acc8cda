// How long each kind of data about people is kept, and how much there is of it, on one page. The jobs delete it (server/schedule.ts).

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { type Text, t } from '../../base/texts/text.ts';
import type { SettingName, SettingValues } from '../../core/settings/settings.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { jsonOf, time } from '../api/parts.ts';
import type { Block } from '../console/blocks.ts';
import { tableOf } from '../console/lists.ts';
import { settingTexts } from './console-fields.ts';

/** A table of the database, read by an index. */
interface Rows {
  /** At most so many; with a part of them where only that counts. */
  count(query: { take: number }): Promise<number>;
  oldest(): Promise<Date | undefined>;
}

interface Kind {
  label: Text;
  /** The setting that decides it; absent: it is fixed. */
  setting?: SettingName;
  kept(settings: SettingValues): { days?: number; hours?: number };
  rows: Rows;
}

interface Retained {
  kind: string;
  label: Text;
  setting: SettingName | null;
  days: number | null;
  hours: number | null;
  /** Up to `limits.lists.counted`. */
  count: number;
  isMore: boolean;
  oldest: Date | null;
}

type Model<Where> = {
  count(query: { take: number; where?: Where }): Promise<number>;
  findFirst(query: object): Promise<Record<string, unknown> | null>;
};

/** The rows of a model; `at`: the column with their beginning, `by`: the indexed column by whose order they are deleted. */
const rowsOf = <Where extends object>(model: Model<Where>, at: string, by = at, where?: Where): Rows => ({
  count: ({ take }) => model.count({ take, ...(where && { where }) }),
  async oldest() {
    const found = await model.findFirst({ orderBy: { [by]: 'asc' }, select: { [at]: true }, ...(where && { where }) });
    return found?.[at] as Date | undefined;
  },
});

export type RetentionAdmin = ReturnType<typeof createRetentionAdmin>;

export function createRetentionAdmin({ db: protectedDb, settings }: AdminServices) {
  const db = protectedDb.asStored;
  const fixed = (days: number) => () => ({ days });
  const kinds: Readonly<Record<string, Kind>> = {
    audit_log: {
      label: t('console.retention.audit-log'),
      setting: 'audit_retention_days',
      kept: ({ audit_retention_days: days }) => ({ days }),
      rows: rowsOf(db.auditEvent, 'at'),
    },
    deleted_people: {
      label: t('console.retention.deleted-people'),
      setting: 'erase_after_days',
      kept: ({ erase_after_days: days }) => ({ days }),
      rows: rowsOf(db.retiredSubject, 'retiredAt', 'retiredAt', { userId: { not: null } }),
    },
    emails: {
      label: t('console.retention.emails'),
      kept: fixed(limits.mail.keepDays),
      rows: rowsOf(db.mailMessage, 'createdAt'),
    },
    rejected_requests: {
      label: t('console.navigation.rejected-requests'),
      kept: fixed(limits.rejections.keepDays),
      rows: rowsOf(db.rejection, 'at'),
    },
    sessions: {
      label: t('console.navigation.sessions'),
      setting: 'session_hours',
      kept: ({ session_hours: hours }) => ({ hours }),
      rows: rowsOf(db.sessionDevice, 'createdAt'),
    },
    known_browsers: {
      label: t('console.retention.browsers'),
      kept: fixed(limits.knownBrowser.days),
      rows: rowsOf(db.knownBrowser, 'lastSeenAt', 'expiresAt'),
    },
    mailed_links: {
      label: t('console.retention.links'),
      kept: fixed(limits.invitation.keepDays),
      rows: rowsOf(db.mailToken, 'createdAt', 'expiresAt'),
    },
    group_requests: {
      label: t('console.retention.requests'),
      kept: fixed(limits.groups.keepRequestsDays),
      rows: rowsOf(db.groupRequest, 'createdAt', 'expiresAt'),
    },
    group_invitations: {
      label: t('console.retention.invitations'),
      kept: fixed(limits.groups.keepRequestsDays),
      rows: rowsOf(db.groupInvitation, 'createdAt', 'expiresAt'),
    },
    directory_deletions: {
      label: t('console.retention.directory'),
      kept: fixed(limits.scim.keepDeletedDays),
      rows: rowsOf(db.scimUser, 'deletedAt', 'deletedAt', { deletedAt: { not: null } }),
    },
    imports: {
      label: t('console.retention.imports'),
      kept: fixed(limits.groups.keepChangesDays),
      rows: rowsOf(db.bulkChange, 'createdAt', 'expiresAt'),
    },
  };

  return {
    /** Each kind, in the order of the page. */
    async list(): Promise<Retained[]> {
      const values = settings.latest();
      const most = limits.lists.counted;
      const found: Retained[] = [];
      for (const [kind, { label, setting, kept, rows }] of Object.entries(kinds)) {
        const { days, hours } = kept(values);
        const count = await rows.count({ take: most + 1 });
        const oldest = count === 0 ? undefined : await rows.oldest();
        found.push({
          kind,
          label,
          setting: setting ?? null,
          days: days ?? null,
          hours: hours ?? null,
          count: Math.min(count, most),
          isMore: count > most,
          oldest: oldest ?? null,
        });
      }
      return found;
    },
  };
}

/** The table below the settings. */
export async function retentionBlock(retention: RetentionAdmin): Promise<Block> {
  return {
    kind: 'table',
    title: t('console.retention.title'),
    lead: t('console.retention.lead'),
    ...tableOf(await retention.list(), [
      [
        t('console.retention.kind'),
        ({ label, setting }) => ({
          text: label,
          small: setting ? settingTexts(setting).label : undefined,
          href: setting === 'session_hours' ? '/admin/settings' : undefined,
        }),
      ],
      [
        { label: t('console.retention.kept'), isShort: true },
        ({ days, hours }) =>
          hours === null
            ? t('console.retention.days', { count: days ?? 0 })
            : t('console.retention.hours', { count: hours }),
      ],
      [
        { label: t('console.retention.rows'), isNumber: true },
        ({ count, isMore }) => t('console.retention.count', { count, more: isMore ? 'yes' : 'no' }),
      ],
      [{ label: t('console.retention.oldest'), isShort: true }, ({ oldest }) => oldest],
    ]),
  };
}

const retained = z
  .object({
    kind: z.string(),
    setting: z.string().nullable().describe('The setting that decides it; null: it is fixed'),
    days: z.int().nullable().describe('How long it is kept'),
    hours: z.int().nullable().describe('The same of a kind that is kept for hours'),
    count: z.int().describe(`What there is, up to ${limits.lists.counted}`),
    more: z.boolean().describe('There is more than `count`'),
    oldest: time.nullable(),
  })
  .meta({ id: 'RetainedData' });

/** /api/admin/retention. */
export function retentionEndpoints(retention: RetentionAdmin): Endpoint[] {
  return [
    endpoint('listRetention', 'GET /retention', {
      tag: 'Settings',
      needs: ['gatehouse.settings:read'],
      summary: 'Each kind of data about people: how long it is kept, how much there is, and the oldest',
      response: z.object({ items: z.array(retained) }),
      handle: async () => ({
        body: { items: (await retention.list()).map((one) => jsonOf(retained, one, { more: one.isMore })) },
      }),
    }),
  ];
}
