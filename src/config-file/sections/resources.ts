// `resources`: the registered APIs.
import {
  type Resource,
  removeDeclaredResource,
  resourceOf,
  storeDeclaredResource,
} from '../../applications/resources.ts';
import { unlistedAlgFault } from '../../applications/rules/signing-algorithms.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import { differences, type Planned, type Planning, planEntries } from '../planning.ts';
import { resourceInput } from '../schema.ts';

export async function planResources({ db, now, applications, declared, settingAfter }: Planning): Promise<Planned> {
  const rows = await db.asStored.resource.findMany();
  return planEntries({
    section: 'resources',
    declared: declared.resources,
    stored: new Map(rows.map((row) => [row.identifier, row])),
    nameOf: ({ identifier }) => identifier,
    compare({ identifier, ...entry }, take) {
      const row = take(identifier);
      const input = resourceInput(identifier, entry);
      const reserved = applications.isReserved(identifier) ? [fault(['identifier'], 'reserved')] : [];
      const algs = settingAfter('signing_algorithms');
      return {
        name: identifier,
        faults: [...reserved, ...unlistedAlgFault('signing_alg', input.signingAlg, algs, row?.signingAlg)],
        fields: differences(row ? fieldsOf(resourceOf(row)) : {}, fieldsOf(input)),
        store: (tx) => storeDeclaredResource(tx, input, now()),
      };
    },
    remove: ({ identifier }, tx) => removeDeclaredResource(tx, identifier),
  });
}

export async function exportResources({ db }: Core) {
  const rows = await db.resource.findMany({ orderBy: { identifier: 'asc' } });
  return rows.map((row) => ({ identifier: row.identifier, ...fieldsOf(resourceOf(row)) }));
}

/** The fields of an API by their names in the file; `scope_permissions` only where a scope is tied to one. */
function fieldsOf({ scopes, scopePermissions, signingAlg }: Omit<Resource, 'source'>) {
  const tied = Object.keys(scopePermissions).length > 0 ? { scope_permissions: scopePermissions } : {};
  return { scopes, ...tied, signing_alg: signingAlg };
}
