// What the consent page says (OIDC Core 3.1.2.4): the scopes and claims that an application requests, as sentences with
// the user's own values, and the grant that is stored when the user allows it.

import type { Interaction } from 'oidc-provider';
import type { Account } from '../accounts/account.ts';
import { type Address, addressPartNames, textFieldNames, textFields } from '../accounts/profile-fields.ts';
import type { Granted } from '../consents/consents.ts';
import { languageName, type PageText, t } from '../texts/text.ts';

export interface ConsentScope {
  name: string;
  label: PageText;
  values: PageText[];
}

interface PromptDetails {
  missingOIDCClaims?: string[];
  missingOIDCScope?: string[];
  missingResourceScopes?: Record<string, string[]>;
}

const present = (...values: (string | null)[]) => values.filter((value): value is string => Boolean(value));

/** A scope that is not listed here is displayed by its name. */
const scopes: Record<string, { label: PageText; values(account: Account): PageText[] }> = {
  openid: { label: t('consent.scope-openid'), values: (account) => [account.username] },
  profile: {
    label: t('consent.scope-profile'),
    values: (account) =>
      textFieldNames.flatMap((field): PageText[] =>
        present(account[field]).map((value) => (field === 'locale' ? languageName(value) : value)),
      ),
  },
  email: { label: t('consent.scope-email'), values: (account) => present(account.email) },
  phone: { label: t('consent.scope-phone'), values: (account) => present(account.phoneNumber) },
  address: { label: t('consent.scope-address'), values: ({ address }) => (address ? [addressLine(address)] : []) },
  roles: { label: t('consent.scope-roles'), values: (account) => account.roles },
  permissions: { label: t('consent.scope-permissions'), values: (account) => account.permissions },
};

const claimLabels: ReadonlyMap<string, PageText> = new Map<string, PageText>([
  ...textFieldNames.map((field): [string, PageText] => [textFields[field].claim, textFields[field].label]),
  ['email', t('email.title')],
  ['phone_number', t('phone.number')],
]);

/** The scopes that a user consents to here; other scopes belong to resources. */
const consentScopes: ReadonlySet<string> = new Set([...Object.keys(scopes), 'offline_access']);

/** What this consent prompt requests; stored when the user allows it. */
export function requestedGrant(interaction: Pick<Interaction, 'params' | 'prompt'>): Granted {
  const details = interaction.prompt.details as PromptDetails;
  const requested = String(interaction.params.scope ?? '').split(' ');
  return {
    // A missing scope that is none of these is one of the application's own.
    scopes: [
      ...new Set([...requested.filter((scope) => consentScopes.has(scope)), ...(details.missingOIDCScope ?? [])]),
    ],
    claims: details.missingOIDCClaims ?? [],
    resources: details.missingResourceScopes ?? {},
  };
}

/** A grant as the sentences of the consent page and of the user's list of applications. */
export function describeGrant(granted: Granted, account: Account) {
  const unique = <T>(values: T[]) => [...new Set(values)];
  const named = granted.scopes.filter((name) => name !== 'offline_access');
  const lines: ConsentScope[] = named.map((name) => {
    const scope = scopes[name];
    return { name, label: scope?.label ?? name, values: unique(scope?.values(account) ?? []) };
  });
  if (granted.claims.length > 0)
    lines.push({ name: 'claims', label: t('consent.claims'), values: unique(granted.claims.map(claimText)) });
  return {
    scopes: lines,
    resources: Object.entries(granted.resources).map(([name, list]) => ({ name, scopes: list })),
    isOffline: granted.scopes.includes('offline_access'),
  };
}

/** The address in one line. */
function addressLine({ formatted, ...parts }: Address): string {
  const inOrder = addressPartNames.flatMap((part) => (part === 'formatted' ? [] : (parts[part] ?? [])));
  return (formatted ?? inOrder.join('\n')).replace(/\s*\n\s*/g, ', ');
}

/** A claim that was requested by its name, as the pages name its field; any other with spaces for underscores. */
function claimText(requested: string): PageText {
  // `birthdate#ja` requests a language of it (OpenID Connect Core 5.2).
  const [claim = requested] = requested.split('#', 1);
  return claimLabels.get(claim) ?? claim.replaceAll('_', ' ');
}
