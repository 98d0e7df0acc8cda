// /admin/connections: the upstream identity providers at which users sign in.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { bodyLimit, parseQuery } from '../../base/http/input.ts';
import { listOf, t } from '../../base/texts/text.ts';
import type { ConnectionSection } from '../../federation/connections/kinds/fields.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, VERSION, versionField } from '../console/blocks.ts';
import { type ListAddress, sortColumn, sortedBy } from '../console/lists.ts';
import { MAX_FORM_BYTES, readLongTexts } from '../console/typed-form.ts';
import { keysOf, sectionFields, sections, valuesFrom } from './console-fields.ts';
import { addMaintenanceRoutes } from './console-maintenance.ts';
import { addNewConnectionRoutes } from './console-new.ts';
import { connectionPage } from './console-page.ts';
import {
  assertChangeable,
  type ConnectionPagesDependencies,
  HOME,
  pathOf,
  READ,
  redirectSaved,
  stateTags,
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

function addListRoute(router: Router<State, Extras>, { frame, connections, now }: ConnectionPagesDependencies): void {
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
              ...stateTags(one, now()).map((tag) => ({ tone: 'plain' as const, ...tag })),
              ...(hasFault(one) ? [{ text: t('console.connections.needs-attention'), tone: 'warn' as const }] : []),
            ],
            one.domains.length > 0 ? listOf(one.domains.map(({ domain }) => domain)) : null,
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

function addOneRoute(router: Router<State, Extras>, dependencies: ConnectionPagesDependencies): void {
  const { frame, connections } = dependencies;
  router.get('/:id', ...frame.page(READ), async (ctx) => {
    frame.show(ctx, await connectionPage(dependencies, ctx, await connections.get(ctx.params.id ?? '')));
  });
}

function addEditRoutes(router: Router<State, Extras>, { frame, connections }: ConnectionPagesDependencies): void {
  router.get('/:id/edit', ...frame.page(WRITE), async (ctx) => {
    await assertChangeable({ connections }, ctx.params.id ?? '');
    frame.show(ctx, editPage(await connections.get(ctx.params.id ?? ''), {}));
  });

  router.post('/:id/edit', bodyLimit(MAX_FORM_BYTES), ...frame.change(WRITE), async (ctx: Params) => {
    const details = await connections.get(ctx.params.id ?? '');
    const one = await readLongTexts(ctx);
    const { id, kind, preset } = details.connection;
    const section = (one.section ?? 'upstream') as ConnectionSection;
    const changes = section in sections ? valuesFrom(kind, keysOf(kind, preset, section), one) : {};
    await frame.attempt(
      ctx,
      async () => {
        await connections.update(id, changes, frame.actor(ctx), one[VERSION] ?? '');
        await redirectSaved({ frame, connections }, ctx, id, t('console.connections.saved'));
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
    blocks: (Object.keys(sections) as ConnectionSection[]).map((section, index) => ({
      kind: 'form',
      title: sections[section],
      action: `${at}/edit`,
      fields: [
        versionField(version ?? etagOf(connectionVersion(details))),
        { name: 'section', label: '', type: 'hidden', value: section },
        ...sectionFields(connection.kind, section, values),
      ],
      button: t('console.shared.save-changes'),
      look: index === 0 ? 'primary' : 'secondary',
      cancel: at,
    })),
  };
}
