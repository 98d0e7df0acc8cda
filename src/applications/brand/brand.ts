// The brand of the settings, and that of an application, as pages and mails display it. It is made of settings, not of fields of applications,
// because the manager of one application could imitate the pages of another; and there is no custom style sheet, which could hide what a consent
// page says.
import type { BrandLook } from '../../base/http/pages/brand-look.ts';
import type { Settings, SettingValues } from '../../core/settings/settings.ts';
import { brandSheet } from './sheet.ts';

/** The branding settings of pages and mails. */
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

/** The settings whose value is a picture. */
export const brandImageSettings = ['brand_logo', 'brand_logo_dark', 'brand_icon', 'brand_background'] as const;

/** The settings that an application replaces; a picture is its file name. */
export type BrandValues = { [Name in BrandSetting]?: string | undefined };

export type Brand = ReturnType<typeof createBrand>;

/** The path under which `serve.ts` serves the pictures. */
export const imagePath = (name: string): string => `/assets/brand-${name}`;

export function createBrand({ settings }: { settings: Settings }) {
  return {
    /** The brand of the settings; undefined where none of them is set. The settings are cached, so nothing is read. */
    current: (): BrandLook | undefined => lookOf(settings.latest()),
    /** The same for the pages of an application; undefined where it has no brand of its own. */
    ofApplication(clientId: string): BrandLook | undefined {
      const values = settings.latest();
      const applicationBrand = brandOfApplication(values.brand_applications, clientId);
      return applicationBrand && lookOf({ ...values, ...inPlace(applicationBrand) });
    },
    /** The brand with these values instead of those of the settings, or of one application. */
    with(
      values: BrandValues,
      { isOfApplication }: { isOfApplication: boolean } = { isOfApplication: false },
    ): BrandLook | undefined {
      return lookOf({ ...settings.latest(), ...(isOfApplication ? inPlace(values) : values) });
    },
  };
}

/** The brand values of an application, under the names of the settings. */
export function brandOfApplication(
  brands: SettingValues['brand_applications'],
  clientId: string,
): BrandValues | undefined {
  const applicationBrand = Object.hasOwn(brands, clientId) ? brands[clientId] : undefined;
  return (
    applicationBrand &&
    Object.fromEntries(Object.entries(applicationBrand).map(([part, value]) => [`brand_${part}`, value]))
  );
}

/** The name or logo of an application replaces both logos of the settings, which belong to another name. */
function inPlace(applicationBrand: BrandValues): BrandValues {
  const set = Object.fromEntries(Object.entries(applicationBrand).filter(([, value]) => value));
  const hasMark = Boolean(
    applicationBrand.brand_name || applicationBrand.brand_logo || applicationBrand.brand_logo_dark,
  );
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
