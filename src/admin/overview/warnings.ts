// What the overview warns of: accounts that are locked, secrets and certificates that end soon, mail that is not delivered,
// and the state of the server. Each query is bounded, so that the overview is fast however much data there is.

import { idsMarked, readMetadata } from '../../applications/application.ts';
import { needsPkce } from '../../applications/fields/oidc-client.ts';
import { present } from '../../base/platform/defined.ts';
import { inChunks } from '../../base/storage/chunks.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { isDown } from '../../core/jobs/outages.ts';
import { countUnsentMail, mailOf } from '../../core/mail/message-store.ts';
import { certificateEnds, pastedMetadataEnd } from '../../protocols/saml/metadata/certificate-ends.ts';
import type { AdminServices } from '../admin-services.ts';

export interface Warnings {
  locked: { id: string; username: string; seconds: number }[];
  /** Users whose first second factor needs an approval. */
  waiting: { id: string; username: string; requestedAt: Date }[];
  /** Certificates and secrets, the soonest first; those that have ended are among them. */
  ending: { what: PageText; until: Date; applicationId?: string; connectionId?: string }[];
  /** So many unused accounts wait for an approval. */
  unused: { count: number; deletions: number; of: number } | undefined;
  /** `href`: the page where it is seen to. */
  health: { what: PageText; state: 'good' | 'warn' | 'bad'; text: PageText; href?: string }[];
}

const DAY_MS = 86_400_000;
const SOON_DAYS = 30;
const MAX_FAILURES = 200;
const MAX_LOCKED = 20;
/** The certificates of at most so many service providers are read. */
const MAX_PROVIDERS = 500;

/** Returns the function that reads all warnings now. */
export function createWarnings(services: AdminServices): () => Promise<Warnings> {
  return async () => {
    const [locked, waiting, ending, health, upstreams, unused] = await Promise.all([
      lockedAccounts(services),
      services.mfa.firstEnrolment.waiting(),
      endingSoon(services),
      healthOf(services),
      services.connectionWarnings(),
      services.inactivity.stopped(),
    ]);
    const endingThere = upstreams.flatMap(({ connection, text, until }) =>
      until ? [{ what: text, until, ...(connection && { connectionId: connection.id }) }] : [],
    );
    const faults = upstreams
      .filter(({ until, isUrgent }) => !until || isUrgent)
      .map(({ connection, text, isUrgent }) => ({
        what: t('console.navigation.connections'),
        href: `/admin/connections${connection ? `/${connection.id}` : ''}`,
        state: isUrgent ? ('bad' as const) : ('warn' as const),
        text,
      }));
    return {
      locked,
      waiting,
      unused,
      ending: bySoonest([...ending, ...endingThere]),
      health: [...health, ...faults],
    };
  };
}

function bySoonest(ending: Warnings['ending']): Warnings['ending'] {
  return [...ending].sort((a, b) => a.until.getTime() - b.until.getTime());
}

/** Accounts that are locked now, at most `MAX_LOCKED`, from the failures of the last day. */
export async function lockedAccounts({ now, audit, accounts, lockout }: AdminServices): Promise<Warnings['locked']> {
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
      // A disabled account is disabled, whatever was typed for it.
      if (!account?.isActive) return [];
      const seconds = await lockout.lockedSeconds(account);
      return seconds > 0 ? [{ id, username: account.username, seconds }] : [];
    }),
  );
  return found.flat();
}

/** Secrets, certificates and pasted metadata that end within 30 days. */
async function endingSoon({ db, now, keyring }: AdminServices): Promise<Warnings['ending']> {
  const soon = new Date(now().getTime() + SOON_DAYS * DAY_MS);
  const [secrets, providers] = await Promise.all([
    db.asStored.clientSecret.findMany({
      where: { expiresAt: { lte: soon, gt: now() } },
      select: { expiresAt: true, application: { select: { id: true, name: true } } },
      take: 50,
    }),
    db.asStored.application.findMany({
      where: { protocol: 'saml', enabled: true },
      select: { id: true, name: true, metadata: true },
      take: MAX_PROVIDERS,
    }),
  ]);
  const own = keyring
    .samlCertificates()
    .filter(({ state, until }) => state !== 'retired' && until <= soon)
    .map(({ until }) => ({ what: t('console.health.own-certificate'), until }));
  const ofProviders = providers.flatMap(({ id, name, metadata }) =>
    certificateEnds(readMetadata('saml', metadata))
      .filter((until) => until <= soon)
      .map((until) => ({ what: t('console.health.certificate-of', { name }), until, applicationId: id })),
  );
  const ofMetadata = providers.flatMap(({ id, name, metadata }) => {
    const until = pastedMetadataEnd(readMetadata('saml', metadata), soon);
    return until ? [{ what: t('console.health.metadata-of', { name }), until, applicationId: id }] : [];
  });
  const ofClients = secrets.flatMap(({ expiresAt, application }) =>
    expiresAt
      ? [
          {
            what: t('console.health.old-secret-of', { name: application.name }),
            until: expiresAt,
            applicationId: application.id,
          },
        ]
      : [],
  );
  return [...own, ...ofProviders, ...ofMetadata, ...ofClients]
    .sort((a, b) => a.until.getTime() - b.until.getTime())
    .slice(0, 50);
}

async function healthOf(services: AdminServices): Promise<Warnings['health']> {
  const { db, now, keyring, settings, config, mailServer, forwardAuth } = services;
  const waiting = await db.mailMessage.findFirst({
    where: mailOf.waiting,
    orderBy: { createdAt: 'asc' },
    select: { createdAt: true },
  });
  const { failed: failedMails } = await countUnsentMail(db);
  const minutes = waiting ? Math.floor((now().getTime() - waiting.createdAt.getTime()) / 60_000) : 0;
  const keys = await keyring.list();
  const where = isDown(now());
  const down =
    (await db.asStored.eventStream.count({ where })) + (await db.asStored.provisioningTarget.count({ where }));
  const waitingMetadata = await db.samlMetadata.count({ where: { pendingXml: { not: null } } });
  const candidates = await inChunks(await idsMarked('withoutPkce', db), (some) =>
    db.asStored.application.findMany({
      where: { id: { in: some }, protocol: 'oidc', enabled: true },
      select: { metadata: true },
    }),
  );
  const withoutPkce = candidates.filter(({ metadata }) => !needsPkce(readMetadata('oidc', metadata))).length;
  const active = keys.filter(({ state }) => state === 'active').length;
  const row = (what: PageText, state: 'good' | 'warn' | 'bad', text: PageText, href?: string) => ({
    what,
    state,
    text,
    ...(href && { href }),
  });
  return present([
    row(t('console.health.database'), 'good', t('console.health.reachable')),
    waitingMetadata > 0 &&
      row(
        t('console.health.saml-metadata'),
        'warn',
        t('console.health.metadata-waiting', { count: waitingMetadata }),
        '/admin/applications',
      ),
    ...forwardAuth
      .untrustedProxies()
      .map((address) =>
        row(t('console.health.asking-proxy'), 'warn', t('console.health.untrusted-proxy', { address })),
      ),
    withoutPkce > 0 &&
      row('PKCE', 'warn', t('console.health.without-pkce', { count: withoutPkce }), '/admin/applications'),
    active > 0
      ? row(t('console.navigation.signing-keys'), 'good', t('console.health.keys-active', { count: active }))
      : row(t('console.navigation.signing-keys'), 'bad', t('console.health.no-active-key'), '/admin/keys'),
    mailServer.isSet()
      ? row(
          t('console.navigation.mail'),
          minutes > 15 || failedMails > 0 ? 'warn' : 'good',
          minutes > 15
            ? t('console.health.mail-late', { count: minutes })
            : failedMails > 0
              ? t('console.health.mail-failed', { count: failedMails })
              : t('console.health.mail-good'),
          '/admin/mail',
        )
      : row(t('console.navigation.mail'), 'warn', t('console.health.mail-to-files'), '/admin/settings/mail'),
    down > 0 &&
      row(t('console.deliveries'), 'warn', t('console.health.destinations-down', { count: down }), '/admin/deliveries'),
    config.secure || config.loopback
      ? row(
          t('console.health.address'),
          config.secure ? 'good' : 'warn',
          config.secure ? 'HTTPS' : t('console.health.http-local'),
        )
      : row(t('console.health.address'), 'bad', t('console.health.http-open')),
    settings.latest().rate_limits
      ? row(t('console.health.rate-limits'), 'good', t('console.health.rate-limits-on'))
      : row(t('console.health.rate-limits'), 'bad', t('console.health.rate-limits-off'), '/admin/security/protection'),
  ]);
}
