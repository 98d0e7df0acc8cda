// /admin/applications: the list, and the routes of every page below it.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import type { Empty, Search } from '../console/blocks.ts';
import { listPath, listQuery } from '../console/frame.ts';
import { addEnableAndDeleteRoutes } from './console-enable.ts';
import { addMetadataRoutes } from './console-metadata.ts';
import { addNewApplicationRoutes } from './console-new.ts';
import { type ApplicationPagesDependencies, accessCell, protocolName } from './console-parts.ts';
import { addSecretRoutes } from './console-secrets.ts';
import { stateTag } from './tabs/tab-page.ts';
import { addTabs } from './tabs/tabs.ts';

const READ = 'gatehouse.applications:read' as const;
const WRITE = 'gatehouse.applications:write' as const;
const query = listQuery.extend({ protocol: z.enum(['', 'oidc', 'saml']).default('') });

/** All pages below /admin/applications. */
export function applicationRoutes(dependencies: ApplicationPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/applications' });
  // `/new` first: it would match `/:id`.
  addNewApplicationRoutes(router, dependencies);
  addListRoute(router, dependencies);
  addTabs(router, dependencies);
  addSecretRoutes(router, dependencies);
  addMetadataRoutes(router, dependencies);
  addEnableAndDeleteRoutes(router, dependencies);
  return router;
}

function addListRoute(router: Router<State, Extras>, { frame, applications }: ApplicationPagesDependencies): void {
  router.get('/', ...frame.page(within(READ)), async (ctx) => {
    const { q, after, protocol } = parseQuery(ctx, query);
    const page = await applications.list(
      { search: q, after, ...(protocol && { protocol }), limit: 50 },
      frame.actor(ctx),
    );
    frame.show(ctx, {
      title: 'Applications',
      lead: 'Services that people sign in to through Gatehouse.',
      actions: frame.may(ctx, WRITE)
        ? [
            { label: 'New application', icon: 'plus', href: '/admin/applications/new', look: 'primary' },
            { label: 'Test applications', icon: 'flask-conical', href: '/admin/test' },
          ]
        : [],
      blocks: [
        {
          kind: 'table',
          caption: 'Applications',
          filter: listFilter(q, protocol),
          columns: ['Name', 'Protocol', 'Access', 'State'],
          rows: page.applications.map((application) => [
            {
              text: application.name,
              href: `/admin/applications/${application.id}`,
              small: application.clientId,
              logo: { name: application.name },
            },
            protocolName[application.protocol],
            accessCell(application),
            stateTag(application),
          ]),
          empty: q || protocol ? 'No application matches.' : noApplications(frame.may(ctx, WRITE)),
          next: page.next && listPath('/admin/applications', { q, protocol, after: page.next }),
        },
      ],
    });
  });
}

function listFilter(q: string, protocol: string): Search {
  return {
    action: '/admin/applications',
    fields: [
      { name: 'q', label: 'Name or identifier', type: 'search', value: q },
      {
        name: 'protocol',
        label: 'Protocol',
        type: 'select',
        value: protocol,
        options: [
          { value: '', label: 'Both' },
          { value: 'oidc', label: 'OpenID Connect' },
          { value: 'saml', label: 'SAML' },
        ],
      },
    ],
  };
}

function noApplications(mayAdd: boolean): Empty {
  return {
    icon: 'layout-grid',
    title: 'No applications yet',
    text: 'Choose a product such as GitLab or Salesforce, or add any OpenID Connect or SAML application. It takes about five minutes.',
    ...(mayAdd && { action: { label: 'Add the first application', icon: 'plus', href: '/admin/applications/new' } }),
  };
}
