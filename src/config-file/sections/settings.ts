// `settings`.
import type { ApplicationServices } from '../../applications/application-services.ts';
import { imageType } from '../../applications/brand/image-store.ts';
import { ImageError } from '../../applications/brand/images/image-error.ts';
import {
  isPicturePath,
  type PictureValues,
  picturesIn,
  withStoredPictures,
} from '../../applications/brand/pictures.ts';
import { at, fault } from '../../base/texts/faults.ts';
import { textFaults } from '../../base/texts/overrides.ts';
import type { Core } from '../../core/core.ts';
import { type SettingName, type SettingValues, secretsOf, withoutSecrets } from '../../core/settings/settings.ts';
import { termsFaults, termsSettings } from '../../people/accounts/terms.ts';
import { differences, type Planned, type Planning, planEntries, secretChange, secretSet } from '../planning.ts';

export async function planSettings(planning: Planning): Promise<Planned> {
  const { settings, settingAfter, brandImages, declared, hidesSecrets, readFile } = planning;
  const readPicture = async (value: string) => {
    if (!isPicturePath(value)) return value;
    const bytes = await readFile(value, (file) => new ImageError(fault([], 'unreadable-file', { file })));
    return `data:;base64,${bytes.toString('base64')}`;
  };
  const { values, images, faults } = await withStoredPictures(declared.settings, brandImages, new Set(), readPicture);
  const faultsOfTexts = textFaults(values.texts ?? {}, (await settings.reload()).texts);
  const stored = await settings.list({ withSecrets: true });

  /** A secret within a value, such as the password in an address. */
  function secretChanges(name: SettingName, before: unknown, wanted: unknown) {
    const [known, given] = [secretsOf(name, before), secretsOf(name, wanted)];
    return Object.keys({ ...known, ...given }).flatMap((field) => {
      if (hidesSecrets && given[field] !== undefined) return [secretSet(field)];
      return known[field] === given[field] ? [] : [secretChange(field)];
    });
  }

  const plan = await planEntries({
    section: 'settings',
    declared: stored.map(({ name }) => name).filter((name) => values[name] !== undefined),
    // Without the defaults: a setting that the file does not declare any more gets its default back.
    stored: new Map(stored.filter(({ source }) => source !== 'default').map((one) => [one.name, one])),
    nameOf: ({ name }) => name,
    compare(name, take) {
      const before = take(name)?.value;
      const wanted = values[name];
      return {
        name,
        fields: [
          ...differences({ value: withoutSecrets(name, before) }, { value: withoutSecrets(name, wanted) }),
          ...secretChanges(name, before, wanted),
        ],
        async store(tx) {
          for (const { setting, image } of images) if (setting === name) await brandImages.save(tx, image);
          await settings.set(name, wanted as SettingValues[SettingName], { source: 'file', tx });
        },
      };
    },
    remove: ({ name }, tx) => settings.unset(name, tx),
  });
  const terms = Object.fromEntries(termsSettings.map((name) => [name, settingAfter(name)]));
  if (declared.settings.terms_version !== undefined) plan.faults.push(...at(['settings'], termsFaults(terms)));
  plan.faults.push(...at(['settings'], faults), ...at(['settings', 'texts'], faultsOfTexts));
  return plan;
}

/** Stores a picture, and returns its path from the configuration file. */
export type SavePicture = (name: string, bytes: Uint8Array) => string;

/** Each picture with its content, so that another server can have it. */
export async function exportSettings(
  { settings, brandImages }: Core & ApplicationServices,
  save: SavePicture = (name, bytes) => `data:${imageType(name)};base64,${Buffer.from(bytes).toString('base64')}`,
) {
  const set = (await settings.list()).filter(({ source }) => source !== 'default');
  const entries = structuredClone(Object.fromEntries(set.map(({ name, value }) => [name, value])));
  for (const { value, replace } of picturesIn(entries as PictureValues)) {
    const bytes = await brandImages.read(value);
    if (bytes) replace(save(value, bytes));
  }
  return entries;
}
