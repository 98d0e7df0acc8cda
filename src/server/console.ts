// Puts the console together: the pages under /admin, on the functions that the admin API calls as well.
import { createAttention } from '../admin/attention.ts';
import { createFrame } from '../admin/console/frame.ts';
import { createNames } from '../admin/console/names.ts';
import { overviewRoutes } from '../admin/console/overview.ts';
import type { OwnPage } from '../self-service/page.ts';
import type { Services } from '../services.ts';
import type { Administration } from './admin.ts';

export interface ConsoleParts {
  services: Services;
  administration: Administration;
  page: OwnPage;
}

export function assembleConsole({ services, administration, page }: ConsoleParts) {
  const { authority, statistics } = administration;
  const frame = createFrame({ page, authority });
  const names = createNames(services);
  return {
    routers: [overviewRoutes({ frame, names, statistics, attention: createAttention(services) })],
  };
}
