// What needs an administrator: people who are locked out, secrets and certificates that end soon, mail that did not go,
// and whether the server is well. Each question is bounded, so that the overview stays quick however much there is.
import { X509Certificate } from 'node:crypto';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Config } from '../config.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';
import type { Settings } from '../settings.ts';

export interface Attention {
  locked: { id: string; username: string; seconds: number }[];
  /** The soonest first; what has ended already is among them. */
  ending: { what: string; until: Date; applicationId?: string }[];
  health: { what: string; state: 'good' | 'warn' | 'bad'; text: string }[];
}

export interface AttentionNeeds {
  db: Db;
  now: Clock;
  audit: Pick<Audit, 'list'>;
  accounts: Pick<Accounts, 'find'>;
  signInGuard: Pick<SignInGuard, 'lockedSeconds'>;
  keyring: Pick<Keyring, 'list' | 'samlCertificates'>;
  settings: Pick<Settings, 'latest'>;
  config: Pick<Config, 'smtpUrl' | 'secure' | 'loopback'>;
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
const MAX_FAILURES = 200;
const MAX_LOCKED = 20;
/** Certificates of so many service providers are looked at, those registered by hand first. */
const MAX_PROVIDERS = 500;

export function createAttention(needs: AttentionNeeds) {
  const { db, now, audit, accounts, signInGuard, keyring, settings, config } = needs;

  async function locked(): Promise<Attention['locked']> {
    const from = new Date(now().getTime() - DAY_MS);
    const failures = await audit.list({
      types: ['sign-in.password', 'sign-in.throttled'],
      outcome: 'failure',
      from,
      limit: MAX_FAILURES,
    });
    const ids = [...new Set(failures.flatMap(({ subjectId }) => subjectId ?? []))].slice(0, MAX_LOCKED);
    const found = await Promise.all(
      ids.map(async (id) => {
        const account = await accounts.find(id);
        if (!account) return [];
        const names = [account.username, ...(account.email ? [account.email] : [])];
        const seconds = Math.max(...(await Promise.all(names.map(signInGuard.lockedSeconds))));
        return seconds > 0 ? [{ id, username: account.username, seconds }] : [];
      }),
    );
    return found.flat();
  }

  async function ending(): Promise<Attention['ending']> {
    const soon = new Date(now().getTime() + SOON_DAYS * DAY_MS);
    const [secrets, providers] = await Promise.all([
      db.clientSecret.findMany({
        // One that replaced it is there already when a newer secret is; then its end is what was wanted.
        where: { expiresAt: { lte: soon, gt: now() } },
        select: { expiresAt: true, application: { select: { id: true, name: true } } },
        take: 50,
      }),
      db.application.findMany({
        where: { protocol: 'saml', enabled: true },
        select: { id: true, name: true, metadata: true },
        take: MAX_PROVIDERS,
      }),
    ]);
    const own = keyring
      .samlCertificates()
      .filter(({ state, until }) => state !== 'retired' && until <= soon)
      .map(({ until }) => ({ what: 'Our SAML signing certificate', until }));
    const theirs = providers.flatMap(({ id, name, metadata }) =>
      certificatesOf(metadata)
        .filter((until) => until <= soon)
        .map((until) => ({ what: `Certificate of ${name}`, until, applicationId: id })),
    );
    const ofClients = secrets.flatMap(({ expiresAt, application }) =>
      expiresAt ? [{ what: `Old secret of ${application.name}`, until: expiresAt, applicationId: application.id }] : [],
    );
    return [...own, ...theirs, ...ofClients].sort((a, b) => a.until.getTime() - b.until.getTime()).slice(0, 50);
  }

  async function health(): Promise<Attention['health']> {
    const waiting = await db.mailMessage.findFirst({
      where: { sentAt: null, failedAt: null },
      orderBy: { createdAt: 'asc' },
      select: { createdAt: true },
    });
    const minutes = waiting ? Math.floor((now().getTime() - waiting.createdAt.getTime()) / 60_000) : 0;
    const keys = await keyring.list();
    const active = keys.filter(({ state }) => state === 'active').length;
    const row = (what: string, state: 'good' | 'warn' | 'bad', text: string) => ({ what, state, text });
    return [
      row('Database', 'good', 'answers'),
      active > 0 ? row('Signing keys', 'good', `${active} sign`) : row('Signing keys', 'bad', 'none signs'),
      config.smtpUrl
        ? row(
            'Mail',
            minutes > 15 ? 'warn' : 'good',
            minutes > 15 ? `the oldest waits for ${minutes} minutes` : 'goes out',
          )
        : row('Mail', 'warn', 'SMTP_URL is not set, so mail is written to files'),
      config.secure || config.loopback
        ? row('Address', config.secure ? 'good' : 'warn', config.secure ? 'https' : 'http on this machine only')
        : row('Address', 'bad', 'http, readable on the way'),
      settings.latest().rate_limits
        ? row('Limits on guessing', 'good', 'on')
        : row('Limits on guessing', 'bad', 'switched off in the settings'),
    ];
  }

  return async function attention(): Promise<Attention> {
    const [lockedNow, endingSoon, healthNow] = await Promise.all([locked(), ending(), health()]);
    return { locked: lockedNow, ending: endingSoon, health: healthNow };
  };
}

/** When the certificates of a service provider end; those that cannot be read are no business of the overview. */
function certificatesOf(metadata: string): Date[] {
  const { metadata_xml = '', certificates = [] } = JSON.parse(metadata) as {
    metadata_xml?: string;
    certificates?: { pem: string }[];
  };
  const inMetadata = [...metadata_xml.matchAll(/<(?:\w+:)?X509Certificate>([^<]+)</g)].map(
    ([, base64 = '']) => `-----BEGIN CERTIFICATE-----\n${base64.replace(/\s+/g, '')}\n-----END CERTIFICATE-----`,
  );
  const ends = [...certificates.map(({ pem }) => pem), ...inMetadata].flatMap((pem) => {
    try {
      return [new X509Certificate(pem).validTo];
    } catch {
      return [];
    }
  });
  return [...new Set(ends)].map((end) => new Date(end));
}
