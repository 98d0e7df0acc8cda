// The applications that a person may open from here, and how: SAML by a sign-in begun at this server, OpenID Connect at
// the address that begins a sign-in at the application (OIDC Core 4) or its home page.
import type { Db } from '../platform/db.ts';

export interface Tile {
  name: string;
  url: string;
  logo: string | undefined;
  isRecent: boolean;
}

export interface Launcher {
  /** In alphabetical order, those opened in a live session first. */
  tiles(userId: string, options: { search: string; opened: ReadonlySet<string> }): Promise<Tile[]>;
}

interface Metadata {
  initiate_login_uri?: string;
  client_uri?: string;
  logo_uri?: string;
  idp_initiated?: boolean;
}

const MAX_TILES = 500;

export function createLauncher({ db, issuer }: { db: Db; issuer: string }): Launcher {
  return {
    async tiles(userId, { search, opened }) {
      const rows = await db.application.findMany({
        where: {
          enabled: true,
          // The rule of the sign-in itself: open to everyone, or to a role of this person.
          OR: [{ access: 'everyone' }, { roles: { some: { role: { users: { some: { userId } } } } } }],
        },
        select: { clientId: true, name: true, protocol: true, metadata: true },
        orderBy: { name: 'asc' },
        take: MAX_TILES,
      });
      const wanted = search.normalize('NFKC').toLowerCase();
      const tiles = rows.flatMap(({ clientId, name, protocol, metadata }) => {
        const settings = JSON.parse(metadata) as Metadata;
        const url = protocol === 'saml' ? samlStart(clientId, settings) : oidcStart(settings, issuer);
        const isFound = name.normalize('NFKC').toLowerCase().includes(wanted);
        return url && isFound ? [{ name, url, logo: safeLogo(settings.logo_uri), isRecent: opened.has(clientId) }] : [];
      });
      return [...tiles.filter(({ isRecent }) => isRecent), ...tiles.filter(({ isRecent }) => !isRecent)];
    },
  };
}

function samlStart(entityId: string, { idp_initiated }: Metadata): string | undefined {
  return idp_initiated ? `/saml/sso/start?${new URLSearchParams({ sp: entityId })}` : undefined;
}

function oidcStart({ initiate_login_uri, client_uri }: Metadata, issuer: string): string | undefined {
  if (!initiate_login_uri) return client_uri;
  const url = new URL(initiate_login_uri);
  url.searchParams.set('iss', issuer);
  return url.href;
}

/** Only over https, where nobody on the way can see or change what is opened. */
function safeLogo(url: string | undefined): string | undefined {
  return url?.startsWith('https://') && URL.canParse(url) ? url : undefined;
}
