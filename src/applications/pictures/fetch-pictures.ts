// Reads the picture of an application from its logo_uri, once: the server calls the address, checks the picture and writes it
// again, so that no browser calls it and tells who signs in. A failed call is repeated with growing pauses. It is not read again each
// day, because the application could change it after an administrator looked at it.

import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import { storedText } from '../../base/texts/stored-text.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import {
  type AttemptResult,
  createJobQueue,
  type JobQueue,
  type QueuedJob,
  type QueueStore,
} from '../../core/jobs/queue.ts';
import { registrationOf } from '../application.ts';
import type { NewImage } from '../brand/image-reader.ts';
import type { ImageStore } from '../brand/image-store.ts';
import { ImageFault } from '../brand/images/image-fault.ts';
import { isGenuineApplication } from '../macs/protected-applications.ts';
import { pictureMac } from './picture-rows.ts';
import { planPicture } from './plan-picture.ts';

export interface PictureFetchDependencies {
  db: Db;
  protectedRows: ProtectedRows;
  now: Clock;
  logger: Logger;
  /** The guarded fetch, with the time and size limits of pictures. */
  outgoing: typeof fetch;
  images: ImageStore;
}

const HOUR = 3600;
const FIRST_PAUSE_SECONDS = 5 * 60;
const MAX_PAUSE_SECONDS = 24 * HOUR;
const LEASE_SECONDS = 60;
/** Fewer than wait for the thread that checks pictures at most. */
const AT_ONCE = 4;

/** What cannot be read, in words for an administrator. */
class PictureFault extends Error {
  override name = 'PictureFault';
  readonly text: PageText;

  constructor(text: PageText) {
    super(String(text));
    this.text = text;
  }
}

/** Makes the queue of the pictures that have to be read. Any number of instances may run it. */
export function createPictureQueue(dependencies: PictureFetchDependencies): JobQueue {
  const { db, now } = dependencies;
  return createJobQueue<PictureJob>({
    now,
    store: createPictureQueueStore({ db, now }),
    attempt: (job) => attempt(dependencies, job),
    leaseSeconds: LEASE_SECONDS,
    concurrency: { lane: () => 1, total: AT_ONCE },
  });
}

async function attempt(dependencies: PictureFetchDependencies, job: PictureJob): Promise<AttemptResult> {
  const { db, now, logger } = dependencies;
  const application = await registered(dependencies, job.id);
  // The registration changed meanwhile, or another program wrote one of the two rows.
  if (application?.logo !== job.url) {
    await transaction(db, (tx) => planPicture(tx, job.id, application?.logo, now()));
    return { outcome: 'done' };
  }
  try {
    await store(dependencies, job, await read(dependencies, job.url));
    return { outcome: 'done' };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    logger.warn(
      { clientId: application.clientId, reason: String(reason) },
      'the picture of an application was not read',
    );
    const pauseSeconds = Math.min(FIRST_PAUSE_SECONDS * 2 ** job.tries, MAX_PAUSE_SECONDS);
    return { outcome: 'retry', reason: storedText(reason), pauseSeconds };
  }
}

/** The address in the registration, whose MAC is verified: a program that can only write to the database has nothing called. */
async function registered({ db, protectedRows }: PictureFetchDependencies, id: string) {
  const row = await db.asStored.application.findUnique({ where: { id } });
  if (!row || !isGenuineApplication(row, protectedRows)) return undefined;
  return { clientId: row.clientId, logo: registrationOf(row).metadata.logo_uri };
}

async function read({ outgoing, images }: PictureFetchDependencies, url: string): Promise<NewImage> {
  const response = await outgoing(url, { headers: { accept: 'image/svg+xml, image/png, image/jpeg' } });
  if (!response.ok)
    throw new PictureFault(t('console.connection-document.status', { url, status: String(response.status) }));
  return images.check(Buffer.from(await response.arrayBuffer()));
}

async function store(
  { db, now, protectedRows }: PictureFetchDependencies,
  { id: applicationId, url }: PictureJob,
  { name, bytes }: NewImage,
): Promise<void> {
  const mac = pictureMac({ applicationId, url, name }, protectedRows);
  const data = {
    name,
    content: new Uint8Array(bytes),
    mac,
    tries: 0,
    nextTryAt: null,
    lastError: null,
    updatedAt: now(),
  };
  // Not for another logo_uri that was registered meanwhile.
  await db.applicationPicture.updateMany({ where: { applicationId, url }, data });
}

/** Undefined for a fault that the address has not caused. */
function reasonOf(error: unknown): PageText | undefined {
  if (error instanceof PictureFault) return error.text;
  return error instanceof OutgoingError || error instanceof ImageFault ? error.message : undefined;
}

interface PictureJob extends QueuedJob {
  url: string;
}

function createPictureQueueStore({ db, now }: { db: Db; now: Clock }): QueueStore<PictureJob> {
  return {
    // A lane for each application, so that a server that does not answer delays no other.
    async due({ limit, exceptLanes }) {
      const rows = await db.asStored.applicationPicture.findMany({
        where: { url: { not: null }, nextTryAt: { lte: now() }, applicationId: { notIn: [...exceptLanes] } },
        orderBy: { nextTryAt: 'asc' },
        take: limit,
        select: { applicationId: true, url: true, tries: true, lastError: true },
      });
      return rows.map(({ applicationId, url, ...row }) => ({
        ...row,
        id: applicationId,
        lane: applicationId,
        url: url ?? '',
      }));
    },

    async claim({ id, url, tries }, leaseUntil) {
      const where = { applicationId: id, url, tries, nextTryAt: { not: null } };
      const { count } = await db.applicationPicture.updateMany({
        where,
        data: { tries: tries + 1, nextTryAt: leaseUntil },
      });
      return count === 1;
    },

    // The attempt has stored the picture.
    complete: async () => {},

    async retry({ id, url, tries }, { reason, nextTryAt }) {
      const where = { applicationId: id, url, tries: tries + 1, nextTryAt: { not: null } };
      await db.applicationPicture.updateMany({ where, data: { lastError: reason, nextTryAt, updatedAt: now() } });
    },

    // There is no last try.
    giveUp: async () => {},

    async waitAtMost(until) {
      await db.applicationPicture.updateMany({ where: { nextTryAt: { gt: until } }, data: { nextTryAt: until } });
    },
  };
}
