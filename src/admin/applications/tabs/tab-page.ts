// The frame of an application's tabs: its name and state, the tabs, and whether the administrator may change it.

import { type Application, isServiceAccount } from '../../../applications/application.ts';
import type { PictureState } from '../../../applications/pictures/pictures.ts';
import { present } from '../../../base/platform/defined.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import { RELEASE, within } from '../../../people/rbac/rights.ts';
import { isUnregistered } from '../../../protocols/oidc/registration.ts';
import type { ConsolePage, Mark } from '../../console/blocks.ts';
import { FILE_TAG, fileNotice } from '../../console/managed-by-file.ts';
import type { Visit } from '../../console/pages.ts';
import type { ConsoleServices } from '../../console-services.ts';
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
  /** Whether the administrator may take it out of the configuration file. */
  mayRelease: boolean;
  /** Whether the administrator may read the activity log of it. */
  mayReadActivity: boolean;
  /** Whether the administrator may see who can open it. */
  mayReadPeople: boolean;
  picture: PictureState | undefined;
}

/** What the administrator may do with the application that was read. */
export async function openApplication(
  { by, may, meets, subject }: Visit<ApplicationDetails>,
  { admin: { applications }, pictures }: ConsoleServices,
): Promise<OpenApplication> {
  const { application } = subject;
  const mayChange = meets(within(WRITE)) && (await applications.mayChange(application, by));
  const mayWrite = mayChange && application.source !== 'file';
  const mayReadActivity = meets(within('gatehouse.audit:read'));
  const mayReadPeople = meets(within('gatehouse.users:read')) && !isServiceAccount(application);
  const picture = await pictures.state(application.id);
  const path = `/admin/applications/${application.id}`;
  const mayRelease = may(WRITE) && may(RELEASE);
  return { ...subject, path, mayChange, mayRelease, isEditable: mayWrite, mayReadActivity, mayReadPeople, picture };
}

/** Where it comes from, unless an administrator registered it here. */
export function sourceTags({ source }: Application): Mark[] {
  if (source === 'file') return [FILE_TAG];
  return source === 'local' ? [] : [{ text: t(`console.tabs.source.${source}`) }];
}

/** A page of the application, on one of its tabs. */
export function tabPage(
  { application, path, mayChange, mayRelease, mayReadActivity, mayReadPeople, picture }: OpenApplication,
  tab: TabPath,
  content: Pick<ConsolePage, 'blocks' | 'aside' | 'actions'>,
  { config: { configFile } }: ConsoleServices,
): ConsolePage {
  const isFile = application.source === 'file';
  // What the tab is for; the overview has the home page instead.
  const lead = tab === '' ? homePageOf(application) : t(`console.tabs.purpose.${tab}`, { name: application.name });
  const closed: TabPath[] = present([!mayReadActivity && 'activity', !mayReadPeople && 'people']);
  const offered = tabsOf(application).filter((one) => !closed.includes(one));
  const test =
    application.protocol === 'proxy'
      ? { label: t('console.website-test.run'), icon: 'play', href: `${path}/test` }
      : { label: t('console.tabs.test-sign-in'), icon: 'play', href: `/admin/test/${application.id}` };
  return {
    title: application.name,
    ...(lead && { lead }),
    logo: { name: application.name, picture: picture?.address, product: application.metadata.preset },
    back: { href: '/admin/applications', label: t('console.navigation.applications') },
    tags: [stateTag(application), { text: protocolName[application.protocol] }, ...sourceTags(application)],
    actions: present([
      ...(content.actions ?? []),
      mayChange && application.enabled && !isUnregistered(application) && test,
    ]),
    tabs: offered.map((one) => ({
      href: one === '' ? path : `${path}/${one}`,
      label: labelOf(application, one),
      isCurrent: one === tab,
    })),
    blocks: present([isFile && fileNotice(configFile, 'application', mayRelease && path), ...content.blocks]),
    ...(content.aside && { aside: content.aside }),
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
