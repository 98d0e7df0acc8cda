// /admin/roles/:id/delete: the page that asks before a role is deleted.
import type Router from '@koa/router';
import type { Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import type { Role } from '../../rbac/role.ts';
import { t } from '../../texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { assertTypedName, deletionForm, readTypedName } from '../console/danger-zone.ts';
import type { RoleAdmin } from './actions.ts';
import type { MemberPagesDependencies } from './console-members.ts';
import { mayChangeRole, pathOf, WRITE } from './role-page.ts';

export function roleDeletion(
  router: Router<State, Extras>,
  dependencies: MemberPagesDependencies & { roles: RoleAdmin },
): void {
  const { frame, roles } = dependencies;
  const page = async (role: Role, typed?: string): Promise<ConsolePage> => {
    const count = (await roles.members()).get(role.id) ?? 0;
    const { counted } = limits.lists;
    const members = { count: Math.min(count, counted), more: count > counted ? 'yes' : 'no' };
    const lead = count === 0 ? t('console.roles.no-members-yet') : t('console.roles.delete-lead', members);
    return {
      title: t('console.roles.delete-title', { role: role.name }),
      back: { href: pathOf(role), label: role.name },
      blocks: [deletionForm({ at: pathOf(role), name: role.name, lead, typed })],
    };
  };

  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    if (!(await mayChangeRole(dependencies, ctx, role))) throw forbidden('forbidden');
    frame.show(ctx, await page(role));
  });

  router.post('/:id/delete', ...frame.change(WRITE), async (ctx) => {
    const role = await roles.get(ctx.params.id ?? '');
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, role.name);
        await roles.remove(role.id, frame.actor(ctx));
        frame.redirect(ctx, '/admin/roles', t('console.roles.deleted'));
      },
      () => page(role, typed),
    );
  });
}
