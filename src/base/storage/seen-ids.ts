// IDs that can be used once across all instances: IDs of SAML messages, challenges, tickets (authorization codes:
// protocols/oidc/store/adapter.ts). The first instance to store an ID
// uses it.
import { hotStatements, type Statements } from './statements.ts';

export const statements = hotStatements('seen-ids', {
  add: 'INSERT INTO seen_messages (id, expires_at) VALUES (?,?) ON CONFLICT (id) DO NOTHING',
});

/**
 * Marks `id` as used; false when it was used before. The row stays until `until`, which must be later than the last moment
 * at which the ID could be accepted again. The ID is short and starts with its purpose.
 */
export async function isFirstUse(sql: Statements, id: string, until: Date): Promise<boolean> {
  return (await sql.execute(statements.add, id, until)) === 1;
}
