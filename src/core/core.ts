// What every service above this folder is created with: the base, and audit, settings, keys, mail and outgoing calls.
import type { Base } from '../base/base.ts';
import type { StoredPages } from '../base/http/stored-pages.ts';
import type { Countries } from '../base/network/countries.ts';
import type { OutgoingOptions } from '../base/network/outgoing-fetch.ts';
import type { ResolveTxt } from '../base/network/txt-records.ts';
import type { Tx } from '../base/storage/database.ts';
import type { MessageSource } from '../base/texts/messages.ts';
import type { Alarm } from './audit/alarm.ts';
import type { Audit } from './audit/audit.ts';
import type { AuditChain } from './audit/chain/chain.ts';
import type { OutsideCheckpoints } from './audit/chain/outside-checkpoints.ts';
import type { RepeatedEntries } from './audit/repeated-entries.ts';
import type { WokenJob } from './jobs/scheduler.ts';
import type { Keyring } from './keys/keyring.ts';
import type { MailServer } from './mail/mail-server.ts';
import type { AdministratorMail } from './mail/messages.ts';
import type { NotifyOwner } from './mail/notify-owner.ts';
import type { Outbox } from './mail/outbox.ts';
import type { Settings } from './settings/settings.ts';

export interface Core extends Base {
  audit: Audit;
  repeatedEntries: RepeatedEntries;
  auditChain: AuditChain;
  checkpoints: OutsideCheckpoints;
  alarm: Alarm;
  settings: Settings;
  texts: () => MessageSource | undefined;
  keyring: Keyring;
  /** For addresses that an administrator or another program chose: only allowed networks, with limits of time and size. */
  outgoing: typeof fetch;
  outgoingRules: OutgoingOptions['rules'];
  countries: Countries;
  /** Looks up DNS records. */
  resolveTxt: ResolveTxt;
  outbox: Outbox;
  mailServer: MailServer;
  /** Mails a user about a change of the account. */
  notifyOwner: NotifyOwner;
  notifyAdministrators(message: AdministratorMail, tx?: Tx): Promise<void>;
  storedPages: StoredPages;
  /** Runs a job of this server once the transaction has committed. Other servers find its work at their next run. */
  wake(job: WokenJob, tx: Tx): void;
}
