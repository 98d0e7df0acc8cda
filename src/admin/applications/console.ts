// /admin/applications: the list, and every page below it.

import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../resource.ts';
import { applicationNoun } from './api.ts';
import { addEnableAndDeletePages } from './console-enable.ts';
import { addListRoute } from './console-list.ts';
import { addMetadataPages } from './console-metadata.ts';
import { addNewApplicationPages } from './console-new.ts';
import { addSecretPages } from './console-secrets.ts';
import { addPicturePages } from './picture/console.ts';
import { addTabs } from './tabs/tabs.ts';

/** All pages below /admin/applications. */
export function applicationRoutes(services: ConsoleServices) {
  const pages = pagesOf(services.frame, applicationNoun(services.admin.applications));
  addNewApplicationPages(pages.router, services);
  addListRoute(pages.router, services);
  addTabs(pages, services);
  addSecretPages(pages, services);
  addPicturePages(pages, services);
  addMetadataPages(pages, services);
  addEnableAndDeletePages(pages, services);
  return pages.router;
}
