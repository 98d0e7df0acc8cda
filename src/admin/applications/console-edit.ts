// /admin/applications/:id/edit: the registration as a form.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { bodyLimit } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import { type ConsolePage, type Field, VERSION } from '../console/blocks.ts';
import { hiddenFields, inSections } from '../console/sections.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { accessFields } from './console-parts.ts';
import { accessOf, editFields, patchOf } from './form/fields.ts';
import { MAX_FORM_BYTES, readForm, withTypedValues } from './form/read-form.ts';
import { applicationSections } from './form/sections.ts';

const WRITE = 'gatehouse.applications:write' as const;

/** The page …/edit and its action. */
export function addEditRoutes(
  router: Router<State, Extras>,
  { frame, applications, roles }: ApplicationPagesDependencies,
): void {
  router.get('/:id/edit', ...frame.page(within(WRITE)), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    frame.show(ctx, await editPage(ctx, application, editFields(application)));
  });

  router.post('/:id/edit', bodyLimit(MAX_FORM_BYTES), ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    const { application } = await applications.get(id, frame.actor(ctx), WRITE);
    const given = await readForm(ctx);
    await frame.attempt(
      ctx,
      async () => {
        await applications.update(
          id,
          patchOf(application, given.one, given.roles),
          frame.actor(ctx),
          given.one[VERSION] ?? '',
        );
        frame.redirect(ctx, `/admin/applications/${id}`, 'Saved.');
      },
      () => {
        const typed = { ...application, access: accessOf(given.one, given.roles) };
        return editPage(ctx, typed, withTypedValues(editFields(application), given.one));
      },
    );
  });

  async function editPage(ctx: Context, application: Application, fields: readonly Field[]): Promise<ConsolePage> {
    const { access } = application;
    const named = access === 'everyone' ? [] : access.roles;
    const names = [...new Set([...(await roles.assignable(frame.actor(ctx))), ...named])].sort();
    return {
      title: `Edit ${application.name}`,
      back: { href: `/admin/applications/${application.id}`, label: application.name },
      blocks: [
        {
          kind: 'form',
          action: `/admin/applications/${application.id}/edit`,
          fields: hiddenFields(fields),
          sections: inSections([...fields, ...accessFields(application, names)], applicationSections),
          button: 'Save',
          cancel: `/admin/applications/${application.id}`,
        },
      ],
    };
  }
}
