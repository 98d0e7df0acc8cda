// Enabling, disabling and deleting one application.
import type Router from '@koa/router';
import type { Application } from '../../applications/application.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { t } from '../../base/texts/text.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Block, ConsolePage } from '../console/blocks.ts';
import { assertTypedName, dangerZone, readTypedName, typedNameField } from '../console/danger-zone.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';

const WRITE = 'gatehouse.applications:write' as const;
/** The actions that need confirmation. */
const confirmed = {
  disable: {
    consequence: (name: string) => t('console.applications.disable.consequence', { name }),
    question: (name: string) => t('console.applications.disable.question', { name }),
    button: () => t('console.shared.disable'),
  },
  delete: {
    consequence: (name: string) => t('console.applications.delete.consequence', { name }),
    question: (name: string) => t('console.applications.delete.question', { name }),
    button: (name: string) => t('console.shared.delete-name', { name }),
  },
};

/** The pages …/disable and …/delete, which ask for confirmation, and the action …/enable. */
export function addEnableAndDeleteRoutes(
  router: Router<State, Extras>,
  { frame, applications }: ApplicationPagesDependencies,
): void {
  for (const path of ['disable', 'delete'] as const)
    router.get(`/:id/${path}`, ...frame.page(within(WRITE)), async (ctx) => {
      const { application } = await applications.get(ctx.params.id ?? '', frame.actor(ctx), WRITE);
      frame.show(ctx, confirmationPage(path, application));
    });

  router.post('/:id/disable', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, false, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, t('console.applications.disable.done'));
  });

  router.post('/:id/delete', ...frame.change(within(WRITE)), async (ctx) => {
    const { application } = await applications.get(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, application.name);
        await applications.remove(application.id, frame.actor(ctx));
        frame.redirect(ctx, '/admin/applications', t('console.applications.delete.done'));
      },
      () => confirmationPage('delete', application, typed),
    );
  });

  router.post('/:id/enable', ...frame.change(within(WRITE)), async (ctx) => {
    const { id = '' } = ctx.params;
    await applications.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, `/admin/applications/${id}`, t('console.applications.enable.done'));
  });
}

/** The page that asks. @param typed the name as it was typed, where that is asked for */
function confirmationPage(path: keyof typeof confirmed, { id, name }: Application, typed?: string): ConsolePage {
  const { consequence, question, button } = confirmed[path];
  const settings = `/admin/applications/${id}/settings`;
  return {
    title: question(name),
    back: { href: settings, label: name },
    blocks: [
      {
        kind: 'form',
        lead: consequence(name),
        action: `/admin/applications/${id}/${path}`,
        fields: path === 'delete' ? [typedNameField(name, typed)] : [],
        button: button(name),
        look: 'danger',
        cancel: settings,
      },
    ],
  };
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
  return dangerZone([enabled ? disable : enable, remove]);
}
