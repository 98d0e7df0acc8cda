// What administrators do with the picture of an application: see where it comes from, choose one, remove it, and read that of the logo_uri again. None needs a
// fresh sign-in, as a change of the logo_uri does not (update-actions.ts).
import type { ApplicationPictures, PictureState } from '../../../applications/pictures/pictures.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { ManageableApplications } from '../manageable-applications.ts';

export interface PictureActions {
  /** Undefined for an application without logo_uri and without a picture. */
  pictureState(id: string, by: Actor): Promise<PictureState | undefined>;
  /** Throws invalid_input with the field `picture`. */
  choosePicture(id: string, bytes: Buffer, by: Actor): Promise<void>;
  removePicture(id: string, by: Actor): Promise<void>;
  fetchPicture(id: string, by: Actor): Promise<void>;
}

export function pictureActions(
  { pictures }: { pictures: Pick<ApplicationPictures, 'state' | 'choose' | 'removeChosen' | 'fetchAgain'> },
  manageable: ManageableApplications,
  /** Throws not_found for an application that they may not see. */
  see: (id: string, by: Actor) => Promise<unknown>,
): PictureActions {
  return {
    async pictureState(id, by) {
      await see(id, by);
      return pictures.state(id);
    },

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
