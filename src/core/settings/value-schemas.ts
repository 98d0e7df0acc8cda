// The schemas of single values: networks, domains, the attributes of users, the mail server and the SMS gateway.

import { z } from 'zod';
import { isHost, isLoopback, isNetwork } from '../../base/config/addresses.ts';
import { MAIL_ADDRESS } from '../../base/config/variables.ts';
import { limits } from '../../base/limits.ts';
import { containsLoopback } from '../../base/network/networks.ts';
import type { DescribedField } from '../../base/platform/described-fields.ts';
import { messageOf } from '../../base/platform/errors.ts';
import { compileJsonSchema } from '../../base/schemas/json-schema.ts';
import { lineUpTo, nameUpTo } from '../../base/schemas/line-schema.ts';
import { textLimits } from '../../base/texts/check-message.ts';
import { addFault, fault, faultFrom, rule } from '../../base/texts/faults.ts';
import { languages, type OfferedLanguages, SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { keyAlgs } from '../keys/rotation.ts';

/** The boxes of the console's forms of settings (admin/settings/setting-tabs.ts, admin/branding/console.ts). */
export type SettingBox =
  | 'mail-server'
  | 'mail-sender'
  | 'sms'
  | 'email-codes'
  | 'who'
  | 'set-up'
  | 'trusted-browsers'
  | 'new-passwords'
  | 'forgotten-passwords'
  | 'new-accounts'
  | 'confirmation'
  | 'limits'
  | 'blocked-networks'
  | 'notices'
  | 'sessions'
  | 'role-changes'
  | 'tokens'
  | 'agents'
  | 'api-keys'
  | 'languages'
  | 'outgoing'
  | 'service-providers'
  | 'attributes'
  | 'retention'
  | 'self-deletion'
  | 'brand-name'
  | 'brand-pictures'
  | 'brand-links';

/** What is known about a setting beside its schema: form, permission and documents follow from it. */
export interface SettingField extends DescribedField<SettingBox> {
  /**
   * Bounded so narrowly, or of so little effect, that a wrong value weakens nothing: gatehouse.settings:write changes it. All others protect
   * the server and its users (who signs in how, what is limited, where codes are sent), and take gatehouse.settings:write-security.
   */
  isGeneral?: true;
}

export const settingFields = z.registry<SettingField>();

export const network = z.string().refine(isNetwork, rule('network'));

/** Never this machine: an administrator who denied every network could not undo it in the console. */
export const deniedNetwork = network.refine((text) => !isNetwork(text) || !containsLoopback(text), rule('no-loopback'));

/** JSON Schema of the custom attributes of users; empty: text, numbers, true or false, lists of text, under any name. */
export const attributeSchema = z.record(z.string(), z.json()).superRefine((schema, context) => {
  if (JSON.stringify(schema).length > limits.settings.maxSchemaBytes) return addFault(context, fault([], 'too-long'));
  if (Object.keys(schema).length === 0) return undefined;
  if (schema.type !== 'object') return addFault(context, fault([], 'json-schema'));
  try {
    compileJsonSchema(schema);
  } catch (error) {
    return addFault(context, fault([], 'unusable-schema', { reason: messageOf(error) }));
  }
});

/** The host of a URL, with its port where it has one: ASCII (punycode), in lower case. */
export const host = z
  .string()
  .max(260)
  // An address of https is written without its port.
  .overwrite((value) => value.trim().toLowerCase().replace(/:443$/, ''))
  .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$/, rule('host'));

/** What tokens are signed with (RFC 7518 3.1): RS256 is mandatory (OpenID Connect Discovery 3), and HS256 uses the client's secret. */
export const signingAlgorithms = z
  .array(z.enum([...keyAlgs, 'HS256']))
  .refine((list) => new Set(list).size === list.length, rule('unique'))
  .refine((list) => list.includes('RS256'), rule('needs-rs256'))
  .default([...keyAlgs, 'HS256']);

/** As on the pages: longer ones would push the form out of sight. */
export const brandName = nameUpTo(60, z.string().trim());

export const brandColor = z.string().regex(/^#[0-9a-fA-F]{6}$/, rule('color'));

const IMAGE_NAME = /^[0-9a-f]{32}\.(png|jpg|svg)$/;
const DATA_URL = /^data:[a-z0-9.+/-]*;base64,[A-Za-z0-9+/]*={0,2}$/;
const FILE_NAME = /^[^:?#\p{C}]{1,255}\.(png|jpe?g|svg)$/iu;

/** Whether the text is the name of a stored picture, by which it is known from then on. */
export const isImageName = (text: string): boolean => IMAGE_NAME.test(text);
/** Whether the text is a picture. */
export const isImageData = (text: string): boolean => DATA_URL.test(text);

const MAX_IMAGE_CHARACTERS = 1_500_000; // the limit of its content has words of its own

/** A new picture. */
export const imageData = z.string().max(MAX_IMAGE_CHARACTERS).regex(DATA_URL, rule('picture-data'));

/** The content of a new picture. */
export const bytesOf = (data: string): Buffer => Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');

/** A picture: the name of a stored one, a new one as a data URL, or in the configuration file the path of a file. */
const brandImage = z
  .string()
  .max(MAX_IMAGE_CHARACTERS)
  .refine((text) => isImageName(text) || isImageData(text) || FILE_NAME.test(text), rule('picture-data'));

export const brandLink = z.string().max(2048).refine(isWebAddress, rule('link'));

/** The look of the pages and mails for people (docs/branding.md). Pictures are stored by their name (src/applications/brand/image-store.ts). */
export const brandSchemas = {
  brand_name: brandName
    .optional()
    .describe('replaces “Gatehouse” ([branding](branding.md))')
    .register(settingFields, { section: 'brand-name', isGeneral: true }),
  brand_color: brandColor
    .optional()
    .describe('`#rrggbb` for buttons and links')
    .register(settingFields, { section: 'brand-name', isGeneral: true }),
  brand_logo: brandImage
    .optional()
    .describe('a [picture](branding.md) in place of the name: a data URL, in the file also a path')
    .register(settingFields, { section: 'brand-pictures', isGeneral: true }),
  brand_logo_dark: brandImage
    .optional()
    .describe('the same for dark mode')
    .register(settingFields, { section: 'brand-pictures', isGeneral: true }),
  brand_icon: brandImage
    .optional()
    .describe('a square picture for the tab of the browser')
    .register(settingFields, { section: 'brand-pictures', isGeneral: true }),
  brand_background: brandImage
    .optional()
    .describe('a picture behind the sign-in form; not on phones')
    .register(settingFields, { section: 'brand-pictures', isGeneral: true }),
  brand_help_url: brandLink
    .optional()
    .describe('**Help** link below each page for people')
    .register(settingFields, { section: 'brand-links', isGeneral: true }),
  brand_privacy_url: brandLink
    .optional()
    .describe('**Privacy** link')
    .register(settingFields, { section: 'brand-links', isGeneral: true }),
  brand_terms_url: brandLink
    .optional()
    .describe('**Terms** link')
    .register(settingFields, { section: 'brand-links', isGeneral: true }),
  terms_version: nameUpTo(40, z.string().trim())
    .optional()
    .describe(
      'version of both documents, such as `2026-11`, that people [accept](accounts.md#terms) before a sign-in goes on; without one they are not asked',
    )
    .register(settingFields, { section: 'brand-links', isGeneral: true }),
  brand_applications: z
    .record(
      z.string().min(1).max(2048), // client ID or entity ID
      z.strictObject({
        name: brandName.optional(),
        color: brandColor.optional(),
        logo: brandImage.optional(),
        logo_dark: brandImage.optional(),
        icon: brandImage.optional(),
        background: brandImage.optional(),
        help_url: brandLink.optional(),
        privacy_url: brandLink.optional(),
        terms_url: brandLink.optional(),
      }),
    )
    .refine((brands) => Object.keys(brands).length <= 200, rule('too-many-brands'))
    .default({})
    .describe('the look of an application: client ID or entity ID to the keys above without `brand_`; at most 200')
    .register(settingFields, { section: null, isGeneral: true }),
};

/** The standard claims that people can have in their profile (OpenID Connect Core 5.1). */
export const profileClaims = [
  ...(['name', 'given_name', 'middle_name', 'family_name', 'nickname', 'locale', 'zoneinfo'] as const),
  ...(['birthdate', 'gender', 'website', 'profile', 'phone_number', 'address'] as const),
] as const;

const language = z.enum(languages);

/** The languages of pages and mails for people (docs/languages.md). */
export const languageSchemas = {
  default_language: language
    .default(SOURCE_LANGUAGE)
    .describe('for people whose language is not known or not offered ([languages](languages.md))')
    .register(settingFields, { section: 'languages', isGeneral: true }),
  languages: z
    .array(language)
    .default([])
    .describe('the languages that people can use; `[]`: all')
    .register(settingFields, { section: 'languages', isGeneral: true }),
};

interface LanguageSettings {
  readonly default_language: string;
  readonly languages: readonly string[];
}

/** Each request asks, and the settings are one object until they are read again. */
const offered = new WeakMap<LanguageSettings, OfferedLanguages>();

/** The offered languages; the default language is one of them. */
export function offeredLanguages(settings: LanguageSettings): OfferedLanguages {
  const known = offered.get(settings);
  if (known) return known;
  const { default_language: standard, languages: chosen } = settings;
  const isOffered = (tag: string) => chosen.length === 0 || chosen.includes(tag) || tag === standard;
  const found = { tags: languages.filter(isOffered), standard };
  offered.set(settings, found);
  return found;
}
/**
 * Texts for people by language and key, in place of those of views/texts. Only their shape: what an older version accepted must not be lost
 * after an upgrade. Changes are checked by `textFaults` (base/texts/overrides.ts).
 */
export const textsSchema = z
  .record(z.string().min(1).max(35), z.record(z.string().min(1).max(100), z.string().min(1).max(textLimits.characters)))
  .refine((texts) => JSON.stringify(texts).length <= textLimits.total, rule('texts-too-long'))
  .default({});

/** The gateway that sends SMS codes (its request is in docs/accounts.md). */
export const smsGateway = z.strictObject({
  url: z.string().max(2048).refine(isWebAddress, rule('web-url')),
  token: z.string().min(1).max(2048).optional(), // sent as Authorization: Bearer
  sender: z.string().min(1).max(20).optional(), // the sender of the SMS, if the gateway supports it
});

/**
 * The mail server (RFC 6409). Credentials and mails go in clear text to this machine only.
 * `starttls`: required (RFC 3207); `implicit`: TLS from the first byte (RFC 8314).
 */
export const mailServer = z
  .strictObject({
    host: z.string().refine(isHost, rule('mail-host')),
    tls: z.enum(['starttls', 'implicit', 'none']).default('starttls'),
    port: z.int().min(1).max(65_535).optional(),
    username: lineUpTo(255).optional(),
    password: lineUpTo(1024).optional(),
  })
  .superRefine(
    faultFrom(({ host, tls, username, password }) => {
      if (tls === 'none' && !isLoopback(host)) return fault(['tls'], 'mail-tls');
      return password !== undefined && username === undefined ? fault(['username'], 'mail-username') : undefined;
    }),
  );

/** The port of a mail server; by default that of its TLS mode. */
export const mailPort = ({ port, tls }: Pick<z.output<typeof mailServer>, 'port' | 'tls'>): number =>
  port ?? { starttls: 587, implicit: 465, none: 25 }[tls];

/** The sender of all mail. */
export const mailSender = z.strictObject({
  address: z
    .string()
    .max(254)
    .refine((text) => MAIL_ADDRESS.test(text), rule('mail-address')),
  name: nameUpTo(60, z.string().trim()).optional(),
});

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s@]+$/.test(value) && URL.canParse(value);
}
