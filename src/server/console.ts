// Puts the console together: the pages under /admin, on the functions that the admin API calls as well.
import { createAttention } from '../admin/attention.ts';
import { applicationForms } from '../admin/console/application-forms.ts';
import { applicationRoutes } from '../admin/console/applications.ts';
import { auditRoutes } from '../admin/console/audit.ts';
import { createFrame } from '../admin/console/frame.ts';
import { importRoutes } from '../admin/console/import.ts';
import { createNames } from '../admin/console/names.ts';
import { overviewRoutes } from '../admin/console/overview.ts';
import { refusalRoutes } from '../admin/console/refusals.ts';
import { roleRoutes } from '../admin/console/roles.ts';
import { serverRoutes } from '../admin/console/server.ts';
import { settingRoutes } from '../admin/console/settings.ts';
import { createTestApp } from '../admin/console/test-app.ts';
import { testSignInRoutes } from '../admin/console/test-sign-in.ts';
import { createTestSpRoutes } from '../admin/console/test-sp.ts';
import { userForms } from '../admin/console/user-forms.ts';
import { userRoutes } from '../admin/console/users.ts';
import { whyRoutes } from '../admin/console/why.ts';
import { createUserImport } from '../admin/import-users.ts';
import type { AskOurselves } from '../http/ask-ourselves.ts';
import type { Cookies } from '../http/cookies.ts';
import { createTestTickets } from '../oidc/test-tickets.ts';
import { throttle } from '../saml/throttle.ts';
import type { OwnPage } from '../self-service/page.ts';
import type { Services } from '../services.ts';
import type { Administration, Explanations } from './admin.ts';
import { samlTests, testServiceProvider } from './console-saml.ts';
import type { assembleSaml } from './saml.ts';

export interface ConsoleParts {
  services: Services;
  administration: Administration;
  page: OwnPage;
  cookies: Cookies;
  explanations: Explanations;
  ask: AskOurselves;
  samlTestParts: ReturnType<typeof assembleSaml>['tests'];
}

export function assembleConsole(parts: ConsoleParts) {
  const { services, administration, page, cookies, explanations, ask, samlTestParts } = parts;
  const { authority, statistics } = administration;
  const frame = createFrame({ page, authority });
  const names = createNames(services);
  const ourSide = () => ({
    issuer: services.config.issuer,
    certificate: services.keyring.samlCertificates().find(({ state }) => state === 'active')?.certificatePem ?? '',
  });
  const { applications, roles, sessions, users } = administration;
  const tickets = createTestTickets({ ...services, cookies });
  const { issuer } = services.config;
  const findApplication = services.applications.find;
  const testSp = createTestSpRoutes({
    ...services,
    frame,
    issuer,
    tickets,
    sp: testServiceProvider(services),
    throttled: throttle(services),
  });
  const testApp = createTestApp({ ...services, frame, issuer, tickets, applications, findApplication, ask, testSp });
  return {
    routers: [
      overviewRoutes({ frame, names, statistics, attention: createAttention(services) }),
      // Before the pages of one application, whose ids `new` is none of.
      applicationForms({ frame, applications, roles, ourSide }),
      applicationRoutes({ frame, applications, roles, ourSide }),
      refusalRoutes({ frame, names, ...explanations }),
      userForms({ frame, users, roles }),
      userRoutes({ frame, users, sessions }),
      whyRoutes({ frame, names, ...explanations }),
      roleRoutes({ frame, roles }),
      importRoutes({ frame, imports: createUserImport({ ...services, users, roles }), audit: services.audit }),
      serverRoutes({ frame, ...administration }),
      auditRoutes({ frame, names, ...services }),
      settingRoutes({ frame, settings: administration.settings }),
      // Before the tests of one application, whose ids its paths are none of.
      testApp.router,
      testSp.router,
      testSignInRoutes({
        frame,
        issuer,
        applications,
        tickets,
        ...explanations,
        testApp,
        testSp,
        ...samlTests(services, samlTestParts),
      }),
    ],
  };
}
