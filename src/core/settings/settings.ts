// The runtime settings: one table defines their names, ranges and defaults for the configuration file, the console and the
// code. A row exists only where a value was set. Every instance sees a change within seconds.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { type Clock, isWithin } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db, Tx } from '../../base/storage/database.ts';
import type { Covered, ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import { createOverrides } from '../../base/texts/overrides.ts';
import { storeValue } from './stored-values.ts';
import {
  attributeSchema,
  brandSchemas,
  deniedNetwork,
  languageSchemas,
  mailDomain,
  network,
  signingAlgorithms,
  smsGateway,
  textsSchema,
} from './value-schemas.ts';

/** Setting -> what is allowed, and the default. */
export const settingSchemas = {
  session_hours: z.int().min(limits.session.minHours).max(limits.session.maxHours).default(limits.session.defaultHours),
  session_idle_minutes: z
    .int()
    .min(limits.session.idle.minMinutes)
    .max(limits.session.idle.maxMinutes)
    .default(limits.session.idle.defaultMinutes),
  max_sessions_per_user: z.int().min(0).max(limits.session.maxPerUser).default(0), // 0: no limit; else the oldest ends
  access_token_minutes: z
    .int()
    .min(limits.accessToken.minMinutes)
    .max(limits.accessToken.maxMinutes)
    .default(limits.accessToken.defaultMinutes),
  refresh_token_days: z // from the consent or sign-in, however often it is rotated
    .int()
    .min(limits.refreshToken.minDays)
    .max(limits.refreshToken.maxDays)
    .default(limits.refreshToken.defaultDays),
  refresh_token_retry_seconds: z // how long a used refresh token works again, when the answer was lost
    .int()
    .min(0)
    .max(limits.refreshToken.maxRetrySeconds)
    .default(limits.refreshToken.defaultRetrySeconds),
  api_key_max_days: z.int().min(1).max(limits.apiKey.maxDays).default(limits.apiKey.defaultMaxDays),
  reset_token_minutes: z
    .int()
    .min(limits.resetToken.minMinutes)
    .max(limits.resetToken.maxMinutes)
    .default(limits.resetToken.defaultMinutes),
  mfa: z.enum(['off', 'optional', 'required']).default('optional'),
  // Users with a right in Gatehouse itself; with `optional`, only `mfa` applies to them.
  admin_mfa: z.enum(['optional', 'required', 'phishing-resistant']).default('required'),
  // Who may set up the first second factor of an account: every user, or only for some days and then with an approval.
  first_factor: z.enum(['open', 'window', 'approval']).default('open'),
  first_factor_days: z.int().min(1).max(limits.firstEnrolment.maxDays).default(limits.firstEnrolment.defaultDays),
  self_registration: z.boolean().default(false),
  sign_up_domains: z.array(mailDomain).max(100).default([]), // only addresses in them; empty: every address
  sign_up_code_required: z.boolean().default(false), // beside sign_up_domains: an address has to pass both
  outgoing_networks: z.array(network).default([]),
  rate_limits: z.boolean().default(true),
  denied_networks: z.array(deniedNetwork).max(1000).default([]), // requests from these get no answer
  breached_password_lookup: z.boolean().default(false), // Have-I-Been-Pwned range API besides the built-in list
  remember_browser_days: z.int().min(0).max(limits.rememberedBrowser.days).default(0), // 0: the second factor at every sign-in
  email_codes: z.boolean().default(false), // a code by email before the first second factor is set up; never a factor of its own
  sms_gateway: smsGateway.optional(), // codes by SMS; none where it is not set
  new_browser_notice: z.boolean().default(true), // mail after a sign-in from a new browser
  signing_algorithms: signingAlgorithms, // in discovery and JWKS, beside those that applications and APIs use
  saml_signed_requests: z.boolean().default(false), // WantAuthnRequestsSigned: from every service provider
  sign_out_on_role_change: z.boolean().default(false), // a user who gets or loses a role has to sign in again
  clock_skew_seconds: z.int().min(0).max(300).default(limits.clockSkew.seconds), // between the clocks of a service provider and this server
  user_attributes: attributeSchema.default({}),
  username_domains: z.array(mailDomain).max(100).default([]), // addresses in them may be usernames, beside one's own
  ...languageSchemas,
  ...brandSchemas,
  texts: textsSchema,
} as const;

type Schemas = typeof settingSchemas;
export type SettingName = keyof Schemas;
export type SettingValues = { readonly [Name in SettingName]: z.output<Schemas[Name]> };
export type SettingEntry = { name: SettingName; value: unknown; source: 'default' | 'local' | 'file' };

export type Settings = ReturnType<typeof createSettings>;

/** Fields that are encrypted at rest, and displayed nowhere; and the field with the URL that they are sent to. */
const secretFields: { [Name in SettingName]?: { url: string; secrets: readonly string[] } } = {
  sms_gateway: { url: 'url', secrets: ['token'] },
};

type SetOptions = { source?: 'local' | 'file'; tx?: Tx };
type Row = { key: string; value: string; source: string; mac: string };

const TABLE = 'settings';

/** What the MAC of a setting covers: its name and its value, without what is encrypted in it, which `secrets rotate` encrypts again. */
export function coveredSetting({ key, value }: Pick<Row, 'key' | 'value'>): Covered<'settings'> {
  const name = settingNames.find((one) => one === key);
  if (!name || !secretFields[name]) return { key, value };
  try {
    return { key, value: JSON.stringify(mapSecrets(name, JSON.parse(value), () => 'sealed')) };
  } catch {
    return { key, value };
  }
}

/** No setting: the row that those who change settings take turns by. */
const LOCK = 'lock:settings';

export const settingNames = Object.keys(settingSchemas) as SettingName[];
export const defaultSettings: SettingValues = fromRows([]);

export interface SettingsDependencies {
  db: Db;
  now: Clock;
  /** Without it, secrets can be neither read nor written. */
  vault?: Vault;
  protectedRows: ProtectedRows;
}

/** Reads and writes settings; caches them for `limits.settings.cacheSeconds`. */
export function createSettings({ db, now, vault, protectedRows }: SettingsDependencies) {
  const { seal, open } = createSecretFields(vault);
  const isGenuine = (row: Row) => protectedRows.isGenuine(TABLE, coveredSetting(row), row.mac);
  const cache = createCache({
    now,
    async load(last) {
      const rows = await read(db);
      const changed = rows.filter((row) => !isGenuine(row)).map(({ key }) => key);
      const values = fromRows(
        rows.filter(({ key }) => !changed.includes(key)),
        open,
      );
      // What another program wrote changes nothing; the default only before anything was read.
      const before = Object.entries(last).filter(([name]) => changed.includes(name));
      return Object.freeze({ ...values, ...Object.fromEntries(before) }) as SettingValues;
    },
  });

  return {
    /** All values, at most a few seconds old. */
    current: cache.current,
    /** Reads now, whatever the age of the values. */
    reload: cache.reload,
    /** The values last read, for callers that cannot wait; starts a read when they are old. Defaults before the first read. */
    latest: cache.latest,
    get: async <Name extends SettingName>(name: Name): Promise<SettingValues[Name]> => (await cache.current())[name],
    /** Every setting with its source, for the console; without secrets unless `withSecrets`. */
    async list({ withSecrets = false }: { withSecrets?: boolean } = {}): Promise<SettingEntry[]> {
      const rows = new Map((await read(db)).filter(isGenuine).map((row) => [row.key, row]));
      const effective = fromRows([...rows.values()], open);
      return settingNames.map((name) => {
        const source = rows.get(name)?.source;
        const value = withSecrets ? effective[name] : withoutSecrets(name, effective[name]);
        return { name, value, source: source === 'file' || source === 'local' ? source : 'default' };
      });
    },
    /** Stores a value that the schema accepts; `tx` joins a transaction. */
    async set<Name extends SettingName>(
      name: Name,
      value: SettingValues[Name],
      { source = 'local', tx = db }: SetOptions = {},
    ): Promise<void> {
      const stored = mapSecrets(name, settingSchemas[name].parse(value), seal);
      const text = JSON.stringify(stored);
      const mac = protectedRows.macOf(TABLE, coveredSetting({ key: name, value: text }));
      const row = { value: text, source, mac, updatedAt: now() };
      await tx.setting.upsert({ where: { key: name }, create: { key: name, ...row }, update: row });
      cache.expire();
    },
    /** Back to the default. */
    async unset(name: SettingName, tx: Tx = db): Promise<void> {
      await tx.setting.deleteMany({ where: { key: name } });
      cache.expire();
    },
    /** When the setting got its value; undefined for a default. */
    async changedAt(name: SettingName): Promise<Date | undefined> {
      const row = await db.setting.findUnique({ where: { key: name }, select: { updatedAt: true } });
      return row?.updatedAt;
    },
    /** Keeps every other change of settings waiting until the transaction ends. */
    lock: (tx: Tx): Promise<void> => storeValue(tx, LOCK, {}, { source: 'local', at: now() }),
  };
}

/** The values last read, for `limits.settings.cacheSeconds`; readers at the same moment share one read. */
function createCache({ now, load }: { now: Clock; load: (last: SettingValues) => Promise<SettingValues> }) {
  let values = defaultSettings;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<SettingValues> | undefined;

  const isFresh = () => isWithin(limits.settings.cacheSeconds, readAt, now());
  const reload = () => {
    reading ??= load(values)
      .then((loaded) => {
        values = loaded;
        readAt = now().getTime();
        return values;
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  return {
    reload,
    current: () => (isFresh() ? Promise.resolve(values) : reload()),
    latest() {
      // Callers that await a read get its error; here the old values stay in use.
      if (!isFresh()) reload().catch(() => undefined);
      return values;
    },
    expire() {
      readAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Seals and opens the fields that are encrypted at rest. */
function createSecretFields(vault: SettingsDependencies['vault']) {
  const contextOf = (name: string, field: string) => `settings:${name}.${field}`;
  const seal = (name: string, field: string, plain: string) => {
    if (!vault) throw new Error('a secret setting needs a vault');
    return vault.seal(plain, contextOf(name, field));
  };
  // A secret that no key decrypts any more counts as not set; the code that needs it reports what is missing.
  const open = (name: string, field: string, sealed: string) => {
    try {
      return vault?.open(sealed, contextOf(name, field)).toString();
    } catch {
      return undefined;
    }
  };
  return { seal, open };
}

function read(db: Db): Promise<Row[]> {
  return db.setting.findMany({ where: { key: { in: settingNames } } });
}

/** The value without its secret fields. */
export function withoutSecrets(name: SettingName, value: unknown): unknown {
  return mapSecrets(name, value, () => undefined);
}

/** The secret fields of a value. */
export function secretsOf(name: SettingName, value: unknown): Record<string, unknown> {
  const fields = secretFields[name]?.secrets ?? [];
  return Object.fromEntries(fields.map((field) => [field, isRecord(value) ? value[field] : undefined]));
}

/**
 * A changed value with the stored secrets that it leaves out. They belong to the origin of their URL: where that changes,
 * they are dropped, because the new server would receive them.
 */
export function withStoredSecrets(name: SettingName, stored: unknown, changed: unknown): unknown {
  const fields = secretFields[name];
  if (!fields || !isRecord(changed) || !isRecord(stored)) return changed;
  if (originOf(changed[fields.url]) !== originOf(stored[fields.url])) return changed;
  const secrets = Object.entries(secretsOf(name, stored)).filter(([, secret]) => secret !== undefined);
  return { ...Object.fromEntries(secrets), ...changed };
}

function originOf(url: unknown): string | undefined {
  return URL.canParse(String(url)) ? new URL(String(url)).origin : undefined;
}

type Change = (name: string, field: string, text: string) => string | undefined;

function mapSecrets(name: SettingName, value: unknown, change: Change): unknown {
  const fields = secretFields[name]?.secrets;
  if (!fields || !isRecord(value)) return value;
  const entries = Object.entries(value).map(([field, text]) =>
    fields.includes(field) ? [field, change(name, field, String(text))] : [field, text],
  );
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A value that the schema does not accept (written by another version) counts as not set.
function fromRows(rows: readonly Row[], open: Change = () => undefined): SettingValues {
  const stored = new Map(rows.map((row) => [row.key, row.value]));
  const entries = settingNames.map((name) => {
    const schema: z.ZodType = settingSchemas[name];
    const parsed = schema.safeParse(mapSecrets(name, parseJson(stored.get(name)), open));
    return [name, parsed.success ? parsed.data : schema.parse(undefined)];
  });
  return Object.freeze(Object.fromEntries(entries)) as SettingValues;
}

function parseJson(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

// The texts of the setting `texts`, as pages and mails read them: made again only when the setting changed, not for each request.

/** Undefined where no text is set. Reads nothing: the settings are cached. */
export function createTextSource({ latest }: Settings): () => MessageSource | undefined {
  let last: { values: SettingValues; content: string; source: MessageSource | undefined } | undefined;
  return () => {
    const values = latest();
    if (last?.values === values) return last.source;
    // The settings were read again, mostly without a change of the texts, whose messages stay parsed then.
    const content = JSON.stringify(values.texts);
    const source =
      last?.content === content ? last.source : content === '{}' ? undefined : createOverrides(values.texts);
    last = { values, content, source };
    return source;
  };
}
