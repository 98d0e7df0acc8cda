// What a new metadata document of a service provider changes, and what of it an administrator has to approve: everything that
// moves assertions to another address, lets another key sign, or switches a protection off. Pure.
import { createHash } from 'node:crypto';
import type { Certificate } from '../xml/certificates.ts';
import type { SpMetadata } from './parse.ts';

/** What can change, for the API and emails. */
type Part =
  | 'ACS addresses'
  | 'SLO addresses'
  | 'Signing keys'
  | 'Encryption keys'
  | 'Signed requests (AuthnRequestsSigned)'
  | 'Signed assertions (WantAssertionsSigned)';

export interface MetadataChange {
  what: Part;
  received: string;
  registered: string;
  needsApproval: boolean;
}

/**
 * The changes from the registered metadata to the received one. Removed addresses need no approval, and neither does a key that
 * is added beside a known one or removed from beside it (a rollover).
 */
export function metadataChanges(registered: SpMetadata, received: SpMetadata): MetadataChange[] {
  return [
    ...addressChanges('ACS addresses', registered.acs.map(acsText), received.acs.map(acsText)),
    ...addressChanges('SLO addresses', registered.slo.map(sloText), received.slo.map(sloText)),
    ...keyChanges('Signing keys', registered.signingCertificates, received.signingCertificates),
    ...keyChanges('Encryption keys', registered.encryptionCertificates, received.encryptionCertificates),
    ...requirement('Signed requests (AuthnRequestsSigned)', registered, received, 'authnRequestsSigned'),
    ...requirement('Signed assertions (WantAssertionsSigned)', registered, received, 'wantAssertionsSigned'),
  ];
}

/** Whether an administrator has to approve one of them. */
export function needsApproval(changes: readonly MetadataChange[]): boolean {
  return changes.some((one) => one.needsApproval);
}

/** Identifies the changes that need approval, however often the document is written again around them. */
export function changesKey(changes: readonly MetadataChange[]): string {
  const judged = changes.filter(({ needsApproval }) => needsApproval);
  return createHash('sha256').update(JSON.stringify(judged)).digest('hex');
}

function addressChanges(what: Part, before: string[], after: string[]): MetadataChange[] {
  if (same(before, after)) return [];
  const hasNew = after.some((address) => !before.includes(address));
  return [change(what, before, after, hasNew)];
}

/** Keys may change only beside a key that stays; first keys count as a replacement, because they may sign from then on. */
function keyChanges(what: Part, before: readonly Certificate[], after: readonly Certificate[]): MetadataChange[] {
  const [old, now] = [before.map(keyOf), after.map(keyOf)];
  if (same(old, now)) return [];
  const overlaps = now.some((key) => old.includes(key));
  return [change(what, before.map(certificateText), after.map(certificateText), !overlaps)];
}

function requirement(
  what: Part,
  registered: SpMetadata,
  received: SpMetadata,
  field: 'authnRequestsSigned' | 'wantAssertionsSigned',
): MetadataChange[] {
  if (registered[field] === received[field]) return [];
  return [change(what, [yesNo(registered[field])], [yesNo(received[field])], registered[field])];
}

function change(what: Part, before: string[], after: string[], needsApproval: boolean): MetadataChange {
  return { what, received: after.join('\n') || 'none', registered: before.join('\n') || 'none', needsApproval };
}

const same = (before: string[], after: string[]) => [...before].sort().join('\n') === [...after].sort().join('\n');
const yesNo = (value: boolean) => (value ? 'required' : 'not required');
const bindingName = (uri: string) => uri.split(':').at(-1) ?? uri;

/** A certificate that is renewed for the same key changes nothing. */
const keyOf = ({ publicKey }: Certificate) => publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
const certificateText = ({ fingerprint, subject }: Certificate) =>
  `${subject.replaceAll('\n', ', ')} (SHA-256 ${fingerprint})`;

function acsText({ url, binding, index, isDefault }: SpMetadata['acs'][number]): string {
  const number = index === undefined ? '' : `, index ${index}`;
  return `${url} (${bindingName(binding)}${number}${isDefault ? ', default' : ''})`;
}

function sloText({ location, responseLocation, binding }: SpMetadata['slo'][number]): string {
  return `${location} (${binding}${responseLocation ? `, responses to ${responseLocation}` : ''})`;
}
