// /admin/applications: the list, and every page below it.

import { pagesOf } from '../resource.ts';
import { applicationNoun } from './api.ts';
import { addEnableAndDeletePages } from './console-enable.ts';
import { type ApplicationListDependencies, addListRoute } from './console-list.ts';
import { addMetadataPages } from './console-metadata.ts';
import { addNewApplicationPages } from './console-new.ts';
import type { ApplicationPagesDependencies } from './console-parts.ts';
import { addSecretPages } from './console-secrets.ts';
import { addPicturePages } from './picture/console.ts';
import { addTabs } from './tabs/tabs.ts';

/** All pages below /admin/applications. */
export function applicationRoutes(dependencies: ApplicationPagesDependencies & ApplicationListDependencies) {
  const pages = pagesOf(dependencies.frame, applicationNoun(dependencies.applications));
  addNewApplicationPages(pages.router, dependencies);
  addListRoute(pages.router, dependencies);
  addTabs(pages, dependencies);
  addSecretPages(pages, dependencies);
  addPicturePages(pages, dependencies);
  addMetadataPages(pages, dependencies);
  addEnableAndDeletePages(pages, dependencies);
  return pages.router;
}
