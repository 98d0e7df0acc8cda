// The pictures of applications, as their pages need them. Each is a copy in the database, so that no browser calls the address that
// an application registered (logo_uri), and every instance serves it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from '../../base/http/context.ts';
import { invalidInput, notFound } from '../../base/http/errors.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import { faultText } from '../../base/texts/faults.ts';
import { readStoredText, storedText } from '../../base/texts/stored-text.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import {
  type AttemptResult,
  createJobQueue,
  type JobQueue,
  type QueuedJob,
  type QueueStore,
} from '../../core/jobs/queue.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { isImageName } from '../../core/settings/value-schemas.ts';
import { registrationOf } from '../application.ts';
import { type Applications, type Change, planPicture } from '../applications.ts';
import { imageHash, type NewImage } from '../brand/image-reader.ts';
import type { ImageStore } from '../brand/image-store.ts';
import { ImageError } from '../brand/images/image-error.ts';
import { sendPicture } from '../brand/serve.ts';

export interface PictureState {
  /** Where it comes from; undefined: an administrator chose it. */
  url: string | undefined;
  /** Its address on this server; undefined while there is none. */
  address: string | undefined;
  /** Why the last try to read it failed. */
  failure: PageText | undefined;
  /** How many failed in a row. */
  tries: number;
  nextTryAt: Date | undefined;
}

type PictureServices = Core & {
  applications: Applications;
  images: ImageStore;
};

export type ApplicationPictures = ReturnType<typeof createApplicationPictures>;

export const PICTURE_PATH = '/assets/application-';
const MAX_CACHED = 2000;
/** How long a page waits for the first read of a picture, and how long after its registration. */
const FIRST_READ = { waitMs: 2000, everyMs: 100, withinMs: 10_000 };
const COLUMNS = { applicationId: true, url: true, name: true } as const;

export function createApplicationPictures(dependencies: PictureServices) {
  const { db, now, wake } = dependencies;
  const queue = createPictureQueue(dependencies);
  return {
    ...createReads(dependencies),
    ...createChoices(dependencies),

    /** Reads the picture from the logo_uri now. */
    async fetchAgain(applicationId: string): Promise<void> {
      const where = { applicationId, url: { not: null } };
      await db.applicationPicture.updateMany({ where, data: { nextTryAt: now(), tries: 0 } });
      wake('application-pictures', db);
    },

    /** Reads those that are due; for the job. */
    fetchDue: async (signal?: AbortSignal): Promise<void> => void (await queue.run(signal)),
    /** Makes a run under way look for new ones. */
    wake: queue.wake,
    clockSetBack: queue.clockSetBack,
  };
}

function createReads({ db, sql, now }: Core) {
  const addressIn = (row: { name: string | null } | null) => (row?.name ? `${PICTURE_PATH}${row.name}` : undefined);

  const cached = cacheDirectory<{ address: string | undefined; firstReadSince: number | undefined }>(
    sql,
    async (clientId) => {
      const select = { ...COLUMNS, lastError: true, updatedAt: true };
      const row = await db.applicationPicture.findFirst({ where: { application: { clientId } }, select });
      const isWaiting = row?.url && row.name === null && row.lastError === null;
      return { address: addressIn(row), firstReadSince: isWaiting ? row.updatedAt.getTime() : undefined };
    },
    { max: MAX_CACHED },
  );

  async function addressOf(clientId: string): Promise<string | undefined> {
    for (let waited = 0; ; waited += FIRST_READ.everyMs) {
      const { address, firstReadSince } = (await cached(clientId)) ?? {};
      const isRecent = firstReadSince !== undefined && now().getTime() - firstReadSince < FIRST_READ.withinMs;
      if (!isRecent || waited >= FIRST_READ.waitMs) return address;
      await sleep(FIRST_READ.everyMs);
    }
  }

  return {
    /**
     * The address on this server, for pages; undefined without a picture. Cached with the directory. Waits for a picture that was
     * registered a moment ago, up to two seconds.
     */
    addressOf: async (clientId: string): Promise<string | undefined> =>
      isStorable(clientId) ? addressOf(clientId) : undefined,

    /** The addresses by the id of the application. */
    async addressesOf(ids: readonly string[]): Promise<Map<string, string>> {
      const rows = await inChunks(ids, (piece) =>
        db.applicationPicture.findMany({
          where: { applicationId: { in: [...piece] }, name: { not: null } },
          select: COLUMNS,
        }),
      );
      return new Map(
        rows.flatMap((row) => {
          const address = addressIn(row);
          return address ? [[row.applicationId, address] as const] : [];
        }),
      );
    },

    /** The content of `<hash>.<kind>`; undefined without such a picture, and for one that another program wrote. */
    async read(name: string): Promise<Buffer | undefined> {
      // Several applications may have the same one.
      const rows = await db.applicationPicture.findMany({ where: { name }, select: COLUMNS });
      const genuine = rows.find((row) => row.name === name);
      if (!genuine) return undefined;
      const { applicationId } = genuine;
      const row = await db.asStored.applicationPicture.findUnique({
        where: { applicationId },
        select: { content: true },
      });
      if (!row?.content || !name.startsWith(`${imageHash(row.content)}.`)) return undefined;
      return Buffer.from(row.content);
    },

    /** Undefined for an application without logo_uri and without a picture. */
    async state(applicationId: string): Promise<PictureState | undefined> {
      const select = { ...COLUMNS, tries: true, nextTryAt: true, lastError: true };
      const row = await db.applicationPicture.findUnique({ where: { applicationId }, select });
      if (!row) return undefined;
      const { url, tries, nextTryAt, lastError } = row;
      return {
        url: url ?? undefined,
        address: addressIn(row),
        failure: lastError === null ? undefined : readStoredText(lastError),
        tries,
        nextTryAt: nextTryAt ?? undefined,
      };
    },
  };
}

/** What administrators do. A change is one of the application. */
function createChoices({ db, now, applications, images, wake }: PictureServices) {
  async function checked(bytes: Buffer): Promise<NewImage> {
    try {
      return await images.check(bytes);
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      throw invalidInput([{ ...error.fault, path: ['picture'] }], error);
    }
  }

  return {
    /** Stores a picture that an administrator chose, as a data URL's bytes. Throws invalid_input with the field. */
    async choose(applicationId: string, bytes: Buffer, { by, source = 'local' }: Change = {}): Promise<void> {
      const { name, bytes: content } = await checked(bytes);
      await transaction(db, async (tx) => {
        const application = await applications.getForChange(applicationId, source, tx);
        const where = { applicationId };
        const before = await tx.asStored.applicationPicture.findUnique({ where, select: { name: true } });
        const state = { tries: 0, nextTryAt: null, lastError: null, updatedAt: now() };
        const data = { url: null, name, content: new Uint8Array(content), ...state };
        await tx.applicationPicture.upsert({
          where,
          create: { ...data, ...where },
          update: data,
          select: { name: true },
        });
        const difference = { before: { picture: before?.name ?? null }, after: { picture: name } };
        await applications.recordChange('application.updated', application.clientId, tx, by, {
          name: application.name,
          ...difference,
        });
      });
    },

    /** Removes a picture that an administrator chose; that of the logo_uri takes its place. */
    async removeChosen(applicationId: string, { by, source = 'local' }: Change = {}): Promise<void> {
      await transaction(db, async (tx) => {
        const { clientId, name, metadata } = await applications.getForChange(applicationId, source, tx);
        const where = { applicationId, url: null };
        const before = await tx.asStored.applicationPicture.findFirst({ where, select: { name: true } });
        if (!before) return;
        await tx.applicationPicture.deleteMany({ where });
        if (await planPicture(tx, applicationId, metadata.logo_uri, now())) wake('application-pictures', tx);
        const difference = { before: { picture: before.name }, after: { picture: null } };
        await applications.recordChange('application.updated', clientId, tx, by, { name, ...difference });
      });
    },
  };
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
function createPictureQueue(dependencies: PictureServices): JobQueue {
  const { db, now } = dependencies;
  return createJobQueue<PictureJob>({
    now,
    store: createPictureQueueStore({ db, now }),
    attempt: (job) => attempt(dependencies, job),
    leaseSeconds: LEASE_SECONDS,
    concurrency: { lane: () => 1, total: AT_ONCE },
  });
}

async function attempt(dependencies: PictureServices, job: PictureJob): Promise<AttemptResult> {
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
async function registered({ db }: Core, id: string) {
  const row = await db.application.findUnique({ where: { id } });
  if (!row) return undefined;
  return { clientId: row.clientId, logo: registrationOf(row).metadata.logo_uri };
}

async function read({ outgoing, images }: PictureServices, url: string): Promise<NewImage> {
  const response = await outgoing(url, { headers: { accept: 'image/svg+xml, image/png, image/jpeg' } });
  if (!response.ok)
    throw new PictureFault(t('console.connection-document.status', { url, status: String(response.status) }));
  return images.check(Buffer.from(await response.arrayBuffer()));
}

async function store(
  { db, now }: Core,
  { id: applicationId, url }: PictureJob,
  { name, bytes }: NewImage,
): Promise<void> {
  const data = {
    name,
    content: new Uint8Array(bytes),
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
  if (error instanceof ImageError) return faultText(error.fault, String(t('console.applications.picture.subject')));
  return error instanceof OutgoingError ? error.message : undefined;
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

// The job that reads the pictures of applications. It is woken when an application is saved.

export function pictureJobs({ fetchDue, wake, clockSetBack }: ApplicationPictures): ScheduledJob[] {
  return [{ name: 'application-pictures', everySeconds: 15, run: fetchDue, wake, clockSetBack }];
}

/** Serves pictures below a path in /assets/, as those of brands. Runs before the middleware of the assets. */
export function servePictures(prefix: string, read: (name: string) => Promise<Buffer | undefined>): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(prefix)) return next();
    ctx.state.route = '/assets/:name';
    const name = ctx.path.slice(prefix.length);
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    const bytes = isRead && isImageName(name) ? await read(name) : undefined;
    if (!bytes) throw notFound();
    sendPicture(ctx, name, bytes);
  };
}
