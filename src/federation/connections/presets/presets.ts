// What is known about the vendors of connections. Everything is data, in views/connections/presets.yaml: the protocols in federation/ read
// `quirks`, the console `fields`, `steps` and `paste`. Read at the first use.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { viewsDir } from '../../../base/platform/package.ts';
import { type PageText, t, textAt } from '../../../base/texts/text.ts';
import { type Connection, type ConnectionKind, connectionKinds } from '../connection.ts';
import { SHARED_TENANTS } from '../kinds/oidc.ts';

/** A text as the vendor names it, in its language; a key of the texts of the console after `$`, or with values. */
const words = z
  .union([z.string(), z.object({ text: z.string() }).catchall(z.string())])
  .transform((given): PageText => {
    if (typeof given === 'string' && !given.startsWith('$')) return given;
    const { text: key, ...values } = typeof given === 'string' ? { text: given.slice(1) } : given;
    const found = textAt(`console.${key}`, values);
    if (!found) throw new Error(`there is no text console.${key}`);
    return found;
  });

const fieldParts = z.strictObject({
  /** `console.connection-field.<key>.label` by default. */
  label: words.optional(),
  hint: words.optional(),
  /** An example. */
  placeholder: z.string().optional(),
  isRequired: z.literal(true).optional(),
  type: z.enum(['text', 'url', 'secret', 'date', 'lines', 'long']).optional(),
  /** Without the parts that several vendors have. */
  isAlone: z.literal(true).optional(),
});

/** Where a vendor deviates from its protocol. An absent one means that it does not. */
const quirks = z.strictObject({
  /** Where groups come from, and when the list is incomplete. */
  groups: z.enum(['entra-overage', 'github-organizations']).optional(),
  /** When the address counts as verified, beside `email_verified`. */
  email: z.enum(['google', 'entra', 'github', 'never']).optional(),
  /** The parts of the subject, joined by a colon. */
  subject: z.array(z.string()).optional(),
  /** email_verified is text ("true"). */
  emailVerifiedIsText: z.literal(true).optional(),
  /** The client secret is a JWT that is signed with the private key, valid for 5 minutes. */
  clientSecret: z.literal('apple-jwt').optional(),
  /** The name arrives once, in a field that the browser makes: for display only. */
  nameField: z.literal('apple-user').optional(),
  /** API calls carry appsecret_proof (HMAC-SHA-256 of the token under the secret). */
  appSecretProof: z.literal(true).optional(),
  /** The token endpoint reports errors with status 200. */
  errorsWithStatus200: z.literal(true).optional(),
  /** The userinfo endpoint returns `sub` only. */
  userinfoIsEmpty: z.literal(true).optional(),
  /** Sends `iss` in the answer (RFC 9207), so a missing one is an error. */
  alwaysSendsIss: z.literal(true).optional(),
});
export type Quirks = z.output<typeof quirks>;

/** A value of this server that the administrator pastes at the vendor (presets.ts). */
const pasteKey = z.enum([
  'redirect_uri',
  'post_logout_redirect_uri',
  'backchannel_logout_uri',
  'frontchannel_logout_uri',
  'sp_metadata_url',
  'sp_entity_id',
  'acs_url',
  'slo_url',
  'server_host',
]);
export type PasteKey = z.output<typeof pasteKey>;

const vendor = z.strictObject({
  id: z.string(),
  kind: z.enum(connectionKinds),
  /** As the list of vendors names it. */
  name: words,
  /** The mark on the button: a slug at simpleicons.org (build/logos.mjs) or a protocol, else the initial. */
  logo: z.string(),
  /** Values of the entry that it need not declare. */
  defaults: z.record(z.string(), z.json()).default({}),
  /** What the console asks for, beside id, name and the usual choices: keys of the entry. */
  fields: z.array(z.union([z.string().transform((key) => ({ key })), fieldParts.extend({ key: z.string() })])),
  /** What to do at the vendor, in order: ends of `console.connection-preset.<id>.step-…`, or texts. */
  steps: z.array(z.string()),
  paste: z.array(pasteKey).default([]),
  quirks: quirks.default({}),
});
const file = z.strictObject({ fields: z.record(z.string(), fieldParts), presets: z.array(vendor) });

export type Preset = ReturnType<typeof presetsOf>[number];

let read: readonly Preset[] | undefined;

/** Every preset, in the order of the list of vendors. */
export function presets(): readonly Preset[] {
  const text = () => readFileSync(path.join(viewsDir, 'connections', 'presets.yaml'), 'utf8');
  read ??= presetsOf(file.parse(parse(text())));
  return read;
}

function presetsOf({ fields: shared, presets: vendors }: z.output<typeof file>) {
  return vendors.map(({ fields, defaults, steps, ...preset }) => ({
    ...preset,
    /** Values of the entry that it need not declare; `entry` is what it declares. */
    defaults: (entry: Record<string, unknown>): Record<string, unknown> => ({
      ...derived[preset.id]?.(entry),
      ...defaults,
    }),
    fields: fields.map(({ key, ...own }: z.output<typeof fieldParts> & { key: string }) => {
      const { isAlone, label, ...parts } = { ...(own.isAlone ? {} : shared[key]), ...own };
      return { ...parts, key, label: label ?? textAt(`console.connection-field.${key}.label`) ?? key };
    }),
    steps: steps.map((step) =>
      words.parse(step.startsWith('$') ? step : `$connection-preset.${preset.id}.step-${step}`),
    ),
  }));
}

/** Defaults that follow from what the entry declares. */
const derived: Readonly<Record<string, (entry: Record<string, unknown>) => Record<string, unknown>>> = {
  entra({ tenant }) {
    if (typeof tenant !== 'string' || tenant === '') return {};
    const base = 'https://login.microsoftonline.com';
    if (!SHARED_TENANTS.includes(tenant)) return { issuer: `${base}/${tenant}/v2.0` };
    return {
      issuer: `${base}/{tenantid}/v2.0`,
      discovery_url: `${base}/${tenant}/v2.0/.well-known/openid-configuration`,
    };
  },
  // One domain only narrows the list of accounts; this server checks `hd`.
  google: ({ allowed_hosted_domains: domains }) =>
    Array.isArray(domains) && domains.length === 1 ? { authorization_parameters: { hd: domains[0] } } : {},
};

export function presetOf(id: string, kind: ConnectionKind): Preset | undefined {
  return presets().find((preset) => preset.id === id && preset.kind === kind);
}

/** Where the vendor of a connection deviates from its protocol. */
export function quirksOf({ preset, kind }: Pick<Connection, 'preset' | 'kind'>): Quirks {
  return presetOf(preset, kind)?.quirks ?? {};
}

/** Name of the logo on the sign-in button of a connection. */
export function logoOf({ preset, kind, settings }: Connection): string {
  return settings.logo ?? presetOf(preset, kind)?.logo ?? kind;
}

// The values of this server that an administrator pastes at the vendor.

export interface PasteValue {
  key: PasteKey;
  label: PageText;
  value: string;
}

const labels: Record<PasteKey, PageText> = {
  redirect_uri: t('console.connection-preset.paste.redirect-uri'),
  post_logout_redirect_uri: t('console.connection-preset.paste.post-logout-redirect-uri'),
  backchannel_logout_uri: t('console.connection-preset.paste.backchannel-logout-uri'),
  frontchannel_logout_uri: t('console.connection-preset.paste.frontchannel-logout-uri'),
  sp_metadata_url: t('console.connection-preset.paste.sp-metadata-url'),
  sp_entity_id: t('console.connection-field.sp_entity_id.label'),
  acs_url: t('console.field-section.acs.title'),
  slo_url: t('console.connection-preset.paste.slo-url'),
  server_host: t('console.connection-preset.paste.server-host'),
};

/** In the order of the preset. */
export function pasteValuesOf(
  { id, kind, preset, settings }: Pick<Connection, 'id' | 'kind' | 'preset'> & { settings?: object },
  issuer: string,
): PasteValue[] {
  const own = `${issuer}/upstream/${id}`;
  const entityId = settings && 'sp_entity_id' in settings ? String(settings.sp_entity_id) : undefined;
  const values: Record<PasteKey, string> = {
    redirect_uri: `${own}/callback`,
    post_logout_redirect_uri: `${own}/signed-out`,
    backchannel_logout_uri: `${own}/backchannel-logout`,
    frontchannel_logout_uri: `${own}/frontchannel-logout`,
    sp_metadata_url: `${issuer}/saml/sp/metadata`,
    sp_entity_id: entityId ?? `${issuer}/saml/sp/metadata`,
    acs_url: `${issuer}/saml/acs`,
    slo_url: `${issuer}/saml/sp/slo`,
    server_host: new URL(issuer).host,
  };
  return (presetOf(preset, kind)?.paste ?? []).map((key) => ({ key, label: labels[key], value: values[key] }));
}
