// Rejected requests of clients that nobody registered: what keeps them out is a setting, an API, or their metadata document.

import type { Application } from '../../applications/application.ts';
import { agentsWithApi, documentsClosedBy, scopesForAgent } from '../../applications/resources.ts';
import { includesResource } from '../../applications/uris.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import { hostOfDocument, isDocumentUrl } from '../../protocols/oidc/client-documents.ts';
import { isUnregistered } from '../../protocols/oidc/registration.ts';
import type { DiagnosticServices } from '../services.ts';

export interface AgentCase {
  /** Why the request is rejected, in a sentence; absent where none of this is at fault. */
  text?: PageText;
  /** The page of the console that changes it; absent where only the vendor of the app can. */
  page?: { label: PageText; href: string };
  /** Whether settings and APIs let the client in now. */
  isAllowed: boolean;
  /** The APIs that it may ask for. */
  apis: string[];
}

const SETTINGS = { label: t('console.rejections.agent.settings'), href: '/admin/settings' };

/** What is known about the client of this request; undefined for one that an administrator registered. */
export async function agentCase(
  { clientId = '', endpoint, message, received, rules }: Rejection,
  application: Application | undefined,
  { admin, db, settings }: DiagnosticServices,
): Promise<AgentCase | undefined> {
  const of = await settings.reload();
  if (endpoint === 'register') {
    const isOpen = !isWithoutToken({ message }) || (await agentsWithApi(of, db)).selfRegistered;
    return isOpen
      ? undefined
      : { text: t('console.rejections.agent.registration'), page: SETTINGS, isAllowed: false, apis: [] };
  }
  const hasDocument = isDocumentUrl(clientId);
  if (application ? !application.enabled || !isUnregistered(application) : !hasDocument) return undefined;
  const failed = rules.find(({ state }) => state === 'failed');
  const host = hasDocument ? hostOfDocument(clientId) : '';
  const closedBy = hasDocument ? await documentsClosedBy(host, of, db) : undefined;
  const all = await admin.resources.list();
  const client = { source: application?.source ?? ('document' as const), clientId };
  const open = all.filter((api) => scopesForAgent(api, client, of) !== undefined).map(({ identifier }) => identifier);
  const known = { isAllowed: closedBy === undefined, apis: open };
  if (failed?.rule === 'client' && closedBy !== undefined)
    return {
      ...known,
      text:
        closedBy === 'off' ? t('console.rejections.agent.off') : t(`console.rejections.agent.${closedBy}`, { host }),
      page: pageOf(closedBy),
    };
  if (failed?.rule === 'registration' && failed.expected !== undefined)
    return { ...known, text: t('console.rejections.agent.document', { reason: failed.expected }) };
  if (failed?.rule !== 'resource') return known;
  if (received.resource === undefined) return { ...known, text: t('console.rejections.agent.no-resource') };
  const asked = received.resource.split(' ');
  const closed = all.find(({ identifier }) => includesResource(asked, identifier) && !open.includes(identifier));
  if (!closed) return known;
  return { ...known, text: t('console.rejections.agent.api'), page: pageOf(closed.identifier) };
}

/** Whether a registration was rejected because it came without a token. */
export const isWithoutToken = ({ message }: Pick<Rejection, 'message'>) => message.includes('no access token provided');

function pageOf(closedBy: string): NonNullable<AgentCase['page']> {
  if (closedBy === 'off' || closedBy === 'not-listed') return SETTINGS;
  const api = closedBy === 'no-api' ? '' : `/${encodeURIComponent(closedBy)}`;
  return { label: t('console.rejections.agent.apis'), href: `/admin/apis${api}` };
}
