// The consent page in words (OIDC Core 3.1.2.4): what the application will see or do, with the person's own values, and
// what is remembered when they allow it.
import type { Interaction } from 'oidc-provider';
import type { Account } from '../accounts/account.ts';
import type { Granted } from '../consents/consents.ts';

export interface ConsentScope {
  name: string;
  label: string;
  values: string[];
}

interface Missing {
  missingOIDCClaims?: string[];
  missingResourceScopes?: Record<string, string[]>;
}

const text = (...values: (string | null)[]) => values.filter((value): value is string => Boolean(value));

/** Scopes in words. A scope that is not here is shown by its name. */
const scopes: Record<string, { label: string; values(account: Account): string[] }> = {
  openid: { label: 'Know that it is you', values: (account) => [account.username] },
  profile: {
    label: 'See your name and profile',
    values: (account) => text(account.name, account.givenName, account.familyName, account.locale, account.zoneinfo),
  },
  email: { label: 'See your e-mail address', values: (account) => text(account.email) },
  phone: { label: 'See your phone number', values: (account) => text(account.phoneNumber) },
  roles: { label: 'See your roles', values: (account) => account.roles },
  permissions: { label: 'See what you are permitted to do', values: (account) => account.permissions },
};

/** What this consent question is about, to be remembered if the answer is yes. */
export function askedFor(
  interaction: Pick<Interaction, 'params' | 'prompt'>,
  knownScopes: ReadonlySet<string>,
): Granted {
  const details = interaction.prompt.details as Missing;
  const requested = String(interaction.params.scope ?? '').split(' ');
  return {
    scopes: requested.filter((scope) => knownScopes.has(scope)),
    claims: details.missingOIDCClaims ?? [],
    resources: details.missingResourceScopes ?? {},
  };
}

/** The question in words. */
export function describe(asked: Granted, account: Account) {
  const unique = (values: string[]) => [...new Set(values)];
  const named = asked.scopes.filter((name) => name !== 'offline_access');
  const lines: ConsentScope[] = named.map((name) => {
    const scope = scopes[name];
    return { name, label: scope?.label ?? name, values: unique(scope?.values(account) ?? []) };
  });
  if (asked.claims.length > 0)
    lines.push({ name: 'claims', label: 'See single facts about you', values: asked.claims.map(inWords) });
  return {
    scopes: lines,
    resources: Object.entries(asked.resources).map(([name, list]) => ({ name, scopes: list })),
    isOffline: asked.scopes.includes('offline_access'),
  };
}

/** The scopes that consent is about; others belong to resources. */
export const consentScopes: ReadonlySet<string> = new Set([...Object.keys(scopes), 'offline_access']);

/** `phone_number` as people write it. */
function inWords(claim: string): string {
  return claim.replaceAll('_', ' ');
}
