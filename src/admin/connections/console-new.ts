// /admin/connections/new: choose the vendor, then enter its values and copy those of this server to it.
import type Router from '@koa/router';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { bodyLimit } from '../../base/http/input.ts';
import { inLanguage, t } from '../../base/texts/text.ts';
import { type Preset, pasteValuesOf, presets } from '../../federation/connections/presets/presets.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { lines } from '../console/text-area.ts';
import { MAX_FORM_BYTES, readLongTexts } from '../console/typed-form.ts';
import { presetFields, secretsFrom, valuesFrom } from './console-fields.ts';
import { type ConnectionPagesDependencies, HOME, redirectSaved, vendorBlocks, WRITE } from './console-parts.ts';

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
      title: t('console.connections.add'),
      lead: t('console.connections.new-lead'),
      back: { href: HOME, label: t('console.navigation.connections') },
      blocks: [
        {
          kind: 'tiles',
          title: t('console.connections.providers'),
          items: presets()
            .filter(({ id }) => !SEPARATE.includes(id))
            .map(tile),
        },
        {
          kind: 'tiles',
          title: t('console.connections.by-protocol'),
          items: presets()
            .filter(({ id }) => SEPARATE.includes(id))
            .map(tile),
        },
      ],
    });
  });

  router.get('/new/:kind/:preset', ...frame.page(WRITE), (ctx) => frame.show(ctx, form(ctx, requirePreset(ctx))));

  router.post('/new/:kind/:preset', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx) => {
    const preset = requirePreset(ctx);
    const one = await readLongTexts(ctx);
    await frame.attempt(
      ctx,
      async () => {
        const { connection } = await connections.create(entryFrom(preset, one), frame.actor(ctx));
        await redirectSaved({ frame, connections }, ctx, connection.id, t('console.connections.added'));
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
    id: given.id?.trim(),
    kind,
    preset,
    name: given.name?.trim(),
    create_users: given.create_users === 'on',
    enabled: given.enabled === 'on',
    domains: lines(given.domains ?? ''),
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
    title: t('console.connections.add-title', { name: preset.name }),
    lead: t('console.connections.add-lead', { name: preset.name }),
    back: { href: `${HOME}/new`, label: t('console.connections.add') },
    blocks: [
      ...vendorBlocks({ connection, values: pasteValuesOf(connection, issuer) }),
      {
        kind: 'form',
        title: t('console.connections.here'),
        action: addressOf(preset),
        fields: [
          {
            name: 'name',
            label: t('console.shared.name'),
            hint: t('console.connection-field.name.hint'),
            value: given.name ?? name,
            required: true,
          },
          {
            name: 'id',
            label: t('console.shared.id'),
            value: id,
            required: true,
            hint: t('console.connections.id-hint'),
          },
          ...presetFields(preset.kind, preset.id, given),
          {
            name: 'domains',
            type: 'textarea',
            rows: 2,
            value: given.domains ?? '',
            label: t('console.connection-field.domains.label'),
            hint: t('console.connections.domains-hint'),
          },
          {
            name: 'create_users',
            label: t('console.connection-field.create_users.label'),
            type: 'checkbox',
            checked: given.create_users === 'on',
          },
          {
            name: 'enabled',
            label: t('console.connections.enable-now'),
            type: 'checkbox',
            checked: !isSent || given.enabled === 'on',
          },
        ],
        button: t('console.connections.add'),
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
  const preset = presets().find((one) => one.kind === kind && one.id === id);
  if (!preset) throw notFound();
  return preset;
}
