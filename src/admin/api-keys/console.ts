// /admin/api-keys: the API keys that an administrator may see, a new one, and the revocation of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { t } from '../../base/texts/text.ts';
import { adminApi } from '../../people/rbac/built-in.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { cursorField, type Frame, trailField } from '../console/frame.ts';
import { keyPermissionOptions } from '../console/permission-words.ts';
import { readTypedForm } from '../console/typed-form.ts';
import { type FindTypedUser, typedUserValue } from '../suggestions/typed-user.ts';
import type { ApiKeyAdmin } from './actions.ts';
import { type KeyForm, keyForm, keyListPage, keyPage, newKeyPage, revocationPage } from './console-pages.ts';

const HOME = '/admin/api-keys';
const READ = 'gatehouse.api-keys:read' as const;
const WRITE = 'gatehouse.api-keys:write' as const;
const query = z.object({
  state: z.enum(['active', 'ended']).default('active'),
  user: z.string().trim().max(254).default(''),
  after: cursorField,
  trail: trailField,
});

export interface ApiKeyPagesDependencies {
  frame: Frame;
  apiKeys: ApiKeyAdmin;
  findUser: FindTypedUser;
  issuer: string;
  now(): Date;
}

/** All pages below /admin/api-keys. */
export function apiKeyRoutes(dependencies: ApiKeyPagesDependencies): Router<State, Extras> {
  const { frame, apiKeys, findUser, now } = dependencies;
  const router = new Router<State, Extras>({ prefix: HOME });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { state, user, after, trail } = parseQuery(ctx, query);
    const by = frame.actor(ctx);
    const owner = user === '' ? undefined : await findUser(user, by);
    const ownerId = user === '' ? undefined : (owner?.account?.id ?? '');
    const page = await apiKeys.list({ state, ownerId, cursor: after, limit: limits.api.pageSize }, by);
    const hasNone = async () => (await apiKeys.list({ state: 'ended', limit: 1 }, by)).keys.length === 0;
    const isEmpty = state === 'active' && user === '' && page.keys.length === 0 && (await hasNone());
    frame.show(
      ctx,
      keyListPage(page, {
        state,
        user,
        owner: typedUserValue(user, owner),
        after,
        trail,
        isEmpty,
        now: now(),
        mayWrite: frame.may(ctx, WRITE),
      }),
    );
  });

  // `/new` first: it would match `/:id`.
  addCreation(router, dependencies);

  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const key = await apiKeys.get(ctx.params.id ?? '', frame.actor(ctx));
    frame.show(ctx, keyPage(key, { now: now(), mayWrite: frame.may(ctx, WRITE) }));
  });

  router.get('/:id/revoke', ...frame.page(READ, WRITE), async (ctx) => {
    frame.show(ctx, revocationPage(await apiKeys.get(ctx.params.id ?? '', frame.actor(ctx))));
  });

  router.post('/:id/revoke', ...frame.change(READ, WRITE), async (ctx) => {
    const { name } = await apiKeys.revoke(ctx.params.id ?? '', frame.actor(ctx));
    frame.redirect(ctx, HOME, t('console.api-keys.revoke.done', { name }));
  });

  return router;
}

function addCreation(router: Router<State, Extras>, { frame, apiKeys, issuer }: ApiKeyPagesDependencies): void {
  const formPage = async (ctx: Context, given: KeyForm): Promise<ConsolePage> =>
    newKeyPage(given, {
      ...apiKeys.lifetimes(),
      options: keyPermissionOptions(await apiKeys.grantable(frame.actor(ctx))),
    });

  router.get('/new', ...frame.page(WRITE), async (ctx) => {
    const { defaultDays } = apiKeys.lifetimes();
    frame.show(ctx, await formPage(ctx, { name: '', expires_in_days: String(defaultDays), permissions: [] }));
  });

  router.post('/new', ...frame.change(WRITE), async (ctx) => {
    const { given, check } = await readTypedForm(ctx, keyForm.loose(), { lists: ['permissions'] });
    await frame.attempt(
      ctx,
      async () => {
        check();
        const { name, permissions, expires_in_days: days } = given;
        if (name === '') {
          const message = t('console.api-keys.form.name.missing');
          throw badRequest('invalid_input', { fields: [{ field: 'name', message }] });
        }
        const { key, text } = await apiKeys.create({ name, permissions, days: Number(days) }, frame.actor(ctx));
        await frame.showResult(ctx, createdPage(key, text));
      },
      () => formPage(ctx, given),
    );
  });

  function createdPage({ name, expiresAt }: { name: string; expiresAt: Date }, text: string): ConsolePage {
    return {
      title: t('console.api-keys.created'),
      back: { href: HOME, label: t('console.navigation.api-keys') },
      blocks: [
        { kind: 'secret', label: t('console.api-keys.created.key'), text, lead: t('console.api-keys.created.copy') },
        {
          kind: 'facts',
          rows: [
            { label: t('console.shared.name'), value: name },
            { label: t('console.api-keys.expires'), value: expiresAt },
          ],
        },
        {
          kind: 'code',
          title: t('console.api-keys.created.try'),
          lead: t('console.api-keys.created.try.lead'),
          label: t('console.api-keys.created.example'),
          text: `curl -H "Authorization: Bearer $API_KEY" ${adminApi(issuer)}/me`,
        },
        { kind: 'actions', items: [{ label: t('console.api-keys.created.done'), href: HOME, look: 'primary' }] },
      ],
    };
  }
}
