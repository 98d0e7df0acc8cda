// Every preset, in the order of the list of vendors.
import type { Connection, ConnectionKind } from '../connection.ts';
import {
  adfsOidc,
  adfsSaml,
  auth0,
  entra,
  entraSaml,
  gitlab,
  googleSaml,
  keycloak,
  keycloakSaml,
  okta,
  oktaSaml,
} from './enterprise.ts';
import { genericPresets } from './generic.ts';
import type { Preset, Quirks } from './preset.ts';
import { apple, facebook, github, google, linkedin } from './social.ts';

export const presets: readonly Preset[] = [
  ...[google, entra, github, gitlab, apple, facebook, linkedin, okta, auth0, keycloak, adfsOidc, adfsSaml],
  ...[entraSaml, oktaSaml, googleSaml, keycloakSaml],
  ...genericPresets,
];

export function presetOf(id: string, kind: ConnectionKind): Preset | undefined {
  return presets.find((preset) => preset.id === id && preset.kind === kind);
}

/** Where the vendor of a connection deviates from its protocol. */
export function quirksOf({ preset, kind }: Pick<Connection, 'preset' | 'kind'>): Quirks {
  return presetOf(preset, kind)?.quirks ?? {};
}

/** Name of the logo on the sign-in button of a connection. */
export function logoOf({ preset, kind, settings }: Connection): string {
  return settings.logo ?? presetOf(preset, kind)?.logo ?? kind;
}
