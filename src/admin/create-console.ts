// Builds the console: the pages of each noun under /admin, on the same actions that the admin API calls.
import { apiKeyRoutes } from './api-keys/console.ts';
import { applicationRoutes } from './applications/console.ts';
import { auditRoutes } from './audit/console.ts';
import { brandRoutes } from './branding/console.ts';
import { connectionRoutes } from './connections/console.ts';
import type { ConsoleServices } from './console-services.ts';
import { documentRoutes } from './documents/console.ts';
import { deliveryRoutes, eventStreamRoutes } from './event-streams/console.ts';
import { groupRoutes } from './groups/console.ts';
import { keyRoutes } from './keys/console.ts';
import { mailRoutes, mailTemplateRoutes } from './mail/console.ts';
import { overviewRoutes } from './overview/console.ts';
import { confirmationRoutes } from './proof/console.ts';
import { apiRoutes } from './resources/console.ts';
import { roleRoutes } from './roles/console.ts';
import { scimRoutes } from './scim/console.ts';
import { searchRoutes } from './search/console.ts';
import { sessionRoutes } from './sessions/console.ts';
import { settingRoutes } from './settings/console.ts';
import { signUpCodeRoutes } from './sign-up-codes/console.ts';
import { suggestionRoutes } from './suggestions/console.ts';
import { userRoutes } from './users/console.ts';
import { importRoutes } from './users/console-import.ts';

export const createConsole = (services: ConsoleServices) => [
  // First: it hands requests to the others.
  confirmationRoutes(services),
  overviewRoutes(services),
  applicationRoutes(services),
  apiRoutes(services),
  connectionRoutes(services),
  scimRoutes(services),
  userRoutes(services),
  importRoutes(services),
  roleRoutes(services),
  groupRoutes(services),
  suggestionRoutes(services),
  searchRoutes(services),
  documentRoutes(services),
  sessionRoutes(services),
  auditRoutes(services),
  eventStreamRoutes(services),
  deliveryRoutes(services),
  apiKeyRoutes(services),
  keyRoutes(services),
  mailRoutes(services),
  mailTemplateRoutes(services),
  ...brandRoutes(services),
  settingRoutes(services),
  signUpCodeRoutes(services),
];
