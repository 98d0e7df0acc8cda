// The pictures of applications, as their pages need them. Each is a copy in the database, so that no browser calls the address that
// an application registered (logo_uri), and every instance serves it.
import { setTimeout as sleep } from 'node:timers/promises';
import { badRequest } from '../../base/http/errors.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { transaction } from '../../base/storage/database.ts';
import { cacheDirectory } from '../../base/storage/directory-cache.ts';
import type { Sql } from '../../base/storage/statements.ts';
import { isStorable } from '../../base/storage/storable-text.ts';
import { readStoredText } from '../../base/texts/stored-text.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import { imageHash, type NewImage } from '../brand/image-reader.ts';
import { ImageFault } from '../brand/images/image-fault.ts';
import type { Change } from '../changes.ts';
import { changeableApplication, recordChange } from '../write.ts';
import { createPictureQueue, type PictureFetchDependencies } from './fetch-pictures.ts';
import { isGenuinePicture, pictureMac } from './picture-rows.ts';
import { planPicture } from './plan-picture.ts';

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

export type ApplicationPictures = ReturnType<typeof createApplicationPictures>;

export interface ApplicationPicturesDependencies extends PictureFetchDependencies {
  sql: Sql;
  audit: Audit;
  /** Starts the job soon. Called before a surrounding transaction commits. */
  wakeFetch(): void;
}

/** Below /assets/, where serve.ts serves them. */
export const PICTURE_PATH = '/assets/application-';
const MAX_CACHED = 2000;
/** How long a page waits for the first read of a picture, and how long after its registration. */
const FIRST_READ = { waitMs: 2000, everyMs: 100, withinMs: 10_000 };
const COLUMNS = { applicationId: true, url: true, name: true, mac: true } as const;

export function createApplicationPictures(dependencies: ApplicationPicturesDependencies) {
  const { db, now, wakeFetch } = dependencies;
  const queue = createPictureQueue(dependencies);
  return {
    ...createReads(dependencies),
    ...createChoices(dependencies),

    /** Reads the picture from the logo_uri now. */
    async fetchAgain(applicationId: string): Promise<void> {
      const where = { applicationId, url: { not: null } };
      await db.applicationPicture.updateMany({ where, data: { nextTryAt: now(), tries: 0 } });
      wakeFetch();
    },

    /** Reads those that are due; for the job. */
    fetchDue: async (signal?: AbortSignal): Promise<void> => void (await queue.run(signal)),
    /** Makes a run under way look for new ones. */
    wake: queue.wake,
    clockSetBack: queue.clockSetBack,
  };
}

function createReads({ db, sql, protectedRows, now }: ApplicationPicturesDependencies) {
  const addressIn = (row: { applicationId: string; url: string | null; name: string | null; mac: string } | null) =>
    row?.name && isGenuinePicture(row, protectedRows) ? `${PICTURE_PATH}${row.name}` : undefined;

  const cached = cacheDirectory<{ address: string | undefined; firstReadSince: number | undefined }>(
    sql,
    async (clientId) => {
      const select = { ...COLUMNS, lastError: true, updatedAt: true };
      const row = await db.asStored.applicationPicture.findFirst({ where: { application: { clientId } }, select });
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
        db.asStored.applicationPicture.findMany({
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
      const rows = await db.asStored.applicationPicture.findMany({ where: { name }, select: COLUMNS });
      const genuine = rows.find((row) => isGenuinePicture(row, protectedRows));
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
      const row = await db.asStored.applicationPicture.findUnique({ where: { applicationId }, select });
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
function createChoices(dependencies: ApplicationPicturesDependencies) {
  const { db, now, images, protectedRows, wakeFetch } = dependencies;

  async function checked(bytes: Buffer): Promise<NewImage> {
    try {
      return await images.check(bytes);
    } catch (error) {
      if (!(error instanceof ImageFault)) throw error;
      throw badRequest('invalid_input', { fields: [{ field: 'picture', message: error.message }], cause: error });
    }
  }

  return {
    /** Stores a picture that an administrator chose, as a data URL's bytes. Throws invalid_input with the field. */
    async choose(applicationId: string, bytes: Buffer, { by, source = 'local' }: Change = {}): Promise<void> {
      const { name, bytes: content } = await checked(bytes);
      await transaction(db, async (tx) => {
        const application = await changeableApplication(dependencies, applicationId, source, tx);
        const where = { applicationId };
        const before = await tx.asStored.applicationPicture.findUnique({ where, select: { name: true } });
        const mac = pictureMac({ applicationId, url: null, name }, protectedRows);
        const state = { tries: 0, nextTryAt: null, lastError: null, updatedAt: now() };
        const data = { url: null, name, content: new Uint8Array(content), mac, ...state };
        await tx.applicationPicture.upsert({
          where,
          create: { ...data, ...where },
          update: data,
          select: { name: true },
        });
        const difference = { before: { picture: before?.name ?? null }, after: { picture: name } };
        await recordChange(dependencies, 'application.updated', application.clientId, tx, by, {
          name: application.name,
          ...difference,
        });
      });
    },

    /** Removes a picture that an administrator chose; that of the logo_uri takes its place. */
    async removeChosen(applicationId: string, { by, source = 'local' }: Change = {}): Promise<void> {
      await transaction(db, async (tx) => {
        const { clientId, name, metadata } = await changeableApplication(dependencies, applicationId, source, tx);
        const where = { applicationId, url: null };
        const before = await tx.asStored.applicationPicture.findFirst({ where, select: { name: true } });
        if (!before) return;
        await tx.applicationPicture.deleteMany({ where });
        await planPicture(tx, applicationId, metadata.logo_uri, now());
        const difference = { before: { picture: before.name }, after: { picture: null } };
        await recordChange(dependencies, 'application.updated', clientId, tx, by, { name, ...difference });
      });
      wakeFetch();
    },
  };
}
