// Plans and applies the configuration file. What it declares is owned by it: rows it declared before and no longer
// declares are deleted, rows made elsewhere are left alone unless it declares them too. Applying twice changes nothing.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Accounts } from '../accounts/accounts.ts';
import type { AttributeSchema } from '../accounts/attributes.ts';
import type { Applications } from '../applications/applications.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditEventType } from '../audit/events.ts';
import { AppError } from '../http/errors.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, isUniqueViolation, transaction } from '../platform/db.ts';
import type { Roles } from '../rbac/roles.ts';
import type { Settings } from '../settings.ts';
import { forgetDeleted } from './declared-credentials.ts';
import type { FileFault } from './file.ts';
import { planClients } from './plan-clients.ts';
import { planRoles } from './plan-roles.ts';
import { type MetadataReader, planServiceProviders } from './plan-service-providers.ts';
import { planResources, planSettings } from './plan-settings.ts';
import { planUsers } from './plan-users.ts';
import type { CredentialNeeds } from './ports.ts';
import type { ConfigurationFile } from './read-file.ts';
import type { DeclaredSettings } from './schema.ts';
import type { Planned, Step } from './steps.ts';

export type ProvisioningNeeds = CredentialNeeds & {
  db: Db;
  now: Clock;
  audit: Audit;
  accounts: Accounts;
  applications: Applications;
  roles: Roles;
  settings: Settings;
  /** SAML metadata: parsing it, and fetching it from a URL. */
  parseMetadata: MetadataReader['parse'];
  fetchMetadata: MetadataReader['fetch'];
};

export type Plan = { steps: Step[]; unchanged: number; warnings: string[] };
export type PlanResult = { ok: true; plan: Plan } | { ok: false; faults: FileFault[] };

export interface Provisioning {
  /** What applying the file would do; changes nothing. */
  plan(file: ConfigurationFile): Promise<PlanResult>;
  /** Plans and does it, in one transaction; again when another instance did the same in between. */
  apply(file: ConfigurationFile): Promise<PlanResult>;
}

const ATTEMPTS = 4;
// Thousands of users are one transaction, too.
const APPLY = { timeout: 300_000 };

export function createProvisioning(needs: ProvisioningNeeds): Provisioning {
  const { db, applications, settings, audit } = needs;

  async function plan(file: ConfigurationFile): Promise<PlanResult> {
    if (file.faults.length > 0) return { ok: false, faults: file.faults };
    const { declared, locate } = file;
    const folder = path.dirname(file.path);
    const reader: MetadataReader = {
      parse: needs.parseMetadata,
      fetch: needs.fetchMetadata,
      readFile: (name) => readMetadataFile(path.resolve(folder, name)),
    };
    const roleRows = await needs.roles.list();
    const rolesLeft = new Set([
      ...roleRows.filter(({ source }) => source !== 'file').map(({ name }) => name),
      ...declared.roles.map(({ name }) => name),
    ]);
    const stored = new Map((await applications.all()).map((application) => [application.clientId, application]));
    const owned = [...stored.values()].filter(({ source }) => source === 'file');

    const settingsPlan = await planSettings(declared.settings, settings);
    const resourcesPlan = await planResources(declared.resources, needs);
    const rolesPlan = await planRoles(declared.roles, roleRows, needs.roles);
    const clientsPlan = await planClients(declared.clients, stored, applications);
    const clientIds = new Set(declared.clients.map(({ client_id }) => client_id));
    const forProviders = { applications, reader, clientIds };
    const providersPlan = await planServiceProviders(declared.service_providers, stored, forProviders);
    const attributeSchema = await attributeSchemaOf(declared.settings, settings);
    const usersPlan = await planUsers(declared.users, rolesLeft, { ...needs, attributeSchema });
    const gone = owned.filter(({ clientId }) => stored.has(clientId)).map((application) => deletion(application));

    const all: Planned[] = [settingsPlan, resourcesPlan, rolesPlan, clientsPlan, providersPlan, usersPlan];
    const faults = [
      ...all.flatMap((planned) => planned.faults),
      ...accessFaults(declared.clients, 'clients', rolesLeft),
      ...accessFaults(declared.service_providers, 'service_providers', rolesLeft),
    ];
    if (faults.length > 0) return { ok: false, faults: locate(faults) };
    return {
      ok: true,
      plan: {
        steps: inOrder([...all.flatMap(({ steps }) => steps), ...gone]),
        unchanged: all.reduce((sum, { unchanged }) => sum + unchanged, 0),
        warnings: all.flatMap(({ warnings }) => warnings),
      },
    };
  }

  function deletion({
    id,
    clientId,
    name,
    protocol,
  }: {
    id: string;
    clientId: string;
    name: string;
    protocol: string;
  }): Step {
    return {
      kind: 'delete',
      section: protocol === 'oidc' ? 'clients' : 'service_providers',
      name: protocol === 'oidc' ? clientId : name,
      fields: [],
      run: (tx) => applications.remove(id, { source: 'file', tx }),
    };
  }

  async function run({ steps }: Plan): Promise<void> {
    await transaction(
      db,
      async (tx) => {
        for (const step of steps) {
          await step.run(tx);
          const type = eventOf(step);
          if (type) await audit.record({ type, outcome: 'success', data: { name: step.name, by: 'file' } }, tx);
        }
        await forgetDeleted(tx);
        const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
        const data = {
          ...{ created: count('create'), changed: count('change'), deleted: count('delete') },
          settings: steps.flatMap(({ section, name, kind, fields }) =>
            section === 'settings' ? [{ name, kind, fields }] : [],
          ),
        };
        await audit.record({ type: 'configuration.applied', outcome: 'success', data }, tx);
      },
      APPLY,
    );
    await settings.reload();
  }

  return {
    plan,
    async apply(file) {
      for (let attempt = 1; ; attempt += 1) {
        const planned = await plan(file);
        if (!planned.ok) return planned;
        if (planned.plan.steps.length === 0) {
          await settings.reload(); // another instance may have done it all just now
          return planned;
        }
        try {
          await run(planned.plan);
          return planned;
        } catch (error) {
          // Another instance, or a person, made one of these rows since we looked: look again.
          if (!isRaced(error) || attempt === ATTEMPTS) throw error;
        }
      }
    },
  };
}

// The other sections are audited by the domains that change them.
function eventOf({ section, kind }: Step): AuditEventType | undefined {
  if (section === 'settings') return 'setting.changed';
  if (section !== 'resources') return undefined;
  return ({ create: 'resource.created', change: 'resource.updated', delete: 'resource.deleted' } as const)[kind];
}

/** What custom attributes may be once the file is applied. */
async function attributeSchemaOf(declared: DeclaredSettings, settings: Settings): Promise<AttributeSchema> {
  if (declared.user_attributes) return declared.user_attributes;
  const stored = (await settings.list()).find(({ name }) => name === 'user_attributes');
  return stored && stored.source !== 'file' ? (stored.value as AttributeSchema) : {};
}

function isRaced(error: unknown): boolean {
  if (error instanceof AppError) return [404, 409].includes(error.status) && error.code !== 'last_admin';
  return isUniqueViolation(error) || (error instanceof Error && 'code' in error && error.code === 'P2025'); // gone
}

async function readMetadataFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'not readable';
    throw new Error(`cannot be read: ${file} (${code})`, { cause });
  }
}

function accessFaults(
  entries: readonly { access: 'everyone' | { roles: string[] } }[],
  section: string,
  known: ReadonlySet<string>,
) {
  return entries.flatMap(({ access }, index) =>
    access === 'everyone'
      ? []
      : access.roles
          .filter((role) => !known.has(role))
          .map((role) => ({ path: [section, index, 'access'], message: `no such role: ${role}` })),
  );
}

// Users and applications that go make room for those that come (an address, a name); what others refer to goes last.
function inOrder(steps: readonly Step[]): Step[] {
  const rank = ({ kind, section }: Step) => {
    if (kind === 'delete') return section === 'roles' || section === 'resources' || section === 'settings' ? 3 : 0;
    return section === 'users' ? 2 : 1;
  };
  return [...steps].sort((a, b) => rank(a) - rank(b));
}
