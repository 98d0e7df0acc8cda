// The applications that a user can open from the portal, in the order of their last use.

import { type AccessSubject, accessDecisionFilter } from '../../applications/access-decision.ts';
import { registrationOf } from '../../applications/application.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { startUrl } from '../../applications/start-url.ts';
import { inLanguage, type PageText } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';

export interface Tile {
  name: PageText;
  url: string;
  logo: string | undefined;
  isRecent: boolean;
}

export type Portal = ReturnType<typeof createPortal>;

const MAX_TILES = 500;
const RECENT_DAYS = 30;
const RECENT_EVENTS = 200;

export function createPortal(
  dependencies: Core &
    ApplicationServices & {
      /** The name of a SAML application in the language of the page. */
      titleOf(row: { id: string; clientId: string; name: string; updatedAt: Date; metadata: string }): PageText;
    },
) {
  const {
    db,
    audit,
    now,
    pictures,
    titleOf,
    config: { issuer },
  } = dependencies;

  /** Client ids of the applications that the user used lately, the most recent one first. */
  async function recentClientIds(userId: string): Promise<string[]> {
    const events = await audit.list({
      types: ['sign-in.completed', 'saml.response', 'authorization.granted'],
      outcome: 'success',
      subjectId: userId,
      limit: RECENT_EVENTS,
      from: new Date(now().getTime() - RECENT_DAYS * 24 * 3600 * 1000),
    });
    return [...new Set(events.flatMap(({ clientId }) => clientId ?? []))];
  }

  /** The names in the language of the page, of SAML applications. */
  async function titlesOf(allowed: readonly { id: string; protocol: string }[]): Promise<Map<string, PageText>> {
    const ids = allowed.filter(({ protocol }) => protocol === 'saml').map(({ id }) => id);
    const rows = ids.length > 0 ? await db.asStored.application.findMany({ where: { id: { in: ids } } }) : [];
    return new Map(rows.map((row) => [row.id, titleOf(row)]));
  }

  return {
    /** Applications used lately or in a live session come first, the most recent one first; then the others by name. */
    async tiles(
      account: AccessSubject & { id: string },
      { search, inSession, language }: { search: string; inSession: ReadonlySet<string>; language: string },
    ): Promise<Tile[]> {
      const textOf = (text: PageText) => inLanguage(language, () => String(text));
      // A test by an administrator is in the session too, but is no use.
      const used = await recentClientIds(account.id);
      const recent = [...new Set([...used, ...inSession])];
      const rank = (clientId: string) => (recent.includes(clientId) ? recent.indexOf(clientId) : recent.length);
      const allowed = await db.asStored.application.findMany({
        where: accessDecisionFilter(account),
        select: { id: true, clientId: true, name: true, protocol: true },
        orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
      });
      const titles = search ? await titlesOf(allowed) : new Map<string, PageText>();
      const wanted = fold(search);
      const found = allowed
        .filter(({ id, name }) => [name, titles.get(id) ?? ''].some((one) => fold(textOf(one)).includes(wanted)))
        .sort((a, b) => rank(a.clientId) - rank(b.clientId))
        .slice(0, MAX_TILES);
      const ids = found.map(({ id }) => id);
      const rows = await db.application.findMany({ where: { id: { in: ids } } });
      const logos = await pictures.addressesOf(ids);
      return found.flatMap(({ id, clientId, name }) => {
        const row = rows.find((one) => one.id === id);
        if (!row) return [];
        const registration = registrationOf(row);
        const url = startUrl(clientId, registration, issuer);
        if (!url) return [];
        const title = row.protocol === 'saml' ? titleOf(row) : name;
        return [{ name: title, url, logo: logos.get(id), isRecent: used.includes(clientId) }];
      });
    },
  };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
