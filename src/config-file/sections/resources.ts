// `resources`: the registered APIs.
import type { Access } from '../../applications/fields/oidc-client.ts';
import {
  agentWarning,
  type Resource,
  removeDeclaredResource,
  resourcesOf,
  storeDeclaredResource,
} from '../../applications/resources.ts';
import { unlistedAlgFault } from '../../applications/rules/signing-algorithms.ts';
import { includesResource } from '../../applications/uris.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import { accessFaults, differences, type Planned, type Planning, planEntries, sortedAccess } from '../planning.ts';
import { resource, resourceInput, withoutDefaults } from '../schema.ts';

export async function planResources(planning: Planning): Promise<Planned> {
  const { db, now, applications, declared, settingAfter } = planning;
  const rows = await db.asStored.resource.findMany();
  const stored = new Map((await resourcesOf(rows, db)).map((api) => [api.identifier, api]));
  return planEntries({
    section: 'resources',
    declared: declared.resources,
    stored,
    nameOf: ({ identifier }) => identifier,
    compare({ identifier, ...entry }, take) {
      const before = take(identifier);
      const input = resourceInput(identifier, entry);
      const reserved = applications.isReserved(identifier) ? [fault(['identifier'], 'reserved')] : [];
      const others = [...declared.resources, ...[...stored.values()].filter(({ source }) => source === 'local')];
      const twin = others.find(
        (one) => one.identifier !== identifier && includesResource([one.identifier], identifier),
      );
      const where = `resources: ${twin?.identifier}`;
      const spelled = twin ? [fault(['identifier'], 'declared-already', { where })] : [];
      const algs = settingAfter('signing_algorithms');
      const of = { agents: settingAfter('agents'), agent_hosts: settingAfter('agent_hosts') };
      const warning = agentWarning(input, of);
      return {
        name: identifier,
        faults: [
          ...reserved,
          ...spelled,
          ...unlistedAlgFault('signing_alg', input.signingAlg, algs, before?.signingAlg),
          ...accessFaults(input, planning),
        ],
        warnings: warning ? [String(warning)] : [],
        fields: differences(before ? fieldsOf(before) : {}, fieldsOf(input)),
        store: (tx) => storeDeclaredResource(tx, input, now()),
      };
    },
    remove: ({ identifier }, tx) => removeDeclaredResource(tx, identifier),
  });
}

/** `known` leaves out what another program wrote. */
export async function exportResources({ db }: Core, known: (access: Access) => Access) {
  const apis = await resourcesOf(await db.resource.findMany({ orderBy: { identifier: 'asc' } }), db);
  return apis.map((api) => ({ identifier: api.identifier, ...fieldsOf({ ...api, access: known(api.access) }) }));
}

/** The fields of an API by their names in the file; all but the first and the algorithm only where they say something. */
function fieldsOf(api: Omit<Resource, 'source'>) {
  const { identifier, scopes, signingAlg, access, clients } = api;
  const optional = {
    scope_permissions: api.scopePermissions,
    scope_titles: api.scopeTitles,
    access: sortedAccess(access),
    clients,
    document_hosts: api.documentHosts,
    agent_scopes: api.agentScopes,
  };
  return { scopes, signing_alg: signingAlg, ...withoutDefaults(optional, resource.parse({ identifier })) };
}
