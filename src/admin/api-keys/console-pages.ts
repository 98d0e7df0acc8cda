// What the pages of API keys consist of: the list, the form, one key, and the question before its revocation.
import { z } from 'zod';
import { type PageText, t } from '../../base/texts/text.ts';
import { maskedKey } from '../../people/api-keys/key-text.ts';
import type { Action, Block, Cell, ConsolePage, Mark, Option, Search } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { pageLinks } from '../console/lists.ts';
import { keyPermissionMark } from '../console/permission-words.ts';
import type { KeyView } from './actions.ts';

const HOME = '/admin/api-keys';
const DAY_MS = 24 * 3600 * 1000;
/** The tag of a key warns from so many days before its end. */
const SOON_DAYS = 14;
const CHOICES = [7, 30, 90, 180, 365];
const back = { href: HOME, label: t('console.navigation.api-keys') };
const CREATE: Action = { label: t('console.api-keys.create'), icon: 'plus', href: `${HOME}/new` };

export const keyForm = z.object({
  name: z.string().trim().max(100).default(''),
  expires_in_days: z
    .string()
    .regex(/^\d{1,4}$/)
    .default(''),
  permissions: z.array(z.string().max(400)).max(100).default([]),
});
export type KeyForm = z.output<typeof keyForm>;

interface ListOptions {
  state: 'active' | 'ended';
  /** The username or email address of the owner. */
  user: string;
  /** What the field of the owner displays and sends. */
  owner: { value: string; sends?: string };
  after: string | undefined;
  trail: string;
  /** No key was ever created, or all ended long ago. */
  isEmpty: boolean;
  now: Date;
  mayWrite: boolean;
}

export function keyListPage(
  { keys, next }: { keys: readonly KeyView[]; next?: string },
  { state, user, owner, after, trail, isEmpty, now, mayWrite }: ListOptions,
): ConsolePage {
  const filters = filtersOf(state, user);
  const hasActions = mayWrite && state === 'active';
  return {
    title: t('console.navigation.api-keys'),
    lead: t('console.api-keys.lead'),
    actions: [
      { label: t('console.api-keys.documentation'), icon: 'book-open', href: '/api/docs' },
      ...(mayWrite ? [{ ...CREATE, look: 'primary' as const }] : []),
    ],
    blocks: [
      {
        kind: 'table',
        caption: state === 'active' ? t('console.navigation.api-keys') : t('console.api-keys.caption.ended'),
        filter: filterOf(state, user, owner),
        columns: [
          t('console.api-keys.key'),
          t('console.api-keys.owner'),
          { label: t('console.api-keys.permissions'), isNumber: true },
          t('console.api-keys.created-at'),
          t('console.api-keys.last-used'),
          t(state === 'active' ? 'console.api-keys.expires' : 'console.api-keys.state'),
          ...(hasActions ? [t('console.api-keys.action')] : []),
        ],
        rows: keys.map((key) => [...keyCells(key, now), ...(hasActions ? [revokeCell(key)] : [])]),
        empty: isEmpty ? noKeys(mayWrite) : user === '' ? NONE[state] : t('console.api-keys.none-of-user', { user }),
        pages: pageLinks({ path: HOME, filters, sort: '', defaultSort: '' }, { after, trail }, next),
      },
    ],
  };
}

const filtersOf = (state: ListOptions['state'], user: string) => ({ state: state === 'active' ? '' : state, user });

function filterOf(state: ListOptions['state'], user: string, owner: ListOptions['owner']): Search {
  const placeholder = t('console.api-keys.search');
  const segment = (value: ListOptions['state'], label: PageText) => ({
    href: listPath(HOME, filtersOf(value, user)),
    label,
    isCurrent: state === value,
  });
  return {
    action: HOME,
    fields: [
      { name: 'user', label: placeholder, ...owner, suggest: 'users', isLabelHidden: true, placeholder },
      { name: 'state', label: '', type: 'hidden', value: filtersOf(state, user).state },
    ],
    segments: [segment('active', t('console.api-keys.active')), segment('ended', t('console.api-keys.ended'))],
  };
}

const NONE = { active: t('console.api-keys.none-active'), ended: t('console.api-keys.none-ended') };

function noKeys(mayWrite: boolean) {
  return {
    icon: 'key-square',
    title: t('console.api-keys.none'),
    text: t('console.api-keys.none.text'),
    ...(mayWrite && { action: CREATE }),
  };
}

function keyCells(key: KeyView, now: Date): Cell[] {
  return [
    { text: key.name, href: `${HOME}/${key.id}`, small: maskedKey(key) },
    ownerCell(key),
    key.permissions.length,
    key.createdAt,
    key.lastUsedAt ?? t('console.api-keys.never'),
    endTag(key, now),
  ];
}

function revokeCell({ id, name }: KeyView): Cell {
  return { action: { label: t('console.api-keys.revoke'), of: name, href: `${HOME}/${id}/revoke` } };
}

function ownerCell({ username, ownerId }: KeyView): Mark {
  const name = username || ownerId;
  return { text: name, href: `/admin/users/${ownerId}`, logo: { name, isPerson: true } };
}

/** `in 12 days` or, as a sentence, `Expires in 12 days`; or how it ended. */
function endTag({ state, expiresAt }: Pick<KeyView, 'state' | 'expiresAt'>, now: Date, isSentence = false): Mark {
  if (state === 'revoked') return { text: t('console.api-keys.revoked'), tone: 'plain' };
  if (state === 'expired') return { text: t('console.api-keys.expired'), tone: 'bad' };
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
  const beginning = isSentence ? 'expires-' : '';
  const text =
    days <= 1
      ? t(`console.api-keys.${beginning}within-a-day`)
      : t(`console.api-keys.${beginning}in-days`, { count: days });
  return { text, tone: days <= SOON_DAYS ? 'warn' : 'good' };
}

/** One key. */
export function keyPage(key: KeyView, { now, mayWrite }: { now: Date; mayWrite: boolean }): ConsolePage {
  const { id, name, state, permissions } = key;
  const danger: Block = {
    kind: 'tasks',
    title: t('console.api-keys.danger'),
    isDanger: true,
    rows: [
      {
        title: t('console.api-keys.revoke.task'),
        text: t('console.api-keys.revoke.consequence'),
        action: { label: t('console.api-keys.revoke'), of: name, href: `${HOME}/${id}/revoke`, look: 'danger' },
      },
    ],
  };
  const ended = t(`console.api-keys.${state === 'active' ? 'expires' : state}`);
  return {
    title: name,
    back,
    tags: [endTag(key, now, true)],
    blocks: [
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
      { kind: 'text', tone: 'small', text: RIGHTS },
      ...(mayWrite && state === 'active' ? [danger] : []),
    ],
  };
}

const RIGHTS = t('console.api-keys.rights');

function createdBy({ createdBy: id, ownerId, username }: KeyView): Cell {
  if (id === null) return t('console.api-keys.command-line');
  return id === ownerId ? username || ownerId : { text: id, code: true };
}

interface FormChoices {
  options: readonly Option[];
  defaultDays: number;
  maxDays: number;
}

/** The form for a new key. */
export function newKeyPage(given: KeyForm, { options, maxDays, defaultDays }: FormChoices): ConsolePage {
  const days = [...new Set([...CHOICES.filter((one) => one < maxDays), defaultDays, maxDays])].sort((a, b) => a - b);
  return {
    title: t('console.api-keys.create'),
    lead: t('console.api-keys.form.lead'),
    back,
    blocks: [
      {
        kind: 'form',
        action: `${HOME}/new`,
        fields: [
          {
            name: 'name',
            label: t('console.shared.name'),
            value: given.name,
            required: true,
            isHalf: true,
            placeholder: t('console.api-keys.form.name.example'),
            hint: t('console.api-keys.form.name.hint'),
          },
          {
            name: 'expires_in_days',
            label: t('console.api-keys.form.valid-for'),
            type: 'select',
            isHalf: true,
            value: given.expires_in_days,
            options: days.map((one) => ({
              value: String(one),
              label: t('console.api-keys.form.days', { count: one }),
            })),
          },
          {
            name: 'permissions',
            label: t('console.api-keys.permissions'),
            type: 'checks',
            isWide: true,
            values: given.permissions,
            options,
            hint: t('console.api-keys.form.permissions.hint'),
          },
        ],
        button: t('console.api-keys.create'),
        cancel: HOME,
      },
    ],
  };
}

/** The question before the revocation. */
export function revocationPage({ id, name, username, ownerId }: KeyView): ConsolePage {
  return {
    title: t('console.api-keys.revoke.title', { name }),
    back: { href: `${HOME}/${id}`, label: name },
    blocks: [
      {
        kind: 'form',
        lead: t('console.api-keys.revoke.lead', { owner: username || ownerId }),
        action: `${HOME}/${id}/revoke`,
        fields: [],
        button: t('console.api-keys.revoke'),
        look: 'danger',
        cancel: HOME,
      },
    ],
  };
}
