// Reads the environment once into a frozen Config. An unknown variable or wrong value stops the start with one line that
// names the variable, its value and what is allowed.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isLoopback } from './config/addresses.ts';
import { ConfigError, fault, quote } from './config/config-error.ts';
import { parseSecrets, secretFromFile, secretPath } from './config/secret.ts';
import {
  formatValue,
  type logFormats,
  type logLevels,
  tracesUrl,
  type Variable,
  type VariableName,
  variables,
} from './config/variables.ts';
import { limits } from './limits.ts';
import { diskFullAt, isDiskFull, whyNotWritable } from './platform/folders.ts';
import type { TracingConfig } from './platform/tracing.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Config = Readonly<{
  issuer: string; // no trailing slash
  issuerUrl: URL;
  secure: boolean; // the issuer is https
  loopback: boolean; // the issuer is on this machine
  host: string;
  port: number;
  metrics: Readonly<{ listen?: { host: string; port: number }; token?: string }>; // neither: /metrics is not served
  databaseUrl: string;
  databaseKind: 'sqlite' | 'postgresql';
  dataDir: string;
  outboxDir: string;
  configFile?: string;
  secrets: readonly Buffer[]; // the first encrypts, all decrypt
  secretFile?: string; // absent when the secret came from the environment
  countryDatabase?: string;
  checkpointFile: string;
  checkpointUrl?: string;
  smtpUrl?: string;
  mailFrom?: string;
  trustProxy: number;
  forwardAuthFrom: readonly string[]; // the proxies whose X-Forwarded-For counts when they ask about a website
  workers: number; // 1: this process serves; else so many workers do
  drainSeconds: number; // from SIGTERM until the listener closes
  minFreeMb: number; // of disk space, below which there are warnings
  logLevel: (typeof logLevels)[number];
  logFormat: (typeof logFormats)[number];
  tracing?: TracingConfig; // absent: no traces
  /** Files of certificate authorities, from the variables of OpenSSL and Node.js: instead of the system's (SSL_CERT_FILE), and more (NODE_EXTRA_CA_CERTS). */
  authorityFiles: { system?: string; extra?: string };
  production: boolean; // compiled code: templates are cached
  warnings: readonly string[]; // for the log, once there is one
}>;

type Place = {
  cwd?: string;
  terminal?: boolean;
  /** Generates no secret where there is none; then nothing can be encrypted. */
  readOnly?: boolean;
};
type Values = { [Name in VariableName]?: (typeof variables)[Name]['schema']['_zod']['output'] };

/** The configuration of this process; throws ConfigError with one line for each fault. */
export function loadConfig(env: Environment = process.env, place: Place = {}): Config {
  const { cwd = process.cwd(), terminal = process.stdout.isTTY === true, readOnly = false } = place;
  const faults = unknownVariables(env);
  const values = readValues(env, cwd, faults);
  const configFile = findConfigFile(values.GATEHOUSE_CONFIG, cwd, faults);
  const port = values.PORT ?? 3000;
  const metrics = metricsAccess(values, port, faults);
  if (faults.length > 0) throw new ConfigError(faults);

  const issuer = values.ISSUER ?? `http://localhost:${port}`;
  const issuerUrl = new URL(issuer);
  const dataDir = path.resolve(cwd, values.DATA_DIR ?? 'data');
  const secret = values.GATEHOUSE_SECRET
    ? { keys: values.GATEHOUSE_SECRET, warnings: [] }
    : storedSecret(dataDir, readOnly);
  const databaseUrl = absoluteDatabase(values.DATABASE_URL ?? `file:${path.join(dataDir, 'gatehouse.db')}`, cwd);
  return Object.freeze({
    issuer,
    issuerUrl,
    secure: issuerUrl.protocol === 'https:',
    loopback: isLoopback(issuerUrl.hostname),
    host: values.HOST ?? '127.0.0.1',
    port,
    metrics,
    databaseUrl,
    databaseKind: databaseUrl.startsWith('file:') ? 'sqlite' : 'postgresql',
    dataDir,
    outboxDir: path.join(dataDir, 'outbox'),
    ...(configFile === undefined ? {} : { configFile }),
    secrets: Object.freeze(secret.keys),
    ...('file' in secret ? { secretFile: secret.file } : {}),
    ...(values.COUNTRY_DATABASE === undefined ? {} : { countryDatabase: path.resolve(cwd, values.COUNTRY_DATABASE) }),
    checkpointFile: path.resolve(cwd, values.AUDIT_CHECKPOINT_FILE ?? path.join(dataDir, 'audit-checkpoints.jsonl')),
    ...(values.AUDIT_CHECKPOINT_URL === undefined ? {} : { checkpointUrl: values.AUDIT_CHECKPOINT_URL }),
    ...(values.SMTP_URL === undefined ? {} : { smtpUrl: values.SMTP_URL }),
    ...(values.MAIL_FROM === undefined ? {} : { mailFrom: values.MAIL_FROM }),
    trustProxy: values.TRUST_PROXY ?? 0,
    forwardAuthFrom: Object.freeze(values.FORWARD_AUTH_FROM ?? ['127.0.0.0/8', '::1/128']),
    workers: values.WORKERS ?? 1,
    // Without a proxy nobody reads /readyz, and Ctrl-C ends at once.
    drainSeconds: values.DRAIN_SECONDS ?? (values.TRUST_PROXY ? limits.http.announceSeconds : 0),
    minFreeMb: values.MIN_FREE_MB ?? 500,
    logLevel: values.LOG_LEVEL ?? 'info',
    logFormat: values.LOG_FORMAT ?? (terminal ? 'pretty' : 'json'),
    ...tracingOf(values),
    authorityFiles: {
      ...(env.SSL_CERT_FILE && { system: env.SSL_CERT_FILE }),
      ...(env.NODE_EXTRA_CA_CERTS && { extra: env.NODE_EXTRA_CA_CERTS }),
    },
    production: !import.meta.url.endsWith('.ts'),
    warnings: Object.freeze([...secret.warnings]),
  });
}

// A misspelled name would otherwise silently give the default. Kubernetes and Docker links set GATEHOUSE_SERVICE_HOST,
// GATEHOUSE_PORT=tcp://… and similar variables for a service of this name; those are ignored.
function unknownVariables(env: Environment): string[] {
  const known = Object.entries<Variable>(variables).flatMap(([name, { file }]) =>
    file ? [name, `${name}_FILE`] : [name],
  );
  const ownNames = known.filter((name) => name.startsWith('GATEHOUSE_'));
  return Object.keys(env)
    .filter((name) => name.startsWith('GATEHOUSE_') && !known.includes(name))
    .filter((name) => !/^GATEHOUSE_(SERVICE_|PORT_\d)/.test(name) && !(env[name] ?? '').startsWith('tcp://'))
    .map((name) => fault(name, 'a variable that does not exist', `of this prefix only ${ownNames.join(', ')}`));
}

function readValues(env: Environment, cwd: string, faults: string[]): Values {
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable>(variables)) {
    const text = variable.file ? textOrFile(env, name, { cwd, faults }) : env[name]?.trim();
    if (text === undefined || text === '') continue; // compose files pass unset variables on as empty ones
    const parsed = variable.schema.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    else faults.push(fault(name, formatValue(variable, text), variable.allowed));
  }
  return values as Values; // each entry is what its own schema gave
}

function metricsAccess(values: Values, publicPort: number, faults: string[]): Config['metrics'] {
  const { METRICS_PORT: port, METRICS_HOST: host, METRICS_TOKEN: token } = values;
  if (port === publicPort) faults.push(fault('METRICS_PORT', quote(String(port)), variables.METRICS_PORT.allowed));
  if (port === undefined && host !== undefined)
    faults.push(fault('METRICS_HOST', `${quote(host)} without METRICS_PORT`, variables.METRICS_HOST.allowed));
  return Object.freeze({
    ...(port === undefined ? {} : { listen: { host: host ?? '127.0.0.1', port } }),
    ...(token === undefined ? {} : { token }),
  });
}

function tracingOf(values: Values): Pick<Config, 'tracing'> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled = false } = values;
  if (endpoint === undefined || isDisabled) return {};
  const tracing: TracingConfig = {
    url: tracesUrl(endpoint),
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf',
    serviceName: values.OTEL_SERVICE_NAME ?? 'gatehouse',
    sampler: values.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
    ratio: values.OTEL_TRACES_SAMPLER_ARG ?? 1,
  };
  return { tracing: Object.freeze(tracing) };
}

function textOrFile(
  env: Environment,
  name: string,
  { cwd, faults }: { cwd: string; faults: string[] },
): string | undefined {
  const value = env[name]?.trim();
  const file = env[`${name}_FILE`]?.trim();
  if (!file) return value;
  if (value) {
    faults.push(fault(`${name}_FILE`, `a path, and ${name} is set too`, 'one of the two'));
    return undefined;
  }
  try {
    return readFileSync(path.resolve(cwd, file), 'utf8').trim();
  } catch (error) {
    faults.push(fault(`${name}_FILE`, `${quote(file)} (${reason(error)})`, 'the path of a file this user may read'));
    return undefined;
  }
}

function findConfigFile(named: string | undefined, cwd: string, faults: string[]): string | undefined {
  const file = path.resolve(cwd, named ?? 'gatehouse.yaml');
  if (named === undefined) return existsSync(file) ? file : undefined;
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file;
  faults.push(fault('GATEHOUSE_CONFIG', `${quote(named)} (no such file)`, variables.GATEHOUSE_CONFIG.allowed));
  return undefined;
}

function storedSecret(dataDir: string, readOnly: boolean): { keys: Buffer[]; warnings: string[]; file: string } {
  const place = secretPath(dataDir);
  if (readOnly && !existsSync(place)) return { keys: [], warnings: [], file: place };
  const { value, file, warning } = readSecretFile(dataDir);
  const keys = parseSecrets(value);
  if (!Array.isArray(keys)) {
    throw new ConfigError([fault('GATEHOUSE_SECRET', `${keys.wrong} in ${file}`, variables.GATEHOUSE_SECRET.allowed)]);
  }
  return { keys, warnings: warning === undefined ? [] : [warning], file };
}

function readSecretFile(dataDir: string): ReturnType<typeof secretFromFile> {
  try {
    return secretFromFile(dataDir);
  } catch (error) {
    if (isDiskFull(error)) throw new ConfigError([`DATA_DIR: ${diskFullAt(dataDir)}`]);
    const why = whyNotWritable(dataDir);
    const allowed = `${variables.DATA_DIR.allowed}${why ? `. ${why}` : ''}`;
    throw new ConfigError([fault('DATA_DIR', `${quote(dataDir)} (${reason(error)})`, allowed)]);
  }
}

function absoluteDatabase(url: string, cwd: string): string {
  return url.startsWith('file:') ? `file:${path.resolve(cwd, url.slice(5))}` : url;
}

function reason(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'not readable';
}
