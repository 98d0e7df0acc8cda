// The rows of pictures. The MAC covers the name, which is the hash of the content.
import type { ProtectedRows, ProtectedValue } from '../../audit/protected-rows.ts';

export interface PictureColumns {
  applicationId: string;
  url: string | null;
  name: string | null;
}

/** What the MAC of a picture covers. */
export const pictureFields = ({ applicationId, url, name }: PictureColumns): ProtectedValue[] => [
  applicationId,
  url,
  name,
];

export function pictureMac(row: PictureColumns, { macOf }: ProtectedRows): string {
  return macOf('application_pictures', pictureFields(row));
}

export function isGenuinePicture(row: PictureColumns & { mac: string }, { isGenuine }: ProtectedRows): boolean {
  return isGenuine('application_pictures', pictureFields(row), row.mac);
}
