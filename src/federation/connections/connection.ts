// A connection as the rest of the server sees it.
import { mappedFields, textFields } from '../../people/accounts/profile-fields.ts';
import type { LdapSettings } from './kinds/ldap.ts';
import { ldapAttributes } from './kinds/ldap.ts';
import type { OAuth2Settings } from './kinds/oauth2.ts';
import type { OidcSettings } from './kinds/oidc.ts';
import type { SamlSettings } from './kinds/saml.ts';

export const connectionKinds = ['oidc', 'saml', 'oauth2', 'ldap'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

export interface SettingsOfKind {
  oidc: OidcSettings;
  saml: SamlSettings;
  oauth2: OAuth2Settings;
  ldap: LdapSettings;
}

export interface ConnectionOf<Kind extends ConnectionKind> {
  /** The slug in its routes. */
  id: string;
  kind: Kind;
  preset: string;
  name: string;
  enabled: boolean;
  position: number;
  /** Parsed by federation/connections/schema.ts; no secret. */
  settings: SettingsOfKind[Kind];
  source: 'local' | 'file';
}

export type OidcConnection = ConnectionOf<'oidc'>;
export type SamlConnection = ConnectionOf<'saml'>;
export type OAuth2Connection = ConnectionOf<'oauth2'>;
export type LdapConnection = ConnectionOf<'ldap'>;
export type Connection = OidcConnection | SamlConnection | OAuth2Connection | LdapConnection;

/** The columns of a row that its MAC covers. */
export interface ConnectionColumns {
  id: string;
  kind: string;
  preset: string;
  name: string;
  enabled: boolean;
  position: number;
  settings: string;
  source: string;
}

/** The connection of a row whose MAC was verified. */
export function connectionOf(row: ConnectionColumns): Connection {
  const { id, kind, preset, name, enabled, position, settings, source } = row;
  return { id, kind, preset, name, enabled, position, settings: JSON.parse(settings), source } as Connection;
}

const standardClaims: Record<string, string> = {
  username: 'preferred_username',
  email: 'email',
  ...Object.fromEntries(mappedFields.map((field) => [textFields[field].claim, textFields[field].claim])),
};

/** Account field -> name or path at the upstream: the standard ones of the kind, replaced by what the connection declares. */
export function attributesOf({ kind, settings }: Connection): Record<string, string> {
  const standard = kind === 'ldap' ? ldapAttributes : kind === 'oauth2' ? {} : standardClaims;
  return { ...standard, ...settings.attributes };
}
