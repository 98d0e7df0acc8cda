// The tabs of an application that are forms: Settings, Access, Claims (for SAML: Attributes) and Credentials. Together they hold every
// key of the application's declaration.
import type Router from '@koa/router';
import type { Context, Extras, State } from '../../../base/http/context.ts';
import { bodyLimit } from '../../../base/http/input.ts';
import { t } from '../../../base/texts/text.ts';
import { within } from '../../../people/rbac/rights.ts';
import { etagOf } from '../../api/versions.ts';
import { type Block, type ConsolePage, type FieldsElsewhere, VERSION, versionField } from '../../console/blocks.ts';
import { formSections } from '../../console/form-fields.ts';
import { isRowButton, type Sent, sentValue } from '../../console/row-buttons.ts';
import { MAX_FORM_BYTES, readLongForm } from '../../console/typed-form.ts';
import { enableAndDeleteButtons } from '../console-enable.ts';
import type { ApplicationPagesDependencies } from '../console-parts.ts';
import { secretBlocks } from '../console-secrets.ts';
import { declarationPatch, lockedKeys, valuesOf } from '../form/change.ts';
import { type Choices, NO_CHOICES } from '../form/own-keys.ts';
import { FORM_TABS, type FormTab, sectionsOf } from '../form/sections.ts';
import { applicationVersion } from '../manageable-applications.ts';
import { pictureTask } from '../picture/console.ts';
import { newSecretPage } from './registered-page.ts';
import { type OpenApplication, openApplication, READ, tabPage, tabsOf, WRITE } from './tab-page.ts';

type Params = Context & { params: Record<string, string> };

/** What a form tab displays beside its form. */
type Beside = (ctx: Context, open: OpenApplication) => Promise<Block[]>;

/** The keys on the other tabs, which a rule between keys may name. */
function fieldsElsewhere(protocol: 'oidc' | 'saml', path: string, current: FormTab): FieldsElsewhere {
  const others = FORM_TABS.filter((tab) => tab !== current).flatMap((tab) =>
    sectionsOf(protocol, tab, NO_CHOICES)
      .flatMap(({ keys }) => keys)
      .map(({ key, fields }) => [key, { label: fields({})[0]?.label ?? key, href: `${path}/${tab}#f-${key}` }]),
  );
  return Object.fromEntries(others);
}

/** GET and POST of the form tabs. */
export function addFormTabs(
  router: Router<State, Extras>,
  dependencies: ApplicationPagesDependencies,
  beside: Partial<Record<FormTab, Beside>>,
): void {
  const { frame } = dependencies;
  const { formPage, save } = createForms(dependencies, beside);

  for (const tab of FORM_TABS) {
    router.get(`/:id/${tab}`, ...frame.page(within(READ)), async (ctx: Params) => {
      const open = await openApplication(ctx, dependencies);
      if (!tabsOf(open.application).includes(tab)) return frame.redirect(ctx, `${open.path}/settings`);
      frame.show(ctx, await formPage(ctx, open, tab));
    });
    router.post(`/:id/${tab}`, bodyLimit(MAX_FORM_BYTES), ...frame.change(within(WRITE)), (ctx: Params) =>
      save(ctx, tab),
    );
  }
}

/** The page of a form tab, and what its form does. */
function createForms(dependencies: ApplicationPagesDependencies, beside: Partial<Record<FormTab, Beside>>) {
  const { frame, applications, identityProvider } = dependencies;

  async function save(ctx: Params, tab: FormTab): Promise<void> {
    const { id = '' } = ctx.params;
    await applications.get(id, frame.actor(ctx), WRITE);
    const open = await openApplication(ctx, dependencies);
    const sent = await readLongForm(ctx);
    if (isRowButton(sent)) return frame.show(ctx, await formPage(ctx, open, tab, sent));
    await frame.attempt(
      ctx,
      async () => {
        const sections = sectionsOf(open.application.protocol, tab, await choicesOf(ctx, tab, dependencies));
        const patch = declarationPatch(open.application, sections, sent);
        const by = frame.actor(ctx);
        const { application, clientSecret } = await applications.update(id, patch, by, sentValue(sent, VERSION) ?? '');
        if (clientSecret === undefined) return frame.redirect(ctx, `${open.path}/${tab}`, t('console.shared.saved'));
        const page = newSecretPage(application, clientSecret, identityProvider());
        await frame.showResult(ctx, page);
      },
      () => formPage(ctx, open, tab, sent),
    );
  }

  async function formPage(ctx: Context, open: OpenApplication, tab: FormTab, sent?: Sent): Promise<ConsolePage> {
    const { application, path, mayWrite } = open;
    const version = (sent && sentValue(sent, VERSION)) ?? etagOf(applicationVersion(application));
    const sections = sectionsOf(application.protocol, tab, await choicesOf(ctx, tab, dependencies));
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
      credentials: secretBlocks(open, path, mayWrite, dependencies.now()),
      access: [],
      claims: [],
    }[tab];
    const aside = await beside[tab]?.(ctx, open);
    const elsewhere = fieldsElsewhere(application.protocol, path, tab);
    return { ...tabPage(open, tab, { blocks: [form, ...after], ...(aside && { aside }) }, dependencies), elsewhere };
  }

  return { formPage, save };
}

/** Only what the tab needs, and the administrator may see. */
async function choicesOf(ctx: Context, tab: FormTab, dependencies: ApplicationPagesDependencies): Promise<Choices> {
  const { frame } = dependencies;
  const isAccess = tab === 'access';
  const [roles, connections, apis] = await Promise.all([
    isAccess ? dependencies.roles.choices(frame.actor(ctx)) : [],
    isAccess && frame.may(ctx, 'gatehouse.connections:read') ? dependencies.connections.list() : [],
    tab === 'settings' && frame.may(ctx, READ) ? dependencies.resources.list() : [],
  ]);
  return {
    roles: roles.map(({ value }) => value),
    roleHints: new Map(roles.map(({ value, hint }) => [value, hint])),
    connections: connections.map(({ connection: { id, name } }) => ({ id, name })),
    apis: apis.map(({ identifier }) => identifier),
    signingAlgs: dependencies.resources.signingAlgs(),
  };
}
