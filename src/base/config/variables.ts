// The environment variables: how each is parsed, what is allowed and what it means. `serve --help` prints this table.
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { limits } from '../limits.ts';
import { protocols, samplers } from '../platform/tracing.ts';
import { isHost, isLoopback, isNetwork } from './addresses.ts';
import { quote, quoteUrl } from './config-error.ts';
import { parseSecrets } from './secret.ts';

/** The path of a file or folder, which cannot contain NUL. */
const path = z.string().refine((value) => !value.includes('\0'));

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export const logFormats = ['pretty', 'json'] as const;

export type Variable = {
  schema: z.ZodType<unknown, string>;
  allowed: string;
  default: string;
  meaning: string;
  /** How a rejected value is printed; absent: in quotes. */
  show?: (value: string) => string;
  /** May also be given as NAME_FILE, the path of a file that holds it (Docker and Kubernetes secrets). */
  file?: true;
};

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

// An issuer with a path would move /.well-known (RFC 8414 3.1) and forbid __Host- cookies, which need Path=/.
const issuer = z.string().transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const plain = url && url.pathname === '/' && !/[?#@\\]/.test(value) && /^https?:\/\//i.test(value);
  if (!plain || (url.protocol !== 'https:' && !isLoopback(url.hostname))) return rejectValue(context);
  return url.origin;
});

const databaseUrl = z.string().transform((value, context) => {
  if (/^postgres(ql)?:\/\//.test(value)) {
    return URL.canParse(value) && new URL(value).pathname.length > 1 ? value : rejectValue(context);
  }
  // `file:///path` is the absolute path, as `file:/path` is.
  const file = value.startsWith('file:') ? value.slice(5).replace(/^\/\/(?=\/)/, '') : '';
  return file === '' || /[?#]|:memory:|^\/\//.test(file) ? rejectValue(context) : `file:${file}`;
});

const smtpUrl = z.string().refine((value) => {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return (
    /^smtps?:$/.test(url.protocol) && url.hostname !== '' && !`${url.pathname}${url.search}${url.hash}`.includes('@')
  );
});

const address = String.raw`[^\s\p{C}@<>"(),:;]+@[^\s\p{C}@<>"(),:;]+`;
/** An address alone, such as no-reply@example.com. */
export const MAIL_ADDRESS = new RegExp(`^${address}$`, 'u');
const mailFrom = z.string().regex(new RegExp(`^(${address}|[^<>\\r\\n]*<${address}>)$`, 'u'));

// A name and password belong into OTEL_EXPORTER_OTLP_HEADERS.
const isPlainUrl = (value: string) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !/[?#@]/.test(value);
};

const networks = z.string().transform((value, context) => {
  const list = value.split(',').map((one) => one.trim());
  return list.every(isNetwork) ? list : rejectValue(context);
});

const secrets = z.string().transform((value, context) => {
  const keys = parseSecrets(value);
  return Array.isArray(keys) ? keys : rejectValue(context);
});

export const variables = {
  ISSUER: {
    schema: issuer,
    allowed:
      'an https URL of a host alone, such as https://id.example.com, without path, query or fragment (the routes and ' +
      'cookies live at the root); http only for localhost or a loopback address',
    default: 'http://localhost:$PORT',
    meaning: 'public base URL and OIDC issuer; the SAML entity ID is $ISSUER/saml/metadata',
    show: quoteUrl,
  },
  HOST: {
    schema: z.string().refine(isHost),
    allowed: 'an IP address or host name',
    default: '127.0.0.1',
    meaning: 'address to listen on',
  },
  PORT: {
    schema: wholeNumber(1, 65_535),
    allowed: 'a whole number from 1 to 65535',
    default: '3000',
    meaning: 'port to listen on',
  },
  METRICS_PORT: {
    schema: wholeNumber(1, 65_535),
    allowed: 'a whole number from 1 to 65535, not that of PORT',
    default: 'none',
    meaning: 'separate port for /metrics',
  },
  METRICS_HOST: {
    schema: z.string().refine(isHost),
    allowed: 'with METRICS_PORT: an IP address or host name',
    default: '127.0.0.1',
    meaning: 'address of METRICS_PORT',
  },
  METRICS_TOKEN: {
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._~+/-]+=*$/)
      .min(limits.metricsToken.minLength),
    allowed: `at least ${limits.metricsToken.minLength} characters of A-Z a-z 0-9 . _ ~ + / - (openssl rand -hex 32)`,
    default: 'none',
    meaning: 'bearer token for /metrics; without METRICS_PORT it opens /metrics on PORT',
    show: (value) => `${value.length} characters`,
    file: true,
  },
  DATABASE_URL: {
    schema: databaseUrl,
    allowed: 'file:PATH (SQLite) or postgresql://USER:PASSWORD@HOST/DATABASE, special characters percent-encoded',
    default: 'file:$DATA_DIR/gatehouse.db',
    meaning: 'SQLite file or PostgreSQL database',
    show: quoteUrl,
    file: true,
  },
  DATA_DIR: {
    schema: path,
    allowed: 'a folder this user may write',
    default: './data',
    meaning: 'folder for the SQLite database, the generated secret and the outbox',
  },
  GATEHOUSE_CONFIG: {
    schema: z.string(),
    allowed: 'the path of a YAML file that exists',
    default: './gatehouse.yaml if there',
    meaning: 'configuration file, applied at each start',
  },
  GATEHOUSE_SECRET: {
    schema: secrets,
    allowed: "32 bytes base64url (openssl rand -base64 32 | tr '+/' '-_'), several comma separated, the first encrypts",
    default: 'generated into $DATA_DIR/secret.key',
    meaning: 'encrypts private keys, TOTP secrets and data keys at rest',
    show: (value) => {
      const keys = parseSecrets(value);
      return Array.isArray(keys) ? `${keys.length} keys` : keys.wrong;
    },
    file: true,
  },
  AUDIT_CHECKPOINT_FILE: {
    schema: path,
    allowed: 'the path of a file that this user may append to',
    default: '$DATA_DIR/audit-checkpoints.jsonl',
    meaning: 'signed checkpoints of the audit log, outside of the database',
  },
  AUDIT_CHECKPOINT_URL: {
    schema: z.string().refine((value) => /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')),
    allowed: 'an http or https URL',
    default: 'none',
    meaning: 'URL to which each checkpoint is also sent, as JSON in a POST',
    show: quoteUrl,
    file: true,
  },
  SMTP_URL: {
    schema: smtpUrl,
    allowed: 'smtp://USER:PASSWORD@HOST:PORT or smtps://…, special characters in the password percent-encoded',
    default: 'none: mail is written to $DATA_DIR/outbox',
    meaning: 'URL of the mail server; instead of the setting mail_server',
    show: quoteUrl,
    file: true,
  },
  MAIL_FROM: {
    schema: mailFrom,
    allowed: 'an address such as no-reply@example.com or Gatehouse <no-reply@example.com>',
    default: 'Gatehouse <no-reply@HOST OF THE ISSUER>',
    meaning: 'sender of all email, instead of the setting mail_sender; without a name, the name of the brand is used',
  },
  TRUST_PROXY: {
    schema: z.union([z.literal('off').transform(() => 0), wholeNumber(0, 16)]),
    allowed: 'off, or the number of proxies in front, 1 to 16',
    default: 'off',
    meaning: 'number of proxies whose X-Forwarded-* headers are trusted',
  },
  FORWARD_AUTH_FROM: {
    schema: networks,
    allowed: 'networks in CIDR notation or addresses without a port, separated by commas',
    default: '127.0.0.0/8,::1/128',
    meaning: 'reverse proxies whose X-Forwarded-For counts when they ask about a website (/forward-auth)',
  },
  WORKERS: {
    schema: z.union([z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 64)]),
    allowed: 'auto (one for each processor core), or a whole number from 1 to 64',
    default: '1',
    meaning: 'number of processes that serve PORT together',
  },
  COUNTRY_DATABASE: {
    schema: path,
    allowed: 'the path of a MaxMind DB file (.mmdb) with countries',
    default: 'none',
    meaning: 'says from which country a sign-in comes',
  },
  DRAIN_SECONDS: {
    schema: wholeNumber(0, 600),
    allowed: 'a whole number from 0 to 600',
    default: '5 with TRUST_PROXY, else 0',
    meaning: 'after SIGTERM, seconds in which /readyz answers 503 and everything is still served',
  },
  MIN_FREE_MB: {
    schema: wholeNumber(0, 1_000_000),
    allowed: 'a whole number from 0 to 1000000',
    default: '500',
    meaning: 'megabytes of free disk space below which /readyz, the log and doctor warn',
  },
  LOG_LEVEL: {
    schema: z.enum(logLevels),
    allowed: logLevels.join(', '),
    default: 'info',
    meaning: 'least severe line that is logged',
  },
  LOG_FORMAT: {
    schema: z.enum(logFormats),
    allowed: logFormats.join(', '),
    default: 'pretty on a terminal, else json',
    meaning: 'format of the log lines',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    schema: z.string().refine(isPlainUrl),
    allowed:
      'an http or https URL without query or fragment, such as http://localhost:4318; traces go to /v1/traces below it',
    default: 'none: no traces',
    meaning: 'collector of OpenTelemetry traces',
    show: quoteUrl,
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    schema: z.string().transform((value, context) => parseHeaders(value) ?? rejectValue(context)),
    allowed: 'NAME=VALUE, several comma separated, values percent-encoded',
    default: 'none',
    meaning: 'headers for the collector, such as its API key',
    show: (value) => `${value.length} characters`,
    file: true,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    schema: z.enum(protocols),
    allowed: protocols.join(', '),
    default: 'http/protobuf',
    meaning: 'how traces are encoded',
  },
  OTEL_SERVICE_NAME: {
    schema: z.string().max(255),
    allowed: 'up to 255 characters',
    default: 'gatehouse',
    meaning: 'name of this service in traces',
  },
  OTEL_TRACES_SAMPLER: {
    schema: z.enum(samplers),
    allowed: samplers.join(', '),
    default: 'parentbased_always_on',
    meaning: 'which traces are recorded',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    schema: z
      .string()
      .regex(/^(0|1|0?\.\d{1,10}|[01]\.0{1,10})$/)
      .transform(Number),
    allowed: 'a number from 0 to 1',
    default: '1',
    meaning: 'share of the traces that a ratio sampler records',
  },
  OTEL_SDK_DISABLED: {
    schema: z.enum(['true', 'false']).transform((value) => value === 'true'),
    allowed: 'true, false',
    default: 'false',
    meaning: 'true turns traces off, whatever the other variables say',
  },
} satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

/** A rejected value of this variable as it may be printed. */
export function formatValue(variable: Variable, value: string): string {
  return (variable.show ?? quote)(value);
}

function rejectValue(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'rejected' });
  return z.NEVER;
}

// The environment variables of OpenTelemetry, under their standard names, as the configuration of the trace exporter.

/** Parses `name=value,name=value`, values percent-encoded (W3C Baggage); undefined when it is malformed. */
function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (const part of text.split(',').filter((entry) => entry.trim() !== '')) {
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    const decoded = value === undefined ? undefined : decode(value);
    // A control character would begin another header.
    if (name === undefined || decoded === undefined || /[^\t\x20-\x7e]/.test(decoded)) return undefined;
    headers[name] = decoded;
  }
  return headers;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** The address of traces below the base address of a collector (OTLP exporter specification, endpoint URLs). */
export function tracesUrl(endpoint: string): URL {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url;
}
