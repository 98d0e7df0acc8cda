// /admin/applications/:id: how the application is connected, what is left to set up, how much it is used, and what happened last.
import type { Application } from '../../../applications/application.ts';
import { needsPkce } from '../../../applications/fields/oidc-client.ts';
import type { AuditEntry } from '../../../audit/audit.ts';
import type { Context } from '../../../http/context.ts';
import { plural } from '../../../platform/plural.ts';
import { certificateEnds } from '../../../saml/metadata/certificate-ends.ts';
import { eventItems } from '../../audit/console-rows.ts';
import { type Block, type Cell, type ConsolePage, maxBarValue, type Step } from '../../console/blocks.ts';
import { expiryCell } from '../../console/expiry.ts';
import { waitingMetadataNotice } from '../console-metadata.ts';
import { type ApplicationPagesDependencies, accessCell, pkceWarning } from '../console-parts.ts';
import { profileName } from '../form/profile.ts';
import { productOf } from '../presets/presets.ts';
import type { UsageOfDay } from '../usage.ts';
import { type OpenApplication, tabPage } from './tab-page.ts';

const DAYS = 30;
const RECENT = 5;

export async function overviewPage(
  ctx: Context,
  open: OpenApplication,
  dependencies: ApplicationPagesDependencies,
): Promise<ConsolePage> {
  const { application, path, mayChange } = open;
  const { frame, applications, usage, audit } = dependencies;
  const mayReadAudit = frame.may(ctx, 'gatehouse.audit:read');
  const [waiting, days, firstSignIn, events] = await Promise.all([
    applications.waitingMetadata(application.id, frame.actor(ctx)),
    usage.byDay(application, DAYS),
    usage.firstSignIn(application),
    mayReadAudit ? audit.list({ clientId: application.clientId, limit: RECENT }) : [],
  ]);
  const isWaiting = waiting !== undefined;
  return tabPage(
    open,
    '',
    {
      actions:
        isWaiting && mayChange
          ? [{ label: 'Compare its new metadata', href: `${path}/metadata`, look: 'primary' as const }]
          : [],
      blocks: [
        ...waitingMetadataNotice(isWaiting),
        ...pkceWarning(application),
        ...secretWarning(open),
        connectionBlock(application, dependencies.identityProvider().issuer, path, dependencies.now()),
        usageBlock(days),
      ],
      aside: [
        { kind: 'steps', title: 'Setup', steps: setupSteps(open, firstSignIn) },
        ...(mayReadAudit ? [await activityBlock(events, `${path}/activity`, dependencies)] : []),
      ],
    },
    dependencies,
  );
}

/** An old secret that expires although it may be in use still. */
function secretWarning({ secrets }: OpenApplication): Block[] {
  const ending = secrets.find(({ expiresAt }) => expiresAt !== null);
  if (!ending?.expiresAt) return [];
  const day = ending.expiresAt.toISOString().slice(0, 10);
  return [
    {
      kind: 'text',
      tone: 'warning',
      text: `An old client secret expires on ${day}. Check that the application uses the new one.`,
    },
  ];
}

/** The values that connect both sides. */
function connectionBlock(application: Application, issuer: string, path: string, now: Date): Block {
  const { protocol, metadata, clientId } = application;
  const value = (text: string, copy: string): Cell => ({ text, copy });
  const rows: { label: string; value: Cell }[] =
    protocol === 'oidc'
      ? [
          { label: 'Client ID', value: value(clientId, 'client ID') },
          { label: 'Issuer', value: value(issuer, 'issuer') },
          {
            label: 'Discovery document',
            value: value(`${issuer}/.well-known/openid-configuration`, 'discovery document'),
          },
          { label: 'Redirect URIs', value: metadata.redirect_uris.map((uri) => value(uri, 'redirect URI')) },
          { label: 'Client authentication', value: { text: metadata.token_endpoint_auth_method, code: true } },
          ...(metadata.profile ? [{ label: 'Security profile', value: profileName(metadata.profile) }] : []),
          ...(needsPkce(metadata) ? [] : [{ label: 'PKCE', value: { text: 'Not required', tone: 'warn' as const } }]),
        ]
      : [
          { label: 'Entity ID', value: value(clientId, 'entity ID') },
          { label: 'Identity provider metadata', value: value(`${issuer}/saml/metadata`, 'address of the metadata') },
          { label: 'Single sign-on URL', value: value(`${issuer}/saml/sso`, 'single sign-on URL') },
          {
            label: 'Registered by',
            value: metadata.metadata_url
              ? { text: metadata.metadata_url, code: true }
              : metadata.metadata_xml
                ? 'A metadata document'
                : (metadata.acs ?? []).map(({ url }) => ({ text: url, code: true })),
          },
          ...certificateRow(certificateEnds(metadata), now),
        ];
  const access = { label: 'Access', value: accessCell(application) };
  const actions = [{ label: 'All endpoints', href: `${path}/setup` }];
  return { kind: 'facts', title: 'Connection', actions, rows: [...rows, access] };
}

/** When its certificates expire, the first one first. */
function certificateRow(ends: readonly Date[], now: Date): { label: string; value: Cell }[] {
  const [first] = [...ends].sort((a, b) => a.getTime() - b.getTime());
  return first ? [{ label: 'Its certificate expires', value: expiryCell(first, now) }] : [];
}

function usageBlock(days: readonly UsageOfDay[]): Block {
  const bars = days.map(({ day, signIns, rejected }) => ({ label: day, value: signIns, bad: rejected }));
  const signIns = bars.reduce((all, { value }) => all + value, 0);
  const rejected = bars.reduce((all, { bad }) => all + bad, 0);
  const summary = `${plural(signIns, 'sign-in')}, ${rejected} rejected in the last ${plural(DAYS, 'day')}.`;
  return { kind: 'days', title: 'Sign-ins', summary, bars, max: maxBarValue(bars), badLabel: 'Rejected' };
}

/** What an application needs until people use it. */
function setupSteps({ application, path, mayWrite }: OpenApplication, firstSignIn: Date | undefined): Step[] {
  const { protocol, metadata, createdAt, access } = application;
  const canEnd = protocol === 'oidc' && Boolean(metadata.backchannel_logout_uri ?? metadata.frontchannel_logout_uri);
  const isListed =
    protocol === 'oidc'
      ? Boolean(metadata.client_uri ?? metadata.initiate_login_uri)
      : Boolean(metadata.start_url ?? metadata.idp_initiated);
  const edit = (label: string, of: string, tab: string) =>
    mayWrite ? { action: { label, of, href: `${path}/${tab}` } } : {};
  return [
    { title: 'Application added', text: '', doneAt: createdAt, isDone: true },
    {
      title: 'First sign-in',
      text: 'Configure the application, then sign in to it once.',
      isDone: firstSignIn !== undefined,
      ...(firstSignIn && { doneAt: firstSignIn }),
      action: { label: 'Setup guide', of: application.name, href: `${path}/setup` },
    },
    {
      title: access === 'everyone' ? 'Open to everyone' : `Limited to ${plural(access.roles.length, 'role')}`,
      text: '',
      isDone: true,
    },
    {
      title: 'In the app list',
      text: 'People find it there when it has a home page.',
      isDone: isListed,
      ...edit('Set home page', application.name, 'settings'),
    },
    // A product without the URI cannot be notified.
    ...(protocol === 'oidc' && metadata.redirect_uris.length > 0 && (canEnd || !productOf(application))
      ? [
          {
            title: 'Sign-out everywhere',
            text: 'With a back-channel logout URI, its sessions end with the person’s session.',
            isDone: canEnd,
            ...edit('Add logout URI', application.name, 'settings'),
          },
        ]
      : []),
  ];
}

async function activityBlock(
  events: readonly AuditEntry[],
  href: string,
  { names }: Pick<ApplicationPagesDependencies, 'names'>,
): Promise<Block> {
  return {
    kind: 'events',
    title: 'Recent activity',
    caption: 'Recent events of this application, newest first',
    actions: events.length > 0 ? [{ label: 'View all', href }] : [],
    items: await eventItems(events, names),
    empty: 'Nothing yet.',
  };
}
