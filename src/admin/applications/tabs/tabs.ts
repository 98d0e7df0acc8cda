// The page of one application: its tabs, each at an address of its own.

import { z } from 'zod';
import type { Application, Protocol } from '../../../applications/application.ts';
import { usesSecret } from '../../../applications/fields/oidc-client.ts';
import type { Context } from '../../../base/http/context.ts';
import { bodyLimit, parseQuery } from '../../../base/http/input.ts';
import type { Tx } from '../../../base/storage/database.ts';
import { sentences, t } from '../../../base/texts/text.ts';
import { etagOf } from '../../api/versions.ts';
import { activityBlock } from '../../audit/console-rows.ts';
import { type Block, type FieldsElsewhere, VERSION, versionField } from '../../console/blocks.ts';
import { formSections } from '../../console/form-fields.ts';
import { longForm, type Visit } from '../../console/pages.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import { MAX_FORM_BYTES } from '../../console/typed-form.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { PageOfOne, Pages } from '../../noun-pages.ts';
import { sameNameText, typedUserValue } from '../../suggestions/typed-user.ts';
import { type ApplicationDetails, applicationVersion } from '../actions.ts';
import { enableAndDeleteButtons, secretBlocks } from '../console-changes.ts';
import { accessChoices, creatable } from '../console-parts.ts';
import { declarationPatch, lockedKeys, valuesOf } from '../form/change.ts';
import { type Choices, NO_CHOICES, openingsToCreate } from '../form/own-keys.ts';
import { FORM_TABS, type FormTab, sectionsOf } from '../form/sections.ts';
import { CREATES } from '../people.ts';
import { pictureTask } from '../picture/console.ts';
import { previewBlocks } from '../preview.ts';
import { overviewTab } from './overview-tab.ts';
import { addPeoplePages } from './people-tab.ts';
import { addProvisioningPages, provisioningBlocks } from './provisioning-tab.ts';
import { newSecretPage, unsentBlocks } from './registered-page.ts';
import { setupInstructionBlocks } from './setup-guide.ts';
import { homePageOf, type OpenApplication, openApplication, READ, tabOf, tabsOf } from './tab-page.ts';

const previewQuery = z.object({ user: z.string().trim().max(320).default('') });

/** The pages of every tab, below /admin/applications/:id. */
export function addTabs(pages: Pages<ApplicationDetails>, services: ConsoleServices): void {
  const { identityProvider } = services;
  const { one, pageOf } = pages;
  one('', {
    page: async (visit) =>
      pageOf(visit, await overviewTab(visit.ctx, await openApplication(visit, services), services)),
  });
  one('/setup', {
    async page(visit) {
      const open = await openApplication(visit, services);
      const { application } = open;
      const firstSignIn = await services.usage.firstSignIn(application);
      const guide = setupInstructionBlocks(application, { ...identityProvider(), clientId: application.clientId });
      return pageOf(visit, tabOf(open, 'setup', { blocks: [guideSteps(open, firstSignIn), ...guide] }));
    },
  });
  addFormTabs(pages, services, { claims: ({ ctx }, open) => previewAside(ctx, open, services) });
  addPeoplePages(pages, services);
  addProvisioningPages(pages, services);
  one('/activity', {
    async page(visit) {
      const open = await openApplication(visit, services);
      return pageOf(visit, tabOf(open, 'activity', { blocks: [await activityOf(visit, open, services)] }));
    },
  });
}

/** What to do in which order; the last step waits for the first sign-in. */
function guideSteps(
  { application, path, isEditable: mayWrite }: OpenApplication,
  firstSignIn: Date | undefined,
): Block {
  const { name, protocol, metadata } = application;
  const isDone = firstSignIn !== undefined;
  const hasSecret = protocol === 'oidc' && usesSecret(metadata);
  const secret = { label: t('console.tabs.guide.new-secret'), href: `${path}/secret` };
  const home = homePageOf(application);
  return {
    kind: 'steps',
    title: t('console.tabs.guide.title', { name }),
    steps: [
      { title: t('console.tabs.guide.add', { name }), text: '', isDone: true, doneAt: application.createdAt },
      {
        title: t('console.tabs.guide.configure', { name }),
        text: sentences([
          t('console.tabs.guide.copy-values'),
          ...(hasSecret ? [t('console.tabs.guide.secret-not-stored')] : []),
        ]),
        isDone,
        ...(hasSecret && mayWrite && { action: secret }),
      },
      {
        title: t('console.tabs.guide.sign-in'),
        text: t('console.tabs.guide.sign-in-text'),
        isDone,
        ...(firstSignIn && { doneAt: firstSignIn }),
        ...(home && { action: { label: t('console.tabs.guide.open', { name }), href: home } }),
      },
    ],
  };
}

async function activityOf(
  { ctx }: Visit<ApplicationDetails>,
  open: OpenApplication,
  services: ConsoleServices,
): Promise<Block> {
  if (!open.mayReadActivity) return { kind: 'text', text: t('console.tabs.activity.no-permission') };
  const { clientId, name } = open.application;
  return activityBlock(
    services,
    ctx,
    `${open.path}/activity`,
    { clientId },
    {
      title: t('console.tabs.activity.title'),
      caption: (values) => t('console.tabs.activity.caption', values),
      empty: {
        icon: 'scroll-text',
        title: t('console.tabs.activity.empty'),
        text: t('console.tabs.activity.empty-text', { name }),
        action: { label: t('console.tabs.setup'), href: `${open.path}/setup` },
      },
    },
  );
}

/** What the application would receive about a person, for an administrator who may read users. */
async function previewAside(
  ctx: Context,
  { application, path }: OpenApplication,
  { frame, findUser, preview, admin }: ConsoleServices,
): Promise<Block[]> {
  if (!frame.may(ctx, 'gatehouse.users:read')) return [];
  const { user } = parseQuery(ctx, previewQuery);
  const found = user ? await findUser(user, frame.actor(ctx)) : undefined;
  const account = found ? found.account : frame.account(ctx);
  const named = typedUserValue(user, account && { account, sameName: [] });
  const search: Block = {
    kind: 'search',
    title: t('console.tabs.preview.title'),
    action: `${path}/claims`,
    fields: [{ name: 'user', label: t('console.tabs.preview.user'), suggest: 'users', ...named }],
    button: t('console.tabs.preview.title'),
  };
  if (!account) {
    const unknown = t('console.tabs.preview.unknown-user', { user });
    return [search, { kind: 'text', tone: 'warning', text: (found && sameNameText(user, found)) ?? unknown }];
  }
  const text = application.enabled
    ? t('console.tabs.preview.as-saved', { protocol: application.protocol })
    : t('console.tabs.preview.disabled');
  const seen = await admin.users.seenBy(account, frame.actor(ctx));
  return [search, ...previewBlocks(await preview(seen, application)), { kind: 'text', tone: 'small', text }];
}

// The tabs of an application that are forms: Settings, Access, Claims (for SAML: Attributes) and Credentials. Together they hold every
// key of the application's declaration.

/** What a form tab displays beside its form. */
type Beside = (visit: Visit<ApplicationDetails>, open: OpenApplication) => Promise<Block[]>;

/** The keys on the other tabs, which a rule between keys may name. */
function fieldsElsewhere(protocol: Protocol, path: string, current: FormTab): FieldsElsewhere {
  const others = FORM_TABS.filter((tab) => tab !== current).flatMap((tab) =>
    sectionsOf(protocol, tab, NO_CHOICES)
      .flatMap(({ keys }) => keys)
      .map(({ key, fields }) => [key, { label: fields({})[0]?.label ?? key, href: `${path}/${tab}#f-${key}` }]),
  );
  return Object.fromEntries(others);
}

/** The pages of the form tabs. */
function addFormTabs(
  { one, pageOf }: Pages<ApplicationDetails>,
  services: ConsoleServices,
  beside: Partial<Record<FormTab, Beside>>,
): void {
  const { frame, identityProvider } = services;
  const { applications, people, provisioning } = services.admin;
  for (const tab of FORM_TABS)
    one(`/${tab}`, {
      accepts: bodyLimit(MAX_FORM_BYTES),
      form: longForm,
      elsewhere: ({ subject: { application } }) =>
        tabsOf(application).includes(tab) ? undefined : { to: `/admin/applications/${application.id}/settings` },
      async page(visit, sent) {
        const open = await openApplication(visit, services);
        return pageOf(
          visit,
          await formTab(visit, open, { tab, sent, aside: await beside[tab]?.(visit, open) }, services),
        );
      },
      async submit(visit, sent) {
        const { by, ctx, subject } = visit;
        const { id, protocol } = subject.application;
        const sections = sectionsOf(protocol, tab, await choicesOf(visit, tab, services));
        const patch = declarationPatch(subject.application, sections, sent);
        const version = sentValue(sent, VERSION) ?? '';
        const added = tab === 'access' ? openingsToCreate(sent) : [];
        for (const { kind } of added) frame.assertMay(ctx, CREATES[kind]);
        const before = (tx: Tx) => people.create(added, by, tx);
        const hasNewAddress = ({ metadata: { provision } }: Application) =>
          provision !== undefined && provision.url !== subject.application.metadata.provision?.url;
        const after = async (tx: Tx, changed: Application) => {
          if (hasNewAddress(changed)) await provisioning.beginPaused(changed, by, tx);
        };
        const changed = await applications.update(subject.application, patch, by, version, { before, after });
        const { application, clientSecret } = changed;
        if (clientSecret !== undefined) return { result: newSecretPage(application, clientSecret, identityProvider()) };
        const notice = hasNewAddress(application) ? t('console.provisioning.added') : t('console.shared.saved');
        return { to: `/admin/applications/${id}/${tab}`, notice };
      },
    });
}

async function formTab(
  visit: Visit<ApplicationDetails>,
  open: OpenApplication,
  { tab, sent, aside }: { tab: FormTab; sent: Sent | undefined; aside: Block[] | undefined },
  services: ConsoleServices,
): Promise<PageOfOne> {
  const { application, path, isEditable: mayWrite } = open;
  const version = (sent && sentValue(sent, VERSION)) ?? etagOf(applicationVersion(application));
  const sections = sectionsOf(application.protocol, tab, await choicesOf(visit, tab, services));
  const values = valuesOf(application);
  const form: Block = {
    kind: 'form',
    action: `${path}/${tab}`,
    fields: mayWrite ? [versionField(version)] : [],
    sections: formSections(sections, values, { isLocked: !mayWrite, locked: lockedKeys(application, values), sent }),
    ...(mayWrite && {
      button: t('console.shared.save-changes'),
      cancel: `${path}/${tab}`,
      cancelLabel: t('console.shared.discard'),
    }),
  };
  const above =
    tab === 'provisioning'
      ? await provisioningBlocks(visit, open, services)
      : tab === 'claims'
        ? unsentBlocks(application)
        : [];
  const after = {
    settings: [pictureTask(open), ...(mayWrite ? [enableAndDeleteButtons(application, path)] : [])],
    credentials: secretBlocks(open, path, mayWrite, services.now()),
    access: [],
    claims: [],
    provisioning: [],
  }[tab];
  const elsewhere = fieldsElsewhere(application.protocol, path, tab);
  return tabOf(open, tab, { blocks: [...above, form, ...after], ...(aside && { aside }), elsewhere });
}

/** Only what the tab needs, and the administrator may see. */
async function choicesOf(visit: Visit<ApplicationDetails>, tab: FormTab, services: ConsoleServices): Promise<Choices> {
  const { may } = visit;
  const isAccess = tab === 'access';
  const [access, connections, apis] = await Promise.all([
    isAccess ? accessChoices(visit, services.admin) : { roles: [] },
    isAccess && may('gatehouse.connections:read') ? services.admin.connections.list() : [],
    tab === 'settings' && may(READ) ? services.admin.resources.identifiers() : [],
  ]);
  return {
    ...access,
    ...(isAccess && { creates: creatable(visit) }),
    connections: connections.map(({ connection: { id, name } }) => ({ id, name })),
    apis,
    signingAlgs: services.admin.resources.signingAlgs(),
    ownFields: Object.keys((await services.attributeSchema()).properties ?? {}),
  };
}
