// Registering applications of both protocols. The console, the API, the command line, the configuration file and dynamic
// registration all call these functions, so a rule holds for each of them.
import type { Audit, By } from '../audit/audit.ts';
import { badRequest, conflict, forbidden, notFound } from '../http/errors.ts';
import { inChunks } from '../platform/chunks.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, type Tx, transaction } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import type { Vault } from '../platform/vault.ts';
import { type Application, type ApplicationSource, fromRow, withRoles } from './application.ts';
import { declared, difference } from './audited.ts';
import type { Change, Registered, SamlInput } from './changes.ts';
import { type ApplicationPage, type ListApplications, listApplications } from './list.ts';
import {
  type Access,
  metadataOf,
  needsSecretValue,
  type OidcClient,
  type OidcClientInput,
  oidcClient,
  usesSecret,
} from './oidc-client.ts';
import { oidcRules } from './oidc-rules.ts';
import { type AddSecret, createSecrets, type OpenSecret } from './secrets.ts';
import { check, showPath } from './validation.ts';

export type { Change, Registered, SamlInput } from './changes.ts';

export interface Applications {
  find(clientId: string, tx?: Tx): Promise<Application | undefined>;
  get(id: string, tx?: Tx): Promise<Application>;
  list(query?: ListApplications): Promise<ApplicationPage>;
  /** Every application, for plans and exports. */
  all(tx?: Tx): Promise<Application[]>;
  /** A new client; a secret is made where its method needs one and none is given (never for the file). */
  createOidc(input: Partial<OidcClientInput>, change?: Change): Promise<Registered>;
  /** Replaces the declaration of a client. */
  updateOidc(id: string, input: Omit<OidcClientInput, 'client_id'>, change?: Change): Promise<Registered>;
  createSaml(input: SamlInput, change?: Change): Promise<Application>;
  updateSaml(id: string, input: Omit<SamlInput, 'entityId'>, change?: Change): Promise<Application>;
  setEnabled(id: string, enabled: boolean, change?: Change): Promise<void>;
  /** Deletes the application and every grant, token and session entry that names it. */
  remove(id: string, change?: Change): Promise<void>;
  addSecret(id: string, options?: Omit<AddSecret, 'sealed'>, change?: Change): Promise<{ id: string; value: string }>;
  removeSecret(id: string, secretId: string, change?: Change): Promise<void>;
  /** The unexpired secrets, newest first; values only where they are sealed. */
  openSecrets(id: string, tx?: Tx): Promise<OpenSecret[]>;
  /** Whether `value` is one of them. */
  hasSecret(id: string, value: string, tx?: Tx): Promise<boolean>;
}

export function createApplications(needs: { db: Db; vault: Vault; audit: Audit; now: Clock }): Applications {
  const { db, audit, now } = needs;
  const secrets = createSecrets(needs);
  const within = <T>(tx: Tx | undefined, work: (tx: Tx) => Promise<T>) => (tx ? work(tx) : transaction(db, work));

  async function get(id: string, tx: Tx = db): Promise<Application> {
    const row = await tx.application.findUnique({ where: { id }, include: withRoles });
    if (!row) throw notFound({ detail: { applicationId: id } });
    return fromRow(row);
  }

  async function changeable(id: string, source: ApplicationSource, tx: Tx): Promise<Application> {
    const application = await get(id, tx);
    if (application.source === 'file' && source !== 'file') throw forbidden('owned_by_file');
    return application;
  }

  function record(type: Parameters<Audit['record']>[0]['type'], clientId: string, tx: Tx, by: By = {}, data = {}) {
    return audit.record({ ...by, type, outcome: 'success', clientId, data }, tx);
  }

  async function create(
    row: NewRow,
    { by, tx: outer, source = 'local' }: Change,
    after: (id: string, tx: Tx) => Promise<void>,
  ) {
    const { access, ...columns } = row;
    return within(outer, async (tx) => {
      const at = now();
      const data = { ...columns, id: randomId(), source, access: kindOf(access), createdAt: at, updatedAt: at };
      const { id } = await tx.application.create({ data, select: { id: true } }).catch(throwTaken);
      await setAccess(id, access, tx);
      await after(id, tx);
      const made = await get(id, tx);
      const { name, protocol } = row;
      await record('application.created', row.clientId, tx, by, { name, protocol, source, after: declared(made) });
      return made;
    });
  }

  async function update(
    before: Application,
    row: Omit<NewRow, 'clientId' | 'protocol'>,
    { by, source }: Change,
    tx: Tx,
  ) {
    const { access, ...columns } = row;
    const data = { ...columns, access: kindOf(access), ...(source ? { source } : {}), updatedAt: now() };
    await tx.application.update({ where: { id: before.id }, data, select: { id: true } });
    await setAccess(before.id, access, tx);
    if (before.enabled && !row.enabled) await takeBack(before.clientId, tx);
    const after = await get(before.id, tx);
    await record('application.updated', before.clientId, tx, by, { name: row.name, ...difference(before, after) });
    return after;
  }

  return {
    get,
    async find(clientId, tx = db) {
      const row = await tx.application.findUnique({ where: { clientId }, include: withRoles });
      return row ? fromRow(row) : undefined;
    },
    list: (query = {}) => listApplications(db, query),
    async all(tx = db) {
      const ids = await tx.application.findMany({ select: { id: true }, orderBy: { clientId: 'asc' } });
      const rows = await inChunks(ids, (piece) =>
        tx.application.findMany({
          where: { id: { in: piece.map(({ id }) => id) } },
          include: withRoles,
          orderBy: { clientId: 'asc' },
        }),
      );
      return rows.map(fromRow);
    },

    async createOidc({ client_id = randomId(), ...input }, change = {}) {
      const client = checkClient({ client_id, ...input });
      let clientSecret: string | undefined;
      const row = { clientId: client.client_id, protocol: 'oidc' as const, ...oidcColumns(client) };
      const application = await create(row, change, async (id, tx) => {
        const wanted = client.client_secret !== undefined || (usesSecret(client) && change.source !== 'file');
        if (!wanted) return;
        const added = await secrets.add(id, { sealed: needsSecretValue(client), value: client.client_secret }, tx);
        if (client.client_secret === undefined) clientSecret = added.value;
      });
      return registered(application, clientSecret);
    },

    updateOidc: (id, input, change = {}) =>
      within(change.tx, async (tx) => {
        const before = await changeable(id, change.source ?? 'local', tx);
        if (before.protocol !== 'oidc')
          throw conflict('conflict', { message: 'This is not an OpenID Connect application.' });
        const client = checkClient({ ...input, client_id: before.clientId });
        const sealed = needsSecretValue(client);
        const application = await update(before, oidcColumns(client), change, tx);
        if (!usesSecret(client)) await tx.clientSecret.deleteMany({ where: { applicationId: id } });
        const open = await secrets.open(id, tx);
        // A hash cannot become a value again: what was stored as one is of no use to an HMAC.
        const unusable = sealed && open.some((secret) => secret.value === undefined);
        if (!sealed) await secrets.hashAll(id, tx);
        if (client.client_secret !== undefined) {
          const known = open.some((secret) => secrets.matches(secret, client.client_secret ?? ''));
          if (!known || unusable) await secrets.add(id, { sealed, value: client.client_secret, replace: 'now' }, tx);
          return registered(application, undefined);
        }
        const lacking = usesSecret(client) && (open.length === 0 || unusable);
        if (!lacking || change.source === 'file') return registered(application, undefined);
        return registered(application, (await secrets.add(id, { sealed, replace: 'now' }, tx)).value);
      }),

    createSaml: ({ entityId, ...input }, change = {}) =>
      create({ clientId: entityId, protocol: 'saml', ...samlColumns(input) }, change, async () => {}),

    updateSaml: (id, input, change = {}) =>
      within(change.tx, async (tx) => {
        const before = await changeable(id, change.source ?? 'local', tx);
        if (before.protocol !== 'saml') throw conflict('conflict', { message: 'This is not a SAML application.' });
        return update(before, samlColumns(input), change, tx);
      }),

    setEnabled: (id, enabled, { by, tx: outer, source = 'local' } = {}) =>
      within(outer, async (tx) => {
        const { clientId } = await changeable(id, source, tx);
        const { count } = await tx.application.updateMany({
          where: { id, enabled: !enabled },
          data: { enabled, updatedAt: now() },
        });
        if (count > 0 && !enabled) await takeBack(clientId, tx);
        if (count === 0) return;
        const data = { before: { enabled: !enabled }, after: { enabled } };
        await record(enabled ? 'application.enabled' : 'application.disabled', clientId, tx, by, data);
      }),

    remove: (id, { by, tx: outer, source = 'local' } = {}) =>
      within(outer, async (tx) => {
        const before = await changeable(id, source, tx);
        const { clientId, name } = before;
        await tx.application.delete({ where: { id }, select: { id: true } });
        await forget(id, clientId, tx);
        await record('application.deleted', clientId, tx, by, { name, before: declared(before) });
      }),

    addSecret: (id, options = {}, { by, tx: outer } = {}) =>
      within(outer, async (tx) => {
        const { clientId, protocol, metadata } = await get(id, tx);
        if (protocol !== 'oidc' || !usesSecret(metadata)) {
          throw conflict('conflict', { message: 'This application does not use a secret.' });
        }
        const added = await secrets.add(id, { ...options, sealed: needsSecretValue(metadata) }, tx);
        const data = {
          secretId: added.id,
          othersStaySeconds: options.replace === 'now' ? 0 : (options.replace ?? null),
        };
        await record('application.secret-created', clientId, tx, by, data);
        return added;
      }),

    removeSecret: (id, secretId, { by, tx: outer } = {}) =>
      within(outer, async (tx) => {
        const { clientId } = await get(id, tx);
        const { count } = await tx.clientSecret.deleteMany({ where: { id: secretId, applicationId: id } });
        if (count === 0) throw notFound();
        await record('application.secret-removed', clientId, tx, by, { secretId });
      }),

    openSecrets: (id, tx = db) => secrets.open(id, tx),
    hasSecret: async (id, value, tx = db) =>
      (await secrets.open(id, tx)).some((secret) => secrets.matches(secret, value)),
  };
}

type NewRow = Omit<ReturnType<typeof oidcColumns>, never> & { clientId: string; protocol: 'oidc' | 'saml' };

function checkClient(input: unknown): OidcClient {
  const checked = check(oidcClient, input, oidcRules);
  if (checked.ok) return checked.value;
  const fields = checked.faults.map(({ path, message }) => ({ field: showPath(path), message }));
  throw badRequest('invalid_input', { fields, detail: fields });
}

function oidcColumns(client: OidcClient) {
  const { enabled, consent, access } = client;
  return {
    name: client.client_name ?? client.client_id,
    enabled,
    consent,
    access,
    metadata: JSON.stringify(metadataOf(client)),
  };
}

function samlColumns({ name, enabled, consent, access, settings }: Omit<SamlInput, 'entityId'>) {
  return { name, enabled, consent, access, metadata: JSON.stringify(settings) };
}

function kindOf(access: Access): 'everyone' | 'roles' {
  return access === 'everyone' ? 'everyone' : 'roles';
}

async function setAccess(applicationId: string, access: Access, tx: Tx): Promise<void> {
  const names = access === 'everyone' ? [] : access.roles;
  const roles = await tx.role.findMany({ where: { name: { in: names } }, select: { id: true, name: true } });
  const missing = names.filter((name) => !roles.some((role) => role.name === name));
  if (missing.length > 0) {
    throw badRequest('invalid_input', {
      fields: [{ field: 'access.roles', message: `no such role: ${missing.join(', ')}` }],
    });
  }
  await tx.applicationRole.deleteMany({ where: { applicationId } });
  if (roles.length > 0)
    await tx.applicationRole.createMany({ data: roles.map(({ id }) => ({ applicationId, roleId: id })) });
}

// What a disabled application holds ends now, and does not come back with it.
async function takeBack(clientId: string, tx: Tx): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { clientId } });
}

// Nothing may come back to life when the same client_id is registered again, perhaps by somebody else.
async function forget(applicationId: string, clientId: string, tx: Tx): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { clientId } });
  await tx.samlRequest.deleteMany({ where: { applicationId } });
  await tx.samlParticipant.deleteMany({ where: { applicationId } });
  await tx.samlNameId.deleteMany({ where: { applicationId } });
}

function registered(application: Application, clientSecret: string | undefined): Registered {
  if (application.protocol !== 'oidc') throw new Error('an OpenID Connect application was expected');
  return { application, ...(clientSecret === undefined ? {} : { clientSecret }) };
}

function throwTaken(error: unknown): never {
  if (isUniqueViolation(error)) throw conflict('application_taken', { cause: error });
  throw error;
}
