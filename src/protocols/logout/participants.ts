// Plans how each application of the ended sessions is notified, from its current registration.
import { readMetadata } from '../../applications/application.ts';
import { isGenuineApplication } from '../../applications/macs/protected-applications.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { ProtectedRows } from '../../base/storage/protected-rows.ts';
import type { SessionEntry } from '../oidc/store/sessions/sessions.ts';
import type { NameId } from '../saml/messages/name-id.ts';
import type { SloEndpoint } from '../saml/metadata/entity.ts';
import { sloEndpoints } from '../saml/metadata/service-providers.ts';
import type { Channel } from './front-channel/next-step.ts';
import { INITIATOR, type NewParticipant, type ParticipantData } from './logout-run.ts';

export interface PlanOptions {
  /** client_id of this server's own pages, whose sessions end with the single sign-on session. */
  ownClientId: string;
  /** Whether there is a browser for front-channel steps. */
  hasBrowser: boolean;
  /** The application that began the logout. */
  initiator: string | undefined;
  /** An application that another program wrote or changed is not notified: an attacker may have chosen its addresses. */
  protectedRows: ProtectedRows;
}

interface Registered {
  id: string;
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean;
  metadata: string;
}

/** The participants of these sessions, OpenID Connect first. Reads inside the transaction that ends the sessions. */
export async function planParticipants(
  tx: Tx,
  sessions: readonly SessionEntry[],
  { ownClientId, hasBrowser, initiator, protectedRows }: PlanOptions,
): Promise<NewParticipant[]> {
  const clientIds = new Set(sessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)));
  clientIds.delete(ownClientId);
  if (clientIds.size === 0) return [];
  const rows = await tx.asStored.application.findMany({ where: { clientId: { in: [...clientIds] } } });
  const registered: Registered[] = rows.map((row) => ({
    ...row,
    enabled: row.enabled && isGenuineApplication(row, protectedRows),
  }));
  const byClientId = new Map(registered.map((application) => [application.clientId, application]));
  const samlParticipants = await tx.samlParticipant.findMany({
    where: { sessionUid: { in: sessions.map(({ uid }) => uid) }, endedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });

  const oidc = sessions.flatMap(({ participants }) =>
    participants.flatMap(({ clientId, sid }) => {
      const application = byClientId.get(clientId);
      if (clientId === ownClientId || application?.protocol === 'saml') return [];
      return planOidc(application, { clientId, sid, hasBrowser, isInitiator: clientId === initiator });
    }),
  );
  const saml = samlParticipants.flatMap((row) => {
    const application = registered.find(({ id }) => id === row.applicationId);
    if (!application) return []; // deleted meanwhile
    const data = { nameId: nameIdOf(row), sessionIndex: row.sessionIndex };
    return planSaml(application, { data, hasBrowser, isInitiator: application.clientId === initiator });
  });
  return [...oidc, ...saml];
}

function planOidc(
  application: Registered | undefined,
  about: { clientId: string; sid: string | undefined; hasBrowser: boolean; isInitiator: boolean },
): NewParticipant {
  const { clientId, sid, hasBrowser, isInitiator } = about;
  const common = { clientId, protocol: 'oidc' as const, name: application?.name ?? clientId, data: { sid } };
  if (!application?.enabled) return { ...common, channel: 'none', state: 'failed', reason: 'switched_off' };
  const { backchannel_logout_uri: back, frontchannel_logout_uri: front } = readMetadata('oidc', application.metadata);
  // Back-channel logout is preferred: it does not depend on the browser.
  if (back) return { ...common, channel: 'back', state: 'waiting' };
  if (front && hasBrowser) return { ...common, channel: 'front', state: 'waiting' };
  if (isInitiator) return { ...common, channel: 'none', state: 'done', reason: INITIATOR };
  return { ...common, channel: 'none', state: 'unsupported', reason: front ? 'needs_browser' : 'no_logout' };
}

function planSaml(
  application: Registered,
  { data, hasBrowser, isInitiator }: { data: ParticipantData; hasBrowser: boolean; isInitiator: boolean },
): NewParticipant {
  const { clientId, name } = application;
  const common = { clientId, protocol: 'saml' as const, name };
  // It gets a LogoutResponse when the run is complete.
  if (isInitiator) return { ...common, data, channel: 'none', state: 'done', reason: INITIATOR };
  if (!application.enabled) return { ...common, data, channel: 'none', state: 'failed', reason: 'switched_off' };
  const endpoints = endpointsOf(application);
  const has = (binding: SloEndpoint['binding']) => endpoints.some((endpoint) => endpoint.binding === binding);
  // The browser is preferred, because applications find their session by cookie; and redirect over POST, because a POST
  // from another site has no SameSite=Lax cookies.
  const visit = has('redirect') ? 'redirect' : has('post') ? 'post' : undefined;
  const channel: Channel | undefined = hasBrowser && visit ? visit : has('soap') ? 'soap' : undefined;
  if (channel) return { ...common, data: { ...data, hasSoap: has('soap') }, channel, state: 'waiting' };
  return { ...common, data, channel: 'none', state: 'unsupported', reason: visit ? 'needs_browser' : 'no_logout' };
}

/** Registration data that cannot be read must not prevent the logout. */
function endpointsOf({ metadata }: Registered): readonly SloEndpoint[] {
  try {
    return sloEndpoints(readMetadata('saml', metadata));
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
