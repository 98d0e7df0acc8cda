// What a preset knows about a vendor. Everything is data: the protocols in federation/ read `quirks`, the console `fields`,
// `steps` and `paste`.
import type { PageText } from '../../../base/texts/text.ts';
import type { ConnectionKind } from '../connection.ts';

/** A value of this server that the administrator pastes at the vendor (paste-values.ts). */
export type PasteKey =
  | 'redirect_uri'
  | 'post_logout_redirect_uri'
  | 'backchannel_logout_uri'
  | 'frontchannel_logout_uri'
  | 'sp_metadata_url'
  | 'sp_entity_id'
  | 'acs_url'
  | 'slo_url'
  | 'server_host';

/** A field of the form that the console displays for this vendor. */
export interface PresetField {
  /** A key of the entry. */
  key: string;
  /** As the vendor names the value, in its language, or a text. */
  label: PageText;
  hint?: PageText;
  /** Fills the field in, as an example. */
  placeholder?: string;
  isRequired?: true;
  type?: 'text' | 'url' | 'secret' | 'date' | 'lines' | 'long';
}

/** Where a vendor deviates from its protocol. An absent one means that it does not. */
export interface Quirks {
  /** Where groups come from, and when the list is incomplete. */
  groups?: 'entra-overage' | 'github-organizations';
  /** When the address counts as verified, beside `email_verified`. */
  email?: 'google' | 'entra' | 'github' | 'never';
  /** The parts of the subject, joined by a colon. */
  subject?: readonly string[];
  /** email_verified is text ("true"). */
  emailVerifiedIsText?: true;
  /** The client secret is a JWT that is signed with the private key, valid for 5 minutes. */
  clientSecret?: 'apple-jwt';
  /** The name arrives once, in a field that the browser makes: for display only. */
  nameField?: 'apple-user';
  /** API calls carry appsecret_proof (HMAC-SHA-256 of the token under the secret). */
  appSecretProof?: true;
  /** The token endpoint reports errors with status 200. */
  errorsWithStatus200?: true;
  /** The userinfo endpoint returns `sub` only. */
  userinfoIsEmpty?: true;
  /** Sends `iss` in the answer (RFC 9207), so a missing one is an error. */
  alwaysSendsIss?: true;
}

export interface Preset {
  id: string;
  kind: ConnectionKind;
  /** As the list of vendors names it. */
  name: PageText;
  /** The mark on the button: a file in views/connections/logos. */
  logo: string;
  /** Values of the entry that it need not declare; `entry` is what it declares. */
  defaults(entry: Record<string, unknown>): Record<string, unknown>;
  /** What the console asks for, beside id, name and the usual choices. */
  fields: readonly PresetField[];
  /** Sentences: what to do at the vendor, in order. */
  steps: readonly PageText[];
  paste: readonly PasteKey[];
  quirks: Quirks;
}
