// Enabling, disabling and deleting one application.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { within } from '../../rbac/rights.ts';
import type { Block } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
const consequences = {
  disable: (name: string) =>
    `People can’t sign in to ${name}. Its sessions and tokens end now. You can enable it again.`,
  delete: (name: string) => `Deletes ${name}, its secrets and consents. You can’t undo this.`,
};

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeleteRoutes(
  router: Router<State, Extras>,
  { frame, applications }: ApplicationPagesDependencies,
): void {
  addConfirmedAction('disable', 'Disable', async (ctx, id) => {
    await applications.setEnabled(id, false, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, 'Application disabled.');
  });

  addConfirmedAction('delete', 'Delete', async (ctx, id) => {
    await applications.remove(id, frame.actor(ctx));
    frame.redirect(ctx, '/admin/applications', 'Application deleted.');
  });

  router.post('/:id/enable', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, 'Application enabled.');
  });

  /** A page that asks for confirmation, and the action behind it. */
  function addConfirmedAction(
    path: keyof typeof consequences,
    verb: string,
    act: (ctx: Context, id: string) => Promise<void>,
  ) {
    router.get(`/:id/${path}`, ...frame.page(within(WRITE)), async (ctx) => {
      const { id = '' } = ctx.params;
      const { application } = await applications.get(id, frame.actor(ctx), WRITE);
      frame.show(ctx, {
        title: `${verb} ${application.name}?`,
        back: { href: `/admin/applications/${id}/settings`, label: application.name },
        blocks: [
          {
            kind: 'form',
            lead: consequences[path](application.name),
            action: `/admin/applications/${id}/${path}`,
            fields: [],
            button: verb,
            look: 'danger',
            cancel: `/admin/applications/${id}/settings`,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.change(within(WRITE)), (ctx) => act(ctx, ctx.params.id ?? ''));
  }
}

/** The last box of its settings. */
export function enableAndDeleteButtons({ enabled, name }: Pick<Application, 'enabled' | 'name'>, at: string): Block {
  const enable = {
    title: 'Enable application',
    text: `People can sign in to ${name} again.`,
    action: { label: 'Enable', post: `${at}/enable` },
  };
  const disable = {
    title: 'Disable application',
    text: consequences.disable(name),
    action: { label: 'Disable', href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    title: 'Delete application',
    text: consequences.delete(name),
    action: { label: 'Delete', href: `${at}/delete`, look: 'danger' as const },
  };
  return { kind: 'tasks', title: 'Danger zone', isDanger: true, rows: [enabled ? disable : enable, remove] };
}
