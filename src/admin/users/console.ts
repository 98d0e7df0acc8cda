// /admin/users: the list, the pages of one user, and the forms.

import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import type { ConsoleServices } from '../console-services.ts';
import { userActionPages } from './console-actions.ts';
import { bulkPages } from './console-bulk.ts';
import { userFormPages } from './console-forms.ts';
import { userList } from './console-list.ts';
import { oneTimePasswordPages } from './console-password.ts';
import { userTabs } from './tabs/tabs.ts';

/** All pages below /admin/users. */
export function userRoutes(services: ConsoleServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/users' });
  // `/new` and `/bulk` first: they would match `/:id`.
  bulkPages(router, services);
  userFormPages(router, services);
  userList(router, services);
  userTabs(router, services);
  oneTimePasswordPages(router, services);
  userActionPages(router, services);
  return router;
}
