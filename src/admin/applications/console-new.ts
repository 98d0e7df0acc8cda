// /admin/applications/new: registers an application from what it is, asks only for what that needs, and ends with the
// settings for its own side.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { bodyLimit, parseQuery } from '../../http/input.ts';
import type { Tx } from '../../storage/database.ts';
import type { Block, ConsolePage, Field } from '../console/blocks.ts';
import { listQuery } from '../console/frame.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { setupInstructionBlocks } from './console-parts.ts';
import { MAX_FORM_BYTES, readForm, withTypedValues } from './form/read-form.ts';
import { type IdentityProvider, type Preset, presetKinds } from './presets/parts.ts';
import { genericPresets, presetOf, productPresets } from './presets/presets.ts';

const WRITE = 'gatehouse.applications:write' as const;
const CREATE_ROLES = 'create_roles';

/** The pages …/new and …/new/:preset. */
export function addNewApplicationRoutes(
  router: Router<State, Extras>,
  { frame, applications, roles, identityProvider }: ApplicationPagesDependencies,
): void {
  const form = (ctx: Context, preset: Preset, input: Record<string, string>) =>
    newPage(preset, input, frame.may(ctx, 'gatehouse.roles:write'));

  router.get('/new', ...frame.page(WRITE), (ctx) => frame.show(ctx, choicePage(parseQuery(ctx, listQuery).q)));

  router.get('/new/:preset', ...frame.page(WRITE), (ctx) => frame.show(ctx, form(ctx, requirePreset(ctx), {})));

  router.post('/new/:preset', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const preset = requirePreset(ctx);
    const input = await readForm(ctx);
    await frame.attempt(
      ctx,
      async () => {
        const by = frame.actor(ctx);
        const wanted = input[CREATE_ROLES] === 'on' ? (preset.roles ?? []) : [];
        if (wanted.length > 0) frame.assertMay(ctx, 'gatehouse.roles:write');
        const createRoles = (_: unknown, tx: Tx) => roles.createMissing(wanted, by, tx);
        const declaration = declarationOf(preset, input);
        const created =
          preset.protocol === 'oidc'
            ? await applications.createOidc(declaration, by, createRoles)
            : { application: await applications.createSaml(declaration, by, createRoles) };
        const { clientId } = created.application;
        const clientSecret = 'clientSecret' in created ? created.clientSecret : undefined;
        frame.show(
          ctx,
          registrationResultPage(created.application, { ...identityProvider(), clientId, clientSecret }),
          201,
        );
      },
      () => form(ctx, preset, input),
    );
  });
}

/** What the form declares, with the product whose guide it will have. */
function declarationOf(preset: Preset, input: Record<string, string>) {
  return {
    ...preset.toDeclaration(input),
    ...(productPresets.some(({ id }) => id === preset.id) && { preset: preset.id }),
  };
}

/** The products by kind, and then the kinds of applications; with a filter, those that have its words in their lines. */
function choicePage(filter: string): ConsolePage {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const tiles = (title: string, presets: readonly Preset[]): Block[] => {
    const items = presets
      .filter((preset) => {
        const line = `${preset.id} ${preset.title} ${preset.text} ${title}`.toLowerCase();
        return words.every((word) => line.includes(word));
      })
      .map(tile);
    return items.length > 0 ? [{ kind: 'tiles', title, items }] : [];
  };
  const products = Object.entries(presetKinds).flatMap(([kind, title]) =>
    tiles(
      title,
      productPresets.filter((preset) => preset.kind === kind),
    ),
  );
  const found = [...products, ...tiles('Any other application', genericPresets)];
  const nothing: Block[] = [
    { kind: 'text', text: 'No products match. Choose the type of your application instead:' },
    { kind: 'tiles', title: 'Any other application', items: genericPresets.map(tile) },
  ];
  return {
    title: 'Add application',
    lead: 'Choose a product to get its settings filled in, or the type of your own application.',
    back: { href: '/admin/applications', label: 'Applications' },
    blocks: [
      {
        kind: 'search',
        action: '/admin/applications/new',
        fields: [{ name: 'q', label: 'Product or type', type: 'search', value: filter }],
        button: 'Filter',
      },
      ...(found.length > 0 ? found : nothing),
    ],
  };
}

const tile = ({ id, title, text }: Preset) => ({ title, text, href: `/admin/applications/new/${id}` });

/** The form of a preset, with what was typed into it. */
function newPage(preset: Preset, input: Record<string, string>, mayCreateRoles: boolean): ConsolePage {
  const fields = [...preset.fields, ...(mayCreateRoles ? rolesField(preset) : [])];
  return {
    title: `Add application: ${preset.title}`,
    lead: preset.text,
    back: { href: '/admin/applications/new', label: 'Add application' },
    blocks: [
      {
        kind: 'form',
        action: `/admin/applications/new/${preset.id}`,
        fields: withTypedValues(fields, input),
        button: 'Add application',
        cancel: '/admin/applications',
      },
    ],
  };
}

/** Offers to create the roles that the settings of a preset name. */
function rolesField({ roles = [] }: Preset): Field[] {
  if (roles.length === 0) return [];
  const names = roles.map(({ name, description }) => `${name} (${description})`).join(', ');
  return [
    {
      name: CREATE_ROLES,
      label: 'Create the roles in its settings',
      type: 'checkbox',
      checked: true,
      hint: `${names}. New roles have no permissions in Gatehouse. Existing roles don’t change.`,
    },
  ];
}

/** The page after the registration: the settings for the application's side, with the secret. */
function registrationResultPage(application: Application, identityProvider: IdentityProvider): ConsolePage {
  const canTestSignIn =
    application.protocol === 'saml' ||
    (application.metadata.redirect_uris.length > 0 && !application.metadata.require_pushed_authorization_requests);
  return {
    title: `Next: configure ${application.name}`,
    lead: `${application.name} is added. Enter these settings in it.`,
    back: { href: '/admin/applications', label: 'Applications' },
    actions: [
      ...(canTestSignIn
        ? [{ label: 'Test sign-in', href: `/admin/test/${application.id}`, look: 'primary' as const }]
        : []),
      { label: 'View application', href: `/admin/applications/${application.id}` },
    ],
    blocks: [
      ...(identityProvider.clientSecret
        ? [{ kind: 'text' as const, tone: 'warning' as const, text: 'Copy the secret now. You won’t see it again.' }]
        : []),
      ...setupInstructionBlocks(application, identityProvider),
    ],
  };
}

function requirePreset(ctx: Context & { params?: Record<string, string> }): Preset {
  const preset = presetOf(ctx.params?.preset ?? '');
  if (!preset) throw notFound();
  return preset;
}
