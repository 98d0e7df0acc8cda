// Which ways to sign in an application accepts (its fields `connections` and `local_sign_in`). Pure.

export interface SignInRule {
  /** Identifiers of connections. */
  connections: 'all' | readonly string[];
  /** With a password or a passkey of this server. */
  isLocalAllowed: boolean;
}

/** Whether the application accepts a sign-in at this connection; undefined: at this server. */
export function acceptsSignIn(rule: SignInRule | undefined, connectionId: string | undefined): boolean {
  if (!rule) return true;
  if (connectionId === undefined) return rule.isLocalAllowed;
  return rule.connections === 'all' || rule.connections.includes(connectionId);
}
