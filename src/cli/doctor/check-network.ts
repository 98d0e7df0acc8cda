// doctor: checks network access: the public address with its certificate, the mail server, and the DNS records of the sender.
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import type { Config } from '../../base/config.ts';
import { SECURITY_HEADERS } from '../../base/http/security-headers.ts';
import { createTxtResolver, type ResolveTxt } from '../../base/network/txt-records.ts';
import { plural } from '../../base/platform/plural.ts';
import { addressOf, createMailServer, type SmtpServer, senderText } from '../../core/mail/mail-server.ts';
import { publicDomainOf, type SenderRecord, senderRecords } from '../../core/mail/sender-records.ts';
import type { SettingValues } from '../../core/settings/settings.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

const TIMEOUT_MS = 5000;
const DAY_MS = 86_400_000;
const CERTIFICATE_WARNING_DAYS = 14;
const MAX_CLOCK_SECONDS = 30;

/** Fetches our discovery document as a client would. */
export async function checkPublicAddress({ issuer, issuerUrl, secure }: Config, now: () => Date): Promise<Finding[]> {
  const findings = secure ? [await checkCertificate(issuerUrl, now)] : [ok('tls', 'not used on a loopback address')];
  const url = `${issuer}/.well-known/openid-configuration`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });
    const document: unknown = await response.json().catch(() => undefined);
    const said =
      typeof document === 'object' && document !== null && 'issuer' in document ? document.issuer : undefined;
    if (response.status !== 200 || said !== issuer) {
      const found =
        said === undefined
          ? `returns ${response.status} without the discovery document`
          : `names another issuer: ${String(said)}`;
      findings.push(
        failure('address', `${url} ${found}`, 'Configure the proxy to pass every path of this host to Gatehouse.'),
      );
      return findings;
    }
    findings.push(ok('address', `${issuer} answers`), checkClock(response.headers.get('date'), now()));
    findings.push(...(await checkPageHeaders(issuer)));
  } catch (error) {
    const advice = 'Start the server; if it runs, check DNS, firewall and proxy.';
    findings.push(warning('address', `${url} does not answer from here: ${reason(error)}`, advice));
  }
  return findings;
}

/** What goes wrong in browsers when a proxy replaces, adds or removes this header. */
const HEADER_EFFECTS = {
  'Referrer-Policy': 'Browsers then may send forms with `Origin: null`, which other proxies and firewalls reject.',
  'Content-Security-Policy': 'Browsers then may block the scripts, styles or forms of the pages.',
  'X-Frame-Options': 'Browsers then may not show the previews of the console.',
  'Permissions-Policy': 'Browsers then may not offer passkeys.',
} as const satisfies Partial<Record<keyof typeof SECURITY_HEADERS, string>>;

/** Whether the home page arrives with the security headers that Gatehouse sets. */
async function checkPageHeaders(issuer: string): Promise<Finding[]> {
  const page = await fetch(`${issuer}/`, {
    headers: { accept: 'text/html' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'manual',
  });
  await page.body?.cancel();
  const findings = Object.entries(HEADER_EFFECTS).flatMap(([name, effect]) => {
    const sent = SECURITY_HEADERS[name as keyof typeof HEADER_EFFECTS];
    const received = page.headers.get(name) ?? '';
    // A proxy that adds the same header again changes nothing.
    if (received.replaceAll(sent, '').replace(/[, ]/g, '') === '' && received !== '') return [];
    const what = received === '' ? `removes the header ${name}` : `changes the header ${name} to "${received}"`;
    return [warning('headers', `a proxy ${what}`, `Leave it as Gatehouse sets it. ${effect}`)];
  });
  return findings.length > 0 ? findings : [ok('headers', 'the security headers arrive unchanged')];
}

/** The mail server, and the DNS records of the sender. Connects and waits for the greeting; does not authenticate and sends nothing. */
export async function checkMail(
  config: Config,
  settings: SettingValues,
  resolveTxt: ResolveTxt = createTxtResolver(),
): Promise<Finding[]> {
  const mailServer = createMailServer({ config, settings: { latest: () => settings, reload: async () => settings } });
  const server = mailServer.current();
  if (!server) {
    const advice = 'Set one in the console, or SMTP_URL, so that users receive email.';
    return [warning('mail', `no mail server is set: email is written to ${config.outboxDir}`, advice)];
  }
  const sender = mailServer.sender(settings.brand_name);
  const domain = publicDomainOf(sender.address);
  const [greeting, records] = await Promise.all([
    checkGreeting(server, senderText(sender)),
    domain ? senderRecords(resolveTxt, domain, { host: server.host }) : [],
  ]);
  return [greeting, ...records.map(recordFinding)];
}

async function checkGreeting(server: SmtpServer, sender: string): Promise<Finding> {
  const { host, port, tls } = server;
  const name = addressOf(server);
  try {
    const greeting = await greet(
      tls === 'implicit' ? connectTls({ host, port, servername: host }) : connectTcp({ host, port }),
    );
    if (!greeting.startsWith('220')) throw new Error(`it says ${greeting.slice(0, 60)}`);
    return ok('mail', `${name} responds; email is sent from ${sender}`);
  } catch (error) {
    return failure(
      'mail',
      `${name} cannot be used: ${reason(error)}`,
      `Check ${server.url === undefined ? 'the mail server in the console' : 'SMTP_URL'}: host, port and TLS. Email stays queued until the mail server works.`,
    );
  }
}

function recordFinding({ kind, state, name, text, value }: SenderRecord): Finding {
  const message = state === 'good' ? `${name} has ${value}` : String(text);
  if (state === 'good' || state === 'unknown') return ok(kind, message);
  return warning(kind, message, state === 'absent' && value ? `TXT record of ${name}: ${value}` : value);
}

async function checkCertificate(url: URL, now: () => Date): Promise<Finding> {
  const socket = connectTls({
    host: url.hostname,
    port: Number(url.port) || 443,
    servername: url.hostname,
    rejectUnauthorized: false,
  });
  try {
    await Promise.race([once(socket, 'secureConnect'), timeout(socket)]);
    if (!socket.authorized) {
      return failure(
        'tls',
        `browsers do not trust the certificate: ${String(socket.authorizationError)}`,
        'Install a valid one.',
      );
    }
    const { valid_to: until } = socket.getPeerCertificate() as PeerCertificate;
    const days = Math.floor((new Date(until).getTime() - now().getTime()) / DAY_MS);
    if (days > CERTIFICATE_WARNING_DAYS) return ok('tls', `the certificate is valid for ${plural(days, 'day')}`);
    return warning('tls', `the certificate expires in ${plural(days, 'day')}`, 'Renew it.');
  } catch (error) {
    return warning('tls', `the certificate could not be read from here: ${reason(error)}`);
  } finally {
    socket.destroy();
  }
}

function checkClock(date: string | null, at: Date): Finding {
  const seconds = date === null ? 0 : Math.round((at.getTime() - new Date(date).getTime()) / 1000);
  return Math.abs(seconds) <= MAX_CLOCK_SECONDS ? ok('clock', at.toISOString()) : clockFinding(seconds, 'the proxy');
}

/** Warns when the clocks of the server and this machine differ. */
export function clockFinding(seconds: number, other: string): Finding {
  const side = seconds > 0 ? 'ahead of' : 'behind';
  return failure(
    'clock',
    `${Math.abs(seconds)} s ${side} ${other}`,
    'Synchronize both clocks with NTP, because tokens and codes are valid only for minutes.',
  );
}

async function greet(socket: Socket): Promise<string> {
  try {
    const [chunk] = await Promise.race([once(socket, 'data'), timeout(socket)]);
    return String(chunk).trim();
  } finally {
    socket.end('QUIT\r\n');
    socket.destroySoon();
  }
}

async function timeout(socket: Socket): Promise<never> {
  socket.setTimeout(TIMEOUT_MS);
  await once(socket, 'timeout');
  throw new Error('no answer');
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}
