// What the consent page says (OIDC Core 3.1.2.4): the scopes and claims that an application requests, as sentences with
// the user's own values, and the grant that is stored when the user allows it.

import type { Interaction } from 'oidc-provider';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Granted } from '../applications/consents/consents.ts';
import { languageName, type PageText, t } from '../base/texts/text.ts';
import type { Account } from '../people/accounts/account.ts';
import { type Address, addressPartNames, textFieldNames, textFields } from '../people/accounts/profile-fields.ts';
import { hashOfClient } from '../protocols/oidc/client-documents.ts';
import type { ClientApplication } from '../protocols/oidc/store/clients.ts';

export interface ConsentScope {
  name: string;
  label: PageText;
  values: PageText[];
}

/** The details of the prompt (protocols/oidc/engine/interaction-policy.ts). */
interface PromptDetails {
  requested: Granted;
  /** Claims that are in each token of the application. */
  always: string[];
  /** The client of a metadata document, as it was then. */
  client?: string;
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
  groups: { label: t('consent.scope-groups'), values: ({ groups }) => groups.map(({ name }) => name) },
};

const claimLabels: ReadonlyMap<string, PageText> = new Map<string, PageText>([
  ...textFieldNames.map((field): [string, PageText] => [textFields[field].claim, textFields[field].label]),
  ['email', t('email.title')],
  ['phone_number', t('phone.number')],
]);

const detailsOf = ({ prompt }: Interaction) => prompt.details as unknown as PromptDetails;

/** All that the token will hold, whatever was allowed before; stored when the user allows it. */
export const requestedGrant = (interaction: Interaction): Granted => detailsOf(interaction).requested;

/** Whether the client is still what the page said about it. */
export function isSameClient(interaction: Interaction, application: ClientApplication): boolean {
  return application.source !== 'document' || detailsOf(interaction).client === hashOfClient(application);
}

/** What the consent page lists: the request, and what the application always receives. */
export function describeRequest(services: ApplicationServices, interaction: Interaction, account: Account) {
  const { requested, always } = detailsOf(interaction);
  return describeGrant(services, { ...requested, claims: [...requested.claims, ...always] }, account);
}

/** A grant as the sentences of the consent page and of the user's list of applications. */
export async function describeGrant({ resources }: ApplicationServices, granted: Granted, account: Account) {
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
    resources: await resources.inWords(granted.resources),
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
