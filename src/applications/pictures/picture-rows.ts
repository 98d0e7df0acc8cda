// The rows of pictures. The MAC covers the name, which is the hash of the content.
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';

export interface PictureColumns {
  applicationId: string;
  url: string | null;
  name: string | null;
}

export function pictureMac(row: PictureColumns, { macOf }: ProtectedRows): string {
  return macOf('application_pictures', row);
}

export function isGenuinePicture(row: PictureColumns & { mac: string }, { isGenuine }: ProtectedRows): boolean {
  return isGenuine('application_pictures', row, row.mac);
}
