// Notifies the contacts of each SAML application that the IdP signing certificate expires soon, so that they load the new
// metadata in time: once per certificate 30 days before, and again 7 days before.
import type { SamlApplication } from '../../../applications/application.ts';
import type { Applications } from '../../../applications/applications.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { type Db, transaction } from '../../../base/storage/database.ts';
import { isFirstUse } from '../../../base/storage/single-use.ts';
import type { Sql } from '../../../base/storage/statements.ts';
import type { Keyring } from '../../../core/keys/keyring.ts';
import type { Outbox } from '../../../core/mail/outbox.ts';
import type { ServiceProviders } from './service-providers.ts';

export interface CertificateNoticeDependencies {
  db: Db;
  sql: Sql;
  now: Clock;
  keyring: Keyring;
  applications: Applications;
  serviceProviders: ServiceProviders;
  outbox: Outbox;
}

const DAY_MS = 24 * 3600 * 1000;

/** Queues the mails that are due and returns their number. Run by one instance, once a day. */
export function createCertificateNotice(dependencies: CertificateNoticeDependencies) {
  const { db, sql, now, keyring, applications, serviceProviders, outbox } = dependencies;

  /** The contacts that an administrator named, else those of the metadata. */
  async function contactsOf({ clientId, metadata }: SamlApplication): Promise<string[]> {
    const contacts = metadata.contacts ?? (await serviceProviders.find(clientId))?.contacts ?? [];
    return [...new Set(contacts.map((address) => address.toLowerCase()))].filter((address) =>
      /^[^\s@]+@[^\s@]+$/.test(address),
    );
  }

  return async function notify(): Promise<number> {
    const [ending] = keyring.expiringCertificates().filter(({ state }) => state === 'active');
    if (!ending) return 0;
    const { kid, until } = ending;
    const daysLeft = Math.floor((until.getTime() - now().getTime()) / DAY_MS);
    const stage = daysLeft <= limits.saml.certificateReminderDays ? 'reminder' : 'warning';
    const next = keyring.samlCertificates().find(({ state }) => state === 'next');
    let mails = 0;
    for (const application of await applications.allGenuine()) {
      if (application.protocol !== 'saml' || !application.enabled) continue;
      for (const email of await contactsOf(application)) {
        const key = [kid, stage, application.id, email].join('\n');
        const rememberUntil = new Date(until.getTime() + 30 * DAY_MS);
        const isSent = await transaction(db, async (tx) => {
          // In the transaction of the mail, so that neither exists without the other.
          if (!(await isFirstUse(sql.in(tx), `certificate:${sha256(key)}`, rememberUntil))) return false;
          const facts = { application: application.name, until, isNextPublished: next !== undefined };
          await outbox.send(
            { kind: 'saml-certificate', to: { email, application: application.clientId }, ...facts },
            tx,
          );
          return true;
        });
        if (isSent) mails += 1;
      }
    }
    return mails;
  };
}
