// /admin/applications: the list, with filters, sorting, and how much each application is used; and every page below it.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Cell, Empty, Search } from '../console/blocks.ts';
import { listQuery } from '../console/frame.ts';
import { type ListAddress, pageLinks, sortColumn, sortedPath } from '../console/lists.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../resource.ts';
import { applicationNoun } from './api.ts';
import { addEnableAndDeletePages, addMetadataPages, addSecretPages } from './console-changes.ts';
import { addNewApplicationPages } from './console-new.ts';
import { accessCell, isServiceAccount, protocolName } from './console-parts.ts';
import { addPicturePages } from './picture/console.ts';
import type { SignInCount } from './sign-in-counts.ts';
import { stateTag } from './tabs/tab-page.ts';
import { addTabs } from './tabs/tabs.ts';

/** All pages below /admin/applications. */
export function applicationRoutes(services: ConsoleServices) {
  const pages = pagesOf(services.frame, applicationNoun(services.admin.applications));
  addNewApplicationPages(pages.router, services);
  addListRoute(pages.router, services);
  addTabs(pages, services);
  addSecretPages(pages, services);
  addPicturePages(pages, services);
  addMetadataPages(pages, services);
  addEnableAndDeletePages(pages, services);
  return pages.router;
}

const HOME = '/admin/applications';
const WRITE = 'gatehouse.applications:write' as const;
const query = listQuery.extend({
  protocol: z.enum(['', 'oidc', 'saml']).default(''),
  state: z.enum(['', 'enabled', 'disabled']).default(''),
  sort: z.enum(['name', '-name', 'sign-ins', '-sign-ins']).default('name'),
});
type Query = z.output<typeof query>;

function addListRoute(
  router: Router<State, Extras>,
  { frame, admin: { applications }, pictures, signIns }: ConsoleServices,
): void {
  router.get('/', ...frame.page(within('gatehouse.applications:read')), async (ctx) => {
    const given = parseQuery(ctx, query);
    const { q, after, protocol, state, sort } = given;
    const counts = await signIns.lastDays();
    const isBySignIns = sort.endsWith('sign-ins');
    const filter = { search: q, ...(state && { enabled: state === 'enabled' }) };
    const by = frame.actor(ctx);
    const [page, byProtocol] = await Promise.all([
      applications.list(
        {
          ...filter,
          after,
          limit: limits.api.pageSize,
          ...(protocol && { protocol }),
          isDescending: sort.startsWith('-'),
          ...(isBySignIns && { rank: ({ clientId }) => counts?.get(clientId)?.total ?? 0 }),
        },
        by,
      ),
      applications.countByProtocol(filter, by),
    ]);
    const logos = await pictures.addressesOf(page.applications.map(({ id }) => id));
    const list: ListAddress = { path: HOME, filters: { q, protocol, state }, sort, defaultSort: 'name' };
    const total = protocol ? byProtocol[protocol] : byProtocol.oidc + byProtocol.saml;
    frame.show(ctx, {
      title: t('console.applications.title'),
      lead: t('console.applications.lead'),
      actions: frame.may(ctx, WRITE)
        ? [
            { label: t('console.applications.test'), icon: 'flask-conical', href: '/admin/test' },
            { label: t('console.applications.add'), icon: 'plus', href: `${HOME}/new`, look: 'primary' },
          ]
        : [],
      blocks: [
        {
          kind: 'table',
          caption: t('console.applications.title'),
          filter: filterOf(given, list, byProtocol),
          columns: [
            sortColumn(t('console.applications.list.application'), 'name', list),
            { label: t('console.applications.list.protocol'), isShort: true, isMinor: true },
            t('console.applications.list.access'),
            sortColumn(t('console.applications.list.sign-ins'), '-sign-ins', list, { isNumber: true }),
            { label: t('console.applications.list.last'), isShort: true },
            t('console.shared.status'),
          ],
          rows: page.applications.map((one) =>
            rowOf(one, logos.get(one.id), counts && (counts.get(one.clientId) ?? 'none')),
          ),
          empty:
            q || protocol || state ? t('console.applications.list.no-match') : noApplications(frame.may(ctx, WRITE)),
          count: t('console.applications.list.count', { count: total }),
          pages: pageLinks(list, given, page.next),
        },
      ],
    });
  });
}

function rowOf(
  application: Application,
  picture: string | undefined,
  signIns: SignInCount | 'none' | undefined,
): Cell[] {
  const { id, name, clientId, protocol } = application;
  const isService = isServiceAccount(application);
  const used = signIns === 'none' || signIns === undefined ? undefined : signIns;
  const logo = { name, picture };
  return [
    { text: name, href: `${HOME}/${id}`, small: clientId, logo },
    isService ? t('console.applications.list.service') : protocolName[protocol],
    isService ? t('console.applications.list.service-account') : accessCell(application),
    isService || signIns === undefined
      ? ''
      : { bars: used?.bars ?? [], text: t('console.shared.number', { value: used?.total ?? 0 }) },
    isService || signIns === undefined ? '' : (used?.last ?? t('console.applications.list.not-recently')),
    stateTag(application),
  ];
}

function filterOf(
  { q, protocol, state, sort }: Query,
  list: ListAddress,
  counts: { oidc: number; saml: number },
): Search {
  const segment = (value: '' | 'oidc' | 'saml', label: PageText, count: number) => ({
    label,
    count: t('console.shared.number', { value: count }),
    isCurrent: value === protocol,
    href: sortedPath({ ...list, filters: { ...list.filters, protocol: value } }, list.sort),
  });
  return {
    action: HOME,
    fields: [
      {
        name: 'q',
        label: t('console.applications.list.search'),
        type: 'search',
        value: q,
        isLabelHidden: true,
        placeholder: t('console.applications.list.search-by'),
      },
      {
        name: 'state',
        label: t('console.shared.status'),
        type: 'select',
        value: state,
        isLabelHidden: true,
        options: [
          { value: '', label: t('console.applications.list.any-status') },
          { value: 'enabled', label: t('console.shared.enabled') },
          { value: 'disabled', label: t('console.shared.disabled') },
        ],
      },
      { name: 'protocol', label: '', type: 'hidden', value: protocol },
      { name: 'sort', label: '', type: 'hidden', value: sort === 'name' ? '' : sort },
    ],
    segments: [
      segment('', t('console.applications.list.all'), counts.oidc + counts.saml),
      segment('oidc', protocolName.oidc, counts.oidc),
      segment('saml', protocolName.saml, counts.saml),
    ],
  };
}

function noApplications(mayAdd: boolean): Empty {
  return {
    icon: 'layout-grid',
    title: t('console.applications.list.none'),
    text: t('console.applications.list.none-text'),
    ...(mayAdd && { action: { label: t('console.applications.list.add-first'), icon: 'plus', href: `${HOME}/new` } }),
  };
}
