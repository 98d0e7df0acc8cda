// /api/admin/deliveries: what waits to be sent, and what was given up, by destination. Emails, sign-outs, events and
// people at applications are queues of their own tables (core/jobs/queue.ts); the page of each destination has its single deliveries.
import { z } from 'zod';
import { addressOf } from '../../core/mail/mail-server.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { jsonOf, time } from '../api/parts.ts';

export interface Destination {
  kind: 'mail' | 'logout' | 'events' | 'provisioning';
  /** Of the event stream or the application; null for email. */
  id: string | null;
  name: string;
  waiting: number;
  /** Given up; an administrator can send most of them again. */
  failed: number;
  /** Since when the oldest one waits. */
  oldestAt: Date | null;
  lastError: string | null;
  isPaused: boolean;
}

const OPEN = { doneAt: null, failedAt: null };
const FAILED = { doneAt: null, failedAt: { not: null } };

/** Those with deliveries that wait or were given up, and paused ones; those with the most that wait first. */
export function createDeliveryAdmin({ db, mailServer }: AdminServices) {
  async function mail(): Promise<Destination> {
    const isOpen = { sentAt: null, failedAt: null };
    const [open, failed, last] = await Promise.all([
      db.mailMessage.aggregate({ where: isOpen, _count: true, _min: { createdAt: true } }),
      db.mailMessage.count({ where: { sentAt: null, failedAt: { not: null } } }),
      db.mailMessage.findFirst({
        where: { sentAt: null, lastError: { not: null } },
        orderBy: { createdAt: 'desc' },
        select: { lastError: true },
      }),
    ]);
    const { _count: waiting, _min: min } = open;
    const server = mailServer.current();
    const name = server ? addressOf(server) : 'files';
    const common = { kind: 'mail' as const, id: null, isPaused: false, lastError: last?.lastError ?? null };
    return { ...common, name, waiting, failed, oldestAt: min.createdAt };
  }

  async function logout(): Promise<Destination[]> {
    const [open, failed] = await Promise.all([
      db.logoutDelivery.groupBy({ by: ['clientId'], where: OPEN, _count: true, _min: { createdAt: true } }),
      db.logoutDelivery.groupBy({ by: ['clientId'], where: FAILED, _count: true }),
    ]);
    const clientIds = [...new Set([...open, ...failed].map(({ clientId }) => clientId))];
    const applications = await db.asStored.application.findMany({
      where: { clientId: { in: clientIds } },
      select: { id: true, clientId: true, name: true },
    });
    // The newest one of each application: `distinct` of Prisma would read them all.
    const errors = await db.$queryRaw<{ clientId: string; lastError: string }[]>`
      SELECT client_id AS "clientId", last_error AS "lastError" FROM (
        SELECT client_id, last_error, ROW_NUMBER() OVER (PARTITION BY client_id ORDER BY created_at DESC) AS place
        FROM logout_deliveries WHERE done_at IS NULL AND last_error IS NOT NULL) AS newest
      WHERE place = 1`;
    return clientIds.map((clientId) => {
      const waits = open.find((one) => one.clientId === clientId);
      const application = applications.find((one) => one.clientId === clientId);
      return {
        kind: 'logout' as const,
        id: application?.id ?? null,
        name: application?.name ?? clientId,
        waiting: waits?._count ?? 0,
        failed: failed.find((one) => one.clientId === clientId)?._count ?? 0,
        oldestAt: waits?._min.createdAt ?? null,
        lastError: errors.find((one) => one.clientId === clientId)?.lastError ?? null,
        isPaused: false,
      };
    });
  }

  async function events(): Promise<Destination[]> {
    const [open, failed, streams] = await Promise.all([
      db.eventDelivery.groupBy({ by: ['streamId'], where: OPEN, _count: true, _min: { createdAt: true } }),
      db.eventDelivery.groupBy({ by: ['streamId'], where: FAILED, _count: true }),
      db.eventStream.findMany(),
    ]);
    return streams.map(({ id, name, pausedAt, lastError }) => {
      const waits = open.find((one) => one.streamId === id);
      const lost = failed.find((one) => one.streamId === id)?._count ?? 0;
      const counts = { waiting: waits?._count ?? 0, failed: lost, oldestAt: waits?._min.createdAt ?? null };
      return { kind: 'events' as const, id, name, ...counts, lastError, isPaused: pausedAt !== null };
    });
  }

  async function provisioning(): Promise<Destination[]> {
    const [open, targets] = await Promise.all([
      db.asStored.provisionedObject.groupBy({ by: ['applicationId'], where: { pending: { not: '' } }, _count: true }),
      db.provisioningTarget.findMany(),
    ]);
    const names = await db.asStored.application.findMany({
      where: { id: { in: targets.map(({ applicationId }) => applicationId) } },
      select: { id: true, name: true },
    });
    return targets.map(({ applicationId: id, pausedAt, stoppedAt, lastError }) => ({
      kind: 'provisioning' as const,
      id,
      name: names.find((one) => one.id === id)?.name ?? id,
      waiting: open.find(({ applicationId }) => applicationId === id)?._count ?? 0,
      failed: 0,
      oldestAt: null,
      lastError,
      isPaused: pausedAt !== null || stoppedAt !== null,
    }));
  }

  return {
    async list(): Promise<Destination[]> {
      const all = (await Promise.all([mail(), logout(), events(), provisioning()])).flat();
      return all
        .filter(({ waiting, failed, isPaused }) => waiting + failed > 0 || isPaused)
        .sort((one, other) => other.waiting - one.waiting || other.failed - one.failed);
    },
  };
}

const destination = z
  .object({
    kind: z.enum(['mail', 'logout', 'events', 'provisioning']),
    id: z.string().nullable().describe('Of the event stream or the application'),
    name: z.string(),
    waiting: z.int(),
    failed: z.int().describe('Given up'),
    oldest_at: time.nullable().describe('Since when the oldest one waits'),
    last_error: z.string().nullable(),
    is_paused: z.boolean(),
  })
  .meta({ id: 'DeliveryDestination' });

/** /api/admin/deliveries. */
export const deliveryEndpoints = (deliveries: ReturnType<typeof createDeliveryAdmin>): Endpoint[] => [
  endpoint('listDeliveries', 'GET /deliveries', {
    tag: 'Server',
    needs: ['gatehouse.audit:read'],
    summary: 'What waits to be sent or was given up, by destination',
    response: z.object({ items: z.array(destination) }),
    handle: async () => ({ body: { items: (await deliveries.list()).map((one) => jsonOf(destination, one, {})) } }),
  }),
];
