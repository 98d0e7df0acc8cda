// What an application demands of a sign-in: how strong it is (its field `mfa`), and which ways to sign in it accepts (`connections`
// and `local_sign_in`); from where it may be used (`allowed_networks`), and how long a sign-in lasts for it (`session_hours`). Pure.

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

/** What the fields of an application say. */
export interface SignInRules {
  mfa: 'mfa' | 'phishing-resistant' | undefined;
  /** Undefined: all ways are accepted. */
  signInRule: SignInRule | undefined;
  /** How long a sign-in lasts for it, at most as long as the session. */
  sessionHours: number | undefined;
}

/** The fields of an application that say it. Those that decide who may use it are read by access-decision.ts. */
export interface RuleFields {
  mfa?: 'required' | 'phishing-resistant' | undefined;
  connections?: SignInRule['connections'] | undefined;
  local_sign_in?: boolean | undefined;
  allowed_networks?: readonly string[] | undefined;
  session_hours?: number | undefined;
}

const isRuleField: Record<keyof RuleFields, true> = {
  mfa: true,
  connections: true,
  local_sign_in: true,
  allowed_networks: true,
  session_hours: true,
};
export const ruleFields = Object.keys(isRuleField) as (keyof RuleFields)[];

/** The rules of an application, from its metadata. */
export function signInRulesOf(metadata: RuleFields): SignInRules {
  const { mfa, connections = 'all', local_sign_in: isLocalAllowed = true } = metadata;
  const acceptsAll = connections === 'all' && isLocalAllowed;
  return {
    mfa: mfa === 'required' ? 'mfa' : mfa,
    signInRule: acceptsAll ? undefined : { connections, isLocalAllowed },
    sessionHours: metadata.session_hours,
  };
}
