// The tabs of an application that are forms: Settings, Access, Claims (for SAML: Attributes) and Credentials. Together they hold every
// key of the application's declaration.

import { bodyLimit } from '../../../base/http/input.ts';
import { t } from '../../../base/texts/text.ts';
import { etagOf } from '../../api/versions.ts';
import { type Block, type ConsolePage, type FieldsElsewhere, VERSION, versionField } from '../../console/blocks.ts';
import { formSections } from '../../console/form-fields.ts';
import { longForm, type Visit } from '../../console/pages.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import { MAX_FORM_BYTES } from '../../console/typed-form.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { Pages } from '../../resource.ts';
import { type ApplicationDetails, applicationVersion } from '../actions.ts';
import { enableAndDeleteButtons } from '../console-enable.ts';
import { secretBlocks } from '../console-secrets.ts';
import { declarationPatch, lockedKeys, valuesOf } from '../form/change.ts';
import { type Choices, NO_CHOICES } from '../form/own-keys.ts';
import { FORM_TABS, type FormTab, sectionsOf } from '../form/sections.ts';
import { pictureTask } from '../picture/console.ts';
import { newSecretPage } from './registered-page.ts';
import { type OpenApplication, openApplication, READ, tabPage, tabsOf } from './tab-page.ts';

/** What a form tab displays beside its form. */
type Beside = (visit: Visit<ApplicationDetails>, open: OpenApplication) => Promise<Block[]>;

/** The keys on the other tabs, which a rule between keys may name. */
function fieldsElsewhere(protocol: 'oidc' | 'saml', path: string, current: FormTab): FieldsElsewhere {
  const others = FORM_TABS.filter((tab) => tab !== current).flatMap((tab) =>
    sectionsOf(protocol, tab, NO_CHOICES)
      .flatMap(({ keys }) => keys)
      .map(({ key, fields }) => [key, { label: fields({})[0]?.label ?? key, href: `${path}/${tab}#f-${key}` }]),
  );
  return Object.fromEntries(others);
}

/** The pages of the form tabs. */
export function addFormTabs(
  { one }: Pages<ApplicationDetails>,
  services: ConsoleServices,
  beside: Partial<Record<FormTab, Beside>>,
): void {
  const {
    admin: { applications },
    identityProvider,
  } = services;
  for (const tab of FORM_TABS)
    one(`/${tab}`, {
      accepts: bodyLimit(MAX_FORM_BYTES),
      form: longForm,
      elsewhere: ({ subject: { application } }) =>
        tabsOf(application).includes(tab) ? undefined : { to: `/admin/applications/${application.id}/settings` },
      async page(visit, sent) {
        const open = await openApplication(visit, services);
        return formPage(visit, open, { tab, sent, aside: await beside[tab]?.(visit, open) }, services);
      },
      async submit(visit, sent) {
        const { by, subject } = visit;
        const { id, protocol } = subject.application;
        const sections = sectionsOf(protocol, tab, await choicesOf(visit, tab, services));
        const patch = declarationPatch(subject.application, sections, sent);
        const version = sentValue(sent, VERSION) ?? '';
        const { application, clientSecret } = await applications.update(subject.application, patch, by, version);
        if (clientSecret !== undefined) return { result: newSecretPage(application, clientSecret, identityProvider()) };
        return { to: `/admin/applications/${id}/${tab}`, notice: t('console.shared.saved') };
      },
    });
}

async function formPage(
  visit: Visit<ApplicationDetails>,
  open: OpenApplication,
  { tab, sent, aside }: { tab: FormTab; sent: Sent | undefined; aside: Block[] | undefined },
  services: ConsoleServices,
): Promise<ConsolePage> {
  const { application, path, mayWrite } = open;
  const version = (sent && sentValue(sent, VERSION)) ?? etagOf(applicationVersion(application));
  const sections = sectionsOf(application.protocol, tab, await choicesOf(visit, tab, services));
  const values = valuesOf(application);
  const form: Block = {
    kind: 'form',
    action: `${path}/${tab}`,
    fields: mayWrite ? [versionField(version)] : [],
    sections: formSections(sections, values, { isLocked: !mayWrite, locked: lockedKeys(values), sent }),
    ...(mayWrite && {
      button: t('console.shared.save-changes'),
      cancel: `${path}/${tab}`,
      cancelLabel: t('console.shared.discard'),
    }),
  };
  const after = {
    settings: [pictureTask(open), ...(mayWrite ? [enableAndDeleteButtons(application, path)] : [])],
    credentials: secretBlocks(open, path, mayWrite, services.now()),
    access: [],
    claims: [],
  }[tab];
  const elsewhere = fieldsElsewhere(application.protocol, path, tab);
  return { ...tabPage(open, tab, { blocks: [form, ...after], ...(aside && { aside }) }, services), elsewhere };
}

/** Only what the tab needs, and the administrator may see. */
async function choicesOf(
  { by, may }: Visit<ApplicationDetails>,
  tab: FormTab,
  services: ConsoleServices,
): Promise<Choices> {
  const isAccess = tab === 'access';
  const [roles, connections, apis] = await Promise.all([
    isAccess ? services.admin.roles.choices(by) : [],
    isAccess && may('gatehouse.connections:read') ? services.admin.connections.list() : [],
    tab === 'settings' && may(READ) ? services.admin.resources.list() : [],
  ]);
  return {
    roles: roles.map(({ value }) => value),
    roleHints: new Map(roles.map(({ value, hint }) => [value, hint])),
    connections: connections.map(({ connection: { id, name } }) => ({ id, name })),
    apis: apis.map(({ identifier }) => identifier),
    signingAlgs: services.admin.resources.signingAlgs(),
  };
}
