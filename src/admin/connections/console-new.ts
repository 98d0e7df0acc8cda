// /admin/connections/new: choose the vendor, then enter its values and copy those of this server to it.
import type Router from '@koa/router';
import { pasteValuesOf } from '../../connections/paste-values.ts';
import type { Preset } from '../../connections/presets/preset.ts';
import { presets } from '../../connections/presets/presets.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { bodyLimit } from '../../http/input.ts';
import { inLanguage } from '../../texts/text.ts';
import { MAX_FORM_BYTES, readForm } from '../applications/form/read-form.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { lines } from '../console/text-area.ts';
import { presetFields, secretsFrom, valuesFrom } from './console-fields.ts';
import { type ConnectionPagesDependencies, HOME, pathOf, vendorBlocks, WRITE } from './console-parts.ts';

type Params = Context & { params: Record<string, string> };
const SEPARATE: readonly string[] = ['generic', 'active-directory'];
const addressOf = ({ kind, id }: Preset) => `${HOME}/new/${kind}/${id}`;

export function addNewConnectionRoutes(
  router: Router<State, Extras>,
  { frame, connections, issuer }: ConnectionPagesDependencies,
): void {
  const form = (ctx: Context, preset: Preset, given: Record<string, string> = {}) =>
    newPage(preset, given, { issuer, name: inLanguage(frame.language(ctx), () => String(preset.name)) });

  router.get('/new', ...frame.page(WRITE), (ctx) => {
    const tile = (preset: Preset) => ({ title: preset.name, text: textOf(preset), href: addressOf(preset) });
    frame.show(ctx, {
      title: 'Add connection',
      lead: 'Choose the identity provider or directory that your users sign in with.',
      back: { href: HOME, label: 'Connections' },
      blocks: [
        { kind: 'tiles', title: 'Providers', items: presets.filter(({ id }) => !SEPARATE.includes(id)).map(tile) },
        { kind: 'tiles', title: 'By protocol', items: presets.filter(({ id }) => SEPARATE.includes(id)).map(tile) },
      ],
    });
  });

  router.get('/new/:kind/:preset', ...frame.page(WRITE), (ctx) => frame.show(ctx, form(ctx, requirePreset(ctx))));

  router.post('/new/:kind/:preset', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const preset = requirePreset(ctx);
    const one = await readForm(ctx);
    await frame.attempt(
      ctx,
      async () => {
        const { connection } = await connections.create(entryFrom(preset, one), frame.actor(ctx));
        frame.redirect(ctx, pathOf(connection.id), 'Connection added. Enter the values below at the provider.');
      },
      () => form(ctx, preset, one),
    );
  });
}

/** What the form declares; fields that were left empty get the defaults of the preset. */
function entryFrom({ kind, id: preset, fields }: Preset, given: Record<string, string>): Record<string, unknown> {
  const keys = fields.map(({ key }) => key);
  const values = Object.entries(valuesFrom(kind, keys, given)).filter(
    ([, value]) => value !== null && String(value) !== '',
  );
  return {
    ...{ id: given.id?.trim(), kind, preset, name: given.name?.trim() },
    ...{
      create_users: given.create_users === 'on',
      enabled: given.enabled === 'on',
      domains: lines(given.domains ?? ''),
    },
    ...Object.fromEntries(values),
    ...secretsFrom(given),
  };
}

/** @param name of the vendor, as the connection is called unless the administrator changes it */
function newPage(
  preset: Preset,
  given: Record<string, string>,
  { issuer, name }: { issuer: string; name: string },
): ConsolePage {
  const isSent = Object.keys(given).length > 0;
  const suggested = preset.id === 'generic' ? `my-${preset.kind}` : preset.id;
  const id = given.id ?? suggested;
  const connection = { id, kind: preset.kind, preset: preset.id };
  return {
    title: `Add connection: ${preset.name}`,
    lead: `Enter the values of Gatehouse at ${preset.name}, then its values here.`,
    back: { href: `${HOME}/new`, label: 'Add connection' },
    blocks: [
      ...vendorBlocks({ connection, values: pasteValuesOf(connection, issuer) }),
      {
        kind: 'form',
        title: 'Here',
        action: addressOf(preset),
        fields: [
          {
            name: 'name',
            label: 'Name',
            value: given.name ?? name,
            required: true,
            hint: 'Text on the sign-in button.',
          },
          {
            ...{ name: 'id', label: 'ID', value: id, required: true },
            hint: 'Part of the addresses above. Use a-z, 0-9, and -. You can’t change it later.',
          },
          ...presetFields(preset.kind, preset.id, given),
          {
            ...{ name: 'domains', label: 'Email domains', type: 'textarea', rows: 2, value: given.domains ?? '' },
            hint: 'Optional, one per line. Users with an email address in a proven domain sign in here.',
          },
          {
            ...{ name: 'create_users', label: 'Create an account at the first sign-in', type: 'checkbox' },
            checked: given.create_users === 'on',
          },
          {
            ...{
              name: 'enabled',
              label: 'Enable now',
              type: 'checkbox',
              checked: !isSent || given.enabled === 'on',
            },
          },
        ],
        button: 'Add connection',
        cancel: HOME,
      },
    ],
  };
}

function textOf({ kind }: Preset): string {
  return { oidc: 'OpenID Connect', saml: 'SAML 2.0', oauth2: 'OAuth 2.0', ldap: 'LDAP' }[kind];
}

function requirePreset(ctx: Context): Preset {
  const { kind, preset: id } = (ctx as Params).params;
  const preset = presets.find((one) => one.kind === kind && one.id === id);
  if (!preset) throw notFound();
  return preset;
}
