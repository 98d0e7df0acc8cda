// /admin/applications/new and …/edit: an application is registered from what it is, asked only for what that needs, and
// ends with the settings for its own side.
import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { bodyLimit, parseForm } from '../../http/input.ts';
import type { ApplicationAdmin } from '../applications.ts';
import type { RoleAdmin } from '../roles.ts';
import { editFields, patchOf } from './application-fields.ts';
import { accessFields, pasteBlocks } from './application-parts.ts';
import { type Field, VERSION } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';
import type { OurSide, Preset } from './preset-parts.ts';
import { kinds, presetOf, products } from './presets.ts';

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
