// /admin/connections: the upstream identity providers at which users sign in.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { bodyLimit, parseQuery } from '../../http/input.ts';
import { listOf, type PageText, t } from '../../texts/text.ts';
import { etagOf } from '../api/versions.ts';
import { MAX_FORM_BYTES, readForm } from '../applications/form/read-form.ts';
import { type Action, type Block, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { type ListAddress, sortColumn, sortedBy } from '../console/lists.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import { keysOf, type Section, sectionFields, sections, valuesFrom } from './console-fields.ts';
import { addMaintenanceRoutes } from './console-maintenance.ts';
import { addNewConnectionRoutes } from './console-new.ts';
import {
  assertChangeable,
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

const ADD = { label: t('console.connections.add'), icon: 'plus', href: `${HOME}/new` };
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
    frame.show(ctx, {
      title: t('console.navigation.connections'),
      lead: t('console.connections.lead'),
      actions: mayChange ? [{ ...ADD, look: 'primary' }] : [],
      blocks: [
        ...forgedBlocks(forged, mayChange),
        {
          kind: 'table',
          caption: sort ? t('console.navigation.connections') : t('console.connections.in-order'),
          columns: [
            sortColumn(t('console.connections.connection'), 'name', list),
            sortColumn(t('console.connections.provider'), 'provider', list),
            t('console.shared.state'),
            t('console.connections.domains'),
          ],
          rows: sorted.map((one) => [
            {
              text: one.connection.name,
              href: pathOf(one.connection.id),
              small: one.connection.id,
              logo: { name: one.connection.name },
            },
            vendorOf(one),
            [
              ...stateTags(one),
              ...(hasFault(one) ? [{ text: t('console.connections.needs-attention'), tone: 'warn' as const }] : []),
            ],
            listOf(one.domains.map(({ domain }) => domain)),
          ]),
          empty: {
            icon: 'plug',
            title: t('console.connections.empty.title'),
            text: t('console.connections.empty.text'),
            ...(mayChange && { action: ADD }),
          },
        },
      ],
    });
  });
}

/** Rows that another program wrote. */
function forgedBlocks(forged: readonly string[], mayRemove: boolean): Block[] {
  if (forged.length === 0) return [];
  const text = t('console.connections.forged', { ids: listOf(forged) });
  const items = forged.map((id) => ({
    label: t('console.connections.remove-one', { id }),
    href: `${pathOf(id)}/delete`,
  }));
  return [{ kind: 'text', tone: 'alert', text }, ...(mayRemove ? [{ kind: 'actions' as const, items }] : [])];
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
      back: { href: HOME, label: t('console.navigation.connections') },
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
  const label = t('console.connections.try');
  return connection.kind === 'ldap' ? { label, href: at } : { label, post: at };
}

function changeActions({ connection }: ConnectionDetails): Action[] {
  const at = pathOf(connection.id);
  return [
    { label: t('console.shared.edit'), href: `${at}/edit`, look: 'primary' },
    connection.enabled
      ? { label: t('console.shared.disable'), href: `${at}/disable` }
      : { label: t('console.shared.enable'), post: `${at}/enable` },
    { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' },
  ];
}

const trustedEmailTexts: Record<string, PageText> = {
  never: t('console.connections.trusted-email.never'),
  verified: t('console.connections.trusted-email.verified'),
  domains: t('console.connections.trusted-email.domains'),
};

function factsOf(details: ConnectionDetails): Block {
  const { entry, connection } = details;
  const text = (key: string) => (typeof entry[key] === 'string' ? entry[key] : undefined);
  const upstream =
    text('issuer') ?? text('entity_id') ?? text('metadata_url') ?? text('authorization_url') ?? text('url');
  return {
    kind: 'facts',
    rows: [
      { label: t('console.shared.id'), value: { text: connection.id, code: true } },
      { label: t('console.connections.provider'), value: vendorOf(details) },
      { label: t('console.connections.upstream'), value: upstream ? { text: upstream, code: true } : null },
      {
        label: t('console.connections.new-accounts'),
        value: t('console.connections.new-accounts.value', { creates: entry.create_users ? 'yes' : 'no' }),
      },
      {
        label: t('console.connections.email-addresses'),
        value: trustedEmailTexts[String(entry.trusted_email)] ?? '',
      },
      {
        label: t('console.connections.sign-out'),
        value: t('console.connections.sign-out.value', { when: String(entry.logout) }),
      },
    ],
  };
}

function addEditRoutes(router: Router<State, Extras>, { frame, connections }: ConnectionPagesDependencies): void {
  router.get('/:id/edit', ...frame.page(WRITE), async (ctx) => {
    await assertChangeable({ connections }, ctx.params.id ?? '');
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
        frame.redirect(ctx, pathOf(id), t('console.connections.saved'));
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
    title: t('console.connections.edit-title', { name: connection.name }),
    lead: t('console.connections.edit-lead'),
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
      button: t('console.shared.save'),
      look: index === 0 ? 'primary' : 'secondary',
      cancel: at,
    })),
  };
}
