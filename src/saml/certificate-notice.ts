// Tells the people behind each application that the certificate our SAML messages are signed with ends soon, so that
// they read our metadata before it does. Once for each certificate at 30 days, and once more at 7.
import type { SamlApplication } from '../applications/application.ts';
import type { Applications } from '../applications/applications.ts';
import type { Keyring } from '../keys/keyring.ts';
import { limits } from '../limits.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import { sha256 } from '../platform/random.ts';
import type { ServiceProviders } from './service-providers.ts';

export interface CertificateNoticeNeeds {
  db: Db;
  now: Clock;
  keyring: Pick<Keyring, 'expiringCertificates' | 'samlCertificates'>;
  applications: Pick<Applications, 'all'>;
  serviceProviders: Pick<ServiceProviders, 'find'>;
  outbox: Pick<Outbox, 'send'>;
}

const DAY_MS = 24 * 3600 * 1000;

/** Queues what is due; returns how many letters that were. For one instance, once a day. */
export function createCertificateNotice(needs: CertificateNoticeNeeds) {
  const { db, now, keyring, applications, serviceProviders, outbox } = needs;

  /** Contacts named by an administrator, else those of the metadata. */
  async function contactsOf({ clientId, metadata }: SamlApplication): Promise<string[]> {
    const contacts = metadata.contacts ?? (await serviceProviders.find(clientId))?.contacts ?? [];
    return [...new Set(contacts.map((address) => address.toLowerCase()))].filter((address) =>
      /^[^\s@]+@[^\s@]+$/.test(address),
    );
  }

  // Kept in the transaction of the letter; the job runs on one instance at a time.
  async function isFirst(what: string, until: Date, tx: Tx): Promise<boolean> {
    const row = { id: `certificate:${sha256(what)}`, expiresAt: until };
    const before = await tx.seenMessage.findUnique({ where: { id: row.id }, select: { id: true } });
    if (!before) await tx.seenMessage.create({ data: row, select: { id: true } });
    return !before;
  }

  return async function notify(): Promise<number> {
    const [ending] = keyring.expiringCertificates().filter(({ state }) => state === 'active');
    if (!ending) return 0;
    const { kid, until } = ending;
    const daysLeft = Math.floor((until.getTime() - now().getTime()) / DAY_MS);
    const stage = daysLeft <= limits.saml.certificateReminderDays ? 'reminder' : 'warning';
    const next = keyring.samlCertificates().find(({ state }) => state === 'next');
    let letters = 0;
    for (const application of await applications.all()) {
      if (application.protocol !== 'saml' || !application.enabled) continue;
      for (const email of await contactsOf(application)) {
        const what = [kid, stage, application.id, email].join('\n');
        const keptUntil = new Date(until.getTime() + 30 * DAY_MS);
        const isSent = await transaction(db, async (tx) => {
          if (!(await isFirst(what, keptUntil, tx))) return false;
          const facts = { application: application.name, until, isNextPublished: next !== undefined };
          await outbox.send({ kind: 'saml-certificate', to: { email }, ...facts }, tx);
          return true;
        });
        if (isSent) letters += 1;
      }
    }
    return letters;
  };
}
