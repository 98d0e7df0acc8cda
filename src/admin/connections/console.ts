// /admin/connections: the upstream identity providers at which users sign in.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { bodyLimit, parseQuery } from '../../http/input.ts';
import { etagOf } from '../api/versions.ts';
import { MAX_FORM_BYTES, readForm } from '../applications/form/read-form.ts';
import { type Action, type Block, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { type ListAddress, sortColumn, sortedBy } from '../console/lists.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import { keysOf, type Section, sectionFields, sections, valuesFrom } from './console-fields.ts';
import { addMaintenanceRoutes } from './console-maintenance.ts';
import { addNewConnectionRoutes } from './console-new.ts';
import {
  type ConnectionPagesDependencies,
  documentBlocks,
  domainBlocks,
  HOME,
  mappingBlocks,
  pathOf,
  READ,
  secretBlocks,
  stateTags,
  vendorBlocks,
  vendorOf,
  WRITE,
} from './console-parts.ts';
import { addStateRoutes } from './console-state.ts';
import { addTryRoutes } from './console-try.ts';
import { type ConnectionDetails, connectionVersion } from './manageable-connections.ts';

type Params = Context & { params: Record<string, string> };

const query = z.object({ sort: z.enum(['', 'name', '-name', 'provider', '-provider']).default('') });

/** All pages below /admin/connections. */
export function connectionRoutes(dependencies: ConnectionPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HOME });
  addListRoute(router, dependencies);
  // `/new` first: it would match `/:id`.
  addNewConnectionRoutes(router, dependencies);
  addOneRoute(router, dependencies);
  addEditRoutes(router, dependencies);
  addTryRoutes(router, dependencies);
  addMaintenanceRoutes(router, dependencies);
  addStateRoutes(router, dependencies);
  return router;
}

function addListRoute(router: Router<State, Extras>, { frame, connections }: ConnectionPagesDependencies): void {
  router.get('/', ...frame.page(READ), async (ctx) => {
    const { sort } = parseQuery(ctx, query);
    const [all, forged] = [await connections.list(), await connections.forged()];
    const list: ListAddress = { path: HOME, filters: {}, sort, defaultSort: '' };
    const sorted = sortedBy(all, sort, frame.language(ctx), {
      name: ({ connection }) => connection.name,
      provider: vendorOf,
    });
    const mayChange = await connections.mayChange(frame.actor(ctx));
    const warning =
      'Another program changed these connections in the database. People can’t sign in with them. Remove them and find out who changed them.';
    frame.show(ctx, {
      title: 'Connections',
      lead: 'Identity providers and directories that your users sign in with.',
      actions: mayChange ? [{ label: 'Add connection', icon: 'plus', href: `${HOME}/new`, look: 'primary' }] : [],
      blocks: [
        ...(forged.length > 0
          ? [{ kind: 'text' as const, tone: 'alert' as const, text: `${warning} ${forged.join(', ')}` }]
          : []),
        ...(forged.length > 0 && mayChange
          ? [
              {
                kind: 'actions' as const,
                items: forged.map((id) => ({ label: `Remove ${id}`, href: `${pathOf(id)}/delete` })),
              },
            ]
          : []),
        {
          kind: 'table',
          caption: sort ? 'Connections' : 'Connections, in the order of the buttons',
          columns: [
            sortColumn('Connection', 'name', list),
            sortColumn('Provider', 'provider', list),
            'State',
            'Domains',
          ],
          rows: sorted.map((one) => [
            {
              text: one.connection.name,
              href: pathOf(one.connection.id),
              small: one.connection.id,
              logo: { name: one.connection.name },
            },
            vendorOf(one),
            [...stateTags(one), ...(hasFault(one) ? [{ text: 'needs attention', tone: 'warn' as const }] : [])],
            one.domains.map(({ domain }) => domain).join(', '),
          ]),
          empty: {
            icon: 'plug',
            title: 'No connections yet',
            text: 'Let people sign in with Microsoft, Google, a directory, or another identity provider.',
            ...(mayChange && { action: { label: 'Add connection', icon: 'plus', href: `${HOME}/new` } }),
          },
        },
      ],
    });
  });
}

function hasFault({ documents, domains }: ConnectionDetails): boolean {
  return (
    documents.some(({ failingSince }) => failingSince !== null) || domains.some(({ provenAt }) => provenAt === null)
  );
}

function addOneRoute(
  router: Router<State, Extras>,
  { frame, connections, now, configFile }: ConnectionPagesDependencies,
): void {
  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const details = await connections.get(ctx.params.id ?? '');
    const { connection } = details;
    const mayTry = await connections.mayChange(frame.actor(ctx));
    const mayChange = mayTry && connection.source === 'local';
    frame.show(ctx, {
      title: connection.name,
      logo: { name: connection.name },
      back: { href: HOME, label: 'Connections' },
      tags: stateTags(details),
      actions: [...(mayTry ? [tryAction(details)] : []), ...(mayChange ? changeActions(details) : [])],
      blocks: [
        ...(connection.source === 'file' ? [fileNotice(configFile, 'connection')] : []),
        factsOf(details),
        ...secretBlocks(details, mayChange, now()),
        ...domainBlocks(details, mayChange),
        ...mappingBlocks(details),
        ...documentBlocks(details, mayChange),
        ...vendorBlocks(details),
      ],
    });
  });
}

/** A directory has no page of its own to sign in at: a form asks for the login. */
function tryAction({ connection }: ConnectionDetails): Action {
  const at = `${pathOf(connection.id)}/test`;
  return connection.kind === 'ldap' ? { label: 'Try it', href: at } : { label: 'Try it', post: at };
}

function changeActions({ connection }: ConnectionDetails): Action[] {
  const at = pathOf(connection.id);
  return [
    { label: 'Edit', href: `${at}/edit`, look: 'primary' },
    connection.enabled ? { label: 'Disable', href: `${at}/disable` } : { label: 'Enable', post: `${at}/enable` },
    { label: 'Delete', href: `${at}/delete`, look: 'danger' },
  ];
}

function factsOf(details: ConnectionDetails): Block {
  const { entry, connection } = details;
  const text = (key: string) => (typeof entry[key] === 'string' ? entry[key] : undefined);
  const upstream =
    text('issuer') ?? text('entity_id') ?? text('metadata_url') ?? text('authorization_url') ?? text('url');
  return {
    kind: 'facts',
    rows: [
      { label: 'ID', value: { text: connection.id, code: true } },
      { label: 'Provider', value: vendorOf(details) },
      { label: 'Upstream', value: upstream ? { text: upstream, code: true } : null },
      { label: 'New accounts', value: entry.create_users ? 'created at the first sign-in' : 'not created' },
      {
        label: 'Email addresses',
        value:
          {
            never: 'confirmed here',
            verified: 'verified if the provider says so',
            domains: 'verified in its proven domains',
          }[String(entry.trusted_email)] ?? '',
      },
      { label: 'Sign-out at the provider', value: String(entry.logout) },
    ],
  };
}

function addEditRoutes(router: Router<State, Extras>, { frame, connections }: ConnectionPagesDependencies): void {
  router.get('/:id/edit', ...frame.page(WRITE), async (ctx) => {
    frame.show(ctx, editPage(await connections.get(ctx.params.id ?? ''), {}));
  });

  router.post('/:id/edit', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx: Params) => {
    const details = await connections.get(ctx.params.id ?? '');
    const one = await readForm(ctx);
    const { id, kind, preset } = details.connection;
    const section = (one.section ?? 'upstream') as Section;
    const changes = section in sections ? valuesFrom(kind, keysOf(kind, preset, section), one) : {};
    await frame.attempt(
      ctx,
      async () => {
        await connections.update(id, changes, frame.actor(ctx), one[VERSION] ?? '');
        frame.redirect(ctx, pathOf(id), 'Connection saved.');
      },
      () => editPage(details, changes, one[VERSION]),
    );
  });
}

/** One form for each section; `changes` are what a rejected form sent. */
function editPage(details: ConnectionDetails, changes: Record<string, unknown>, version?: string): ConsolePage {
  const { connection, entry } = details;
  const given = Object.entries({ ...entry, ...changes }).filter(([, value]) => value !== null);
  const values = Object.fromEntries(given);
  const at = pathOf(connection.id);
  return {
    title: `Edit ${connection.name}`,
    lead: 'Each part is saved on its own.',
    back: { href: at, label: connection.name },
    blocks: (Object.keys(sections) as Section[]).map((section, index) => ({
      kind: 'form',
      title: sections[section],
      action: `${at}/edit`,
      fields: [
        versionField(version ?? etagOf(connectionVersion(details))),
        { name: 'section', label: '', type: 'hidden', value: section },
        ...sectionFields(connection.kind, section, values),
      ],
      button: 'Save',
      look: index === 0 ? 'primary' : 'secondary',
      cancel: at,
    })),
  };
}
