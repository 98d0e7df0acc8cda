// Enabling, disabling and deleting one application.
import type Router from '@koa/router';
import type { Context, Extras, State } from '../../http/context.ts';
import { within } from '../../rbac/rights.ts';
import type { Block } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
const CONSEQUENCES = {
  disable: 'Users can no longer sign in to it, and its tokens end now.',
  delete: 'It is deleted for good, with its secrets and the consents of users.',
};

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeleteRoutes(
  router: Router<State, Extras>,
  { frame, applications }: ApplicationPagesDependencies,
): void {
  addConfirmedAction('disable', 'Disable', CONSEQUENCES.disable, async (ctx, id) => {
    await applications.setEnabled(id, false, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, 'It is disabled.');
  });

  addConfirmedAction('delete', 'Delete', CONSEQUENCES.delete, async (ctx, id) => {
    await applications.remove(id, frame.actor(ctx));
    frame.redirect(ctx, '/admin/applications', 'It was deleted.');
  });

  router.post('/:id/enable', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, 'It is enabled.');
  });

  /** A page that asks for confirmation, and the action behind it. */
  function addConfirmedAction(
    path: string,
    verb: string,
    consequence: string,
    act: (ctx: Context, id: string) => Promise<void>,
  ) {
    router.get(`/:id/${path}`, ...frame.page(within(WRITE)), async (ctx) => {
      const { id = '' } = ctx.params;
      const { application } = await applications.get(id, frame.actor(ctx), WRITE);
      frame.show(ctx, {
        title: `${verb} ${application.name}?`,
        back: { href: `/admin/applications/${id}`, label: application.name },
        blocks: [
          {
            kind: 'form',
            lead: consequence,
            action: `/admin/applications/${id}/${path}`,
            fields: [],
            button: verb,
            look: 'danger',
            cancel: `/admin/applications/${id}`,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.change(within(WRITE)), (ctx) => act(ctx, ctx.params.id ?? ''));
  }
}

/** For the page of the application. */
export function enableAndDeleteButtons(isEnabled: boolean, at: string): Block {
  const enable = {
    title: 'Enable application',
    text: 'Users can sign in to it again.',
    action: { label: 'Enable', post: `${at}/enable` },
  };
  const disable = {
    title: 'Disable application',
    text: CONSEQUENCES.disable,
    action: { label: 'Disable', href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    title: 'Delete application',
    text: CONSEQUENCES.delete,
    action: { label: 'Delete', href: `${at}/delete`, look: 'danger' as const },
  };
  return { kind: 'tasks', title: 'Danger zone', isDanger: true, rows: [isEnabled ? disable : enable, remove] };
}
