// /admin/api-keys: the API keys that an administrator may see, one of them, a new one, and the revocation of one.

import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { maskedKey } from '../../people/api-keys/api-keys.ts';
import { adminApi } from '../../people/rbac/built-in.ts';
import type { Action, Cell, ConsolePage, Field, Mark, Option } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { daysField } from '../console/form-fields.ts';
import { listAt, tableOf } from '../console/lists.ts';
import { type NamedField, type NamedUser, personLogo } from '../console/names.ts';
import { keyPermissionMark, keyPermissionOptions } from '../console/permission-words.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { typedUserValue, userFilter } from '../suggestions/typed-user.ts';
import { apiKeyNoun, type CreatedKey, type KeyView, newKey } from './api-keys.ts';

const HOME = '/admin/api-keys';
const WRITE = 'gatehouse.api-keys:write' as const;
const DAY_MS = 24 * 3600 * 1000;
/** The tag of a key warns from so many days before its end. */
const SOON_DAYS = 14;
const CHOICES = [7, 30, 90, 180, 365];
const back = { href: HOME, label: t('console.navigation.api-keys') };
const pathOf = ({ id }: KeyView) => `${HOME}/${id}`;
const CREATE: Action = { label: t('console.api-keys.create'), icon: 'plus', href: `${HOME}/new` };
const listIn = listAt(HOME, {
  user: z.string().trim().max(254).default(''),
  state: z.enum(['', 'ended']).default(''),
});

export function apiKeyRoutes(services: ConsoleServices) {
  const {
    admin: { apiKeys },
    findUser,
    names,
    config: { issuer },
    now,
  } = services;
  const { router, list, createForm, one, question } = pagesOf(services, apiKeyNoun(apiKeys));

  list(async ({ ctx, by, may }) => {
    const asked = listIn(ctx);
    const { user, after } = asked.given;
    const state = asked.given.state || 'active';
    const owner = user === '' ? undefined : await findUser(user, by);
    const ownerId = user === '' ? undefined : (owner?.account?.id ?? '');
    const page = await apiKeys.list({ state, ownerId, cursor: after, limit: limits.api.pageSize }, by);
    const hasNone = async () => (await apiKeys.list({ state: 'ended', limit: 1 }, by)).keys.length === 0;
    const isEmpty = state === 'active' && user === '' && page.keys.length === 0 && (await hasNone());
    const field = typedUserValue(user, owner);
    const users = await names.users(page.keys.map(({ ownerId: id }) => id));
    return keyListPage(page, asked, { owner: field, users, isEmpty, now: now(), mayWrite: may(WRITE) });
  });

  createForm({
    title: () => t('console.api-keys.create'),
    purpose: t('console.api-keys.form.lead'),
    fields: async ({ by }) => keyFields(apiKeys.lifetimes(), keyPermissionOptions(await apiKeys.grantable(by))),
    body: newKey,
    button: t('console.api-keys.create'),
    submit: async ({ by }, { expires_in_days: days, ...key }) => ({
      result: createdPage(await apiKeys.create({ ...key, days }, by), issuer),
    }),
  });

  one('', { page: ({ subject, may }) => keyPage(subject, { now: now(), mayWrite: may(WRITE) }) });

  question('/revoke', {
    title: ({ name }) => t('console.api-keys.revoke.title', { name }),
    lead: ({ subject: { username, ownerId } }) => t('console.api-keys.revoke.lead', { owner: username || ownerId }),
    button: t('console.api-keys.revoke'),
    async submit({ by, subject: { id, name } }) {
      await apiKeys.revoke(id, by);
      return { to: HOME, notice: t('console.api-keys.revoke.done', { name }) };
    },
  });
  return router;
}

interface ListOptions {
  /** What the field of the owner displays and sends. */
  owner: NamedField;
  users: ReadonlyMap<string, NamedUser>;
  /** No key was ever created, or all ended long ago. */
  isEmpty: boolean;
  now: Date;
  mayWrite: boolean;
}

function keyListPage(
  { keys, next }: { keys: readonly KeyView[]; next?: string },
  list: ReturnType<typeof listIn>,
  { owner, users, isEmpty, now, mayWrite }: ListOptions,
): ConsolePage {
  const { user } = list.given;
  const state = list.given.state || 'active';
  const segment = (value: '' | 'ended', label: PageText) => ({
    href: list.with({ state: value }),
    label,
    isCurrent: list.given.state === value,
  });
  const noKeys = {
    icon: 'key-square',
    title: t('console.api-keys.none'),
    text: t('console.api-keys.none.text'),
    ...(mayWrite && { action: CREATE }),
  };
  return {
    title: t('console.navigation.api-keys'),
    lead: t('console.api-keys.lead'),
    actions: present([
      { label: t('console.api-keys.documentation'), icon: 'book-open', href: '/api/docs' },
      mayWrite && { ...CREATE, look: 'primary' },
    ]),
    blocks: [
      {
        kind: 'table',
        caption: state === 'active' ? t('console.navigation.api-keys') : t('console.api-keys.caption.ended'),
        filter: list.search([userFilter(t('console.api-keys.search'), owner)], {
          segments: [segment('', t('console.api-keys.active')), segment('ended', t('console.api-keys.ended'))],
        }),
        ...tableOf(keys, [
          [t('console.api-keys.key'), (key) => ({ text: key.name, href: pathOf(key), small: maskedKey(key) })],
          [t('console.api-keys.owner'), (key) => ownerCell(key, users)],
          [{ label: t('console.api-keys.permissions'), isNumber: true }, ({ permissions }) => permissions.length],
          [t('console.api-keys.created-at'), ({ createdAt }) => createdAt],
          [t('console.api-keys.last-used'), ({ lastUsedAt }) => lastUsedAt ?? t('console.api-keys.never')],
          [t(`console.api-keys.${state === 'active' ? 'expires' : 'state'}`), (key) => endTag(key, now)],
          mayWrite &&
            state === 'active' && [
              t('console.api-keys.action'),
              (key) => ({ label: t('console.api-keys.revoke'), of: key.name, href: `${pathOf(key)}/revoke` }),
            ],
        ]),
        empty: isEmpty ? noKeys : user === '' ? NONE[state] : t('console.api-keys.none-of-user', { user }),
        pages: list.pages(next),
      },
    ],
  };
}

const NONE = { active: t('console.api-keys.none-active'), ended: t('console.api-keys.none-ended') };

function ownerCell({ username, ownerId }: KeyView, users: ReadonlyMap<string, NamedUser> = new Map()): Mark {
  const name = username || ownerId;
  return { text: name, href: `/admin/users/${ownerId}`, logo: personLogo(users.get(ownerId) ?? { username: name }) };
}

/** `in 12 days` or, as a sentence, `Expires in 12 days`; or why it does not work. */
function endTag({ state, expiresAt }: KeyView, now: Date, isSentence = false): Mark {
  if (state === 'revoked') return { text: t('console.api-keys.revoked'), tone: 'plain' };
  if (state === 'expired') return { text: t('console.api-keys.expired'), tone: 'bad' };
  if (state === 'stopped')
    return { text: t(`console.api-keys.${isSentence ? 'stopped-why' : 'stopped'}`), tone: 'bad' };
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
  const beginning = isSentence ? 'expires-' : '';
  const text =
    days <= 1
      ? t(`console.api-keys.${beginning}within-a-day`)
      : t(`console.api-keys.${beginning}in-days`, { count: days });
  return { text, tone: days <= SOON_DAYS ? 'warn' : 'good' };
}

/** One key. */
function keyPage(key: KeyView, { now, mayWrite }: { now: Date; mayWrite: boolean }): ConsolePage {
  const { name, state, permissions } = key;
  const hasEnded = state === 'expired' || state === 'revoked';
  const danger = dangerZone([
    {
      title: t('console.api-keys.revoke.task'),
      text: t('console.api-keys.revoke.consequence'),
      action: { label: t('console.api-keys.revoke'), of: name, href: `${pathOf(key)}/revoke`, look: 'danger' },
    },
  ]);
  const ended = t(`console.api-keys.${hasEnded ? state : 'expires'}`);
  return {
    title: name,
    back,
    tags: [endTag(key, now, true)],
    blocks: present([
      {
        kind: 'facts',
        rows: [
          { label: t('console.api-keys.key'), value: { text: maskedKey(key), code: true } },
          { label: t('console.api-keys.owner'), value: ownerCell(key) },
          { label: t('console.api-keys.permissions'), value: permissions.map(keyPermissionMark) },
          { label: t('console.api-keys.created-at'), value: key.createdAt },
          { label: t('console.api-keys.created-by'), value: createdBy(key) },
          { label: t('console.api-keys.last-used'), value: key.lastUsedAt ?? t('console.api-keys.never') },
          { label: ended, value: key.revokedAt ?? key.expiresAt },
        ],
      },
      { kind: 'text', tone: 'small', text: t('console.api-keys.rights') },
      mayWrite && !hasEnded && danger,
    ]),
  };
}

function createdBy({ createdBy: id, ownerId, username }: KeyView): Cell {
  if (id === null) return t('console.api-keys.command-line');
  return id === ownerId ? username || ownerId : { text: id, code: true };
}

function keyFields(
  { maxDays, defaultDays }: { defaultDays: number; maxDays: number },
  permissions: readonly Option[],
): Field[] {
  const days = [...new Set([...CHOICES.filter((one) => one < maxDays), defaultDays, maxDays])].sort((a, b) => a - b);
  return [
    {
      name: 'name',
      label: t('console.shared.name'),
      required: true,
      isHalf: true,
      placeholder: t('console.api-keys.form.name.example'),
      hint: t('console.api-keys.form.name.hint'),
    },
    { ...daysField('expires_in_days', t('console.api-keys.form.valid-for'), defaultDays, days), isHalf: true },
    {
      name: 'permissions',
      label: t('console.api-keys.permissions'),
      type: 'checks',
      isWide: true,
      options: permissions,
      hint: t('console.api-keys.form.permissions.hint'),
    },
  ];
}

function createdPage({ key: { name, expiresAt }, text }: CreatedKey, issuer: string): ConsolePage {
  return {
    title: t('console.api-keys.created'),
    back,
    blocks: [
      {
        kind: 'secret',
        label: t('console.api-keys.created.key'),
        copied: t('console.shared.copied.api-key'),
        text,
        lead: t('console.api-keys.created.copy'),
      },
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
