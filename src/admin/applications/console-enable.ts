// Enabling, disabling and deleting one application.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { within } from '../../rbac/rights.ts';
import { t } from '../../texts/text.ts';
import type { Block } from '../console/blocks.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
/** The actions that need confirmation. */
const confirmed = {
  disable: {
    consequence: (name: string) => t('console.applications.disable.consequence', { name }),
    question: (name: string) => t('console.applications.disable.question', { name }),
    button: t('console.shared.disable'),
  },
  delete: {
    consequence: (name: string) => t('console.applications.delete.consequence', { name }),
    question: (name: string) => t('console.applications.delete.question', { name }),
    button: t('console.shared.delete'),
  },
};

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeleteRoutes(
  router: Router<State, Extras>,
  { frame, applications }: ApplicationPagesDependencies,
): void {
  addConfirmedAction('disable', async (ctx, id) => {
    await applications.setEnabled(id, false, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, t('console.applications.disable.done'));
  });

  addConfirmedAction('delete', async (ctx, id) => {
    await applications.remove(id, frame.actor(ctx));
    frame.redirect(ctx, '/admin/applications', t('console.applications.delete.done'));
  });

  router.post('/:id/enable', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, t('console.applications.enable.done'));
  });

  /** The route of a confirmation page, and the route of its action. */
  function addConfirmedAction(path: keyof typeof confirmed, act: (ctx: Context, id: string) => Promise<void>) {
    const { consequence, question, button } = confirmed[path];
    router.get(`/:id/${path}`, ...frame.page(within(WRITE)), async (ctx) => {
      const { id = '' } = ctx.params;
      const { application } = await applications.get(id, frame.actor(ctx), WRITE);
      frame.show(ctx, {
        title: question(application.name),
        back: { href: `/admin/applications/${id}/settings`, label: application.name },
        blocks: [
          {
            kind: 'form',
            lead: consequence(application.name),
            action: `/admin/applications/${id}/${path}`,
            fields: [],
            button,
            look: 'danger',
            cancel: `/admin/applications/${id}/settings`,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.change(within(WRITE)), (ctx) => act(ctx, ctx.params.id ?? ''));
  }
}

/** The last section of the application's settings. */
export function enableAndDeleteButtons({ enabled, name }: Pick<Application, 'enabled' | 'name'>, at: string): Block {
  const enable = {
    title: t('console.applications.enable.title'),
    text: t('console.applications.enable.text', { name }),
    action: { label: t('console.shared.enable'), post: `${at}/enable` },
  };
  const disable = {
    title: t('console.applications.disable.title'),
    text: confirmed.disable.consequence(name),
    action: { label: t('console.shared.disable'), href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    title: t('console.applications.delete.title'),
    text: confirmed.delete.consequence(name),
    action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' as const },
  };
  return {
    kind: 'tasks',
    title: t('console.shared.danger-zone'),
    isDanger: true,
    rows: [enabled ? disable : enable, remove],
  };
}
