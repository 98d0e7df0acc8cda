// The mail to administrators about metadata of a service provider that changed at its URL, or expired.
import { describeTime } from './wording.ts';

/** What the mail to administrators contains about changed metadata of a service provider. */
export interface MetadataNotice {
  application: string;
  applicationId: string;
  state: 'waiting' | 'applied' | 'expired';
  /** What changed, such as "ACS addresses"; no received address, which the reader might open. */
  changes: string[];
  /** Of `expired`: when the application stops working. */
  until?: Date;
}

/** Subject and text, and the page of the application that the link opens. */
export const metadataTexts: Record<
  MetadataNotice['state'],
  (name: string, notice: MetadataNotice) => { subject: string; text: string; path: string }
> = {
  waiting: (name) => ({
    subject: `The metadata of ${name} changed: please approve it`,
    text: `The metadata of ${name} changes something that needs your approval. Until then the registered metadata stays in use. Ask its operators by another way than its own pages whether they made the change.`,
    path: '/metadata',
  }),
  applied: (name) => ({
    subject: `The metadata of ${name} was updated`,
    text: `The metadata of ${name} changed where that needs no approval, such as a new key beside the known one, and the change was applied.`,
    path: '',
  }),
  expired: (name, { until }) => ({
    subject: `The metadata of ${name} has expired`,
    text: `The metadata of ${name} has expired, and no valid metadata can be read from its address. ${until ? `It stays in use until ${describeTime(until)}; after that nobody can sign in to the application.` : ''}`,
    path: '',
  }),
};
