// What a preset is.

import type { Protocol } from '../../../applications/application.ts';
import type { PageText } from '../../../base/texts/text.ts';
import type { Field } from '../../console/blocks.ts';

export type Answers = Record<string, string>;
export type Declaration = Record<string, unknown>;

/** This server as an identity provider, as the other side has to be set up. */
export interface IdentityProvider {
  /** The name that users know it by: that of the brand. */
  name: string;
  issuer: string;
  clientId: string;
  /** Only right after it was created. */
  clientSecret?: string | undefined;
  /** PEM of the certificate that assertions are signed with. */
  certificate: string;
}

export interface SetupInstruction {
  title: PageText;
  text: PageText;
  /** The same settings in another form: closed until it is opened. */
  isAlternative?: boolean | undefined;
}

/** A role or a group that a product reads. */
export interface PresetRole {
  name: string;
  /** The name that the product reads, where the application renames it. */
  nameThere?: string | undefined;
  description: PageText;
}

export interface Preset {
  id: string;
  title: PageText;
  /** One line, for the list of presets. */
  text: PageText;
  /** A name at lucide.dev; a product has its logo or first letter. */
  icon?: string;
  protocol: Protocol;
  fields: readonly Field[];
  /**
   * The declaration, as in the configuration file. Throws invalid_input.
   *
   * @param name of this server, as users know it
   */
  toDeclaration(answers: Answers, name: string): Declaration;
  /** Roles that its settings name. The form offers to create them. */
  roles?: readonly PresetRole[];
  /** Instead of roles: groups that its settings name. The form offers to create them. */
  groups?: readonly PresetRole[];
  /** Its own fields say who can sign in. */
  hasOwnAccess?: boolean;
  /** What users without those roles or groups are in the product, such as `Viewer`. */
  withoutRoles?: PageText;
}
