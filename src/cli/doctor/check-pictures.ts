// doctor: pictures of applications that could not be read from their logo_uri. It reads the database only.

import type { Db } from '../../base/storage/database.ts';
import { readStoredText } from '../../base/texts/stored-text.ts';
import { type Finding, warning } from './findings.ts';

const MAX_NAMED = 20;
const ADVICE =
  'Correct logo_uri, or choose a picture in the console: Applications, the application, Settings, Change picture.';

export async function pictureFindings({ database: { db } }: { database: { db: Db } }): Promise<Finding[]> {
  const rows = await db.asStored.applicationPicture.findMany({
    where: { lastError: { not: null } },
    select: { lastError: true, application: { select: { clientId: true } } },
    orderBy: { applicationId: 'asc' },
    take: MAX_NAMED,
  });
  return rows.map(({ lastError, application: { clientId } }) =>
    warning('pictures', `the picture of ${clientId} can't be read: ${readStoredText(lastError ?? '')}`, ADVICE),
  );
}
