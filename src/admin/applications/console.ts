// /admin/applications: the list, with filters, sorting, and how much each application is used; and every page below it.

import { z } from 'zod';
import { type Application, isServiceAccount, type Protocol } from '../../applications/application.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Cell, Empty, Search } from '../console/blocks.ts';
import { listQuery } from '../console/frame.ts';
import { choiceField, listAt, searchField, tableOf } from '../console/lists.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type Pages, pagesOf } from '../noun-pages.ts';
import type { ApplicationDetails } from './actions.ts';
import { applicationNoun } from './api.ts';
import { addEnableAndDeletePages, addMetadataPages, addSecretPages } from './console-changes.ts';
import { addNewApplicationPages } from './console-new.ts';
import { accessCell, protocolName } from './console-parts.ts';
import { addWebsiteTestPage } from './console-website-test.ts';
import { addPicturePages } from './picture/console.ts';
import type { SignInCount } from './sign-in-counts.ts';
import { sourceTags, stateTag } from './tabs/tab-page.ts';
import { addTabs } from './tabs/tabs.ts';

/** All pages below /admin/applications. */
export function applicationRoutes(services: ConsoleServices) {
  const pages = pagesOf(services, applicationNoun(services.admin.applications));
  addNewApplicationPages(pages.router, services);
  addListPage(pages, services);
  addTabs(pages, services);
  addSecretPages(pages, services);
  addPicturePages(pages, services);
  addMetadataPages(pages, services);
  addEnableAndDeletePages(pages, services);
  addWebsiteTestPage(pages, services);
  return pages.router;
}

const HOME = '/admin/applications';
const MOST_RANKED = 1000;
const WRITE = 'gatehouse.applications:write' as const;
const listIn = listAt(
  HOME,
  {
    q: listQuery.shape.q,
    protocol: z.enum(['', 'oidc', 'saml', 'proxy']).default(''),
    state: z.enum(['', 'enabled', 'disabled']).default(''),
    source: z.enum(['', 'agents']).default(''),
  },
  ['name', '-name', 'sign-ins', '-sign-ins', 'match'],
);

function protocolsOf(found: readonly Application[]): Record<Protocol, number> {
  const count = (wanted: Protocol) => found.filter(({ protocol }) => protocol === wanted).length;
  return { oidc: count('oidc'), saml: count('saml'), proxy: count('proxy') };
}

function addListPage(
  { list: addList }: Pages<ApplicationDetails>,
  { admin, pictures, signIns }: ConsoleServices,
): void {
  const { applications } = admin;
  addList(async ({ ctx, by, may }) => {
    const list = listIn(ctx);
    const { q, after, protocol, state, source, sort } = list.given;
    const counts = await signIns.lastDays();
    const isBySignIns = sort.endsWith('sign-ins');
    const filter = { search: q, ...(state && { enabled: state === 'enabled' }), ...(source && { source }) };
    const page = await applications.list(
      {
        ...filter,
        after,
        limit: limits.api.pageSize,
        ...(protocol && { protocol }),
        ...(sort !== 'match' && { isDescending: sort.startsWith('-') }),
        ...(isBySignIns && { rank: mostUsed(counts) }),
      },
      by,
    );
    // A search looks into every application: not again where the page has all that it finds.
    const isAll = !after && !protocol && !page.next;
    const byProtocol = isAll ? protocolsOf(page.applications) : await applications.countByProtocol(filter, by);
    const logos = await pictures.addressesOf(page.applications.map(({ id }) => id));
    /** A cell about sign-ins; empty for a service account, and before the first count. */
    const signInCell =
      (cell: (used?: SignInCount) => Cell) =>
      (one: Application): Cell =>
        isServiceAccount(one) || !counts ? '' : cell(counts.get(one.clientId));
    const total = protocol ? byProtocol[protocol] : byProtocol.oidc + byProtocol.saml + byProtocol.proxy;
    return {
      title: t('console.applications.title'),
      lead: t('console.applications.lead'),
      actions: may(WRITE)
        ? [
            { label: t('console.applications.test'), icon: 'flask-conical', href: '/admin/test' },
            { label: t('console.applications.add'), icon: 'plus', href: `${HOME}/new`, look: 'primary' },
          ]
        : [],
      blocks: [
        {
          kind: 'table',
          filter: filterOf(list, byProtocol),
          ...tableOf(page.applications, [
            [
              list.column(t('console.applications.list.application'), 'name'),
              ({ id, name, clientId, metadata }) => ({
                text: name,
                href: `${HOME}/${id}`,
                small: clientId,
                logo: { name, picture: logos.get(id), product: metadata.preset },
              }),
            ],
            [
              { label: t('console.applications.list.protocol'), isShort: true, isMinor: true },
              (one) => (isServiceAccount(one) ? t('console.applications.list.service') : protocolName[one.protocol]),
            ],
            [
              t('console.applications.list.access'),
              (one) => (isServiceAccount(one) ? t('console.applications.list.service-account') : accessCell(one)),
            ],
            [
              list.column(t('console.applications.list.sign-ins'), '-sign-ins', { isNumber: true }),
              signInCell((used) => ({
                bars: used?.bars ?? [],
                text: t('console.shared.number', { value: used?.total ?? 0 }),
              })),
            ],
            [
              { label: t('console.applications.list.last'), isShort: true },
              signInCell((used) => used?.last ?? t('console.applications.list.not-recently')),
            ],
            [t('console.shared.status'), (one) => [stateTag(one), ...sourceTags(one)]],
          ]),
          empty: list.isFiltered ? t('console.applications.list.no-match') : noApplications(may(WRITE)),
          count: t('console.applications.list.count', { count: total }),
          pages: list.pages(page.next),
        },
      ],
    };
  });
}

/** The sign-ins of those with the most. */
function mostUsed(counts: ReadonlyMap<string, SignInCount> = new Map()): Map<string, number> {
  const totals = [...counts].map(([clientId, { total }]) => [clientId, total] as const);
  return new Map(totals.sort(([, one], [, other]) => other - one).slice(0, MOST_RANKED));
}

function filterOf(list: ReturnType<typeof listIn>, counts: Record<Protocol, number>): Search {
  const { q, protocol, state, source } = list.given;
  const segment = (value: '' | Protocol, label: PageText, count: number) => ({
    label,
    count: t('console.shared.number', { value: count }),
    isCurrent: value === protocol,
    href: list.with({ protocol: value }),
  });
  return list.search(
    [
      searchField(q, t('console.applications.list.search-by'), t('console.applications.list.search')),
      choiceField('state', t('console.shared.status'), state, {
        '': t('console.applications.list.any-status'),
        enabled: t('console.shared.enabled'),
        disabled: t('console.shared.disabled'),
      }),
      choiceField('source', t('console.applications.list.source'), source, {
        '': t('console.applications.list.any-source'),
        agents: t('console.applications.list.agents'),
      }),
    ],
    {
      segments: [
        segment('', t('console.applications.list.all'), counts.oidc + counts.saml + counts.proxy),
        segment('oidc', protocolName.oidc, counts.oidc),
        segment('saml', protocolName.saml, counts.saml),
        segment('proxy', protocolName.proxy, counts.proxy),
      ],
    },
  );
}

function noApplications(mayAdd: boolean): Empty {
  return {
    icon: 'layout-grid',
    title: t('console.applications.list.none'),
    text: t('console.applications.list.none-text'),
    ...(mayAdd && { action: { label: t('console.applications.list.add-first'), icon: 'plus', href: `${HOME}/new` } }),
  };
}
