// A connection as the rest of the server sees it.

export const connectionKinds = ['oidc', 'saml', 'oauth2', 'ldap'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

export interface Connection {
  /** The slug in its routes. */
  id: string;
  kind: ConnectionKind;
  preset: string;
  name: string;
  enabled: boolean;
  position: number;
  /** By kind; parsed by connections/schema.ts. */
  settings: Record<string, unknown>;
  source: 'local' | 'file';
}
