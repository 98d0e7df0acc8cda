// Keeps the row of an application's picture in line with its logo_uri. A job reads what is planned (pictures.ts).
import type { Tx } from '../../base/storage/database.ts';

/** The columns of a picture that is still to be read. */
const NOT_READ = { name: null, content: null, tries: 0, lastError: null };

/** Returns whether a picture has to be read now. One that an administrator chose stays, whatever the logo_uri is. */
export async function planPicture(tx: Tx, applicationId: string, url: string | undefined, at: Date): Promise<boolean> {
  const where = { applicationId };
  const row = await tx.asStored.applicationPicture.findUnique({ where, select: { url: true } });
  if (row?.url === null || row?.url === url) return false;
  if (url === undefined) {
    await tx.applicationPicture.deleteMany({ where });
    return false;
  }
  const data = { ...NOT_READ, url, nextTryAt: at, updatedAt: at };
  await tx.applicationPicture.upsert({ where, create: { ...data, ...where }, update: data, select: { url: true } });
  return true;
}
