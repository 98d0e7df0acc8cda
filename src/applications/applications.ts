// Registers and changes applications of both protocols, for the console, the API, the command line, the configuration file
// and dynamic registration.

import { conflict, invalidInput, notFound } from '../base/http/errors.ts';
import { randomId } from '../base/platform/random.ts';
import { type Tx, withinTransaction } from '../base/storage/database.ts';
import { check } from '../base/texts/faults.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { People } from '../people/people.ts';
import type { AccessSubject } from './access-decision.ts';
import type { Application, OidcApplication } from './application.ts';
import {
  metadataOf,
  needsSecretValue,
  type OidcClient,
  type OidcClientInput,
  type OidcMetadata,
  oidcClient,
  usesSecret,
} from './fields/oidc-client.ts';
import { oidcRules } from './oidc-rules.ts';
import {
  type ApplicationPage,
  allApplications,
  applicationsOpenTo,
  countByProtocol,
  findApplication,
  genuineApplications,
  getApplication,
  type ListApplications,
  listApplications,
  type OpenTo,
  readableApplications,
  type StoredApplication,
  storedApplication,
} from './read.ts';
import { createReservedCheck } from './rules/identifiers.ts';
import { unlistedAlgFaults } from './rules/signing-algorithms.ts';
import { type AddSecret, createSecrets, type Secrets, type UnexpiredSecret } from './secrets.ts';
import { withProfileFields } from './security-profile.ts';
import {
  type ApplicationColumns,
  type ApplicationHooks,
  type Change,
  type Changed,
  changeableApplication,
  declarationForAudit,
  genuineApplication,
  insertApplication,
  type Registered,
  recordChange,
  removableApplication,
  type SamlInput,
  updateApplication,
  type WriteContext,
} from './write.ts';

export type { Change, Registered, SamlInput } from './write.ts';

export type Applications = ReturnType<typeof createApplications>;

/** Every operation on applications. A change runs in the transaction of its `change`, or in a new one. */
export function createApplications(
  services: Core & People & ApplicationHooks,
  /** Identifiers of Gatehouse itself. Applications and APIs with a similar-looking identifier are rejected (identifiers.ts). */
  reservedIdentifiers: readonly string[],
) {
  const { db } = services;
  const secrets = createSecrets(services);
  const isReserved = createReservedCheck(reservedIdentifiers);
  const context = { ...services, isReserved, secrets };
  return {
    /** Whether an identifier of an application or an API is one of Gatehouse itself, or looks like one. */
    isReserved,
    /** Undefined for an application whose row has a wrong MAC. */
    find: (clientId: string, tx: Tx = db): Promise<Application | undefined> => findApplication(clientId, tx),
    get: (id: string, tx: Tx = db): Promise<Application> => getApplication(id, tx),
    /** The same for a change in this transaction. */
    forChange: (id: string, tx: Tx): Promise<StoredApplication> => storedApplication(id, tx),
    list: (query: ListApplications = {}): Promise<ApplicationPage> => listApplications(db, query),
    /** Those that the access rule opens to this account, by name. */
    openTo: (account: AccessSubject, query: OpenTo): Promise<Application[]> => applicationsOpenTo(db, account, query),
    /** The number of results of this query, by protocol. */
    countByProtocol: (query: ListApplications): Promise<{ oidc: number; saml: number }> => countByProtocol(db, query),
    /** Every application, also one with a wrong MAC: for plans, which may replace it. */
    all: (tx: Tx = db): Promise<Application[]> => allApplications(tx),
    /** Every application, and the errors of those whose rows are damaged. */
    readable: (): ReturnType<typeof readableApplications> => readableApplications(db),
    /** Every application with a valid MAC. */
    allGenuine: (): Promise<Application[]> => genuineApplications(db),
    /** Registers a client. Generates a secret if its method needs one and none is passed, but never for the configuration file. */
    createOidc: (input: Partial<OidcClientInput>, change: Change = {}): Promise<Registered> =>
      createOidc(context, input, change),
    /** Replaces the declaration of a client. */
    updateOidc: (of: Changed, input: Omit<OidcClientInput, 'client_id'>, change: Change = {}): Promise<Registered> =>
      updateOidc(context, of, input, change),
    createSaml: (input: SamlInput, change: Change = {}): Promise<Application> => createSaml(context, input, change),
    updateSaml: (of: Changed, input: Omit<SamlInput, 'entityId'>, change: Change = {}): Promise<Application> =>
      updateSaml(context, of, input, change),
    setEnabled: (id: string, enabled: boolean, change: Change = {}): Promise<void> =>
      setEnabled(context, id, enabled, change),
    /** Deletes the application with all its grants, tokens and session entries. */
    remove: (of: Changed, change: Change = {}): Promise<void> => removeApplication(context, of, change),
    addSecret: (
      id: string,
      options: Omit<AddSecret, 'sealed'> = {},
      change: Change = {},
    ): Promise<{ id: string; value: string }> => addSecret(context, id, options, change),
    removeSecret: (id: string, secretId: string, change: Change = {}): Promise<void> =>
      removeSecret(context, id, secretId, change),
    /** The unexpired secrets, newest first; the value only if it is stored encrypted. */
    unexpiredSecrets: (id: string, tx: Tx = db): Promise<UnexpiredSecret[]> => secrets.listUnexpired(id, tx),
    /** Whether `value` is one of them. */
    hasSecret: async (id: string, value: string, tx: Tx = db): Promise<boolean> =>
      (await secrets.listUnexpired(id, tx)).some((secret) => secrets.matches(secret, value)),
  };
}

type SecretContext = WriteContext & { secrets: Secrets };

/** Returns the new secret, whose value cannot be read later. Throws conflict (409) if the client uses no secret. */
function addSecret(
  context: SecretContext,
  id: string,
  options: Omit<AddSecret, 'sealed'>,
  { by, tx: outer }: Change,
): Promise<{ id: string; value: string }> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId, protocol, metadata } = await genuineApplication(id, tx);
    if (protocol !== 'oidc' || !usesSecret(metadata)) {
      throw conflict('conflict', { message: t('console.applications.problem.no-secret') });
    }
    const added = await context.secrets.add(id, { ...options, sealed: needsSecretValue(metadata) }, tx);
    const data = {
      secretId: added.id,
      othersStaySeconds: options.replace === 'now' ? 0 : (options.replace ?? null),
    };
    await recordChange(context, 'application.secret-created', clientId, tx, by, data);
    return added;
  });
}

/** Throws not_found (404). */
function removeSecret(context: SecretContext, id: string, secretId: string, { by, tx: outer }: Change): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId } = await getApplication(id, tx);
    const { count } = await tx.clientSecret.deleteMany({ where: { id: secretId, applicationId: id } });
    if (count === 0) throw notFound();
    await recordChange(context, 'application.secret-removed', clientId, tx, by, { secretId });
  });
}

/** Nothing happens when the application is in that state already. */
function setEnabled(
  context: WriteContext,
  id: string,
  enabled: boolean,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId, enabled: before } = await changeableApplication(id, source, tx);
    if (before === enabled) return;
    await tx.application.update({ where: { id }, data: { enabled, updatedAt: context.now() }, select: { id: true } });
    if (!enabled) await context.removeClientArtifacts(clientId, tx);
    const difference = { before: { enabled: !enabled }, after: { enabled } };
    await recordChange(context, enabled ? 'application.enabled' : 'application.disabled', clientId, tx, by, difference);
  });
}

/** Deletes the application with every grant, token and session entry of it. */
function removeApplication(
  context: WriteContext & { removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> },
  of: Changed,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const before = await removableApplication(of, source, tx);
    const { id, clientId, name } = before;
    await tx.application.delete({ where: { id }, select: { id: true } });
    // No old token may be valid when the same client_id is registered again, perhaps by another owner.
    await context.removeClientArtifacts(clientId, tx);
    await context.removeServiceProviderData(id, tx);
    await recordChange(context, 'application.deleted', clientId, tx, by, { name, before: declarationForAudit(before) });
  });
}

// Registers and changes OIDC clients (OpenID Connect Dynamic Client Registration 1.0, section 2), with their secrets.

type OidcContext = WriteContext & { secrets: Secrets };

/** Throws invalid_input (400) for a client that breaks the rules, and as insertApplication does. */
async function createOidc(
  context: OidcContext,
  { client_id = randomId(), ...input }: Partial<OidcClientInput>,
  change: Change,
): Promise<Registered> {
  const client = checkClient(context, { client_id, ...input }, change);
  let clientSecret: string | undefined;
  const row = { clientId: client.client_id, protocol: 'oidc' as const, ...columnsOfClient(client) };
  const application = await insertApplication(context, row, change, async (id, tx) => {
    const wanted = client.client_secret !== undefined || (usesSecret(client) && change.source !== 'file');
    if (!wanted) return;
    const options = { sealed: needsSecretValue(client), value: client.client_secret };
    const added = await context.secrets.add(id, options, tx);
    if (client.client_secret === undefined) clientSecret = added.value;
  });
  return registered(application, clientSecret);
}

/** Replaces the declaration of a client; its client_id stays. Throws conflict (409) for a service provider. */
function updateOidc(
  context: OidcContext,
  of: Changed,
  input: Omit<OidcClientInput, 'client_id'>,
  change: Change,
): Promise<Registered> {
  return withinTransaction(context.db, change.tx, async (tx) => {
    const before = await changeableApplication(of, change.source ?? 'local', tx);
    if (before.protocol !== 'oidc') throw conflict('conflict', { message: t('console.applications.problem.not-oidc') });
    const client = checkClient(context, { ...input, client_id: before.clientId }, change, before.metadata);
    const application = await updateApplication(context, before, columnsOfClient(client), change, tx);
    return registered(application, await updateSecrets(context, before, client, change, tx));
  });
}

/**
 * Brings the secrets of a changed client in line with its declaration; returns a secret that was generated. A client whose secrets have
 * expired gets none by another change, because nobody would know it.
 */
async function updateSecrets(
  { secrets }: OidcContext,
  { id, metadata: before }: OidcApplication,
  client: OidcClient,
  { source }: Change,
  tx: Tx,
): Promise<string | undefined> {
  const sealed = needsSecretValue(client);
  if (!usesSecret(client)) await tx.clientSecret.deleteMany({ where: { applicationId: id } });
  const unexpired = await secrets.listUnexpired(id, tx);
  // An HMAC needs the value of the secret, and a hash cannot be turned back into it.
  const unusable = sealed && unexpired.some((secret) => secret.value === undefined);
  if (!sealed) await secrets.hashAll(id, tx);
  const { client_secret: declared } = client;
  if (declared !== undefined) {
    const known = unexpired.some((secret) => secrets.matches(secret, declared));
    if (!known || unusable) await secrets.add(id, { sealed, value: declared, replace: 'now' }, tx);
    return undefined;
  }
  const lacking = usesSecret(client) && (unusable || (unexpired.length === 0 && !usesSecret(before)));
  if (!lacking || source === 'file') return undefined;
  return (await secrets.add(id, { sealed, replace: 'now' }, tx)).value;
}

/** The plan of the configuration file checks the algorithms of its clients with the settings that it declares. */
function checkClient({ settings }: OidcContext, input: unknown, { source }: Change, before?: OidcMetadata): OidcClient {
  const checked = check(oidcClient, withProfileFields(input), (client) => [
    ...oidcRules(client),
    ...(source === 'file' ? [] : unlistedAlgFaults(client, settings.latest().signing_algorithms, before)),
  ]);
  if (checked.ok) return checked.value;
  throw invalidInput(checked.faults);
}

function columnsOfClient(client: OidcClient): ApplicationColumns {
  const { enabled, consent, access } = client;
  return {
    name: client.client_name ?? client.client_id,
    enabled,
    consent,
    access,
    metadata: JSON.stringify(metadataOf(client)),
  };
}

function registered(application: Application, clientSecret: string | undefined): Registered {
  if (application.protocol !== 'oidc') throw new Error('an OpenID Connect application was expected');
  return { application, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

// Registers and changes SAML service providers.

/** Throws as insertApplication does. */
function createSaml(context: WriteContext, { entityId, ...input }: SamlInput, change: Change): Promise<Application> {
  return insertApplication(context, { clientId: entityId, protocol: 'saml', ...columnsOfProvider(input) }, change);
}

/** Replaces the declaration of a service provider; its entity ID stays. Throws conflict (409) for an OIDC client. */
function updateSaml(
  context: WriteContext,
  of: Changed,
  input: Omit<SamlInput, 'entityId'>,
  change: Change,
): Promise<Application> {
  return withinTransaction(context.db, change.tx, async (tx) => {
    const before = await changeableApplication(of, change.source ?? 'local', tx);
    if (before.protocol !== 'saml') throw conflict('conflict', { message: t('console.applications.problem.not-saml') });
    return updateApplication(context, before, columnsOfProvider(input), change, tx);
  });
}

function columnsOfProvider({
  name,
  enabled,
  consent,
  access,
  settings,
}: Omit<SamlInput, 'entityId'>): ApplicationColumns {
  return { name, enabled, consent, access, metadata: JSON.stringify(settings) };
}
