// /admin/applications: the list, and the page of one application.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { within } from '../../rbac/rights.ts';
import type { Empty, Search } from '../console/blocks.ts';
import { listPath, listQuery } from '../console/frame.ts';
import { addEditRoutes } from './console-edit.ts';
import { addEnableAndDeleteRoutes, enableAndDeleteButtons } from './console-enable.ts';
import { addMetadataRoutes, waitingMetadataNotice } from './console-metadata.ts';
import { addNewApplicationRoutes } from './console-new.ts';
import {
  type ApplicationPagesDependencies,
  accessCell,
  detailsBlock,
  pkceWarning,
  protocolName,
  setupInstructionBlocks,
} from './console-parts.ts';
import { addSecretRoutes, secretBlocks } from './console-secrets.ts';
import { profileNotice } from './form/profile.ts';

const READ = 'gatehouse.applications:read' as const;
const WRITE = 'gatehouse.applications:write' as const;
const query = listQuery.extend({ protocol: z.enum(['', 'oidc', 'saml']).default('') });

/** All pages below /admin/applications. */
export function applicationRoutes(dependencies: ApplicationPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/applications' });
  // `/new` first: it would match `/:id`.
  addNewApplicationRoutes(router, dependencies);
  addListRoute(router, dependencies);
  addDetailsRoute(router, dependencies);
  addEditRoutes(router, dependencies);
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
            application.enabled ? { text: 'enabled', tone: 'good' } : { text: 'disabled', tone: 'bad' },
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

function addDetailsRoute(
  router: Router<State, Extras>,
  { frame, applications, identityProvider }: ApplicationPagesDependencies,
): void {
  router.get('/:id', ...frame.page(within(READ)), async (ctx) => {
    const { id = '' } = ctx.params;
    const details = await applications.get(id, frame.actor(ctx));
    const { application } = details;
    const mayChange = await applications.mayChange(id, frame.actor(ctx));
    const mayWrite = mayChange && application.source !== 'file';
    const path = `/admin/applications/${id}`;
    const isWaiting = (await applications.waitingMetadata(id, frame.actor(ctx))) !== undefined;
    frame.show(ctx, {
      title: application.name,
      logo: { name: application.name },
      back: { href: '/admin/applications', label: 'Applications' },
      tags: [
        application.enabled ? { text: 'enabled', tone: 'good' } : { text: 'disabled', tone: 'bad' },
        ...(application.source === 'file' ? [{ text: 'managed by the configuration file' }] : []),
      ],
      actions: [
        ...(isWaiting && mayChange
          ? [{ label: 'Compare its new metadata', href: `${path}/metadata`, look: 'primary' as const }]
          : []),
        ...(frame.may(ctx, WRITE) && mayChange && application.enabled
          ? [{ label: 'Test sign-in', href: `/admin/test/${id}`, look: isWaiting ? undefined : ('primary' as const) }]
          : []),
        ...(mayWrite ? [{ label: 'Edit', href: `${path}/edit` }] : []),
      ],
      blocks: [
        ...waitingMetadataNotice(isWaiting),
        ...pkceWarning(application),
        ...(application.source === 'file'
          ? [
              {
                kind: 'text' as const,
                tone: 'notice' as const,
                text: 'This application is managed by the configuration file. Edit it there.',
              },
            ]
          : []),
        detailsBlock(application),
        ...(application.protocol === 'oidc' ? profileNotice(application.metadata.profile) : []),
        ...secretBlocks(details, path, mayWrite),
        ...setupInstructionBlocks(application, { ...identityProvider(), clientId: application.clientId }),
        ...(mayWrite ? [enableAndDeleteButtons(application.enabled, path)] : []),
      ],
    });
  });
}
