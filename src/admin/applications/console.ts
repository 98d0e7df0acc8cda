// /admin/applications: the list, and the routes of every page below it.
import Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { addEnableAndDeleteRoutes } from './console-enable.ts';
import { type ApplicationListDependencies, addListRoute } from './console-list.ts';
import { addMetadataRoutes } from './console-metadata.ts';
import { addNewApplicationRoutes } from './console-new.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { addSecretRoutes } from './console-secrets.ts';
import { addPictureRoutes } from './picture/console.ts';
import { addTabs } from './tabs/tabs.ts';

/** All pages below /admin/applications. */
export function applicationRoutes(
  dependencies: ApplicationPagesDependencies & ApplicationListDependencies,
): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/applications' });
  // `/new` is registered first, because `/:id` would match it.
  addNewApplicationRoutes(router, dependencies);
  addListRoute(router, dependencies);
  addTabs(router, dependencies);
  addSecretRoutes(router, dependencies);
  addPictureRoutes(router, dependencies);
  addMetadataRoutes(router, dependencies);
  addEnableAndDeleteRoutes(router, dependencies);
  return router;
}
