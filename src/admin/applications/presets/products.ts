// The products of views/products: what "New application" asks for, the declaration that it makes, and the guide for the other side. Each
// file is a list in YAML, named by its kind (own.yaml: presets.ts). A text is a template: `${issuer}` is a value, `${server|quoted}` a value as a format needs it,
// `${end_session:/}` the sign-out address that then goes to a path of the application, and `${text:on}` the text `console.preset.on`, with
// its values as `${text:part-before suffix=.slack.com; other=…}`. Read at the first use.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { invalidInput } from '../../../base/http/errors.ts';
import { viewsDir } from '../../../base/platform/package.ts';
import { fault } from '../../../base/texts/faults.ts';
import { escapeHtml } from '../../../base/texts/messages.ts';
import { concatenated, type PageText, t, textAt } from '../../../base/texts/text.ts';
import type { Field } from '../../console/blocks.ts';
import type { Answers, Declaration, IdentityProvider, Preset, SetupInstruction } from './parts.ts';

export const presetKinds = {
  development: t('console.preset.kind.development'),
  infrastructure: t('console.preset.kind.infrastructure'),
  home: t('console.preset.kind.home'),
  communication: t('console.preset.kind.communication'),
  office: t('console.preset.kind.office'),
  agents: t('console.preset.kind.agents'),
} as const;
type Kind = keyof typeof presetKinds;

/** What becomes of a sign-in at a product, as its guide sets it up. Each value is in the product's own words. */
const life = z.strictObject({
  /** Whether it renews with refresh tokens, which the declaration and the scopes of the guide allow; a text: the setting for when. */
  renews: z.union([z.boolean(), z.string()]),
  /** Its sign-out ends the session here as well (`everywhere`), or its own only. */
  signOut: z.enum(['everywhere', 'own']),
  /**
   * The setting for the life of its own session, with the default where one is documented. `as-token`: that of the token; `as-assertion`: until
   * the SessionNotOnOrAfter of the assertion; `endless`: until the user signs out there.
   */
  session: z.string(),
  /**
   * The setting for a private certificate authority; `system`: the certificates of its operating system. `public`: only a public one, because
   * a cloud service calls this server; `none`: it never calls this server.
   */
  certificates: z.string(),
  /** Whether it accepts an issuer with http; a text: the setting with which it does. Absent with `public` and `none`. */
  http: z.union([z.boolean(), z.string()]).optional(),
  /** What must exist first, beside the roles and groups that the form creates. */
  first: z.string().optional(),
});

/** What a product demands of a person beyond the access rule, as its guide sets it up (demands.ts). */
const demands = z.strictObject({
  /** It rejects people without an address; `verified`: also those whose address is not verified. */
  email: z.enum(['address', 'verified']).optional(),
  /** Without one of its roles or groups it rejects a person (`to-sign-in`), or signs the person in without any right (`for-rights`). */
  role: z.enum(['to-sign-in', 'for-rights']).optional(),
  /** A role or group of any other name counts as well, once the administrator of the product gave it rights. */
  countsOtherRoles: z.boolean().optional(),
  /** Its roles, where `roles` cannot name them. */
  roleNames: z
    .string()
    .transform((pattern) => new RegExp(pattern))
    .optional(),
});

const DNS_LABEL = 'dns-label';
/** What an answer has to be. Names and domains may be typed in capitals, and become small letters. */
const checks = {
  [DNS_LABEL]: { pattern: /^[a-z0-9][a-z0-9-]{0,62}$/i, code: DNS_LABEL, isLowerCase: true },
  domain: { pattern: /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/i, code: 'domain-name', isLowerCase: true },
  'https-address': { pattern: /^https:\/\/\S+$/, code: 'https-address', isLowerCase: false },
  'aws-account': { pattern: /^\d{12}$/, code: 'aws-account', isLowerCase: false },
  'aws-provider': { pattern: /^[\w._-]{1,128}$/, code: 'aws-provider', isLowerCase: false },
  'aws-role': { pattern: /^[\w+=,.@/-]{1,512}$/, code: 'aws-role', isLowerCase: false },
  filled: { pattern: /\S/, code: 'empty', isLowerCase: false },
} as const;

const named = z.strictObject({ name: z.string(), nameThere: z.string().optional(), description: z.string() });

const product = z.strictObject({
  id: z.string(),
  title: z.string(),
  /** At simpleicons.org (build/logos.mjs). */
  logo: z.string().optional(),
  /** One line, for the list; `console.preset.<id>.text` by default. */
  text: z.string().optional(),
  protocol: z.enum(['oidc', 'saml']),
  /** Where the product describes its settings. */
  documentation: z.string(),
  /** The documents that its addresses and settings were checked against, each with a date or version. */
  checkedAgainst: z.string(),
  /** What was run beside this preset (test/peers/products), and when. Absent: it was not run. */
  ran: z.strictObject({ what: z.string(), on: z.string() }).optional(),
  life,
  demands: demands.optional(),
  roles: z.array(named).optional(),
  /** Instead of roles, of a product that reads groups. */
  groups: z.array(named.omit({ nameThere: true })).optional(),
  /** What users without those roles or groups are in the product, such as `Viewer`. */
  withoutRoles: z.string().optional(),
  /** Its own fields say who can sign in. */
  hasOwnAccess: z.boolean().optional(),
  /** An example of its address. With one, the form asks for the address, as `url`. */
  address: z.string().optional(),
  fields: z
    .array(
      z.strictObject({
        name: z.string(),
        label: z.string(),
        hint: z.string().optional(),
        value: z.string().optional(),
        required: z.boolean().optional(),
        /** Of the first part of a host name that the product chose: the rest. */
        suffix: z.string().optional(),
        check: z.enum(Object.keys(checks) as [keyof typeof checks]).optional(),
      }),
    )
    .default([]),
  /** As in the configuration file; the values are the answers, and `server`: the name of this server. */
  declaration: z.record(z.string(), z.json()),
  /** Further values of the guide, from the stored declaration: what matches in the JSON of one of its keys. */
  values: z
    .record(
      z.string(),
      z.strictObject({
        of: z.string(),
        matches: z.string(),
        or: z.string().default(''),
        /** What matches is percent-encoded (`|uri`). */
        isEncoded: z.boolean().optional(),
      }),
    )
    .default({}),
  /** Settings in the product's own format, ready to paste. `isAlternative`: the same in another form. */
  guide: z.array(z.strictObject({ title: z.string(), text: z.string(), isAlternative: z.boolean().optional() })),
});
type Product = z.output<typeof product>;

/** A product by name, with the settings for its side. */
export interface ProductPreset
  extends Preset,
    Pick<Product, 'title' | 'checkedAgainst' | 'ran' | 'demands' | 'documentation'> {
  title: string;
  kind: Kind;
  life: Omit<Product['life'], 'first'> & { first?: PageText };
  setupInstructions(identityProvider: IdentityProvider, declaration: Declaration): SetupInstruction[];
}

let loaded: readonly ProductPreset[] | undefined;

/** Every product, by kind. */
export function productPresets(): readonly ProductPreset[] {
  loaded ??= (Object.keys(presetKinds) as Kind[]).flatMap((kind) => {
    const file = readFileSync(path.join(viewsDir, 'products', `${kind}.yaml`), 'utf8');
    return z
      .array(product)
      .parse(parse(file))
      .map((one) => presetOf(one, kind));
  });
  return loaded;
}

function presetOf(one: Product, kind: Kind): ProductPreset {
  const { id, title, guide, address, declaration, ...rest } = one;
  const words = (template: string) => expanded(template, {}, title);
  const { first, ...ofLife } = one.life;
  const { protocol, documentation, checkedAgainst, ran, hasOwnAccess } = rest;
  return {
    id,
    title,
    kind,
    protocol,
    documentation,
    checkedAgainst,
    ...(ran && { ran }),
    ...(one.demands && { demands: one.demands }),
    ...(hasOwnAccess && { hasOwnAccess }),
    text: words(one.text ?? `\${text:${id}.text}`),
    life: { ...ofLife, ...(first && { first: words(first) }) },
    ...(one.roles && { roles: one.roles.map((role) => ({ ...role, description: words(role.description) })) }),
    ...(one.groups && { groups: one.groups.map((group) => ({ ...group, description: words(group.description) })) }),
    ...(one.withoutRoles && { withoutRoles: words(one.withoutRoles) }),
    fields: [
      ...(address ? [addressField(title, address)] : []),
      ...one.fields.map(({ check: _check, suffix, hint, ...field }): Field => {
        const about = suffix ? t('console.preset.part-before', { suffix }) : hint && words(hint);
        return {
          ...field,
          label: words(field.label),
          ...(about && { hint: about }),
          ...(suffix && { required: true }),
        };
      }),
    ],
    toDeclaration: (answers, server) => withValues(declaration, { ...answersOf(one, answers), server }) as Declaration,
    setupInstructions: (identityProvider, stored) => {
      const values = guideValues(one, identityProvider, stored);
      return guide.map((step) => ({
        ...step,
        title: expanded(step.title, values, title),
        text: expanded(step.text, values, title),
      }));
    },
  };
}

const addressField = (product: string, example: string): Field => ({
  name: 'url',
  label: t('console.preset.url', { product }),
  hint: t('console.preset.such-as', { example }),
  required: true,
});

/** The answers as the declaration has them. Throws invalid_input. */
function answersOf({ address, fields }: Product, answers: Answers): Record<string, string> {
  const checked = fields.map(({ name, check, suffix }): [string, string] => {
    const value = (answers[name] ?? '').trim();
    if (name === 'url') return [name, webAddress(value)];
    const wanted = suffix ? checks[DNS_LABEL] : check && checks[check];
    if (wanted && !wanted.pattern.test(value)) throw invalidInput([fault([name], wanted.code)]);
    return [name, wanted?.isLowerCase ? value.toLowerCase() : value];
  });
  return { ...Object.fromEntries(checked), ...(address && { url: webAddress(answers.url) }) };
}

/**
 * The URL without a slash at its end, `https` when it has no scheme. A name without a dot, such as `grafana`, needs its scheme: it could be
 * the name of the product or of a host. Throws invalid_input.
 */
export function webAddress(url: string | undefined): string {
  const text = (url ?? '').trim();
  const whole = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (text === '' || !URL.canParse(whole)) throw invalidInput([fault(['url'], 'web-address')]);
  const { origin, pathname, hostname, username, password } = new URL(whole);
  if (username || password) throw invalidInput([fault(['url'], 'uri-credentials')]);
  if (whole !== text && !/[.:]/.test(hostname) && hostname !== 'localhost')
    throw invalidInput([fault(['url'], 'whole-address')]);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

type GuideValues = Readonly<Record<string, PageText>>;

function guideValues({ values }: Product, server: IdentityProvider, declaration: Declaration): GuideValues {
  const known: GuideValues = {
    server: server.name,
    issuer: server.issuer,
    client_id: server.clientId,
    client_secret: server.clientSecret ?? t('console.preset.secret'),
    certificate: server.certificate.trim(),
    client_uri: String(declaration.client_uri),
  };
  const derived = Object.entries(values).map(([name, { of, matches, or, isEncoded }]) => {
    const [, found] = new RegExp(matches).exec(JSON.stringify(declaration[of]) ?? '') ?? [];
    if (found === undefined) return [name, expanded(or, known, '')];
    return [name, isEncoded ? decoded(found) : found];
  });
  return { ...known, ...Object.fromEntries(derived) };
}

/** An administrator can store a `%` that encodes nothing: then the text as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const isPlainWord = (text: string) => /^[\w.-]+$/.test(text);

/** A value as the format of a product needs it: an administrator chooses the name of this server freely. */
const filters: Readonly<Record<string, (text: string) => string>> = {
  /** In double quotes: JSON, YAML, TOML and Python. */
  quoted: (text) => JSON.stringify(text),
  /** In double quotes of Ruby, where #{…} is code. */
  ruby: (text) => JSON.stringify(text).replaceAll('#', '\\#'),
  shell: (text) => (isPlainWord(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`),
  /** PowerShell takes every kind of single quotation mark as the end of a text. */
  powershell: (text) => (isPlainWord(text) ? text : `'${text.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`),
  /** In an INI file, # and ; begin a comment. */
  ini: (text) => (/[#;]/.test(text) ? `\`${text}\`` : text),
  html: escapeHtml,
  uri: encodeURIComponent,
  /** Of a URL: its host and port. */
  host: (text) => new URL(text).host,
  /** Of a URL: without its scheme. */
  bare: (text) => text.replace(/^https?:\/\//, ''),
  /** Of a PEM: its Base64. */
  base64: (text) => text.replaceAll(/-----[^-]+-----|\s/g, ''),
};

/** A template with its values and texts. Texts become words when the page is rendered; everything else stays as it is. */
export function expanded(template: string, values: GuideValues, product: string): PageText {
  const parts: PageText[] = [];
  let rest = template;
  for (let start = rest.indexOf('${'); start >= 0; start = rest.indexOf('${')) {
    const end = endOfSlot(rest, start + 2);
    parts.push(rest.slice(0, start), slot(rest.slice(start + 2, end), values, product));
    rest = rest.slice(end + 1);
  }
  parts.push(rest);
  const [only = '', ...others] = parts.filter((part) => part !== '');
  return others.length === 0 ? only : concatenated(parts);
}

/** The brace that ends a slot, which may have slots inside. */
function endOfSlot(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) depth++;
    if (text[at] === '}' && --depth === 0) return at;
  }
  throw new Error(`a slot without an end: ${text}`);
}

function slot(content: string, values: GuideValues, product: string): PageText {
  if (content.startsWith('text:')) {
    const [, key = '', given = ''] = /^text:(\S+)\s?(.*)$/s.exec(content) ?? [];
    const pairs = given.split('; ').flatMap((pair) => {
      const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(pair) ?? [];
      return name === undefined ? [] : [[name, expanded(value, values, product)] as const];
    });
    const found = textAt(`console.preset.${key}`, { product, ...Object.fromEntries(pairs) });
    if (!found) throw new Error(`there is no text console.preset.${key}`);
    return found;
  }
  const [name = '', filter] = content.split('|');
  const text = name.startsWith('end_session:') ? endSession(values, name.slice('end_session:'.length)) : values[name];
  if (text === undefined) throw new Error(`there is no value ${name}`);
  if (filter === undefined) return text;
  const apply = filters[filter];
  if (!apply) throw new Error(`there is no filter ${filter}`);
  return apply(String(text));
}

/** The address that signs out here, and then goes to an address that is registered for it (RP-Initiated Logout 1.0). */
function endSession({ issuer, client_id, client_uri }: GuideValues, after: string): string {
  const parameters = { client_id: String(client_id), post_logout_redirect_uri: `${client_uri}${after}` };
  return `${issuer}/end-session?${new URLSearchParams(parameters)}`;
}

/** A declaration with its values, in keys as well. */
function withValues(value: unknown, values: GuideValues): unknown {
  if (typeof value === 'string') return String(expanded(value, values, '')).trim();
  if (Array.isArray(value)) return value.map((one) => withValues(one, values));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [
    String(expanded(key, values, '')),
    withValues(one, values),
  ]);
  return Object.fromEntries(entries);
}
