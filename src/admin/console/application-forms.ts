// /admin/applications/new and …/edit: an application is registered from what it is, asked only for what that needs, and
// ends with the settings for its own side.
import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { bodyLimit, parseForm } from '../../http/input.ts';
import { type ApplicationAdmin, applicationVersion, type Declaration } from '../applications.ts';
import type { RoleAdmin } from '../roles.ts';
import { etagOf } from '../versions.ts';
import { accessFields, pasteBlocks } from './application-parts.ts';
import { type Field, VERSION, versionField } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';
import type { OurSide, Preset } from './preset-parts.ts';
import { kinds, lines, pairs, presetOf, products } from './presets.ts';

export interface ApplicationFormsNeeds {
  frame: Frame;
  applications: ApplicationAdmin;
  roles: Pick<RoleAdmin, 'list'>;
  ourSide(): Omit<OurSide, 'clientId' | 'clientSecret'>;
}

/** Metadata is pasted, and grows when it is sent. */
const MAX_BYTES = 1024 * 1024;
const WRITE = 'gatehouse.applications:write' as const;
const text = z.string().max(300_000).trim();
const answers = z.record(z.string(), z.union([text, z.array(text)]));

export function applicationForms({
  frame,
  applications,
  roles,
  ourSide,
}: ApplicationFormsNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/applications' });
  const tile = ({ id, title, text: line }: Preset) => ({ title, text: line, href: `/admin/applications/new/${id}` });

  router.get('/new', ...frame.page(WRITE), (ctx) =>
    frame.show(ctx, {
      title: 'New application',
      back: { href: '/admin/applications', label: 'Applications' },
      blocks: [
        { kind: 'tiles', title: 'By name', items: products.map(tile) },
        { kind: 'tiles', title: 'By what it is', items: kinds.map(tile) },
      ],
    }),
  );

  router.get('/new/:preset', ...frame.page(WRITE), (ctx) => showNew(ctx, presetIn(ctx), {}));

  router.post('/new/:preset', bodyLimit(MAX_BYTES), ...frame.change(WRITE), async (ctx) => {
    const preset = presetIn(ctx);
    const given = await fieldsOf(ctx);
    await frame.attempt(
      ctx,
      async () => {
        const declaration = preset.declare(given.one);
        const made =
          preset.protocol === 'oidc'
            ? await applications.createOidc(declaration, frame.by(ctx))
            : { application: await applications.createSaml(declaration, frame.by(ctx)) };
        showMade(ctx, made.application, 'clientSecret' in made ? made.clientSecret : undefined);
      },
      (problem) => showNew(ctx, preset, given.one, problem),
    );
  });

  router.get('/:id/edit', ...frame.page(WRITE), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '');
    await showEdit(ctx, application, editFields(application));
  });

  router.post('/:id/edit', bodyLimit(MAX_BYTES), ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { application } = await applications.get(id);
    const given = await fieldsOf(ctx);
    await frame.attempt(
      ctx,
      async () => {
        await applications.update(
          id,
          patchOf(application, given.one, given.roles),
          frame.by(ctx),
          given.one[VERSION] ?? '',
        );
        frame.back(ctx, `/admin/applications/${id}`, 'Saved.');
      },
      (problem) => showEdit(ctx, application, withAnswers(editFields(application), given.one), problem),
    );
  });

  function showNew(ctx: Context, preset: Preset, given: Record<string, string>, problem?: Problem): void {
    const page = {
      title: `New application: ${preset.title}`,
      back: { href: '/admin/applications/new', label: 'Kinds' },
      ...problem,
      blocks: [
        {
          kind: 'form' as const,
          action: `/admin/applications/new/${preset.id}`,
          fields: withAnswers(preset.fields, given),
          button: 'Register',
          cancel: '/admin/applications',
        },
      ],
    };
    frame.show(ctx, page, problem?.status);
  }

  function showMade(ctx: Context, application: Application, clientSecret: string | undefined): void {
    const side = { ...ourSide(), clientId: application.clientId, clientSecret };
    const isRunnable = application.protocol === 'saml' || application.metadata.redirect_uris.length > 0;
    frame.show(
      ctx,
      {
        title: `${application.name} is registered`,
        back: { href: '/admin/applications', label: 'Applications' },
        actions: [
          ...(isRunnable
            ? [{ label: 'Test sign-in', href: `/admin/test/${application.id}`, look: 'primary' as const }]
            : []),
          { label: 'Open it', href: `/admin/applications/${application.id}` },
        ],
        blocks: [
          { kind: 'text', tone: 'lead', text: 'Now tell the application about this server.' },
          ...(clientSecret
            ? [{ kind: 'text' as const, tone: 'warning' as const, text: 'The secret is shown this once.' }]
            : []),
          ...pasteBlocks(application, side),
        ],
      },
      201,
    );
  }

  async function showEdit(ctx: Context, application: Application, fields: readonly Field[], problem?: Problem) {
    const names = (await roles.list()).map(({ name }) => name);
    frame.show(
      ctx,
      {
        title: `Edit ${application.name}`,
        back: { href: `/admin/applications/${application.id}`, label: application.name },
        ...problem,
        blocks: [
          {
            kind: 'form',
            action: `/admin/applications/${application.id}/edit`,
            fields: [...fields, ...accessFields(application, names)],
            button: 'Save',
            cancel: `/admin/applications/${application.id}`,
          },
        ],
      },
      problem?.status,
    );
  }

  return router;
}

function presetIn(ctx: Context & { params?: Record<string, string> }): Preset {
  const preset = presetOf(ctx.params?.preset ?? '');
  if (!preset) throw notFound();
  return preset;
}

/** What was sent: one value for each field, and the roles that were ticked. */
async function fieldsOf(ctx: Context): Promise<{ one: Record<string, string>; roles: string[] }> {
  const { _csrf, roles = [], ...rest } = await parseForm(ctx, answers, { lists: ['roles'] });
  const one = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, [value].flat().join('\n')]));
  return { one, roles: [roles].flat() };
}

function withAnswers(fields: readonly Field[], given: Record<string, string>): Field[] {
  return fields.map((field) => {
    const value = given[field.name];
    if (field.type === 'checkbox')
      return value === undefined && Object.keys(given).length === 0 ? field : { ...field, checked: value === 'on' };
    return value === undefined ? field : { ...field, value };
  });
}

const editFields = (application: Application): Field[] => [
  versionField(etagOf(applicationVersion(application))),
  ...fieldsFor(application),
];

/** What can be edited of an application. */
function fieldsFor(application: Application): Field[] {
  const name: Field = { name: 'name', label: 'Name', value: application.name, required: true };
  const consent: Field = {
    name: 'implicit',
    label: 'Do not ask people for consent',
    type: 'checkbox',
    checked: application.consent === 'implicit',
    hint: 'For applications of your own.',
  };
  if (application.protocol === 'oidc') {
    const { metadata } = application;
    const list = (field: string, label: string, values: readonly string[] = []): Field => ({
      name: field,
      label,
      type: 'textarea',
      rows: Math.max(2, values.length + 1),
      value: values.join('\n'),
    });
    return [
      name,
      list('redirect_uris', 'Redirect URIs', metadata.redirect_uris),
      list('post_logout_redirect_uris', 'Addresses after signing out', metadata.post_logout_redirect_uris),
      list('grant_types', 'Grants', metadata.grant_types),
      { name: 'scope', label: 'Scopes it may ask for', value: metadata.scope ?? '', hint: 'Empty: every one.' },
      {
        name: 'backchannel_logout_uri',
        label: 'Back-channel logout address',
        value: metadata.backchannel_logout_uri ?? '',
      },
      consent,
    ];
  }
  const { metadata } = application;
  const isByHand = metadata.metadata_url === undefined && metadata.metadata_xml === undefined;
  return [
    name,
    ...(metadata.metadata_url === undefined
      ? []
      : [{ name: 'metadata_url', label: 'Address of its metadata', value: metadata.metadata_url }]),
    ...(metadata.metadata_url === undefined && metadata.metadata_xml !== undefined
      ? [{ name: 'metadata', label: 'Its metadata', type: 'textarea' as const, rows: 8, value: metadata.metadata_xml }]
      : []),
    ...(isByHand
      ? [
          {
            name: 'acs_url',
            label: 'ACS URLs',
            type: 'textarea' as const,
            rows: 3,
            value: (metadata.acs ?? []).map(({ url }) => url).join('\n'),
          },
        ]
      : []),
    {
      name: 'attributes',
      label: 'Attributes',
      type: 'textarea',
      rows: 5,
      value: Object.entries(metadata.attributes)
        .map(([attribute, field]) => `${attribute} = ${field}`)
        .join('\n'),
      hint: 'SAML name = user field, one a line.',
    },
    {
      name: 'idp_initiated',
      label: 'May be opened from the portal',
      type: 'checkbox',
      checked: metadata.idp_initiated,
    },
    consent,
  ];
}

/** JSON merge patch of the declaration. */
function patchOf(application: Application, given: Record<string, string>, roles: string[]): Declaration {
  const common = {
    consent: given.implicit === 'on' ? 'implicit' : 'explicit',
    access: given.open === 'roles' ? { roles } : 'everyone',
  };
  const orGone = (value: string | undefined) => value || null;
  if (application.protocol === 'oidc') {
    return {
      ...common,
      client_name: given.name,
      redirect_uris: lines(given.redirect_uris),
      post_logout_redirect_uris: lines(given.post_logout_redirect_uris),
      grant_types: lines(given.grant_types),
      scope: orGone(given.scope),
      backchannel_logout_uri: orGone(given.backchannel_logout_uri),
    };
  }
  const before = application.metadata.attributes;
  const attributes = pairs(given.attributes ?? '');
  const gone = Object.fromEntries(
    Object.keys(before)
      .filter((name) => !(name in attributes))
      .map((name) => [name, null]),
  );
  return {
    ...common,
    name: given.name,
    ...(given.metadata_url === undefined ? {} : { metadata_url: given.metadata_url }),
    ...(given.metadata === undefined ? {} : { metadata: given.metadata }),
    ...(given.acs_url === undefined ? {} : { acs_url: lines(given.acs_url) }),
    attributes: { ...attributes, ...gone },
    idp_initiated: given.idp_initiated === 'on',
  };
}
