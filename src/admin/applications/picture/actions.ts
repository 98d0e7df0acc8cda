// What administrators do with the picture of an application: choose one, remove it, and read that of the logo_uri again. None needs a
// fresh sign-in, as a change of the logo_uri does not (trusted-fields.ts).
import type { ApplicationPictures } from '../../../applications/pictures/pictures.ts';
import type { Actor } from '../../../audit/audit.ts';
import type { ManageableApplications } from '../manageable-applications.ts';

export interface PictureActions {
  /** Throws invalid_input with the field `picture`. */
  choosePicture(id: string, bytes: Buffer, by: Actor): Promise<void>;
  removePicture(id: string, by: Actor): Promise<void>;
  fetchPicture(id: string, by: Actor): Promise<void>;
}

export function pictureActions(
  { pictures }: { pictures: Pick<ApplicationPictures, 'choose' | 'removeChosen' | 'fetchAgain'> },
  manageable: Pick<ManageableApplications, 'find'>,
): PictureActions {
  return {
    async choosePicture(id, bytes, by) {
      await manageable.find(id, by);
      await pictures.choose(id, bytes, { by });
    },

    async removePicture(id, by) {
      await manageable.find(id, by);
      await pictures.removeChosen(id, { by });
    },

    // Changes nothing that the registration does not say.
    async fetchPicture(id, by) {
      await manageable.find(id, by);
      await pictures.fetchAgain(id);
    },
  };
}
