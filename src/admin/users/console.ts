// /admin/users: the list, the pages of one user, and the forms.

import type Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../resource.ts';
import { userNoun } from './api.ts';
import { oneTimePasswordPages, userActionPages } from './console-actions.ts';
import { bulkPages } from './console-bulk.ts';
import { userFormPages } from './console-forms.ts';
import { grantPages } from './console-grants.ts';
import { userListPage } from './console-list.ts';
import { userTabs } from './tabs.ts';

/** All pages below /admin/users. */
export function userRoutes(services: ConsoleServices): Router<State, Extras> {
  const { router, list } = pagesOf(services.frame, userNoun(services.admin.users));
  // `/new` and `/bulk` first: they would match `/:id`.
  bulkPages(router, services);
  userFormPages(router, services);
  list((visit) => userListPage(services, visit));
  userTabs(router, services);
  grantPages(router, services);
  oneTimePasswordPages(router, services);
  userActionPages(router, services);
  return router;
}
