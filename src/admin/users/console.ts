// /admin/users: the list, the pages of one user, and the forms.
import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import type { RoleAdmin } from '../roles/roles.ts';
import { userActionPages } from './console-actions.ts';
import { bulkPages } from './console-bulk.ts';
import { userFormPages } from './console-forms.ts';
import { userList } from './console-list.ts';
import { oneTimePasswordPages } from './console-password.ts';
import type { UserTabsDependencies } from './tabs/tab-page.ts';
import { userTabs } from './tabs/tabs.ts';

export interface UserPagesDependencies extends UserTabsDependencies {
  roles: RoleAdmin;
  issuer: string;
  attributeSchema(): Promise<AttributeSchema>;
  /** The accounts that are locked now. */
  lockedAccounts(): Promise<{ id: string }[]>;
}

/** All pages below /admin/users. */
export function userRoutes(dependencies: UserPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/users' });
  // `/new` and `/bulk` first: they would match `/:id`.
  bulkPages(router, dependencies);
  userFormPages(router, dependencies);
  userList(router, dependencies);
  userTabs(router, dependencies);
  oneTimePasswordPages(router, dependencies);
  userActionPages(router, dependencies);
  return router;
}
