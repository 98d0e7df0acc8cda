// The form of the brand: its settings as fields, and what was sent as it is stored. A picture that was sent is stored at once, under
// its name, so that the form can come back with it after a fault or a sign-in.
import {
  type BrandSetting,
  brandImageSettings,
  brandOfApplication,
  brandSettings,
  imagePath,
} from '../../applications/brand/brand.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { SettingEntry, SettingName, SettingValues } from '../../core/settings/settings.ts';
import { isImageData, isImageName, type SettingBox } from '../../core/settings/value-schemas.ts';
import { ACCEPTED_PICTURES, type Field, type FormSection } from '../console/blocks.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { SettingChanges } from '../settings/actions.ts';
import { type Lock, settingsIn, settingTexts } from '../settings/console-fields.ts';

/** The boxes of the form. */
const SECTIONS: readonly { title: PageText; lead?: PageText; box: SettingBox }[] = [
  { title: t('console.branding.box.name'), box: 'brand-name' },
  { title: t('console.branding.box.pictures'), box: 'brand-pictures' },
  { title: t('console.branding.box.links'), lead: t('console.branding.box.links.lead'), box: 'brand-links' },
];

type Entries = readonly SettingEntry[];

type ImageSetting = (typeof brandImageSettings)[number];
const isBrandSetting = (name: SettingName): name is BrandSetting => brandSettings.some((one) => one === name);
const isImage = (name: BrandSetting): name is ImageSetting => brandImageSettings.some((one) => one === name);

/** The settings as an application has them: its own values under the names of the settings. */
export function entriesOf(application: string, entries: Entries): SettingEntry[] {
  const brands = entries.find(({ name }) => name === 'brand_applications');
  const own = brandOfApplication(brandsIn(entries), application) ?? {};
  return brandSettings.map((name) => ({
    name,
    value: own[name],
    source: brands?.source === 'file' ? 'file' : 'local',
  }));
}

/** The brands of all applications after these changes of one. */
export function withChanges(application: string, entries: Entries, changes: SettingChanges): Brands {
  const before = brandOfApplication(brandsIn(entries), application) ?? {};
  const after = brandSettings.flatMap((name) => {
    const value = changes[name] === undefined ? before[name] : changes[name];
    return value ? [[name.slice('brand_'.length), value] as const] : [];
  });
  const others = Object.entries(brandsIn(entries)).filter(([id]) => id !== application);
  return Object.fromEntries(after.length > 0 ? [...others, [application, Object.fromEntries(after)]] : others);
}

type Brands = SettingValues['brand_applications'];
const brandsIn = (entries: Entries) =>
  (entries.find(({ name }) => name === 'brand_applications')?.value ?? {}) as Brands;

/** What the form holds now: as it was sent, else what is stored. */
export function valueIn(name: BrandSetting, entries: Entries, sent: Sent): string {
  const stored = entries.find((entry) => entry.name === name)?.value;
  return sentValue(sent, name) ?? (stored === undefined ? '' : String(stored));
}

export function brandSections(entries: Entries, sent: Sent, lockOf: (entry: SettingEntry) => Lock): FormSection[] {
  return SECTIONS.map(({ box, ...section }) => ({
    ...section,
    fields: settingsIn(box).flatMap((name) => {
      const entry = entries.find((one) => one.name === name);
      if (!entry || !isBrandSetting(name)) return [];
      return fieldsOf(name, valueIn(name, entries, sent), lockOf(entry));
    }),
  }));
}

/** The pictures that the form has now, which a browser cannot send again. */
export function storedPictures(entries: Entries, sent: Sent): Field[] {
  return brandImageSettings.flatMap((name) => {
    const value = valueIn(name, entries, sent);
    return isImageName(value) ? [{ name: `${name}.stored`, label: '', type: 'hidden' as const, value }] : [];
  });
}

function fieldsOf(name: BrandSetting, value: string, lock: Lock): Field[] {
  const texts = settingTexts(name);
  const locked = lock && { isLocked: true, isFromFile: lock === 'file' };
  const field: Field = { ...texts, value, ...locked };
  if (name === 'brand_color') return [{ ...field, type: 'color', isCode: true, placeholder: '#1f6650' }];
  if (name === 'brand_name') return [field];
  if (!isImage(name)) return [{ ...field, isCode: true, placeholder: 'https://' }];
  const isStored = isImageName(value);
  const picture = isStored ? { src: imagePath(value), isDark: name === 'brand_logo_dark' } : undefined;
  const file: Field = { ...texts, type: 'file', accept: ACCEPTED_PICTURES, picture, ...locked };
  if (!isStored || lock) return [file];
  const remove = { name: `${name}.remove`, label: t(`console.branding.remove.${name}`), type: 'checkbox' as const };
  return [file, remove];
}

/**
 * The form with the name of each picture in place of its content; with the one before where `store` cannot use it.
 *
 * @param store stores a picture, and returns its name
 */
export async function withNames(
  sent: Sent,
  store: (name: BrandSetting, data: string) => Promise<string | undefined>,
): Promise<Sent> {
  const named: Record<string, readonly string[]> = { ...sent };
  for (const name of brandImageSettings) {
    const [content = '', stored] = [sentValue(sent, name), sentValue(sent, `${name}.stored`)];
    const added = isImageData(content) ? await store(name, content) : undefined;
    const value = added ?? (sentValue(sent, `${name}.remove`) === 'on' ? '' : stored);
    if (value === undefined) delete named[name];
    else named[name] = [value];
  }
  return named;
}
