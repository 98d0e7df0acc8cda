// /admin/applications/:id: how the application is connected, what is left to set up, how much it is used, and what happened last.

import type { Application } from '../../../applications/application.ts';
import { type Access, needsPkce } from '../../../applications/fields/oidc-client.ts';
import type { Context } from '../../../base/http/context.ts';
import { present } from '../../../base/platform/defined.ts';
import { oneOf, type PageText, t } from '../../../base/texts/text.ts';
import type { AuditEntry } from '../../../core/audit/audit.ts';
import { isUnregistered } from '../../../protocols/oidc/registration.ts';
import { certificateEnds } from '../../../protocols/saml/metadata/certificate-ends.ts';
import { metadataWarnings, parseServiceProviderMetadata } from '../../../protocols/saml/metadata/parse.ts';
import { eventItems } from '../../audit/console-rows.ts';
import { type Block, type Cell, maxBarValue, type Step } from '../../console/blocks.ts';
import { expiryCell } from '../../console/expiry.ts';
import { ACCESS_CHECK_NEEDS } from '../../console/suggest.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { PageOfOne } from '../../noun-pages.ts';
import { waitingMetadataNotice } from '../console-changes.ts';
import { accessCell, pkceWarning } from '../console-parts.ts';
import { profileName } from '../form/change.ts';
import { pictureWarning } from '../picture/console.ts';
import { demandsOf, readsRolesOrGroups, rolesThatCount } from '../presets/demands.ts';
import { productOf } from '../presets/presets.ts';
import { proxies } from '../presets/proxies.ts';
import type { UsageOfDay } from '../usage.ts';
import type { Tested } from '../website-test.ts';
import { type OpenApplication, tabOf } from './tab-page.ts';

const DAYS = 30;
const RECENT = 5;

export async function overviewTab(ctx: Context, open: OpenApplication, services: ConsoleServices): Promise<PageOfOne> {
  const { application, path, mayChange } = open;
  const { frame, usage } = services;
  const { applications, audit } = services.admin;
  const mayReadAudit = frame.may(ctx, 'gatehouse.audit:read');
  const hasPeople = application.access === 'everyone' || (await services.admin.people.hasAny(application));
  const [waiting, days, firstSignIn, demands, host, events] = await Promise.all([
    applications.waitingMetadata(application),
    usage.byDay(application, DAYS),
    usage.firstSignIn(application),
    demandSteps(ctx, open, services, hasPeople),
    application.protocol === 'proxy' ? services.websiteTest.hostCheck(application) : undefined,
    mayReadAudit ? audit.list({ clientId: application.clientId, limit: RECENT }, frame.actor(ctx)) : [],
  ]);
  const isWaiting = waiting !== undefined;
  return tabOf(open, '', {
    actions:
      isWaiting && mayChange
        ? [{ label: t('console.tabs.overview.compare-metadata'), href: `${path}/metadata`, look: 'primary' as const }]
        : [],
    blocks: [
      ...waitingMetadataNotice(isWaiting),
      ...pkceWarning(application),
      ...hostWarning(host),
      ...secretWarning(open),
      ...pictureWarning(open),
      ...documentWarnings(application),
      connectionBlock(application, services.identityProvider().issuer, path, services.now()),
      usageBlock(days),
    ],
    aside: present([
      !isUnregistered(application) && {
        kind: 'steps',
        title: t('console.tabs.overview.setup'),
        steps: setupSteps(open, firstSignIn, demands, hasPeople),
      },
      mayReadAudit && (await activityBlock(events, `${path}/activity`, services)),
    ]),
  });
}

/** A website that receives cookies of others, or whose own reach another one. */
function hostWarning(host: Tested | undefined): Block[] {
  return host?.explanation ? [{ kind: 'text', tone: 'warning', text: host.explanation }] : [];
}

/** An old secret that expires although it may be in use still. */
function secretWarning({ secrets }: OpenApplication): Block[] {
  const ending = secrets.find(({ expiresAt }) => expiresAt !== null);
  if (!ending?.expiresAt) return [];
  return [
    {
      kind: 'text',
      tone: 'warning',
      text: t('console.tabs.overview.secret-expires', { at: ending.expiresAt }),
    },
  ];
}

/** What of its metadata is not used. */
function documentWarnings({ protocol, metadata }: Application): Block[] {
  if (protocol !== 'saml' || metadata.metadata_xml === undefined) return [];
  const read = parseServiceProviderMetadata(metadata.metadata_xml, new Date(0));
  return metadataWarnings(read).map((text) => ({ kind: 'text', tone: 'warning', text }));
}

/** The values that connect both sides. */
function connectionBlock(application: Application, issuer: string, path: string, now: Date): Block {
  const { protocol, metadata, clientId } = application;
  const value = (text: string, copy: PageText): Cell => ({ text, copy });
  const rows: { label: PageText; value: Cell }[] =
    protocol === 'proxy'
      ? [
          { label: t('console.tabs.value.address'), value: value(clientId, t('console.tabs.value.address')) },
          { label: t('console.field.proxy.label'), value: proxies[metadata.proxy].name },
        ]
      : protocol === 'oidc'
        ? present([
            { label: t('console.tabs.value.client-id'), value: value(clientId, t('console.tabs.copy.client-id')) },
            { label: t('console.tabs.value.issuer'), value: value(issuer, t('console.tabs.copy.issuer')) },
            {
              label: t('console.tabs.value.discovery'),
              value: value(`${issuer}/.well-known/openid-configuration`, t('console.tabs.copy.discovery')),
            },
            {
              label: t('console.tabs.value.redirect-uris'),
              value: metadata.redirect_uris.map((uri) => value(uri, t('console.tabs.copy.redirect-uri'))),
            },
            {
              label: t('console.tabs.value.client-authentication'),
              value: { text: metadata.token_endpoint_auth_method, code: true },
            },
            metadata.profile && { label: t('console.tabs.value.profile'), value: profileName(metadata.profile) },
            !needsPkce(metadata) && {
              label: 'PKCE',
              value: { text: t('console.tabs.value.pkce-not-required'), tone: 'warn' },
            },
          ])
        : [
            { label: t('console.tabs.value.entity-id'), value: value(clientId, t('console.tabs.copy.entity-id')) },
            {
              label: t('console.tabs.value.idp-metadata'),
              value: value(`${issuer}/saml/metadata`, t('console.tabs.copy.metadata-address')),
            },
            {
              label: t('console.tabs.value.sso-url'),
              value: value(`${issuer}/saml/sso`, t('console.tabs.copy.sso-url')),
            },
            {
              label: metadata.acs ? t('console.field.acs_url.adds') : t('console.field-section.metadata.title'),
              value: metadata.metadata_url
                ? { text: metadata.metadata_url, code: true }
                : metadata.metadata_xml
                  ? t('console.tabs.value.metadata-document')
                  : (metadata.acs ?? []).map(({ url }) => ({ text: url, code: true })),
            },
            ...certificateRow(certificateEnds(metadata), now),
          ];
  const access = { label: t('console.tabs.access'), value: accessCell(application) };
  const endpoints = { label: t('console.tabs.value.all-endpoints'), href: `${path}/setup` };
  const actions = isUnregistered(application) ? [] : [endpoints];
  return { kind: 'facts', title: t('console.tabs.overview.connection'), actions, rows: [...rows, access] };
}

/** When its certificates expire, the first one first. */
function certificateRow(ends: readonly Date[], now: Date): { label: PageText; value: Cell }[] {
  const [first] = [...ends].sort((a, b) => a.getTime() - b.getTime());
  return first ? [{ label: t('console.tabs.overview.certificate-expires'), value: expiryCell(first, now) }] : [];
}

function usageBlock(days: readonly UsageOfDay[]): Block {
  const bars = days.map(({ day, signIns, rejected }) => ({ label: day, value: signIns, bad: rejected }));
  const signIns = bars.reduce((all, { value }) => all + value, 0);
  const rejected = bars.reduce((all, { bad }) => all + bad, 0);
  const summary = t('console.tabs.overview.usage', { count: signIns, rejected, days: DAYS });
  return {
    kind: 'days',
    title: t('console.tabs.overview.sign-ins'),
    summary,
    bars,
    max: maxBarValue(bars),
    badLabel: t('console.tabs.overview.rejected'),
  };
}

/** What an application needs until people use it. */
function setupSteps(
  { application, path, isEditable: mayWrite }: OpenApplication,
  firstSignIn: Date | undefined,
  demands: readonly Step[],
  hasPeople: boolean,
): Step[] {
  const { protocol, metadata, createdAt, access } = application;
  const canEnd = protocol === 'oidc' && Boolean(metadata.backchannel_logout_uri ?? metadata.frontchannel_logout_uri);
  const isListed =
    protocol === 'proxy' ||
    (protocol === 'oidc'
      ? Boolean(metadata.client_uri ?? metadata.initiate_login_uri)
      : Boolean(metadata.start_url ?? metadata.idp_initiated));
  const edit = (label: PageText, of: string, tab: string) =>
    mayWrite ? { action: { label, of, href: `${path}/${tab}` } } : {};
  return present([
    { title: t('console.tabs.step.added'), text: '', doneAt: createdAt, isDone: true },
    {
      title: t('console.tabs.step.first-sign-in'),
      text: t('console.tabs.step.first-sign-in-text'),
      isDone: firstSignIn !== undefined,
      ...(firstSignIn && { doneAt: firstSignIn }),
      action: { label: t('console.tabs.setup'), of: application.name, href: `${path}/setup` },
    },
    accessStep(access, hasPeople, {
      rule: edit(t('console.access-check.change-rule'), application.name, 'access'),
      people: { action: { label: t('console.people.give'), of: application.name, href: `${path}/people` } },
    }),
    ...demands,
    {
      title: t('console.tabs.step.listed'),
      text: t('console.tabs.step.listed-text'),
      isDone: isListed,
      ...edit(t('console.tabs.step.set-home-page'), application.name, 'settings'),
    },
    // A product without the URI cannot be notified.
    protocol === 'oidc' &&
      metadata.redirect_uris.length > 0 &&
      (canEnd || !productOf(application)) && {
        title: t('console.tabs.step.sign-out'),
        text: t('console.tabs.step.sign-out-text'),
        isDone: canEnd,
        ...edit(t('console.tabs.step.add-logout-uri'), application.name, 'settings'),
      },
  ]);
}

/** Who may open it. A rule that names nothing any more lets nobody in, and neither does an empty group. */
function accessStep(
  access: Access,
  hasPeople: boolean,
  { rule, people }: Record<'rule' | 'people', Pick<Step, 'action'>>,
): Step {
  if (access === 'everyone') return { title: t('console.tabs.step.open'), text: '', isDone: true };
  const [roles, groups] = [access.roles.length, access.groups?.length ?? 0];
  const title = t('console.tabs.step.limited', { roles, groups });
  if (roles + groups > 0 && hasPeople) return { title, text: '', isDone: true };
  if (roles + groups > 0) return { title, text: t('console.tabs.step.limited-to-nobody'), isDone: false, ...people };
  return { title: t('console.tabs.step.closed'), text: t('console.tabs.step.closed-text'), isDone: false, ...rule };
}

/** What the product demands of people: done when no one who may open the application lacks it. */
async function demandSteps(
  ctx: Context,
  { application }: OpenApplication,
  { frame, usage }: ConsoleServices,
  hasPeople: boolean,
): Promise<Step[]> {
  const product = productOf(application);
  if (!product) return [];
  const roles = rolesThatCount(product, application.metadata);
  const mayCheck = ACCESS_CHECK_NEEDS.every((permission) => frame.may(ctx, permission));
  return Promise.all(
    demandsOf(product).map(async ({ demand, isRejected }): Promise<Step> => {
      const values = {
        product: product.title,
        roles: oneOf(roles),
        demand,
        of: readsRolesOrGroups(product),
        end: isRejected ? 'rejected' : 'none',
      };
      return {
        title: t('console.tabs.step.demand', values),
        text:
          demand === 'role' && roles.length === 0
            ? t('console.access-check.no-role-counts', { app: product.title, of: readsRolesOrGroups(product) })
            : t('console.tabs.step.demand-text', values),
        isDone: hasPeople && !(await usage.hasUserWithout(application, demand, roles, readsRolesOrGroups(product))),
        ...(mayCheck && {
          action: {
            label: t('console.access-check.title'),
            of: application.name,
            href: `/admin/access-check?${new URLSearchParams({ app: application.clientId })}`,
          },
        }),
      };
    }),
  );
}

async function activityBlock(events: readonly AuditEntry[], href: string, { names }: ConsoleServices): Promise<Block> {
  return {
    kind: 'events',
    title: t('console.tabs.overview.activity'),
    caption: t('console.tabs.overview.activity-caption'),
    actions: events.length > 0 ? [{ label: t('console.tabs.overview.view-all'), href }] : [],
    items: await eventItems(events, names),
    empty: t('console.tabs.overview.no-activity'),
  };
}
