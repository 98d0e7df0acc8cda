// The brand of the settings, and that of an application, as pages and mails display it.
import type { BrandLook } from '../http/pages/brand-look.ts';
import type { Settings, SettingValues } from '../settings/settings.ts';
import { brandSheet } from './sheet.ts';

/** The settings that pages and mails are made of. */
export const brandSettings = [
  'brand_name',
  'brand_color',
  'brand_logo',
  'brand_logo_dark',
  'brand_icon',
  'brand_background',
  'brand_help_url',
  'brand_privacy_url',
  'brand_terms_url',
] as const;
export type BrandSetting = (typeof brandSettings)[number];

/** Those that hold a picture. */
export const brandImageSettings = ['brand_logo', 'brand_logo_dark', 'brand_icon', 'brand_background'] as const;

/** What an application replaces; a picture by its name. */
export type BrandValues = { [Name in BrandSetting]?: string | undefined };

export interface Brand {
  /** The brand of the settings; undefined where none of them is set. Reads nothing: the settings are cached. */
  current(): BrandLook | undefined;
  /** The same for the pages of an application; undefined where it has no brand of its own. */
  ofApplication(clientId: string): BrandLook | undefined;
  /** The brand of the settings with these values in place of theirs; those of an application leave the others as they are. */
  with(values: BrandValues, options?: { isOfApplication: boolean }): BrandLook | undefined;
}

/** The path at which `serve.ts` has the pictures. */
export const imagePath = (name: string): string => `/assets/brand-${name}`;

export function createBrand({ settings }: { settings: Pick<Settings, 'latest'> }): Brand {
  let last: { values: SettingValues; look: BrandLook | undefined } | undefined;
  return {
    current() {
      const values = settings.latest();
      // The same object until the settings are read again.
      if (last?.values !== values) last = { values, look: lookOf(values) };
      return last.look;
    },
    ofApplication(clientId) {
      const values = settings.latest();
      const own = brandOfApplication(values.brand_applications, clientId);
      return own && lookOf({ ...values, ...inPlace(own) });
    },
    with(values, { isOfApplication } = { isOfApplication: false }) {
      return lookOf({ ...settings.latest(), ...(isOfApplication ? inPlace(values) : values) });
    },
  };
}

/** What an application has of its own, by the names of the settings. */
export function brandOfApplication(
  brands: SettingValues['brand_applications'],
  clientId: string,
): BrandValues | undefined {
  const own = Object.hasOwn(brands, clientId) ? brands[clientId] : undefined;
  return own && Object.fromEntries(Object.entries(own).map(([part, value]) => [`brand_${part}`, value]));
}

/** Its name or logo takes the place of both logos of the settings, which say another name. */
function inPlace(own: BrandValues): BrandValues {
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value));
  const hasMark = Boolean(own.brand_name || own.brand_logo || own.brand_logo_dark);
  return { ...(hasMark && { brand_logo: undefined, brand_logo_dark: undefined }), ...set };
}

function lookOf(values: BrandValues): BrandLook | undefined {
  if (brandSettings.every((name) => !values[name])) return undefined;
  const { brand_logo: logo, brand_logo_dark: darkLogo, brand_icon: icon, brand_background: background } = values;
  const sheet = values.brand_color ? brandSheet(values.brand_color.toLowerCase()) : undefined;
  const urlOf = (name: string | undefined) => (name ? imagePath(name) : undefined);
  const links = [
    { kind: 'help' as const, href: values.brand_help_url },
    { kind: 'privacy' as const, href: values.brand_privacy_url },
    { kind: 'terms' as const, href: values.brand_terms_url },
  ];
  return {
    name: values.brand_name || undefined,
    sheet: sheet && `/assets/${sheet.name}`,
    colors: sheet?.colors,
    logo: urlOf(logo),
    darkLogo: urlOf(darkLogo),
    mailLogo: logo && /\.(png|jpg)$/.test(logo) ? logo : undefined,
    icon: urlOf(icon),
    background: urlOf(background),
    links: links.flatMap(({ kind, href }) => (href ? [{ kind, href }] : [])),
  };
}
