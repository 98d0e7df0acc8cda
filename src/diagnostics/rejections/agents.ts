// Rejected requests of clients that nobody registered: what keeps them out is a setting, an API, or their metadata document.

import type { Application } from '../../applications/application.ts';
import { agentsWithApi, documentsClosedBy, scopesForAgent } from '../../applications/resources.ts';
import { includesResource } from '../../applications/uris.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import { hostOfDocument, isDocumentUrl } from '../../protocols/oidc/client-documents.ts';
import { isUnregistered } from '../../protocols/oidc/registration.ts';
import type { DiagnosticServices } from '../services.ts';

interface AgentFault {
  /** Why the request is rejected, in a sentence; absent where none of this is at fault. */
  text?: PageText;
  /** The page of the console that changes it; absent where only the vendor of the app can. */
  page?: { label: PageText; href: string };
}

export interface AgentCase extends AgentFault {
  /** Whether settings and APIs let the client in now. */
  isAllowed: boolean;
  /** The APIs that it may ask for. */
  apis: string[];
}

const SETTINGS = { label: t('console.rejections.agent.settings'), href: '/admin/settings' };
const APIS = t('console.rejections.agent.apis');

/** What is known about the client of this request; undefined for one that an administrator registered. */
export async function agentCase(
  rejection: Rejection,
  application: Application | undefined,
  { admin, db, settings }: DiagnosticServices,
): Promise<AgentCase | undefined> {
  const { clientId = '', endpoint, message } = rejection;
  const values = await settings.reload();
  if (endpoint === 'register') {
    const isOpen = !isWithoutToken(message) || (await agentsWithApi(values, db)).selfRegistered;
    if (isOpen) return undefined;
    return { text: t('console.rejections.agent.registration'), page: SETTINGS, isAllowed: false, apis: [] };
  }
  const hasDocument = isDocumentUrl(clientId);
  const isAgent = application ? application.enabled && isUnregistered(application) : hasDocument;
  if (!isAgent) return undefined;
  const closedBy = hasDocument ? await documentsClosedBy(hostOfDocument(clientId), values, db) : undefined;
  const client = { source: application?.source ?? ('document' as const), clientId };
  const all = (await admin.resources.list()).map((api) => ({
    identifier: api.identifier,
    isOpen: scopesForAgent(api, client, values) !== undefined,
  }));
  const apis = all.flatMap(({ identifier, isOpen }) => (isOpen ? [identifier] : []));
  const closedApis = all.flatMap(({ identifier, isOpen }) => (isOpen ? [] : [identifier]));
  return { isAllowed: closedBy === undefined, apis, ...faultOf(rejection, closedBy, closedApis) };
}

/** What keeps the client out, by the rule that failed. */
function faultOf(
  { clientId = '', received, rules }: Rejection,
  closedBy: Awaited<ReturnType<typeof documentsClosedBy>>,
  closedApis: readonly string[],
): AgentFault {
  const failed = rules.find(({ state }) => state === 'failed');
  switch (failed?.rule) {
    case 'client':
      if (closedBy === undefined) return {};
      if (closedBy === 'off') return { text: t('console.rejections.agent.off'), page: SETTINGS };
      return {
        text: t(`console.rejections.agent.${closedBy}`, { host: hostOfDocument(clientId) }),
        page: closedBy === 'no-api' ? { label: APIS, href: '/admin/apis' } : SETTINGS,
      };
    case 'registration':
      if (failed.expected === undefined) return {};
      return { text: t('console.rejections.agent.document', { reason: failed.expected }) };
    case 'resource': {
      if (received.resource === undefined) return { text: t('console.rejections.agent.no-resource') };
      const asked = received.resource.split(' ');
      const closed = closedApis.find((identifier) => includesResource(asked, identifier));
      if (closed === undefined) return {};
      const page = { label: APIS, href: `/admin/apis/${encodeURIComponent(closed)}` };
      return { text: t('console.rejections.agent.api'), page };
    }
    default:
      return {};
  }
}

/** Whether a registration was rejected because it came without a token. */
export const isWithoutToken = (message: string): boolean => message.includes('no access token provided');
