// The names of the users and applications on a page, by id, with one query for all users and one for all applications.

import type { ApplicationPictures } from '../../applications/pictures/pictures.ts';
import { listKey } from '../../applications/read.ts';
import { displayName, fullName, nameAndUsername, pictureOf } from '../../base/http/pages/tokens.ts';
import type { Db } from '../../base/storage/database.ts';
import { textAt } from '../../base/texts/text.ts';
import { NAMED_PERSON } from '../../people/accounts/names.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../protocols/oidc/in-process-clients.ts';
import type { Logo, Mark } from './blocks.ts';

export type Names = ReturnType<typeof createNames>;

/** An application; where a list asked for it, with its logo. */
export interface NamedApplication {
  id: string;
  name: string;
  logo?: Logo;
}

/** Reads names by id; unknown ids are absent from the maps. */
export function createNames({ db, pictures }: { db: Db; pictures: ApplicationPictures }) {
  async function connections(ids: readonly (string | null)[]): Promise<Map<string, string>> {
    const where = { id: { in: distinct(ids) } };
    const rows = await db.asStored.connection.findMany({ where, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** The SCIM connections. */
  async function directories(ids: readonly (string | null)[]): Promise<Map<string, string>> {
    const where = { id: { in: distinct(ids) }, removedAt: null };
    const rows = await db.asStored.scimConnection.findMany({ where, select: { id: true, name: true } });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  return {
    /** By client_id or entity ID. */
    async applications(clientIds: readonly (string | null)[]): Promise<Map<string, NamedApplication>> {
      const rows = await db.asStored.application.findMany({
        where: { clientId: { in: distinct(clientIds) } },
        select: { id: true, clientId: true, name: true },
      });
      return new Map(rows.map(({ clientId, ...application }) => [clientId, application]));
    },

    /** The same with their logos, for a list. */
    async applicationsWithLogos(clientIds: readonly (string | null)[]): Promise<Map<string, NamedApplication>> {
      const rows = await db.asStored.application.findMany({
        where: { clientId: { in: distinct(clientIds) } },
        select: { id: true, clientId: true, name: true, metadata: true },
      });
      const addresses = await pictures.addressesOf(rows.map(({ id }) => id));
      return new Map(
        rows.map(({ id, clientId, name, metadata }) => {
          const { preset: product } = JSON.parse(metadata) as { preset?: string };
          return [clientId, { id, name, logo: { name, picture: addresses.get(id), product } }];
        }),
      );
    },

    /** The application with this identifier, or else with this name if it is the only one. */
    async applicationOf(text: string): Promise<{ clientId: string; name: string } | undefined> {
      const select = { clientId: true, name: true } as const;
      const found = await db.asStored.application.findMany({
        where: { nameKey: listKey(text), name: text },
        select,
        take: 2,
      });
      return (
        (await db.asStored.application.findUnique({ where: { clientId: text }, select })) ??
        (found.length === 1 ? found[0] : undefined)
      );
    },

    async users(ids: readonly (string | null)[]): Promise<Map<string, NamedUser & { hasTwin: boolean }>> {
      const select = { ...NAMED_PERSON, nameKey: true } as const;
      const rows = await db.asStored.user.findMany({ where: { id: { in: distinct(ids) } }, select });
      const keys = distinct(rows.map(({ nameKey }) => nameKey));
      const alike = await db.asStored.user.groupBy({
        by: ['nameKey'],
        where: { nameKey: { in: keys } },
        having: { nameKey: { _count: { gt: 1 } } },
      });
      const shared = new Set(alike.map(({ nameKey }) => nameKey));
      return new Map(rows.map(({ id, nameKey, ...user }) => [id, { ...user, hasTwin: shared.has(nameKey) }]));
    },

    /** Names with usernames, for readers without the console. */
    async people(ids: readonly (string | null)[]): Promise<Map<string, string>> {
      const rows = await db.asStored.user.findMany({ where: { id: { in: distinct(ids) } }, select: NAMED_PERSON });
      return new Map(rows.map((row) => [row.id, nameAndUsername(row)]));
    },

    connections,

    directories,

    /** The text for the source of a membership or of a role, such as `direct`, `domain:NAME`, `connection:ID`, `scim:ID`. */
    async ways(sources: readonly string[]): Promise<(source: string) => Mark> {
      const idsOf = (kind: string) =>
        sources.flatMap((source) => (source.startsWith(`${kind}:`) ? [source.slice(kind.length + 1)] : []));
      const named = new Map<string, { name: string; href: string }>();
      for (const [id, name] of await connections(idsOf('connection')))
        named.set(`connection:${id}`, { name, href: `/admin/connections/${id}` });
      for (const [id, name] of await directories(idsOf('scim')))
        named.set(`scim:${id}`, { name, href: `/admin/scim/${id}` });
      return (source) => {
        const [kind = source, id = ''] = source.split(/:(.*)/s);
        const { name = id, ...link } = named.get(source) ?? {};
        return { text: textAt(`console.groups.way.${kind}`, { name }) ?? source, ...link };
      };
    },
  };
}

function distinct(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}

/** What a field for a user or an application displays, and what it sends instead. */
export interface NamedField {
  value: string;
  sends?: string | undefined;
}

/**
 * Of a field for an application: its name, and what it sends. Without script the name is sent, so a name that several have is not
 * displayed. The text itself where it named no application.
 */
export async function typedApplicationValue(
  names: Names,
  text: string,
  application: { clientId: string; name: string } | undefined,
): Promise<NamedField> {
  if (!application) return { value: text };
  const { clientId, name } = application;
  return (await names.applicationOf(name))?.clientId === clientId
    ? { value: name, sends: clientId }
    : { value: clientId };
}

export type NamedUser = Parameters<typeof fullName>[0] & { username: string };

/** The picture of a user, else the initials of the name; of a deleted one those of what is left. */
export const personLogo = (user: NamedUser): Logo => ({
  name: displayName(user),
  isPerson: true,
  picture: pictureOf(user),
});

/** A user in a sentence as a link with the picture, with the username where two have the name; the id if the account was deleted. */
export function userCell(id: string | null, users: ReadonlyMap<string, NamedUser & { hasTwin: boolean }>): Mark | null {
  if (id === null) return null;
  const user = users.get(id);
  if (!user) return { text: id, code: true };
  const text = user.hasTwin ? nameAndUsername(user) : displayName(user);
  return { text, href: `/admin/users/${id}`, logo: personLogo(user) };
}

/** A user in a list as a link with the picture, and the username below the name. */
export function userMark({ id, ...user }: NamedUser & { id: string }): Mark {
  const name = fullName(user);
  const small = name === null ? undefined : user.username;
  return { text: name ?? user.username, href: `/admin/users/${id}`, small, logo: personLogo(user) };
}

/** The same by id; the id itself if the account was deleted. */
export function userMarkOf(id: string | null, users: ReadonlyMap<string, NamedUser>): Mark | null {
  const user = users.get(id ?? '');
  if (id === null) return null;
  return user ? userMark({ ...user, id }) : { text: id, code: true };
}

/** Several applications in one cell, each a tag. */
export function applicationTags(
  clientIds: readonly string[],
  applications: ReadonlyMap<string, NamedApplication>,
): Mark[] {
  return clientIds.flatMap((clientId) => {
    const mark = applicationCell(clientId, applications);
    return mark ? [{ ...mark, tone: 'plain' as const }] : [];
  });
}

/** An application as a link; its identifier if it is not registered. The server's own pages have no link. */
export function applicationCell(
  clientId: string | null,
  applications: ReadonlyMap<string, NamedApplication>,
): Mark | null {
  if (clientId === null) return null;
  if (clientId === FIRST_PARTY_CLIENT_ID) return { text: 'Gatehouse' };
  const found = applications.get(clientId);
  if (!found) return { text: clientId, code: true };
  return { text: found.name, href: `/admin/applications/${found.id}`, logo: found.logo };
}
