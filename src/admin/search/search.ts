// One search over what an administrator may see: people, applications, groups, roles, settings, pages, error references and the documentation,
// the best match first. Each kind has the right and the limits of its list, and reads a few rows.

import type { ApplicationPictures } from '../../applications/pictures/pictures.ts';
import type { FieldKeywords } from '../../base/schemas/json-schema.ts';
import { dotted, inLanguage, type PageText, t, textAt } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Rejections } from '../../core/rejections/rejections.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import { MATCHES, matchRank, nameKey } from '../../people/accounts/names.ts';
import { labelOf, titlesOf } from '../../people/accounts/simple-attributes.ts';
import { CREATE_USERS, type Need, within } from '../../people/rbac/rights.ts';
import type { Logo } from '../console/cells.ts';
import { userMark } from '../console/names.ts';
import { navigationAt } from '../console/navigation.ts';
import type { AdminActions } from '../create-admin.ts';
import type { Documents } from '../documents/documents.ts';
import { settingsIn, settingTexts } from '../settings/console-fields.ts';
import { SECURITY, SETTINGS } from '../settings/setting-tabs.ts';
import { matchedValue } from '../users/attribute-fields.ts';

/** In the order of equally good matches. */
const KINDS = ['rejection', 'page', 'user', 'application', 'group', 'role', 'setting'] as const;
type Kind = (typeof KINDS)[number] | 'document';

export interface Found {
  kind: Kind;
  kindName: PageText;
  text: PageText;
  small?: PageText | undefined;
  href: string;
  logo: Logo;
  rank: number;
}

export interface Searcher {
  by: Actor;
  meets(need: Need): boolean;
  /** Of the page: settings and pages are found by their names in it. */
  language: string;
}

/** A reference as pages display it, in either case and with or without the dash. */
const REFERENCE = /^[0-9a-z]{4}[ -]?[0-9a-z]{4}$/i;

export function createSearch(services: {
  admin: AdminActions;
  settings: Core['settings'];
  documents: Documents;
  pictures: ApplicationPictures;
  rejections: Rejections;
}) {
  const { users, applications, groups, roles } = services.admin;
  /** Of another than a person, an application or a page, the logo is the icon of its kind. */
  type Match = Omit<Found, 'kind' | 'kindName' | 'logo'> & { logo?: Logo };
  type Finder = (text: string, searcher: Searcher, limit: number) => Promise<Match[]>;
  const finders: Record<(typeof KINDS)[number], { needs?: Need; find: Finder }> = {
    rejection: {
      needs: 'gatehouse.audit:read',
      async find(text) {
        const found = REFERENCE.test(text) ? await services.rejections.find(text) : undefined;
        return found
          ? [{ text: found.code, small: found.message, href: `/admin/rejections/${found.code}`, rank: MATCHES.equal }]
          : [];
      },
    },
    page: {
      find: async (text, { meets }) =>
        pages(meets).map(({ href, label, below, icon }) => ({
          text: label,
          small: below,
          href,
          logo: { name: label, icon },
          rank: rankOf(text, [label, ...listed(wordsOf(href))]),
        })),
    },
    user: {
      needs: within('gatehouse.users:read'),
      async find(search, { by }, limit) {
        const { accounts } = await users.list({ search, limit, isQuick: true }, by);
        return accounts.map((account) => {
          const { username, email } = account;
          const { text, logo, small } = userMark(account);
          const rank = matchRank(search, [username, email, String(text)]);
          const value = matchedValue(services.settings.latest().user_attributes, account.attributes, search);
          return {
            text,
            logo,
            small: dotted([small, email !== username && email, value]),
            href: `/admin/users/${account.id}`,
            rank: value === undefined ? rank : Math.min(rank, MATCHES.word),
          };
        });
      },
    },
    application: {
      needs: within('gatehouse.applications:read'),
      async find(search, { by }, limit) {
        const found = await applications.list({ search, limit }, by);
        const logos = await services.pictures.addressesOf(found.applications.map(({ id }) => id));
        return found.applications.map(({ id, name, clientId, metadata }) => ({
          text: name,
          logo: { name, picture: logos.get(id), product: metadata.preset },
          small: clientId,
          href: `/admin/applications/${id}`,
          rank: matchRank(search, [name, clientId]),
        }));
      },
    },
    group: {
      needs: 'gatehouse.groups:read',
      find: async (search, _searcher, limit) =>
        (await groups.list({ search, limit })).groups.map(({ id, name, path, description }) => ({
          text: name,
          small: path === `/${name}` ? description : path,
          href: `/admin/groups/${id}`,
          rank: matchRank(search, [name]),
        })),
    },
    role: {
      needs: 'gatehouse.roles:read',
      find: async (search) =>
        (await roles.list()).map(({ id, name, description }) => ({
          text: name,
          small: description,
          href: `/admin/roles/${id}`,
          rank: matchRank(search, [name]),
        })),
    },
    setting: {
      needs: 'gatehouse.settings:read',
      find: async (text) =>
        SETTING_PLACES.flatMap(({ name, href, tab }) => {
          const { label, hint = '' } = settingTexts(name);
          const own = name === 'user_attributes' ? ownFields(services.settings.latest().user_attributes) : [];
          const names = [String(label), name, ...listed(textAt(`console.search.words.setting.${name}`))];
          return [{ text: label, names, others: String(hint) }, ...own].map(({ text: found, names, others }) => ({
            text: found,
            small: String(tab),
            href,
            rank: rankOf(text, names, others),
          }));
        }),
    },
  };

  /** Behind everything that can be opened and changed. */
  const sectionsWith = (text: string, limit: number, hasOthers: boolean): Found[] =>
    services.documents.search(text, limit, { hasOthers }).map(({ title, chapter, href, excerpt }) => ({
      kind: 'document',
      kindName: t('console.search.document'),
      text: title,
      small: dotted([chapter !== title && chapter, excerpt]),
      href,
      logo: { name: title, icon: 'book-open' },
      rank: MATCHES.inside,
    }));

  /** @param limit for each kind */
  return async (text: string, searcher: Searcher, limit: number): Promise<Found[]> => {
    const wanted = text.trim();
    if (wanted === '') return [];
    const allowed = KINDS.filter((kind) => {
      const { needs } = finders[kind];
      return needs === undefined || searcher.meets(needs);
    });
    return inLanguage(searcher.language, async () => {
      const found = (
        await Promise.all(
          allowed.map(async (kind) => {
            const all = await finders[kind].find(wanted, searcher, limit);
            const matches = all.filter(({ rank }) => rank < MATCHES.none).sort((a, b) => a.rank - b.rank);
            return matches.slice(0, limit).map((one): Found => {
              const logo = { name: String(one.text), ...ICONS[kind] };
              return { logo, ...one, kind, kindName: t(`console.search.${kind}`) };
            });
          }),
        )
      ).flat();
      return [...found, ...sectionsWith(wanted, limit, found.length > 0)].sort((a, b) => a.rank - b.rank);
    });
  };
}

/** With the key by which build/styles.mjs finds them. */
const ICONS: Readonly<Partial<Record<Kind, { icon: string }>>> = {
  rejection: { icon: 'circle-x' },
  group: { icon: 'users-round' },
  role: { icon: 'shield-check' },
  setting: { icon: 'settings' },
};

/** The own fields of users, by their labels and names. */
const ownFields = ({ properties = {} }: AttributeSchema) =>
  Object.entries(properties as Record<string, FieldKeywords>).map(([name, keywords]) => ({
    text: labelOf(name, keywords),
    names: [...titlesOf(keywords), name],
    others: '',
  }));

/** Of the best of these names; `inside` where each word of the text is in one of them or in the other words. */
function rankOf(text: string, names: readonly string[], others = ''): number {
  const all = nameKey([...names, others].join(' '));
  // The texts have US spelling.
  const words = nameKey(text)
    .replace(/colou?r/g, 'color')
    .split(/\s+/);
  return Math.min(matchRank(text, names), words.every((word) => all.includes(word)) ? MATCHES.inside : MATCHES.none);
}

/** What administrators call a page of the console, and what they do there. */
const wordsOf = (href: string) => textAt(`console.search.words.${href.replace('/admin/', '').replaceAll('/', '-')}`);

const listed = (words: PageText = ''): string[] => String(words).split(', ');

/** Pages of which the navigation has no entry. */
const ACTIONS: readonly { href: string; label: PageText; icon: string; needs: Need }[] = [
  { href: '/admin/users/new', label: t('console.users.add'), icon: 'plus', needs: CREATE_USERS },
  { href: '/admin/import', label: t('console.import.title'), icon: 'upload', needs: within('gatehouse.users:write') },
];

/** Each setting with the page that has it. */
const SETTING_PLACES = [SECURITY, SETTINGS].flatMap(({ tabs }) =>
  tabs.flatMap(({ href, label: tab, boxes }) =>
    boxes.flatMap(settingsIn).map((name) => ({ name, href: `${href}#f-${name}`, tab })),
  ),
);

/** The pages of the navigation, and the tabs of the settings, that the administrator may open. */
function pages(meets: Searcher['meets']) {
  const entries = navigationAt('', meets, { rejections: 0 }).flatMap((group) => group.entries);
  const tabs = meets('gatehouse.settings:read') ? [SECURITY, SETTINGS] : [];
  const actions = ACTIONS.filter(({ needs }) => meets(needs));
  return [
    ...[...entries, ...actions].map(({ href, label, icon }) => ({ href, label: String(label), below: '', icon })),
    ...tabs.flatMap(({ title, tabs }) =>
      tabs.map(({ href, label }) => ({ href, label: String(label), below: String(title), icon: 'settings' })),
    ),
  ];
}
