// Encrypts the stored values of older secrets again under the first value of GATEHOUSE_SECRET, so that the older ones can be
// removed; and counts what is left under which secret.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import { type Fragment, fragment, trustedText } from '../../base/storage/fragments.ts';

export interface ResealDependencies {
  db: Db;
  vault: Vault;
}

export interface ResealResult {
  table: string;
  /** How many values are under the first secret now. */
  resealed: number;
  /** The keys of rows that no secret of the list decrypts, or that were changed. */
  unreadable: string[];
}

type Row = { id: string; value: string };

const BATCH = 100;
const SEALED = /^v1\.[\w-]+\.[\w-]+$/;

/** Encrypts every value again that an older secret encrypted; calls `progress` after each batch. May be repeated. */
export async function resealAll(
  { db, vault }: ResealDependencies,
  progress: (result: ResealResult) => void = () => {},
): Promise<ResealResult[]> {
  const results: ResealResult[] = [];
  for (const column of sealedColumns) {
    const result: ResealResult = { table: column.table, resealed: 0, unreadable: [] };
    for await (const rows of staleRows({ db, vault }, column)) {
      for (const row of rows) {
        const again = resealed(row, column, vault);
        if (again === undefined) result.unreadable.push(row.id);
        else if (await replace(db, column, row, again)) result.resealed += 1;
      }
      progress(result);
    }
    results.push(result);
  }
  return results;
}

/** How many values of each table an older secret encrypted; tables without one are left out. */
export async function countStale({ db, vault }: ResealDependencies): Promise<{ table: string; count: number }[]> {
  const counts: { table: string; count: number }[] = [];
  for (const column of sealedColumns) {
    let count = 0;
    for await (const rows of staleRows({ db, vault }, column)) count += rows.length;
    if (count > 0) counts.push({ table: column.table, count });
  }
  return counts;
}

/** The rows with a value that an older secret encrypted, in batches. */
async function* staleRows({ db, vault }: ResealDependencies, column: SealedColumn): AsyncGenerator<Row[]> {
  let after = '';
  for (;;) {
    const rows: Row[] = await db.$queryRaw(candidates(column, vault.sealedPrefix, after));
    const stale = rows.filter(({ value }) => sealedTexts(value, column).some((text) => vault.isStale(text)));
    if (stale.length > 0) yield stale;
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.id ?? '';
    await yieldToEventLoop();
  }
}

function candidates({ table, key, column, json }: SealedColumn, prefix: string, after: string): Fragment {
  const [from, id, value] = [table, key, column].map(trustedText) as [Fragment, Fragment, Fragment];
  // An empty text: a mail that was sent.
  const isStale = json
    ? fragment`TRUE`
    : fragment`${value} <> '' AND substr(${value}, 1, ${prefix.length}) <> ${prefix}`;
  return fragment`SELECT ${id} AS id, ${value} AS value FROM ${from}
    WHERE ${id} > ${after} AND ${isStale} ORDER BY ${id} LIMIT ${BATCH}`;
}

function sealedTexts(value: string, { json }: SealedColumn): string[] {
  if (!json) return [value];
  const parsed: unknown = JSON.parse(value);
  const texts = typeof parsed === 'object' && parsed !== null ? Object.values(parsed) : [parsed];
  return texts.filter((text): text is string => typeof text === 'string' && SEALED.test(text));
}

/** The value under the first secret; undefined when it cannot be decrypted. */
function resealed(
  { id, value }: Row,
  { table, json }: SealedColumn,
  vault: ResealDependencies['vault'],
): string | undefined {
  const again = (text: string, context: string) => vault.seal(vault.open(text, context), context);
  const context = `${table}:${id}`;
  try {
    if (!json) return again(value, context);
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'string') return JSON.stringify(again(parsed, context));
    const entries = Object.entries(parsed as Record<string, unknown>).map(([field, text]) => {
      const isSealed = typeof text === 'string' && SEALED.test(text);
      return [field, isSealed ? again(text, `${context}.${field}`) : text];
    });
    return JSON.stringify(Object.fromEntries(entries));
  } catch {
    return undefined;
  }
}

/** Replaces the value unless it was changed meanwhile: then the change wins, and it is under the first secret. */
async function replace(db: Db, { table, key, column }: SealedColumn, row: Row, value: string): Promise<boolean> {
  const [into, id, field] = [table, key, column].map(trustedText) as [Fragment, Fragment, Fragment];
  const changed = await db.$executeRaw(
    fragment`UPDATE ${into} SET ${field} = ${value} WHERE ${id} = ${row.id} AND ${field} = ${row.value}`,
  );
  return changed === 1;
}

// Every column that holds values encrypted under GATEHOUSE_SECRET. `gatehouse secrets rotate` encrypts them again and `doctor`
// counts them; test/cli/secret-rotation.test.ts compares the list with the schema.

interface SealedColumn {
  table: string;
  /** The key of the table. A value is bound to `table:key`. */
  key: string;
  column: string;
  /** The column holds JSON: a sealed text, or an object with fields that are bound to `table:key.field`. */
  json?: true;
}

export const sealedColumns: readonly SealedColumn[] = [
  { table: 'data_keys', key: 'id', column: 'key_sealed' },
  { table: 'signing_keys', key: 'id', column: 'private_sealed' },
  { table: 'totp_credentials', key: 'user_id', column: 'secret_sealed' },
  { table: 'client_secrets', key: 'id', column: 'secret_sealed' },
  { table: 'settings', key: 'key', column: 'value', json: true },
  { table: 'mail_messages', key: 'id', column: 'body_sealed' },
  { table: 'idempotency_keys', key: 'id', column: 'response_sealed' },
  { table: 'stored_forms', key: 'id', column: 'form_sealed' },
  { table: 'bulk_change_pieces', key: 'id', column: 'rows_sealed' },
  { table: 'bulk_change_pieces', key: 'id', column: 'report_sealed' },
  { table: 'connection_secrets', key: 'id', column: 'value_sealed' },
  { table: 'provisioning_tokens', key: 'application_id', column: 'token_sealed' },
  { table: 'upstream_requests', key: 'id', column: 'data_sealed' },
  { table: 'upstream_requests', key: 'id', column: 'answer_sealed' },
  { table: 'upstream_sessions', key: 'id', column: 'data_sealed' },
  { table: 'event_streams', key: 'id', column: 'secret_sealed' },
  { table: 'event_streams', key: 'id', column: 'previous_secret_sealed' },
];
