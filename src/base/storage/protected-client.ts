// Prisma's client with MACs (protected-rows.ts): it seals each row of a protected table that it writes and verifies each one that it reads, so
// that domain functions call it as they call Prisma. A read leaves out a forged row and raises the alarm.
//
// A change of some covered columns verifies the stored row first and is made only if nothing changed that since (compare and set): otherwise
// it would confirm what another program wrote. Where another request changed it, it is verified again. At a forged row `update` and `upsert`
// throw RowChanged, and `updateMany` leaves it as it is.
// Deletions and counts take rows as they are. `asStored` is Prisma itself, for reads that decide nothing: names in lists, and forged rows that an
// administrator has to see.
import { defined } from '../platform/defined.ts';
import {
  type Covered,
  type ProtectedRows,
  type ProtectedTable,
  protectedTables,
  type TableDeclaration,
} from './protected-rows.ts';

/** What the client has beside Prisma's. */
export interface Protection<Client> {
  asStored: Client;
  macs: ProtectedRows;
}

/** The stored row is another program's (`outside`), or another request changed it (`meanwhile`). */
export class RowChanged extends Error {
  override name = 'RowChanged';
  constructor(
    readonly by: 'outside' | 'meanwhile',
    table: string,
  ) {
    super(`a row of ${table} was changed ${by === 'outside' ? 'by another program' : 'by another request'}`);
  }
}

/** How often a change verifies a row that other requests keep changing. */
const ATTEMPTS = 10;

type Row = Record<string, unknown>;
type Query = Row & { select?: Row; include?: Row; where?: Row; data?: Row; create?: Row; update?: Row };
type Model = Record<string, (query: Query) => Promise<unknown>>;
type Table = TableDeclaration & { name: ProtectedTable };

const tables: Record<string, Table> = Object.fromEntries(
  Object.entries<TableDeclaration>(protectedTables).map(([name, table]) => [
    name,
    { ...table, name: name as ProtectedTable },
  ]),
);
const tableOfModel = new Map<unknown, Table>(
  Object.values(tables).flatMap((table) => (table.byHand ? [] : [[table.model, table]])),
);

/** What to call after the commit, of each transaction under way. */
const uncommitted = new WeakMap<object, (() => void)[]>();

/** Calls a function once the transaction has committed; at once outside of one. */
export function afterCommit({ asStored }: { asStored: object }, call: () => void): void {
  const afterwards = uncommitted.get(asStored);
  if (afterwards) afterwards.push(call);
  else call();
}

/** The client that seals and verifies rows; `macs` is called with the first one. */
export function protectedClient<Client extends object>(
  client: Client,
  macs: () => ProtectedRows,
): Client & Protection<Client> {
  const models = new Map<string, object>();
  const modelOf = (table: Table) => {
    const model = models.get(table.model) ?? protectedModel(table, member(client, table.model) as Model, macs);
    models.set(table.model, model);
    return model;
  };
  const transaction = async (work: (tx: object) => unknown, options?: object): Promise<unknown> => {
    const afterwards: (() => void)[] = [];
    const result = await (member(client, '$transaction') as typeof transaction).call(
      client,
      (tx) => {
        uncommitted.set(tx, afterwards);
        return work(protectedClient(tx, macs));
      },
      options,
    );
    for (const call of afterwards) call();
    return result;
  };
  return new Proxy(client as object, {
    get(_client, name) {
      const table = tableOfModel.get(name);
      if (table) return modelOf(table);
      if (name === 'asStored') return client;
      if (name === 'macs') return macs();
      if (name === '$transaction') return transaction;
      return member(client, name);
    },
  }) as Client & Protection<Client>;
}

function member(client: object, name: string | symbol): unknown {
  return (client as Record<string | symbol, unknown>)[name];
}

/** The model of one table. Operations that it lacks would neither seal nor verify. */
function protectedModel(table: Table, stored: Model, macs: () => ProtectedRows): Model {
  const run = (operation: string, query: Query) => (stored[operation] as Model[string])(query);

  const one = (operation: string) => async (query: Query) => {
    const row = (await run(operation, withColumns(table, query))) as Row | null;
    return (row && verified(table, row, query, macs())) ?? null;
  };
  const oneOrThrow = (operation: string) => async (query: Query) => {
    const row = await one(operation)(query);
    if (!row) throw new RowChanged('outside', table.name);
    return row;
  };

  async function update({ where = {}, data = {}, ...rest }: Query) {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const change = await changeOf(where, data);
      if (!change) return run('update', { where, data, ...rest });
      try {
        return await run('update', { where: { ...where, ...change.condition }, data: change.data, ...rest });
      } catch (error) {
        if (!change.condition || !isNotFound(error)) throw error;
      }
    }
    throw new RowChanged('meanwhile', table.name);
  }

  /** A change with its MAC, and the condition that the row has not changed since it was verified; undefined without covered columns. */
  async function changeOf(where: Row, data: Row): Promise<{ data: Row; condition?: Row } | undefined> {
    if (!writesCovered(table, data)) return undefined;
    const known = { ...scalarsOf(where), ...data };
    if (writesAllCovered(table, known)) return { data: sealed(table, known, data, macs()) };
    const row = (await run('findUniqueOrThrow', { where, select: selectionOf(table) })) as Row;
    const genuine = genuineOf(table, row, macs());
    if (!genuine) throw new RowChanged('outside', table.name);
    return { data: sealed(table, withChanges(genuine, data), data, macs()), condition: { mac: row.mac } };
  }

  async function updateMany({ where = {}, data = {} }: Query) {
    if (!writesCovered(table, data)) return run('updateMany', { where, data });
    const known = { ...scalarsOf(where), ...data };
    if (writesAllCovered(table, known)) return run('updateMany', { where, data: sealed(table, known, data, macs()) });
    let count = 0;
    for (const row of await storedRows(where)) count += await changeRow(where, row, data);
    return { count };
  }

  const storedRows = async (where: Row) => (await run('findMany', { where, select: selectionOf(table) })) as Row[];

  /** How many rows were changed: 1, or 0 when it is forged or no longer in `where`. */
  async function changeRow(where: Row, found: Row, data: Row): Promise<number> {
    let row: Row | undefined = found;
    for (let attempt = 1; row && attempt <= ATTEMPTS; attempt += 1) {
      const genuine = genuineOf(table, row, macs());
      if (!genuine) return 0;
      const same = { ...keyOf(table, row), mac: row.mac };
      const change = { where: { AND: [where, same] }, data: sealed(table, withChanges(genuine, data), data, macs()) };
      const { count } = (await run('updateMany', change)) as { count: number };
      if (count > 0) return count;
      [row] = await storedRows({ AND: [where, keyOf(table, row)] });
    }
    if (row) throw new RowChanged('meanwhile', table.name);
    return 0;
  }

  async function upsert({ where = {}, create = {}, update: data = {}, ...rest }: Query) {
    const made = sealed(table, create, create, macs());
    const known = { ...scalarsOf(where), ...data };
    if (writesCovered(table, data) && !writesAllCovered(table, known)) {
      // Two requests may find no row: the second one has a violated unique constraint.
      if (!(await run('findUnique', { where, select: { mac: true } }))) return run('create', { data: made, ...rest });
      return update({ where, data, ...rest });
    }
    const change = writesCovered(table, data) ? sealed(table, known, data, macs()) : data;
    return run('upsert', { where, create: made, update: change, ...rest });
  }

  return {
    findUnique: one('findUnique'),
    findFirst: one('findFirst'),
    findUniqueOrThrow: oneOrThrow('findUniqueOrThrow'),
    findFirstOrThrow: oneOrThrow('findFirstOrThrow'),
    async findMany(query = {}) {
      const rows = (await run('findMany', withColumns(table, query))) as Row[];
      return rows.flatMap((row) => verified(table, row, query, macs()) ?? []);
    },
    create: async ({ data = {}, ...rest }) => run('create', { data: sealed(table, data, data, macs()), ...rest }),
    createMany: async ({ data, ...rest }) => {
      const rows = (Array.isArray(data) ? data : [data]) as Row[];
      return run('createMany', { data: rows.map((row) => sealed(table, row, row, macs())) as never, ...rest });
    },
    update,
    updateMany,
    upsert,
    delete: (query) => run('delete', query),
    deleteMany: (query) => run('deleteMany', query),
    count: (query) => run('count', query),
    aggregate: (query) => run('aggregate', query),
    groupBy: (query) => run('groupBy', query),
  };
}

/** The query with every column that the MAC needs, also of the rows that it reads by relations. */
function withColumns(table: Table, query: Query): Query {
  const { select, include } = query;
  if (select) return { ...query, select: { ...selectionOf(table), ...related(table, select) } };
  return include ? { ...query, include: related(table, include) } : query;
}

function related(table: Table, fields: Row): Row {
  const entries = Object.entries(fields).map(([field, value]) => {
    const other = relationOf(table, field, value);
    return [field, other && typeof value === 'object' ? withColumns(other, value as Query) : value];
  });
  return Object.fromEntries(entries);
}

/** The table that a field leads to; undefined for a column, and for a table without MACs. */
function relationOf({ name, relations = {}, covers }: Table, field: string, value: unknown): Table | undefined {
  const other = relations[field];
  if (other) return tables[other];
  if (other === undefined && typeof value === 'object' && !(field in covers))
    throw new Error(`protected-rows.ts declares no relation ${field} of ${name}`);
  return undefined;
}

/** The row as the query asks for it; undefined when it is forged, or belongs to a row that is. */
function verified(table: Table, row: Row, { select, include }: Query, macs: ProtectedRows): Row | undefined {
  const genuine = genuineOf(table, row, macs);
  if (!genuine) return undefined;
  const fields = select ?? include;
  if (!fields) return genuine;
  const answer: Row = select ? {} : { ...genuine };
  for (const [field, query] of Object.entries(fields)) {
    if (!query) continue;
    const other = relationOf(table, field, query);
    const value = genuine[field];
    if (!other || !value) answer[field] = value;
    else if (Array.isArray(value))
      answer[field] = value.flatMap((one: Row) => verified(other, one, query as Query, macs) ?? []);
    else {
      const found = verified(other, value as Row, query as Query, macs);
      if (!found) return undefined;
      answer[field] = found;
    }
  }
  return answer;
}

/** The row if this server wrote it, or without the value that it has not from this server. */
function genuineOf(table: Table, row: Row, macs: ProtectedRows): Row | undefined {
  const { name, emptyWhenForged } = table;
  if (!isSealed(table, row) || macs.isGenuine(name, row as Covered<ProtectedTable>, row.mac as string)) return row;
  return emptyWhenForged === undefined ? undefined : { ...row, [emptyWhenForged]: null };
}

function isSealed({ emptyWhenForged = '', isSealedOnlyWhenSet }: Table, row: Row): boolean {
  return !isSealedOnlyWhenSet || (row[emptyWhenForged] ?? null) !== null;
}

/** `data` with the MAC of the row that it makes. */
function sealed(table: Table, row: Row, data: Row, macs: ProtectedRows): Row {
  const { name, covers } = table;
  for (const [column, value] of Object.entries(data))
    if (column === 'mac' || isNested(value)) throw new Error(`${name}.${column} cannot be written here`);
  if (!isSealed(table, row)) return { ...data, mac: '' };
  const missing = Object.keys(covers).find((column) => row[column] === undefined);
  // The database would put a default there, which the MAC does not know.
  if (missing !== undefined) throw new Error(`${name}.${missing} is missing`);
  return { ...data, mac: macs.macOf(name, row as Covered<ProtectedTable>) };
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !(value instanceof Uint8Array);
}

function writesCovered({ covers }: Table, data: Row): boolean {
  return Object.keys(data).some((column) => (column in covers || column === 'mac') && data[column] !== undefined);
}

/** Whether the change says every value that the MAC covers, or ends the need for one, so that nothing of the stored row is confirmed. */
function writesAllCovered({ covers, emptyWhenForged = '', isSealedOnlyWhenSet }: Table, row: Row): boolean {
  if (isSealedOnlyWhenSet && row[emptyWhenForged] === null) return true;
  return Object.keys(covers).every((column) => row[column] !== undefined);
}

function withChanges(row: Row, data: Row): Row {
  return { ...row, ...defined(data) };
}

function selectionOf({ key, covers }: Table): Record<string, true> {
  return Object.fromEntries([...key, ...Object.keys(covers), 'mac'].map((column) => [column, true]));
}

function keyOf({ key }: Table, row: Row): Row {
  return Object.fromEntries(key.map((column) => [column, row[column]]));
}

/** The columns that a `where` compares with one value, also those of a compound key. */
function scalarsOf(where: Row): Row {
  const columns: Row = {};
  for (const [name, value] of Object.entries(where)) {
    if (!isNested(value)) columns[name] = value;
    else if (name.includes('_')) Object.assign(columns, value);
  }
  return columns;
}

/** Prisma's "an operation failed because it depends on records that were not found". */
function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'P2025';
}
