// /admin/applications/new: registers an application from what it is, asks only for what that needs, and ends with the
// settings for its own side.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { bodyLimit } from '../../http/input.ts';
import type { ConsolePage } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { setupInstructionBlocks } from './console-parts.ts';
import { MAX_FORM_BYTES, readForm, withTypedValues } from './form/read-form.ts';
import type { IdentityProvider, Preset } from './presets/parts.ts';
import { genericPresets, presetOf, productPresets } from './presets/presets.ts';

const WRITE = 'gatehouse.applications:write' as const;

/** The pages …/new and …/new/:preset. */
export function addNewApplicationRoutes(
  router: Router<State, Extras>,
  { frame, applications, identityProvider }: ApplicationPagesDependencies,
): void {
  const tile = ({ id, title, text: line }: Preset) => ({ title, text: line, href: `/admin/applications/new/${id}` });

  router.get('/new', ...frame.page(WRITE), (ctx) =>
    frame.show(ctx, {
      title: 'New application',
      back: { href: '/admin/applications', label: 'Applications' },
      blocks: [
        { kind: 'tiles', title: 'Products', items: productPresets.map(tile) },
        { kind: 'tiles', title: 'Generic', items: genericPresets.map(tile) },
      ],
    }),
  );

  router.get('/new/:preset', ...frame.page(WRITE), (ctx) => frame.show(ctx, newPage(requirePreset(ctx), {})));

  router.post('/new/:preset', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const preset = requirePreset(ctx);
    const input = await readForm(ctx);
    await frame.attempt(
      ctx,
      async () => {
        const declaration = preset.toDeclaration(input.one);
        const created =
          preset.protocol === 'oidc'
            ? await applications.createOidc(declaration, frame.actor(ctx))
            : { application: await applications.createSaml(declaration, frame.actor(ctx)) };
        const { clientId } = created.application;
        const clientSecret = 'clientSecret' in created ? created.clientSecret : undefined;
        frame.show(
          ctx,
          registrationResultPage(created.application, { ...identityProvider(), clientId, clientSecret }),
          201,
        );
      },
      () => newPage(preset, input.one),
    );
  });
}

/** The form of a preset, with what was typed into it. */
function newPage(preset: Preset, input: Record<string, string>): ConsolePage {
  return {
    title: `New application: ${preset.title}`,
    back: { href: '/admin/applications/new', label: 'New application' },
    blocks: [
      {
        kind: 'form',
        action: `/admin/applications/new/${preset.id}`,
        fields: withTypedValues(preset.fields, input),
        button: 'Register',
        cancel: '/admin/applications',
      },
    ],
  };
}

/** The page after the registration: the settings for the application's side, with the secret. */
function registrationResultPage(application: Application, identityProvider: IdentityProvider): ConsolePage {
  const canTestSignIn =
    application.protocol === 'saml' ||
    (application.metadata.redirect_uris.length > 0 && !application.metadata.require_pushed_authorization_requests);
  return {
    title: `${application.name} is registered`,
    lead: 'Now enter these settings in the application.',
    back: { href: '/admin/applications', label: 'Applications' },
    actions: [
      ...(canTestSignIn
        ? [{ label: 'Test sign-in', href: `/admin/test/${application.id}`, look: 'primary' as const }]
        : []),
      { label: 'View application', href: `/admin/applications/${application.id}` },
    ],
    blocks: [
      ...(identityProvider.clientSecret
        ? [{ kind: 'text' as const, tone: 'warning' as const, text: 'The secret is displayed only once.' }]
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
