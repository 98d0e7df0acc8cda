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
    subject: `Approve the new metadata of ${name}`,
    text: `The metadata of ${name} has changes that need your approval. Until then, Gatehouse uses the registered metadata. Ask the people who run the application whether they made the change. Don’t use contact details from the new metadata.`,
    path: '/metadata',
  }),
  applied: (name) => ({
    subject: `The metadata of ${name} was updated`,
    text: `Gatehouse applied a change in the metadata of ${name}, such as an additional key. This kind of change needs no approval.`,
    path: '',
  }),
  expired: (name, { until }) => ({
    subject: `The metadata of ${name} has expired`,
    text: `The metadata of ${name} has expired, and its URL has no valid metadata. ${until ? `Gatehouse uses the old metadata until ${describeTime(until)}. After that, people can’t sign in to the application.` : ''}`,
    path: '',
  }),
};
