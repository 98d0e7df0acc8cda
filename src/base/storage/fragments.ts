// Composes plain SQL for the queries that Prisma cannot express; values become parameters, numbered for each database.
import { Prisma } from '../../generated/sqlite/client.ts';

export type Fragment = Prisma.Sql;

/** A piece of SQL: `fragment`SELECT … WHERE id = ${id}``. Values may be fragments. */
export const fragment = Prisma.sql;
/** Joins fragments with a separator. */
export const joinFragments = Prisma.join;
/** SQL text from the source code; it must never contain input of a request. */
export const trustedText = Prisma.raw;
/** An empty fragment. */
export const noFragment = Prisma.empty;
