// Registers and changes applications of every protocol, for the console, the API, the command line, the configuration file
// and dynamic registration.
import { conflict, invalidInput, notFound, ownedByFile } from '../base/http/errors.ts';
import { randomId, sha256 } from '../base/platform/random.ts';
import { inChunks } from '../base/storage/chunks.ts';
import { isUniqueConstraintError, type Tx, withinTransaction } from '../base/storage/database.ts';
import { lockGroups, lockRow } from '../base/storage/row-lock.ts';
import { check, type Fault, fault } from '../base/texts/faults.ts';
import { t } from '../base/texts/text.ts';
import type { Actor, Audit } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { isSameAddress, nameKey } from '../people/accounts/names.ts';
import type { People } from '../people/people.ts';
import type { NameChanged } from '../people/rbac/assign-roles.ts';
import {
  type Application,
  type ApplicationSource,
  fromRow,
  idsMarked,
  idsOfAccess,
  type OidcApplication,
  type Protocol,
  readMetadata,
  withAccess,
} from './application.ts';
import { withdrawAll } from './consents/consents.ts';
import {
  type Access,
  documentFields,
  metadataOf,
  needsSecretValue,
  type OidcClient,
  type OidcClientInput,
  type OidcMetadata,
  oidcClient,
  usesSecret,
} from './fields/oidc-client.ts';
import { type Provision, withoutToken } from './fields/provisioning.ts';
import {
  isOnHostOf,
  type ProxiedEntry,
  proxiedApplication,
  proxiedRules,
  proxiedSettingsOf,
} from './fields/proxied-application.ts';
import type { ServiceProviderSettings } from './fields/service-provider.ts';
import { oidcRules } from './oidc-rules.ts';
import { createProvisioningTokens } from './provisioning-tokens.ts';
import { createApplicationReads, listKey, type StoredApplication } from './read.ts';
import { type Declaration, heldBy, neededFor, websitesOfClient } from './rules/field-rights.ts';
import { isNamedByPaths, withChangedName } from './rules/names.ts';
import { unlistedAlgFaults } from './rules/signing-algorithms.ts';
import { type AddSecret, createSecrets, type UnexpiredSecret } from './secrets.ts';
import { withProfileFields } from './security-profile.ts';

export type Applications = ReturnType<typeof createApplications>;

/** What protocols remove with an application. */
export interface ApplicationHooks {
  /** Removes the grants, codes and tokens of an application that is disabled or deleted. */
  removeClientArtifacts(clientId: string, tx: Tx, options?: { keepsRegistration?: boolean }): Promise<void>;
  /** Removes the rows of the SAML protocol for an application. */
  removeServiceProviderData(applicationId: string, tx: Tx): Promise<void>;
}

/** The columns that both protocols fill. */
type ApplicationColumns = {
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  metadata: string;
  provision: Provision | undefined;
};
type NewApplication = ApplicationColumns & { clientId: string; protocol: Protocol };

/** The application of a change: its id, or itself as it was read in the transaction of the change. */
type ApplicationRef = string | StoredApplication;

// The input and the result of registering or changing an application.

export type SamlInput = {
  entityId: string;
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  settings: ServiceProviderSettings;
};
/** What replaces the declaration of an application. */
interface Declarations {
  oidc: Omit<OidcClientInput, 'client_id'>;
  saml: Omit<SamlInput, 'entityId'>;
  /** An entry of `proxied_applications`, which is checked; its address must be the one that it has. */
  proxy: unknown;
}
export type Registered = {
  application: OidcApplication;
  /** Displayed once; absent when the application has none or its owner knows it. */
  clientSecret?: string;
};
export type Change = {
  by?: Actor;
  tx?: Tx;
  /** Where the change comes from. Only the configuration file may change what it declares. */
  source?: ApplicationSource;
};

/** Every operation on applications. A change runs in the transaction of its `change`, or in a new one. */
export function createApplications(
  services: Core & People & ApplicationHooks,
  /** Identifiers of Gatehouse itself. An application or API with an identifier that looks like one is rejected. */
  reservedIdentifiers: readonly string[],
) {
  const { db, now, audit, authority, settings, removeClientArtifacts } = services;
  const reads = createApplicationReads(db);
  const secrets = createSecrets(services);
  const provisioningTokens = createProvisioningTokens(services);
  const isReserved = createReservedCheck(reservedIdentifiers);

  /** Why no application of the protocol may have this identifier. */
  function identifierFault(protocol: Protocol, identifier: string): Fault | undefined {
    const path = [identifierFields[protocol]];
    if (protocol === 'proxy' && isOnHostOf(services.config.issuer, identifier))
      return fault(path, 'host-of-issuer', { host: new URL(identifier).hostname });
    return isReserved(identifier) ? fault(path, 'reserved') : undefined;
  }

  function assertIdentifier(protocol: Protocol, identifier: string): void {
    const wrong = identifierFault(protocol, identifier);
    if (wrong) throw invalidInput([wrong]);
  }

  /** Throws invalid_input (400) for a client that breaks the rules, and as `insert` does. */
  async function createOidc(
    { client_id = randomId(), ...input }: Partial<OidcClientInput>,
    change: Change = {},
  ): Promise<Registered> {
    const client = checkClient({ client_id, ...input }, change);
    let clientSecret: string | undefined;
    const row = { clientId: client.client_id, protocol: 'oidc' as const, ...columnsOfClient(client) };
    const application = await insert(row, change, async (id, tx) => {
      const getsSecret = client.client_secret !== undefined || (usesSecret(client) && change.source !== 'file');
      if (!getsSecret) return;
      const options = { sealed: needsSecretValue(client), value: client.client_secret };
      const added = await secrets.add(id, options, tx);
      if (client.client_secret === undefined) clientSecret = added.value;
    });
    return registered(application, clientSecret);
  }

  /**
   * Brings the secrets of a changed client in line with its declaration; returns a secret that was generated. A client whose secrets have
   * expired gets none by another change, because nobody would know it.
   */
  async function updateSecrets(
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
    const needsNewSecret = usesSecret(client) && (unusable || (unexpired.length === 0 && !usesSecret(before)));
    if (!needsNewSecret || source === 'file') return undefined;
    return (await secrets.add(id, { sealed, replace: 'now' }, tx)).value;
  }

  /** The plan of the configuration file checks the algorithms of its clients with the settings that it declares. */
  function checkClient(input: unknown, { source }: Change, before?: OidcMetadata): OidcClient {
    const checked = check(oidcClient, withProfileFields(input), (client) => [
      ...oidcRules(client),
      ...(source === 'file' ? [] : unlistedAlgFaults(client, settings.latest().signing_algorithms, before)),
    ]);
    if (checked.ok) return checked.value;
    throw invalidInput(checked.faults);
  }

  /**
   * Inserts an application; `onInserted` runs in the same transaction, before the audit event. Throws application_taken (409)
   * when the client_id or entity ID is registered, invalid_input (400) when the access rule names an unknown role or the identifier
   * is reserved, forbidden (403) when the actor lacks what a field gives (field-rights.ts).
   */
  function insert(
    row: NewApplication,
    { by, tx: outer, source = 'local' }: Change,
    onInserted: (id: string, tx: Tx) => Promise<void> = async () => {},
  ): Promise<Application> {
    const { access, provision, ...declaredColumns } = row;
    return withinTransaction(db, outer, async (tx) => {
      await assertMayDeclare(undefined, row, by, tx);
      await assertPathsNamed(row, tx);
      assertIdentifier(row.protocol, row.clientId);
      if (source === 'dynamic') await assertOwnName(row.name, tx);
      const at = now();
      const columns = { ...declaredColumns, id: randomId(), source, access: kindOf(access) };
      const { id } = columns;
      const data = { ...columns, nameKey: listKey(row.name), createdAt: at, updatedAt: at };
      await tx.application.create({ data, select: { id: true } }).catch(throwTaken);
      await setAccess(id, access, tx);
      await provisioningTokens.declare(id, { before: undefined, after: provision }, tx);
      await onInserted(id, tx);
      const made = await reads.get(id, tx);
      await planPictureOf(made, tx);
      const { name, protocol } = row;
      const recorded = { name, protocol, source, after: declarationForAudit(made) };
      await recordChange('application.created', row.clientId, tx, by, recorded);
      return made;
    });
  }

  /**
   * Replaces the declaration of an application; its identifier stays. One that is disabled, or gets a security profile, loses its tokens and
   * grants. Throws conflict (409) for an application of the other protocol.
   */
  function update<Protocol extends keyof Declarations>(
    protocol: Protocol,
    of: ApplicationRef,
    input: Declarations[Protocol],
    change: Change = {},
  ): Promise<{ application: Application; clientSecret?: string }> {
    return withinTransaction(db, change.tx, async (tx) => {
      const { by, source = 'local' } = change;
      const before = await getForChange(of, source, tx);
      if (before.protocol !== protocol)
        throw conflict('conflict', { message: t(`console.applications.error.not-${protocol as keyof Declarations}`) });
      // The issuer may have changed since the website was registered.
      if (protocol === 'proxy') assertIdentifier(protocol, before.clientId);
      const { row, client } = checkDeclaration(before, input, change);
      await assertMayDeclare(before, { ...row, protocol }, by, tx);
      await assertPathsNamed({ ...row, protocol }, tx);
      if (source === 'dynamic' && row.name !== before.name) await assertOwnName(row.name, tx);
      const application = await replaceRow(before, row, change.source ?? before.source, tx);
      const tokens = { before: before.metadata.provision, after: row.provision };
      const hasNewToken = await provisioningTokens.declare(before.id, tokens, tx);
      await endWhatChanged(before, application, source, tx);
      await planPictureOf(application, tx);
      const difference = declarationDifference(before, application);
      const changed = Object.keys(difference.after);
      if (before.source === 'document' && source === 'local') assertNotOfDocument(before, changed);
      const recorded = { name: row.name, ...difference, ...(hasNewToken && { newProvisioningToken: true }) };
      if (hasNewToken || changed.some((field) => field !== 'source'))
        await recordChange('application.updated', before.clientId, tx, by, recorded);
      const clientSecret = client && (await updateSecrets(before as OidcApplication, client, change, tx));
      return { application, ...(clientSecret !== undefined && { clientSecret }) };
    });
  }

  /** The columns of a new declaration; throws invalid_input (400). `client`: of OpenID Connect. */
  function checkDeclaration(
    before: Application,
    input: unknown,
    change: Change,
  ): { row: ApplicationColumns; client?: OidcClient } {
    const { protocol, clientId } = before;
    if (protocol === 'saml') return { row: columnsOfProvider(input as Declarations['saml']) };
    if (protocol === 'proxy') return { row: columnsOfWebsite(checkWebsite(input, clientId)) };
    const client = checkClient({ ...(input as Declarations['oidc']), client_id: clientId }, change, before.metadata);
    return { row: columnsOfClient(client), client };
  }

  /** Writes all that the MAC covers, because the configuration file may replace a row that another program wrote. */
  async function replaceRow(
    { id, clientId, protocol, createdAt }: Application,
    { access, provision: _, ...columns }: ApplicationColumns,
    source: ApplicationSource,
    tx: Tx,
  ): Promise<Application> {
    const updatedAt = now();
    const row = { ...columns, id, clientId, protocol, access: kindOf(access), source, updatedAt };
    const data = { ...row, nameKey: listKey(row.name) };
    await tx.application.update({ where: { id }, data, select: { id: true } });
    await setAccess(id, access, tx);
    const { roles, groups = [] } = access === 'everyone' ? { roles: [] } : access;
    return fromRow({
      ...row,
      createdAt,
      roles: [...new Set(roles)].map((name) => ({ role: { name } })),
      groups: [...new Set(groups)].map((name) => ({ group: { name } })),
    });
  }

  /** What a changed application loses; `source`: who changed it. */
  async function endWhatChanged(before: Application, after: Application, source: ApplicationSource, tx: Tx) {
    const { id, clientId } = after;
    if (before.enabled && !after.enabled) await removeClientArtifacts(clientId, tx);
    // Tokens of the time before are not bound to a key, and codes may lack PKCE.
    if (profileOf(after) !== undefined && profileOf(before) === undefined)
      await removeClientArtifacts(clientId, tx, { keepsRegistration: true });
    // A client that changed itself, by its metadata document or its registration (RFC 7592): people consented to what it said about itself
    // and where it takes them, and its tokens were given to others than it names now.
    if (source !== 'document' && source !== 'dynamic') return;
    const isElsewhere = !hasSameReceivers(before, after);
    if (isElsewhere) await removeClientArtifacts(clientId, tx, { keepsRegistration: true });
    if (isElsewhere || after.source === 'document' || after.name !== before.name) await withdrawAll(id, tx);
  }

  /** The picture of the logo_uri is read by a job, so that saving waits for no other server. */
  async function planPictureOf({ id, metadata }: Application, tx: Tx): Promise<void> {
    if (await planPicture(tx, id, metadata.logo_uri, now())) services.wake('application-pictures', tx);
  }

  /** Every registration that names the role or group gets its new name, or loses it; what another program wrote is left alone. */
  const nameChanged: NameChanged = async (change, by, tx) => {
    const where = { metadata: { contains: change.before } };
    const named = await tx.application.findMany({ where, include: withAccess, orderBy: { id: 'asc' } });
    for (const before of named.map(fromRow)) {
      const metadata = withChangedName(before.metadata, change);
      if (JSON.stringify(metadata) === JSON.stringify(before.metadata)) continue;
      const { id, clientId, name } = before;
      const updatedAt = now();
      const data = { metadata: JSON.stringify(metadata), updatedAt };
      await tx.application.update({ where: { id }, data, select: { id: true } });
      const after = { ...before, metadata, updatedAt } as Application;
      await recordChange('application.updated', clientId, tx, by, { name, ...declarationDifference(before, after) });
    }
  };

  /** Throws invalid_input for a rule for paths that names a role or group that there is not; they keep their names until the change ends. */
  async function assertPathsNamed({ protocol, metadata }: Pick<NewApplication, 'protocol' | 'metadata'>, tx: Tx) {
    if (protocol !== 'proxy') return;
    for (const [at, { rule }] of readMetadata('proxy', metadata).paths.entries()) {
      if (typeof rule === 'string') continue;
      if (rule.groups.length > 0) await lockGroups(tx, services.sql, 'shared');
      const { roles } = await idsOfAccess(rule, tx, ['paths', at, 'rule']);
      for (const id of roles) await lockRow(tx, services.sql, 'roles', id);
    }
  }

  /** Asks the authority about every field that the row changes. */
  async function assertMayDeclare(
    before: Application | undefined,
    row: { access: Access; protocol: Protocol; metadata: string },
    by: Actor = {},
    tx: Tx,
  ): Promise<void> {
    const after = { access: row.access, metadata: readMetadata(row.protocol, row.metadata) };
    if (before) await assertMayUse(before, by, tx);
    await assertMayUse(after, by, tx);
    for (const change of neededFor(before, after, settings.latest().user_attributes)) {
      // A name that no role has belongs to the application.
      const roles = change.what === 'rename' ? await existingRoles(change.roles, tx) : [];
      await authority.assertMay(by, change.what === 'rename' ? { ...change, roles } : change, tx);
    }
  }

  /** Throws forbidden (403) unless the actor has all that the application has in this server (rules/field-rights.ts). */
  async function assertMayUse(application: Declaration, by: Actor, tx: Tx = db): Promise<void> {
    const origins = websitesOfClient(application);
    const where = { protocol: 'proxy', clientId: { in: origins } };
    const websites = origins.length === 0 ? [] : await tx.application.findMany({ where, include: withAccess });
    for (const change of heldBy(application, websites.map(fromRow))) await authority.assertMay(by, change, tx);
  }

  /** Throws forbidden unless the actor may change the application, and owned_by_file (403). */
  async function assertMayChangeContact(application: Application, by: Actor, tx: Tx = db): Promise<void> {
    await authority.assertMay(by, { what: 'application', identifier: application.clientId }, tx);
    await assertMayUse(application, by, tx);
    if (application.source === 'file') throw ownedByFile('application', application);
  }

  /** Throws owned_by_file (403) when a change from `source` may not delete the application, and not_found (404). */
  async function getForRemoval(of: ApplicationRef, source: ApplicationSource, tx: Tx): Promise<StoredApplication> {
    const stored = typeof of === 'string' ? await reads.forChange(of, tx) : of;
    if (stored.application.source === 'file' && source !== 'file') throw ownedByFile('application', stored.application);
    return stored;
  }

  /**
   * The application, when a change from `source` may touch it; throws as `getForRemoval` does, and changed_outside (409) when
   * another program wrote its row. The file declares all of an application, so it may replace such a row.
   */
  async function getForChange(of: ApplicationRef, source: ApplicationSource, tx: Tx): Promise<Application> {
    const { application, isGenuine } = await getForRemoval(of, source, tx);
    if (source !== 'file' && !isGenuine()) throw conflict('changed_outside');
    return application;
  }

  /** Records a successful change of an application in its transaction. */
  function recordChange(
    type: Parameters<Audit['record']>[0]['type'],
    clientId: string,
    tx: Tx,
    by: Actor = {},
    data = {},
  ) {
    return audit.record({ ...by, type, outcome: 'success', clientId, data }, tx);
  }

  return {
    ...reads,
    provisioningTokens,
    nameChanged,
    /** Names of the websites with a rule for a path that names the role or group. */
    async withPathsFor(kind: 'role' | 'group', name: string): Promise<string[]> {
      const where = { protocol: 'proxy', metadata: { contains: name } };
      const found = await db.application.findMany({ where, include: withAccess, orderBy: { nameKey: 'asc' } });
      return found.map(fromRow).flatMap((one) => (isNamedByPaths(one.metadata, kind, name) ? one.name : []));
    },
    /** The applications with this address among their contacts, in whatever case. */
    async withContact(email: string): Promise<Application[]> {
      const isOf = (metadata: Application['metadata']) => contactsIn(metadata).some((one) => isSameAddress(one, email));
      const found = await inChunks(await idsMarked('contacts', db), async (some) => {
        const rows = await db.application.findMany({ where: { id: { in: some } }, include: withAccess });
        return rows.filter(({ metadata }) => isOf(JSON.parse(metadata)));
      });
      return found.map(fromRow);
    },
    assertMayChangeContact,
    /** Throws forbidden, owned_by_file (403), changed_outside (409), and not_found, also where `before` is none of the contacts. */
    async replaceContact(
      id: string,
      { before, after }: { before: string; after: string },
      { by = {}, tx }: { by?: Actor; tx: Tx },
    ) {
      await lockRow(tx, services.sql, 'applications', id);
      const stored = await getForChange(id, 'local', tx);
      await assertMayChangeContact(stored, by, tx);
      const contacts = contactsIn(stored.metadata);
      if (!contacts.some((one) => isSameAddress(one, before))) throw notFound();
      const replaced = contacts.map((one) => (isSameAddress(one, before) ? after : one));
      const changed = { ...stored.metadata, contacts: [...new Set(replaced)] };
      const [metadata, updatedAt] = [JSON.stringify(changed), now()];
      await tx.application.update({ where: { id }, data: { metadata, updatedAt }, select: { id: true } });
      const difference = declarationDifference(stored, { ...stored, metadata: changed } as Application);
      await recordChange('application.updated', stored.clientId, tx, by, { name: stored.name, ...difference });
    },
    /** For a change of what belongs to the application, in its transaction: its picture. */
    getForChange,
    assertMayUse,
    recordChange,
    /** Whether an identifier of an application or an API is one of Gatehouse itself, or looks like one. */
    isReserved,
    identifierFault,
    createOidc,
    update,

    /** Registers a SAML service provider; throws as `insert` does. */
    createSaml: ({ entityId, ...input }: SamlInput, change: Change = {}): Promise<Application> =>
      insert({ clientId: entityId, protocol: 'saml', ...columnsOfProvider(input) }, change),

    /** Registers a website behind a proxy. Throws invalid_input (400) for a declaration that breaks the rules, and as `insert` does. */
    createProxied: (input: unknown, change: Change = {}): Promise<Application> => {
      const website = checkWebsite(input);
      return insert({ clientId: website.url, protocol: 'proxy', ...columnsOfWebsite(website) }, change);
    },

    /** Nothing happens when the application is in that state already. */
    setEnabled: (id: string, enabled: boolean, { by, tx: outer, source = 'local' }: Change = {}): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        const { clientId, enabled: before } = await getForChange(id, source, tx);
        if (before === enabled) return;
        await tx.application.update({ where: { id }, data: { enabled, updatedAt: now() }, select: { id: true } });
        if (!enabled) await removeClientArtifacts(clientId, tx);
        const difference = { before: { enabled: !enabled }, after: { enabled } };
        await recordChange(enabled ? 'application.enabled' : 'application.disabled', clientId, tx, by, difference);
      }),

    /** Hands an application of the configuration file back; false where it owns no such one. */
    async release(protocol: Protocol, of: { clientId: string } | { name: string }, tx: Tx): Promise<boolean> {
      const where = { ...of, protocol, source: 'file' };
      return (await tx.application.updateMany({ where, data: { source: 'local', updatedAt: now() } })).count > 0;
    },

    /** Deletes the application with every grant, token and session entry of it. */
    remove: (of: ApplicationRef, { by, tx: outer, source = 'local' }: Change = {}): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        const { application: before } = await getForRemoval(of, source, tx);
        const { id, clientId, name } = before;
        await tx.application.delete({ where: { id }, select: { id: true } });
        // No old token may be valid when the same client_id is registered again, perhaps by another owner.
        await removeClientArtifacts(clientId, tx);
        await services.removeServiceProviderData(id, tx);
        await recordChange('application.deleted', clientId, tx, by, { name, before: declarationForAudit(before) });
      }),

    /** Returns the new secret, whose value cannot be read later. Throws conflict (409) if the client uses no secret. */
    addSecret: (
      id: string,
      options: Omit<AddSecret, 'sealed'> = {},
      { by, tx: outer }: Change = {},
    ): Promise<{ id: string; value: string }> =>
      withinTransaction(db, outer, async (tx) => {
        const { application, isGenuine } = await reads.forChange(id, tx);
        if (!isGenuine()) throw conflict('changed_outside');
        const { clientId, protocol, metadata } = application;
        if (protocol !== 'oidc' || !usesSecret(metadata)) {
          throw conflict('conflict', { message: t('console.applications.error.no-secret') });
        }
        const added = await secrets.add(id, { ...options, sealed: needsSecretValue(metadata) }, tx);
        const data = {
          secretId: added.id,
          othersStaySeconds: options.replace === 'now' ? 0 : (options.replace ?? null),
        };
        await recordChange('application.secret-created', clientId, tx, by, data);
        return added;
      }),

    /** Throws not_found (404). */
    removeSecret: (id: string, secretId: string, { by, tx: outer }: Change = {}): Promise<void> =>
      withinTransaction(db, outer, async (tx) => {
        const { clientId } = await reads.get(id, tx);
        const { count } = await tx.clientSecret.deleteMany({ where: { id: secretId, applicationId: id } });
        if (count === 0) throw notFound();
        await recordChange('application.secret-removed', clientId, tx, by, { secretId });
      }),

    /** The unexpired secrets, newest first; the value only if it is stored encrypted. */
    unexpiredSecrets: (id: string, tx: Tx = db): Promise<UnexpiredSecret[]> => secrets.listUnexpired(id, tx),
    /** Whether `value` is one of them. */
    hasSecret: async (id: string, value: string, tx: Tx = db): Promise<boolean> =>
      (await secrets.listUnexpired(id, tx)).some((secret) => secrets.matches(secret, value)),
  };
}

function columnsOfClient(client: OidcClient): ApplicationColumns {
  const { enabled, consent, access } = client;
  return {
    name: client.client_name ?? client.client_id,
    enabled,
    consent,
    access,
    metadata: JSON.stringify(metadataOf(client)),
    provision: client.provision,
  };
}

function columnsOfProvider({
  name,
  enabled,
  consent,
  access,
  settings,
}: Omit<SamlInput, 'entityId'>): ApplicationColumns {
  const { provision } = settings;
  return { name, enabled, consent, access, metadata: JSON.stringify(withoutToken(settings)), provision };
}

/** The field of the identifier. */
const identifierFields = { oidc: 'client_id', saml: 'entity_id', proxy: 'url' } as const satisfies Record<
  Protocol,
  string
>;

/** @param clientId its identifier, which never changes */
function checkWebsite(input: unknown, clientId?: string): ProxiedEntry {
  const checked = check(proxiedApplication, input, (website) => [
    ...proxiedRules(website),
    ...(clientId === undefined || website.url === clientId ? [] : [fault(['url'], 'never-changes')]),
  ]);
  if (checked.ok) return checked.value;
  throw invalidInput(checked.faults);
}

function columnsOfWebsite(website: ProxiedEntry): ApplicationColumns {
  const { name, enabled, access } = website;
  // Nothing but what the access rule gives goes to it, and the proxy cannot display a question.
  const metadata = JSON.stringify(proxiedSettingsOf(website));
  return { name, enabled, access, consent: 'implicit', metadata, provision: website.provision };
}

function registered(application: Application, clientSecret: string | undefined): Registered {
  if (application.protocol !== 'oidc') throw new Error('an OpenID Connect application was expected');
  return { application, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

const contactsIn = (metadata: Application['metadata']): readonly string[] =>
  ('contacts' in metadata && metadata.contacts) || [];

const profileOf = (application: Application) =>
  application.protocol === 'oidc' ? application.metadata.profile : undefined;

/** Whether two registrations send codes to the same places and know the client by the same keys. */
function hasSameReceivers(before: Application, after: Application): boolean {
  const receivers = ({ metadata }: Application) => {
    const { redirect_uris, jwks, jwks_uri, token_endpoint_auth_method: method } = metadata as OidcMetadata;
    return JSON.stringify([redirect_uris, jwks, jwks_uri, method]);
  };
  return receivers(before) === receivers(after);
}

async function existingRoles(names: readonly string[], tx: Tx): Promise<string[]> {
  const rows = await tx.role.findMany({ where: { name: { in: [...names] } }, select: { name: true } });
  return rows.map(({ name }) => name);
}

/** Users know an application by its name, so no client registers itself under one that looks like another's or the server's. */
async function assertOwnName(name: string, tx: Tx): Promise<void> {
  const where = { source: { not: 'dynamic' } };
  const rows = await tx.asStored.application.findMany({ where, select: { name: true }, distinct: ['name'] });
  const keyOf = (text: string) => nameKey(text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')).replace(/\s+/gu, ' ');
  const keys = new Set(['Gatehouse', ...rows.map((row) => row.name)].map(keyOf));
  if (!keys.has(keyOf(name))) return;
  throw invalidInput([fault(['client_name'], 'name-taken')]);
}

function kindOf(access: Access): 'everyone' | 'roles' {
  return access === 'everyone' ? 'everyone' : 'roles';
}

async function setAccess(applicationId: string, access: Access, tx: Tx): Promise<void> {
  const { roles, groups } = await idsOfAccess(access, tx);
  await tx.applicationRole.deleteMany({ where: { applicationId } });
  if (roles.length > 0)
    await tx.applicationRole.createMany({ data: roles.map((roleId) => ({ applicationId, roleId })) });
  await tx.applicationGroup.deleteMany({ where: { applicationId } });
  if (groups.length > 0)
    await tx.applicationGroup.createMany({ data: groups.map((groupId) => ({ applicationId, groupId })) });
}

function throwTaken(error: unknown): never {
  if (isUniqueConstraintError(error)) throw conflict('application_taken', { cause: error });
  throw error;
}

// An application as the audit log stores it: its declaration without secrets, and SAML metadata as a hash.

type Declared = Record<string, unknown>;

/** The whole declaration. */
function declarationForAudit({ name, consent, access, enabled, source, metadata }: Application): Declared {
  const xml = 'metadata_xml' in metadata ? metadata.metadata_xml : undefined;
  const document = xml === undefined ? {} : { metadata_xml: `${xml.length} characters, SHA-256 ${sha256(xml)}` };
  return { name, consent, access, enabled, source, ...metadata, ...document };
}

/** Throws invalid_input for what the metadata document of the client decides: it is read again, so a change here would not last. */
function assertNotOfDocument({ clientId }: Application, changedFields: readonly string[]): void {
  const own = changedFields.map((field) => (field === 'name' ? 'client_name' : field));
  // Nobody here has checked the client, so every person is asked.
  const fixed = own.filter((field) => field === 'consent' || documentFields.includes(field));
  if (fixed.length > 0) throw invalidInput(fixed.map((field) => fault([field], 'of-document', { url: clientId })));
}

/** The fields that differ, before and after; null where one is absent. */
function declarationDifference(before: Application, after: Application): { before: Declared; after: Declared } {
  const [from, to] = [declarationForAudit(before), declarationForAudit(after)];
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const changedFields = fields.filter((field) => JSON.stringify(from[field]) !== JSON.stringify(to[field]));
  const pick = (all: Declared) => Object.fromEntries(changedFields.map((field) => [field, all[field] ?? null]));
  return { before: pick(from), after: pick(to) };
}

// The row of the picture of an application, in line with its logo_uri. A job reads what is planned (pictures/pictures.ts).

/** The columns of a picture that is still to be read. */
const NOT_READ = { name: null, content: null, tries: 0, lastError: null };

/** Returns whether a picture has to be read now. One that an administrator chose stays, whatever the logo_uri is. */
export async function planPicture(tx: Tx, applicationId: string, url: string | undefined, at: Date): Promise<boolean> {
  const where = { applicationId };
  const row = await tx.asStored.applicationPicture.findUnique({ where, select: { url: true } });
  if (row?.url === null || row?.url === url) return false;
  if (url === undefined) {
    await tx.applicationPicture.deleteMany({ where });
    return false;
  }
  const data = { ...NOT_READ, url, nextTryAt: at, updatedAt: at };
  await tx.applicationPicture.upsert({ where, create: { ...data, ...where }, update: data, select: { url: true } });
  return true;
}

/**
 * Returns the check whether an identifier looks like one of these, which belong to Gatehouse itself: registered for something else they would
 * mislead users and administrators, who read them with less care than a computer.
 */
function createReservedCheck(reserved: readonly string[]): (identifier: string) => boolean {
  const keys = new Set(reserved.map(identifierKey));
  return (identifier) => keys.has(identifierKey(identifier));
}

/**
 * The comparable form of an identifier: equal keys look alike. Percent-encoding, case, look-alike letters (nameKey), scheme, default port,
 * trailing dots and slashes, dot segments, query and fragment make no difference.
 */
function identifierKey(identifier: string): string {
  const text = nameKey(percentDecoded(identifier)).replace(/[\s\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
  const address = text.replaceAll('\\', '/').replace(/^https?:\/*/, 'https://');
  if (!address.startsWith('https://') || !URL.canParse(address)) return text.replace(/\/+$/, '');
  const { hostname, port, pathname } = new URL(address);
  const path = pathname.replace(/\/{2,}/g, '/').replace(/[/.]+$/, '');
  return `https://${hostname.replace(/\.+$/, '')}${port === '' || port === '80' ? '' : `:${port}`}${path}`;
}

/** An identifier that is encoded more often is compared as it is then: nobody reads through so many layers. */
const MAX_LAYERS = 5;

function percentDecoded(text: string, layers = 0): string {
  if (layers === MAX_LAYERS || !text.includes('%')) return text;
  try {
    return percentDecoded(decodeURIComponent(text), layers + 1);
  } catch {
    return text;
  }
}
