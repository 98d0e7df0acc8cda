// The applications that a person may open from here.
import { type StartMetadata, startUrl } from '../applications/start-page.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import type { Db } from '../platform/db.ts';

export interface Tile {
  name: string;
  url: string;
  logo: string | undefined;
  isRecent: boolean;
}

export interface Launcher {
  /** Those that were used lately or are open in a live session, the last one first; then the others by name. */
  tiles(userId: string, options: { search: string; opened: ReadonlySet<string> }): Promise<Tile[]>;
}

export interface LauncherNeeds {
  db: Db;
  audit: Pick<Audit, 'list'>;
  now: Clock;
  issuer: string;
}

const MAX_TILES = 500;
const RECENT_DAYS = 30;
const RECENT_EVENTS = 200;

export function createLauncher({ db, audit, now, issuer }: LauncherNeeds): Launcher {
  /** Identifiers of what the person used lately, the last one first. */
  async function usedLately(userId: string): Promise<string[]> {
    const events = await audit.list({
      types: ['sign-in.completed', 'saml.response', 'authorization.granted'],
      ...{ outcome: 'success', subjectId: userId, limit: RECENT_EVENTS },
      from: new Date(now().getTime() - RECENT_DAYS * 24 * 3600 * 1000),
    });
    return [...new Set(events.flatMap(({ clientId }) => clientId ?? []))];
  }

  return {
    async tiles(userId, { search, opened }) {
      const recent = [...new Set([...(await usedLately(userId)), ...opened])];
      const rank = (clientId: string) => (recent.includes(clientId) ? recent.indexOf(clientId) : recent.length);
      const allowed = await db.application.findMany({
        where: {
          enabled: true,
          // The rule of the sign-in itself: open to everyone, or to a role of this person.
          OR: [{ access: 'everyone' }, { roles: { some: { role: { users: { some: { userId } } } } } }],
        },
        select: { id: true, clientId: true, name: true },
        orderBy: { name: 'asc' },
      });
      const wanted = fold(search);
      const found = allowed
        .filter(({ name }) => fold(name).includes(wanted))
        .sort((a, b) => rank(a.clientId) - rank(b.clientId))
        .slice(0, MAX_TILES);
      const rows = await db.application.findMany({
        where: { id: { in: found.map(({ id }) => id) } },
        select: { id: true, protocol: true, metadata: true },
      });
      return found.flatMap(({ id, clientId, name }) => {
        const row = rows.find((one) => one.id === id);
        const metadata = JSON.parse(row?.metadata ?? '{}') as StartMetadata & { logo_uri?: string };
        const url = startUrl({ protocol: row?.protocol ?? '', clientId, metadata }, issuer);
        return url ? [{ name, url, logo: safeLogo(metadata.logo_uri), isRecent: recent.includes(clientId) }] : [];
      });
    },
  };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Only over https, where nobody on the way can see or change what is opened. */
function safeLogo(url: string | undefined): string | undefined {
  return url?.startsWith('https://') && URL.canParse(url) ? url : undefined;
}
