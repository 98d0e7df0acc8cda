// What the tabs of an application have in common: its state, the tabs, and whether the administrator may change it.

import { type Application, isServiceAccount } from '../../../applications/application.ts';
import type { PictureState } from '../../../applications/pictures/pictures.ts';
import { present } from '../../../base/platform/defined.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { within } from '../../../people/rbac/rights.ts';
import { isUnregistered } from '../../../protocols/oidc/registration.ts';
import type { Mark } from '../../console/blocks.ts';
import type { Visit } from '../../console/pages.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { PageOfOne } from '../../noun-pages.ts';
import type { ApplicationDetails } from '../actions.ts';
import { protocolName } from '../console-parts.ts';

export const WRITE = 'gatehouse.applications:write' as const;
export const READ = 'gatehouse.applications:read' as const;

/** The tabs of both protocols: the last part of their address, and their label. */
const tabs = {
  '': t('console.tabs.overview'),
  setup: t('console.tabs.setup'),
  settings: t('console.tabs.settings'),
  access: t('console.tabs.access'),
  people: t('console.tabs.people'),
  claims: t('console.tabs.claims'),
  credentials: t('console.tabs.credentials'),
  provisioning: t('console.tabs.provisioning'),
  activity: t('console.tabs.activity'),
} as const;
export type TabPath = keyof typeof tabs;

/** An application, and what the administrator may do with it. */
export interface OpenApplication extends ApplicationDetails {
  path: string;
  /** Whether the administrator has the right to change it. */
  mayChange: boolean;
  /** Whether the administrator may change it here: the configuration file does not declare it. */
  isEditable: boolean;
  /** Whether the administrator may read the activity log of it. */
  mayReadActivity: boolean;
  /** Whether the administrator may see who can open it. */
  mayReadPeople: boolean;
  picture: PictureState | undefined;
}

/** What the administrator may do with the application that was read. */
export async function openApplication(
  { by, meets, subject }: Visit<ApplicationDetails>,
  { admin: { applications }, pictures }: ConsoleServices,
): Promise<OpenApplication> {
  const { application } = subject;
  const mayChange = meets(within(WRITE)) && (await applications.mayChange(application, by));
  const isEditable = mayChange && application.source !== 'file';
  const mayReadActivity = meets(within('gatehouse.audit:read'));
  const mayReadPeople = meets(within('gatehouse.users:read')) && !isServiceAccount(application);
  const picture = await pictures.state(application.id);
  const path = `/admin/applications/${application.id}`;
  return { ...subject, path, mayChange, isEditable, mayReadActivity, mayReadPeople, picture };
}

/** That it registered itself, or was registered by its metadata document. */
export const sourceTags = ({ source }: Application): Mark[] =>
  source === 'dynamic' || source === 'document' ? [{ text: t(`console.tabs.source.${source}`) }] : [];

/** The page of one of its tabs. @param content what the tab has of its own */
export function tabOf(
  { application, path, mayChange, mayReadActivity, mayReadPeople, picture }: OpenApplication,
  tab: TabPath,
  { actions = [], ...content }: PageOfOne,
): PageOfOne {
  // What the tab is for; the overview has the home page instead.
  const lead = tab === '' ? homePageOf(application) : t(`console.tabs.purpose.${tab}`, { name: application.name });
  const closed: TabPath[] = present([!mayReadActivity && 'activity', !mayReadPeople && 'people']);
  const offered = tabsOf(application).filter((one) => !closed.includes(one));
  const test =
    application.protocol === 'proxy'
      ? { label: t('console.website-test.run'), icon: 'play', href: `${path}/test` }
      : { label: t('console.tabs.test-sign-in'), icon: 'play', href: `/admin/test/${application.id}` };
  return {
    ...content,
    ...(lead && { lead }),
    logo: { name: application.name, picture: picture?.address, product: application.metadata.preset },
    tags: [stateTag(application), { text: protocolName[application.protocol] }, ...sourceTags(application)],
    actions: present([...actions, mayChange && application.enabled && !isUnregistered(application) && test]),
    tabs: offered.map((one) => ({
      href: one === '' ? path : `${path}/${one}`,
      label: labelOf(application, one),
      isCurrent: one === tab,
    })),
  };
}

/** The tabs of an application: a service provider has no secrets, and its certificates are among its settings; nobody here sets an agent up. */
export function tabsOf(application: Application): TabPath[] {
  const closed: readonly TabPath[] = present([
    application.protocol !== 'oidc' && 'credentials',
    ...(isUnregistered(application) ? (['setup', 'provisioning'] as const) : []),
    ...(application.source === 'document' ? (['credentials'] as const) : []),
  ]);
  return (Object.keys(tabs) as TabPath[]).filter((tab) => !closed.includes(tab));
}

function labelOf({ protocol }: Application, tab: TabPath): PageText {
  if (tab !== 'claims' || protocol === 'oidc') return tabs[tab];
  return protocol === 'saml' ? t('console.tabs.attributes') : t('console.tabs.headers');
}

export function stateTag({ enabled }: Application): Mark {
  return enabled
    ? { text: t('console.shared.enabled'), tone: 'good' }
    : { text: t('console.shared.disabled'), tone: 'bad' };
}

/** Where people open it; undefined without one. */
export function homePageOf({ protocol, clientId, metadata }: Application): string | undefined {
  if (protocol === 'proxy') return clientId;
  return protocol === 'oidc' ? metadata.client_uri : metadata.start_url;
}
