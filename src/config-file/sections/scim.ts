// `scim`: the connections by which directories provision people.

import { declarationOf, type ScimConnections } from '../../protocols/scim/connections.ts';
import {
  changeOfSecret,
  declaredSecret,
  differences,
  type Planned,
  type Planning,
  planEntries,
  secretChange,
} from '../planning.ts';
import { scimConnection, withoutDefaults } from '../schema.ts';

const FILE = { source: 'file' } as const;

export async function planScim(planning: Planning): Promise<Planned> {
  const { scimConnections, declared } = planning;
  return planEntries({
    section: 'scim',
    declared: declared.scim,
    stored: new Map((await scimConnections.list()).map((connection) => [connection.id, connection])),
    nameOf: ({ id }) => id,
    async compare({ id, token: given, token_file, ...wanted }, take) {
      const before = take(id);
      const { client_id = null } = wanted;
      const after = { ...wanted, client_id };
      const { secret: token, faults } = await declaredSecret(planning, { value: given, file: token_file }, [
        'token_file',
      ]);
      if (faults.length > 0) return { name: id, faults };
      const declaredBefore = before
        ? (await scimConnections.tokens(id)).some(({ source }) => source === 'file')
        : false;
      const tokenChange =
        token === undefined && declaredBefore
          ? [secretChange('token')]
          : await changeOfSecret(planning, 'token', token, before && (() => scimConnections.hasToken(id, token ?? '')));
      return {
        name: id,
        fields: [...differences(before ? declarationOf(before) : {}, after), ...tokenChange],
        async store(tx) {
          if (before) await scimConnections.update(id, after, {}, { ...FILE, tx });
          else await scimConnections.create(after, {}, { ...FILE, id, tx });
          await scimConnections.declareToken(id, token, tx);
        },
      };
    },
    remove: ({ id }, tx) => scimConnections.remove(id, {}, { ...FILE, tx }),
  });
}

/** Without the tokens, of which only hashes are stored. */
export async function exportScim({ scimConnections }: { scimConnections: ScimConnections }) {
  const connections = await scimConnections.list();
  return connections.map((connection) => {
    const { name, ...declared } = declarationOf(connection);
    const { id } = connection;
    return { id, name, ...withoutDefaults(declared, scimConnection.parse({ id: 'x', name })) };
  });
}
