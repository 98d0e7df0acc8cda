// Who has to be told that a session has ended, and how: from what the session knows of its applications, and from what
// those are registered with at that moment.
import type { ServiceProviderSettings } from '../applications/service-provider.ts';
import type { SessionEntry } from '../oidc/sessions.ts';
import type { Tx } from '../platform/db.ts';
import type { SloEndpoint } from '../saml/metadata-parse.ts';
import type { NameId } from '../saml/nameid.ts';
import { sloEndpoints } from '../saml/service-providers.ts';
import type { Channel } from './next-hop.ts';
import type { NewParticipant, ParticipantData } from './run.ts';

export interface PlanOptions {
  /** Our own pages, whose sessions end with the single sign-on session. */
  ownClientId: string;
  /** Whether a browser is there to be led around. */
  hasBrowser: boolean;
  /** The application that asked for the sign-out. */
  askedBy: string | undefined;
}

interface Registered {
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean;
  metadata: string;
}

/** The participants of these sessions, those of OpenID Connect first. Reads inside the transaction that ends them. */
export async function planParticipants(
  tx: Tx,
  sessions: readonly SessionEntry[],
  { ownClientId, hasBrowser, askedBy }: PlanOptions,
): Promise<NewParticipant[]> {
  const clientIds = new Set(sessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)));
  clientIds.delete(ownClientId);
  if (clientIds.size === 0) return [];
  const registered = await tx.application.findMany({ where: { clientId: { in: [...clientIds] } } });
  const byClientId = new Map(registered.map((application) => [application.clientId, application]));
  const held = await tx.samlParticipant.findMany({
    where: { sessionUid: { in: sessions.map(({ uid }) => uid) } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

  const oidc = sessions.flatMap(({ participants }) =>
    participants.flatMap(({ clientId, sid }) => {
      const application = byClientId.get(clientId);
      if (clientId === ownClientId || application?.protocol === 'saml') return [];
      return planOidc(application, { clientId, sid, hasBrowser, isAsker: clientId === askedBy });
    }),
  );
  const saml = held.flatMap((row) => {
    const application = registered.find(({ id }) => id === row.applicationId);
    if (!application) return []; // removed since, and its entity ID with it
    const data = { nameId: nameIdOf(row), sessionIndex: row.sessionIndex };
    return planSaml(application, { data, hasBrowser, isAsker: application.clientId === askedBy });
  });
  return [...oidc, ...saml];
}

function planOidc(
  application: Registered | undefined,
  about: { clientId: string; sid: string | undefined; hasBrowser: boolean; isAsker: boolean },
): NewParticipant {
  const { clientId, sid, hasBrowser, isAsker } = about;
  const common = { clientId, protocol: 'oidc' as const, name: application?.name ?? clientId, data: { sid } };
  if (!application?.enabled) return { ...common, channel: 'none', state: 'failed', reason: 'switched_off' };
  const { backchannel_logout_uri: back, frontchannel_logout_uri: front } = JSON.parse(application.metadata) as {
    backchannel_logout_uri?: string;
    frontchannel_logout_uri?: string;
  };
  // A call of ours reaches it whatever the browser does, so it is preferred.
  if (back) return { ...common, channel: 'back', state: 'waiting' };
  if (front && hasBrowser) return { ...common, channel: 'front', state: 'waiting' };
  if (isAsker) return { ...common, channel: 'none', state: 'done', reason: 'asked' };
  return { ...common, channel: 'none', state: 'unsupported', reason: front ? 'needs_browser' : 'no_logout' };
}

function planSaml(
  application: Registered,
  { data, hasBrowser, isAsker }: { data: ParticipantData; hasBrowser: boolean; isAsker: boolean },
): NewParticipant {
  const { clientId, name } = application;
  const common = { clientId, protocol: 'saml' as const, name };
  // Its request was signed, and it gets an answer of its own at the end.
  if (isAsker) return { ...common, data, channel: 'none', state: 'done', reason: 'asked' };
  if (!application.enabled) return { ...common, data, channel: 'none', state: 'failed', reason: 'switched_off' };
  const endpoints = endpointsOf(application);
  const has = (binding: SloEndpoint['binding']) => endpoints.some((endpoint) => endpoint.binding === binding);
  // The browser first, because sessions of applications hang on cookies; by redirect, because a POST brings none that
  // are SameSite=Lax.
  const visit = has('redirect') ? 'redirect' : has('post') ? 'post' : undefined;
  const channel: Channel | undefined = hasBrowser && visit ? visit : has('soap') ? 'soap' : undefined;
  if (channel) return { ...common, data: { ...data, hasSoap: has('soap') }, channel, state: 'waiting' };
  return { ...common, data, channel: 'none', state: 'unsupported', reason: visit ? 'needs_browser' : 'no_logout' };
}

/** Nothing that an application is registered with may keep a session alive. */
function endpointsOf({ metadata }: Registered): readonly SloEndpoint[] {
  try {
    return sloEndpoints(JSON.parse(metadata) as ServiceProviderSettings);
  } catch {
    return [];
  }
}

function nameIdOf(row: {
  nameId: string;
  nameIdFormat: string;
  nameQualifier: string | null;
  spNameQualifier: string | null;
}): NameId {
  return {
    value: row.nameId,
    format: row.nameIdFormat,
    ...(row.nameQualifier === null ? {} : { nameQualifier: row.nameQualifier }),
    ...(row.spNameQualifier === null ? {} : { spNameQualifier: row.spNameQualifier }),
  };
}
