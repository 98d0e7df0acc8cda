// /admin/apis/:identifier/delete: the page that asks before an API is deleted.
import type Router from '@koa/router';
import type { Extras, State } from '../../http/context.ts';
import { t } from '../../texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { assertTypedName, deletionForm, readTypedName } from '../console/danger-zone.ts';
import { type ApiPagesDependencies, HOME, pathOf, WRITE } from './console-parts.ts';

export function apiDeletion(router: Router<State, Extras>, { frame, resources }: ApiPagesDependencies): void {
  router.get('/:identifier/delete', ...frame.page(WRITE), async (ctx) => {
    const { identifier } = await resources.get(ctx.params.identifier ?? '');
    frame.show(ctx, deletionPage(identifier));
  });

  router.post('/:identifier/delete', ...frame.change(WRITE), async (ctx) => {
    const { identifier } = await resources.get(ctx.params.identifier ?? '');
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, identifier);
        await resources.remove(identifier, frame.actor(ctx));
        frame.redirect(ctx, HOME, t('console.apis.deleted'));
      },
      () => deletionPage(identifier, typed),
    );
  });
}

function deletionPage(identifier: string, typed?: string): ConsolePage {
  const at = pathOf(identifier);
  return {
    title: t('console.apis.delete-title', { identifier }),
    back: { href: at, label: identifier },
    blocks: [deletionForm({ at, name: identifier, lead: t('console.apis.delete-lead'), typed })],
  };
}
