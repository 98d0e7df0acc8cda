// The runtime settings: one table defines their names, ranges and defaults for the configuration file, the console and the
// code. A row exists only where a value was set. Every instance sees a change within seconds.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { emailDomain } from '../../base/network/domains.ts';
import { type Clock, isWithin } from '../../base/platform/clock.ts';
import { defined } from '../../base/platform/defined.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Vault } from '../../base/platform/vault.ts';
import { type Db, isUniqueConstraintError, type Tx } from '../../base/storage/database.ts';
import { afterCommit } from '../../base/storage/protected-client.ts';
import type { Covered } from '../../base/storage/protected-rows.ts';
import { rule } from '../../base/texts/faults.ts';
import type { MessageSource } from '../../base/texts/messages.ts';
import { createOverrides } from '../../base/texts/overrides.ts';
import {
  attributeSchema,
  brandSchemas,
  deniedNetwork,
  host,
  languageSchemas,
  mailPort,
  mailSender,
  mailServer,
  network,
  profileClaims,
  settingFields,
  signingAlgorithms,
  smsGateway,
  textsSchema,
} from './value-schemas.ts';

/** Setting -> what is allowed, and the default. */
export const settingSchemas = {
  session_hours: z
    .int()
    .min(limits.session.minHours)
    .max(limits.session.maxHours)
    .default(limits.session.defaultHours)
    .describe('how long a session lasts from the sign-in')
    .register(settingFields, { section: 'sessions', unit: 'hours' }),
  session_idle_minutes: z
    .int()
    .min(limits.session.idle.minMinutes)
    .max(limits.session.idle.maxMinutes)
    .default(limits.session.idle.defaultMinutes)
    .describe(
      "ends a session without a request of its user (`prompt=none`, frames and tokens don't count). As long as `session_hours`: no effect",
    )
    .register(settingFields, { section: 'sessions', unit: 'minutes' }),
  max_sessions_per_user: z
    .int()
    .min(0)
    .max(limits.session.maxPerUser)
    .default(0)
    .describe('a further sign-in ends the oldest session; 0: no limit')
    .register(settingFields, { section: 'sessions', unit: 'sessions' }),
  access_token_minutes: z
    .int()
    .min(limits.accessToken.minMinutes)
    .max(limits.accessToken.maxMinutes)
    .default(limits.accessToken.defaultMinutes)
    .describe('lifetime of access tokens')
    .register(settingFields, { section: 'tokens', isGeneral: true, unit: 'minutes' }),
  refresh_token_days: z // from the consent or sign-in, however often it is rotated
    .int()
    .min(limits.refreshToken.minDays)
    .max(limits.refreshToken.maxDays)
    .default(limits.refreshToken.defaultDays)
    .describe(
      'how long `offline_access` lasts from the sign-in or consent, for existing tokens too; 14 days without use end it earlier',
    )
    .register(settingFields, { section: 'tokens', unit: 'days' }),
  refresh_token_retry_seconds: z // how long a used refresh token works again, when the answer was lost
    .int()
    .min(0)
    .max(limits.refreshToken.maxRetrySeconds)
    .default(limits.refreshToken.defaultRetrySeconds)
    .describe('how long a used refresh token [can be repeated](api.md#refresh-tokens); 0: never')
    .register(settingFields, { section: 'tokens', unit: 'seconds' }),
  agents: z
    .enum(['off', 'listed', 'allowed'])
    .default('off')
    .describe(
      'clients that nobody registered here, such as AI assistants ([agents](agents.md#agents-that-nobody-registered)). `listed`: those whose document is on one of `agent_hosts`; `allowed`: all, and those that register themselves',
    )
    .register(settingFields, { section: 'agents' }),
  agent_hosts: z
    .array(host)
    .max(100)
    .default([])
    .describe('hosts of client ID metadata documents, for `listed`: `claude.ai`')
    .register(settingFields, { section: 'agents', rows: 4 }),
  api_key_max_days: z
    .int()
    .min(1)
    .max(limits.apiKey.maxDays)
    .default(limits.apiKey.defaultMaxDays)
    .describe('longest lifetime of a new [API key](api.md#api-keys)')
    .register(settingFields, { section: 'api-keys', unit: 'days' }),
  reset_token_minutes: z
    .int()
    .min(limits.resetToken.minMinutes)
    .max(limits.resetToken.maxMinutes)
    .default(limits.resetToken.defaultMinutes)
    .describe('how long a password reset link is valid')
    .register(settingFields, { section: 'forgotten-passwords', isGeneral: true, unit: 'minutes' }),
  password_min_length: z
    .int()
    .min(limits.password.minWithoutMfa)
    .max(limits.password.maxMinimum)
    .default(limits.password.minWithoutMfa)
    .describe('shortest password without a second factor; a shorter one is changed at the next sign-in')
    .register(settingFields, { section: 'new-passwords', unit: 'characters' }),
  password_min_length_with_mfa: z
    .int()
    .min(limits.password.minWithMfa)
    .max(limits.password.maxMinimum)
    .default(limits.password.minWithMfa)
    .describe('shortest new password with a second factor')
    .register(settingFields, { section: 'new-passwords', unit: 'characters' }),
  recent_authentication_minutes: z
    .int()
    .min(limits.recentAuthentication.minMinutes)
    .max(limits.recentAuthentication.maxMinutes)
    .default(limits.recentAuthentication.seconds / 60)
    .describe('sensitive changes need a sign-in, or “Confirm it’s you”, within this time')
    .register(settingFields, { section: 'confirmation', unit: 'minutes' }),
  mfa: z
    .enum(['required', 'optional', 'off'])
    .default('optional')
    .describe('`required`: every user needs a second factor; `off`: no user is asked for one')
    .register(settingFields, { section: 'who' }),
  admin_mfa: z
    .enum(['required', 'phishing-resistant', 'optional'])
    .default('required')
    .describe(
      'second factor of users with a permission in Gatehouse, whatever `mfa` says, in remembered browsers too (`phishing-resistant`: a passkey with user verification)',
    )
    .register(settingFields, { section: 'who' }),
  first_factor: z
    .enum(['open', 'window', 'approval'])
    .default('open')
    .describe('who can set up the [first second factor](accounts.md#the-first-second-factor)')
    .register(settingFields, { section: 'set-up' }),
  first_factor_days: z
    .int()
    .min(1)
    .max(limits.firstEnrolment.maxDays)
    .default(limits.firstEnrolment.defaultDays)
    .describe('number of days for `window`')
    .register(settingFields, { section: 'set-up', unit: 'days' }),
  audit_retention_days: z
    .int()
    .min(limits.audit.retention.minDays)
    .max(limits.audit.retention.maxDays)
    .default(limits.audit.retention.defaultDays)
    .describe('how long the [audit log](operating.md#the-audit-log) is kept')
    .register(settingFields, { section: 'retention', unit: 'days' }),
  erase_after_days: z
    .int()
    .min(0)
    .max(limits.deletion.maxEraseDays)
    .default(limits.deletion.defaultEraseDays)
    .describe('when the audit log forgets a deleted user ([erasure](privacy.md#erasure)); 0: at once')
    .register(settingFields, { section: 'retention', unit: 'days' }),
  inactive_after_days: z
    .int()
    .min(0)
    .max(limits.audit.retention.maxDays)
    .refine((days) => days === 0 || days >= 30, rule('min', { bound: 30, isGiven: 'no', given: '' }))
    .default(0)
    .describe('disables accounts that nobody [used](accounts.md#unused-accounts) for so long, at least 30; 0: never')
    .register(settingFields, { section: 'retention', unit: 'days' }),
  delete_unused_after_days: z
    .int()
    .min(0)
    .max(limits.audit.retention.maxDays)
    .refine((days) => days === 0 || days >= 30, rule('min', { bound: 30, isGiven: 'no', given: '' }))
    .default(0)
    .describe('deletes an account so long after it was disabled by `inactive_after_days`, at least 30; 0: never')
    .register(settingFields, { section: 'retention', unit: 'days' }),
  self_deletion: z
    .boolean()
    .default(false)
    .describe('whether people may delete their own account ([deletion](privacy.md#deletion))')
    .register(settingFields, { section: 'self-deletion' }),
  self_deletion_days: z
    .int()
    .min(1)
    .max(limits.deletion.maxDays)
    .default(limits.deletion.defaultDays)
    .describe('how long they can keep it after all')
    .register(settingFields, { section: 'self-deletion', unit: 'days' }),
  self_registration: z
    .boolean()
    .default(false)
    .describe('whether people may create their own account')
    .register(settingFields, { section: 'new-accounts' }),
  sign_up_domains: z
    .array(emailDomain)
    .max(100)
    .default([])
    .describe('domains that can be signed up with, without subdomains. Empty: every address')
    .register(settingFields, { section: 'new-accounts', rows: 4 }),
  invite_domains: z
    .array(emailDomain)
    .max(100)
    .default([])
    .describe(
      'domains that [owners of groups](groups.md#who-may-change-what) can invite, without subdomains. Empty: every address',
    )
    .register(settingFields, { section: 'new-accounts', rows: 4 }),
  sign_up_code_required: z
    .boolean()
    .default(false)
    .describe('whether people who sign up need a [code](accounts.md#sign-up-codes), besides `sign_up_domains`')
    .register(settingFields, { section: 'new-accounts' }),
  outgoing_networks: z
    .array(network)
    .default([])
    .describe('private networks (`10.0.0.0/8`) that [outgoing calls](security.md#outgoing-calls) may reach')
    .register(settingFields, { section: 'outgoing', rows: 4 }),
  rate_limits: z
    .boolean()
    .default(true)
    .describe('set `false` only for load tests: anyone can then guess passwords without limit')
    .register(settingFields, { section: 'limits' }),
  denied_networks: z
    .array(deniedNetwork)
    .max(1000)
    .default([])
    .describe('networks and addresses that get a 403 on every route; not loopback or the own address')
    .register(settingFields, { section: 'blocked-networks', rows: 4 }),
  breached_password_lookup: z
    .boolean()
    .default(false)
    .describe('checks new passwords at Have I Been Pwned too (five characters of a hash leave the server)')
    .register(settingFields, { section: 'new-passwords' }),
  remember_browser_days: z
    .int()
    .min(0)
    .max(limits.rememberedBrowser.days)
    .default(0)
    .describe('days for which a user can skip the second factor in a browser; 0: never')
    .register(settingFields, { section: 'trusted-browsers', unit: 'days' }),
  email_codes: z
    .boolean()
    .default(false)
    .describe(
      'users without a second factor enter a code from their mailbox before they change their account; [never a second factor](accounts.md#second-factors)',
    )
    .register(settingFields, { section: 'email-codes' }),
  mail_server: mailServer
    .optional()
    .describe(
      '[mail server](operating.md#email); `SMTP_URL` replaces it. `tls`: `starttls` (required), `implicit`, or `none` for this machine alone. A change without `password` keeps the stored one of the same host, port and username',
    )
    .register(settingFields, { section: 'mail-server' }),
  mail_sender: mailSender
    .optional()
    .describe('sender of all email; `MAIL_FROM` replaces it. Without `name`, that of the brand')
    .register(settingFields, { section: 'mail-sender' }),
  sms_gateway: smsGateway
    .optional()
    .describe(
      '[the gateway](accounts.md#the-sms-gateway) that sends codes by SMS. A change without `token` keeps the stored one, unless `url` has another origin',
    )
    .register(settingFields, { section: 'sms' }),
  new_browser_notice: z
    .boolean()
    .default(true)
    .describe('email to the user after a sign-in from a new browser')
    .register(settingFields, { section: 'notices' }),
  signing_algorithms: signingAlgorithms
    .describe(
      'what discovery announces and `/jwks` publishes; `RS256` is required. What is registered with another one stays as it is',
    )
    .register(settingFields, { section: 'tokens', rows: 4 }),
  saml_signed_requests: z
    .boolean()
    .default(false)
    .describe('every SAML request must be signed, whatever the application says')
    .register(settingFields, { section: 'service-providers' }),
  sign_out_on_role_change: z
    .boolean()
    .default(false)
    .describe('a user who gets or loses a role or group is signed out everywhere')
    .register(settingFields, { section: 'role-changes' }),
  clock_skew_seconds: z
    .int()
    .min(0)
    .max(300)
    .default(limits.clockSkew.seconds)
    .describe('seconds by which the clock of a SAML application may differ')
    .register(settingFields, { section: 'service-providers', isGeneral: true, unit: 'seconds' }),
  user_attributes: attributeSchema
    .default({})
    .describe(
      "JSON Schema of the users' `attributes`. Without one, any name can have text, a number, `true`, `false` or a list of text. Checks above 250 ms are rejected. A property can also say [who sees and changes it](accounts.md#own-fields)",
    )
    .register(settingFields, { section: 'attributes' }),
  profile_claims: z
    .array(z.enum(profileClaims))
    .max(profileClaims.length)
    .refine((list) => new Set(list).size === list.length, rule('unique'))
    .default(['name', 'given_name', 'family_name', 'locale', 'zoneinfo', 'phone_number'])
    .describe('the standard claims that people see and change in [their profile](accounts.md#profile), in this order')
    .register(settingFields, { section: 'attributes', rows: 6 }),
  username_domains: z
    .array(emailDomain)
    .max(100)
    .default([])
    .describe(
      'domains whose [addresses may be usernames](accounts.md#email-addresses-as-usernames) of users with another email address',
    )
    .register(settingFields, { section: 'new-accounts', rows: 4 }),
  ...languageSchemas,
  ...brandSchemas,
  texts: textsSchema
    .describe(
      '[texts](languages.md#replace-a-text) that replace the built-in ones: language → key → message. Up to 1,000 characters each and 200,000 in all',
    )
    .register(settingFields, { section: null }),
} as const;

type Schemas = typeof settingSchemas;
export type SettingName = keyof Schemas;
export type SettingValues = { readonly [Name in SettingName]: z.output<Schemas[Name]> };
export type SettingEntry = { name: SettingName; value: unknown; source: 'default' | 'local' | 'file' };

export type Settings = ReturnType<typeof createSettings>;

interface SecretFields {
  secrets: readonly string[];
  /** Who gets them; undefined for nobody. */
  receiver(value: Record<string, unknown>): string | undefined;
}

/** Fields that are encrypted at rest, and displayed nowhere. */
const secretFields: { [Name in SettingName]?: SecretFields } = {
  sms_gateway: { secrets: ['token'], receiver: ({ url }) => originOf(url) },
  mail_server: {
    secrets: ['password'],
    receiver(value) {
      const parsed = mailServer.safeParse(value).data;
      return parsed?.username && JSON.stringify([parsed.host, mailPort(parsed), parsed.username]);
    },
  },
};

type SetOptions = { source?: 'local' | 'file'; tx?: Tx };
type Row = { key: string; value: string; source: string; updatedAt: Date; mac: string };

/** What the MAC of a setting covers: its row without what is encrypted in the value, which `secrets rotate` encrypts again. */
export function coveredSetting({ key, value, updatedAt }: Covered<'settings'>): Covered<'settings'> {
  const name = settingNames.find((one) => one === key);
  if (!name || !secretFields[name]) return { key, value, updatedAt };
  try {
    return { key, value: JSON.stringify(mapSecrets(name, JSON.parse(String(value)), () => 'sealed')), updatedAt };
  } catch {
    return { key, value, updatedAt };
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
}

/** Reads and writes settings; caches them for `limits.settings.cacheSeconds`. */
export function createSettings({ db, now, vault }: SettingsDependencies) {
  const { seal, open } = createSecretFields(vault);
  const isGenuine = (row: Row) => db.macs.isGenuine('settings', coveredSetting(row), row.mac);
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
      const updatedAt = now();
      const mac = db.macs.macOf('settings', coveredSetting({ key: name, value: text, updatedAt }));
      const row = { value: text, source, mac, updatedAt };
      await tx.setting.upsert({ where: { key: name }, create: { key: name, ...row }, update: row });
      afterCommit(tx, cache.expire);
    },
    /** Back to the default. */
    async unset(name: SettingName, tx: Tx = db): Promise<void> {
      await tx.setting.deleteMany({ where: { key: name } });
      afterCommit(tx, cache.expire);
    },
    /** When the setting got its value; undefined for a default. */
    async changedAt(name: SettingName): Promise<Date | undefined> {
      const row = await db.setting.findUnique({ where: { key: name } });
      return row && isGenuine(row) ? row.updatedAt : undefined;
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
    if (reading) return reading;
    const begun = load(values)
      .then((loaded) => {
        // Not one that a change has overtaken.
        if (reading === begun) {
          values = loaded;
          readAt = now().getTime();
        }
        return loaded;
      })
      .finally(() => {
        if (reading === begun) reading = undefined;
      });
    reading = begun;
    return begun;
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
      reading = undefined;
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
 * A changed value with the stored secrets that it leaves out. They belong to their receiver: where that changes, they are
 * dropped, because the new server would receive them.
 */
export function withStoredSecrets(name: SettingName, stored: unknown, changed: unknown): unknown {
  const fields = secretFields[name];
  if (!fields || !isRecord(changed) || !isRecord(stored)) return changed;
  const receiver = fields.receiver(changed);
  if (receiver === undefined || receiver !== fields.receiver(stored)) return changed;
  return { ...defined(secretsOf(name, stored)), ...changed };
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
  return defined(Object.fromEntries(entries));
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
  let values: SettingValues | undefined;
  let content = '{}';
  let source: MessageSource | undefined;
  return () => {
    const current = latest();
    if (current === values) return source;
    values = current;
    // The settings were read again, mostly without a change of the texts, whose messages stay parsed then.
    const before = content;
    content = JSON.stringify(values.texts);
    if (content !== before) source = content === '{}' ? undefined : createOverrides(values.texts);
    return source;
  };
}

// Secrets that must outlive a change of GATEHOUSE_SECRET, such as the salt of pairwise subjects: created once, encrypted, and
// read by every instance.

/** The secret of this name; the first instance that reads it creates it, with `make` if it is more than random octets. */
export async function stableSecret(
  { db, vault }: { db: Db; vault: Vault },
  name: string,
  make: () => string | Promise<string> = randomToken,
): Promise<Buffer> {
  const key = `secret.${name}`;
  const context = `settings:${key}`;
  const read = async () => {
    const row = await db.setting.findUnique({ where: { key } });
    if (!row) return undefined;
    const sealed = JSON.parse(row.value) as string;
    const secret = vault.open(sealed, context);
    // Encrypted again under the newest value of GATEHOUSE_SECRET, so that the old value can be removed later.
    if (vault.isStale(sealed)) {
      await db.setting.update({ where: { key }, data: { value: JSON.stringify(vault.seal(secret, context)) } });
    }
    return secret;
  };
  const present = await read();
  if (present) return present;
  const value = JSON.stringify(vault.seal(await make(), context));
  await db.setting.create({ data: { key, value, source: 'secret' } }).catch((error: unknown) => {
    if (!isUniqueConstraintError(error)) throw error;
  });
  const made = await read();
  if (!made) throw new Error(`the secret ${name} could not be stored`);
  return made;
}

// JSON values beside the settings in their table, under keys that no setting has: `<domain>:<id>`.

/** Stores a value as JSON, in place of what the key held; with a MAC if `genuineText` reads it. */
export async function storeValue(
  tx: Tx,
  key: string,
  value: unknown,
  { source, at, isProtected = false }: { source: string; at: Date; isProtected?: boolean },
): Promise<void> {
  const text = JSON.stringify(value);
  const row = {
    value: text,
    source,
    updatedAt: at,
    mac: isProtected ? tx.macs.macOf('settings', { key, value: text, updatedAt: at }) : '',
  };
  await tx.setting.upsert({ where: { key }, create: { key, ...row }, update: row });
}

/** The text under this key; undefined without one, and for a row that another program wrote. */
export async function genuineText(tx: Tx, key: string): Promise<string | undefined> {
  const row = await tx.setting.findUnique({ where: { key } });
  return row && tx.macs.isGenuine('settings', row, row.mac) ? row.value : undefined;
}

/** The keys that begin with this text and were stored before `before`. */
export async function storedKeys(tx: Tx, prefix: string, before: Date): Promise<string[]> {
  const where = { key: { startsWith: prefix }, updatedAt: { lt: before } };
  return (await tx.setting.findMany({ where, select: { key: true } })).map(({ key }) => key);
}

/** Removes the values of these keys that were stored before `before`; not more than one statement can take. */
export async function removeValues(tx: Tx, keys: readonly string[], before?: Date): Promise<void> {
  await tx.setting.deleteMany({ where: { key: { in: [...keys] }, ...(before && { updatedAt: { lt: before } }) } });
}
