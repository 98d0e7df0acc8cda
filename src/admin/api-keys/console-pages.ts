// What the pages of API keys consist of: the list, the form, one key, and the question before its revocation.
import { z } from 'zod';
import { maskedKey } from '../../api-keys/key-text.ts';
import { plural } from '../../platform/plural.ts';
import type { Action, Block, Cell, ConsolePage, Mark, Option, Search } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { pageLinks } from '../console/lists.ts';
import type { KeyView } from './actions.ts';

const HOME = '/admin/api-keys';
const DAY_MS = 24 * 3600 * 1000;
/** The tag of a key warns from so many days before its end. */
const SOON_DAYS = 14;
const CHOICES = [7, 30, 90, 180, 365];
const back = { href: HOME, label: 'API keys' };
const CREATE: Action = { label: 'Create API key', icon: 'plus', href: `${HOME}/new` };

export const keyForm = z.object({
  name: z.string().trim().min(1, 'Enter a name.').max(100).default(''),
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
  after: string | undefined;
  trail: string;
  /** No key was ever created, or all ended long ago. */
  isEmpty: boolean;
  now: Date;
  mayWrite: boolean;
}

export function keyListPage(
  { keys, next }: { keys: readonly KeyView[]; next?: string },
  { state, user, after, trail, isEmpty, now, mayWrite }: ListOptions,
): ConsolePage {
  const filters = filtersOf(state, user);
  const hasActions = mayWrite && state === 'active';
  return {
    title: 'API keys',
    lead: 'With an API key, a script can call the admin API on behalf of its owner.',
    actions: [
      { label: 'API documentation', icon: 'book-open', href: '/api/docs' },
      ...(mayWrite ? [{ ...CREATE, look: 'primary' as const }] : []),
    ],
    blocks: [
      {
        kind: 'table',
        caption: state === 'active' ? 'API keys' : 'API keys that expired or were revoked',
        filter: filterOf(state, user),
        columns: [
          ...['Key', 'Owner', { label: 'Permissions', isNumber: true }, 'Created', 'Last used'],
          state === 'active' ? 'Expires' : 'State',
          ...(hasActions ? ['Action'] : []),
        ],
        rows: keys.map((key) => [...keyCells(key, now), ...(hasActions ? [revokeCell(key)] : [])]),
        empty: isEmpty ? noKeys(mayWrite) : user === '' ? NONE[state] : `No API keys of ${user}.`,
        pages: pageLinks({ path: HOME, filters, sort: '', defaultSort: '' }, { after, trail }, next),
      },
    ],
  };
}

const filtersOf = (state: ListOptions['state'], user: string) => ({ state: state === 'active' ? '' : state, user });

function filterOf(state: ListOptions['state'], user: string): Search {
  const placeholder = 'Username or email of the owner';
  const segment = (value: ListOptions['state'], label: string) => ({
    href: listPath(HOME, filtersOf(value, user)),
    label,
    isCurrent: state === value,
  });
  return {
    action: HOME,
    fields: [
      { name: 'user', label: placeholder, value: user, suggest: 'users', isLabelHidden: true, placeholder },
      { name: 'state', label: '', type: 'hidden', value: filtersOf(state, user).state },
    ],
    segments: [segment('active', 'Active'), segment('ended', 'Expired or revoked')],
  };
}

const NONE = { active: 'No active API keys.', ended: 'No API keys expired or were revoked in the last 30 days.' };

function noKeys(mayWrite: boolean) {
  return {
    icon: 'key-square',
    title: 'No API keys yet',
    text: 'Create an API key for a script, a backup, or monitoring.',
    ...(mayWrite && { action: CREATE }),
  };
}

function keyCells(key: KeyView, now: Date): Cell[] {
  return [
    { text: key.name, href: `${HOME}/${key.id}`, small: maskedKey(key) },
    ownerCell(key),
    key.permissions.length,
    key.createdAt,
    key.lastUsedAt ?? 'Never',
    endTag(key, now),
  ];
}

function revokeCell({ id, name }: KeyView): Cell {
  return { action: { label: 'Revoke', of: name, href: `${HOME}/${id}/revoke` } };
}

function ownerCell({ username, ownerId }: KeyView): Mark {
  const name = username || ownerId;
  return { text: name, href: `/admin/users/${ownerId}`, logo: { name, isPerson: true } };
}

/** `in 12 days`, or how it ended. */
function endTag({ state, expiresAt }: Pick<KeyView, 'state' | 'expiresAt'>, now: Date): Mark {
  if (state === 'revoked') return { text: 'Revoked', tone: 'plain' };
  if (state === 'expired') return { text: 'Expired', tone: 'bad' };
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
  return { text: days <= 1 ? 'within a day' : `in ${plural(days, 'day')}`, tone: days <= SOON_DAYS ? 'warn' : 'good' };
}

function titleTag(key: KeyView, now: Date): Mark {
  const tag = endTag(key, now);
  return key.state === 'active' ? { ...tag, text: `Expires ${tag.text}` } : tag;
}

/** One key. */
export function keyPage(key: KeyView, { now, mayWrite }: { now: Date; mayWrite: boolean }): ConsolePage {
  const { id, name, state, permissions } = key;
  const danger: Block = {
    kind: 'tasks',
    title: 'Danger zone',
    isDanger: true,
    rows: [
      {
        title: 'Revoke API key',
        text: 'Scripts that use this key stop working right away.',
        action: { label: 'Revoke', of: name, href: `${HOME}/${id}/revoke`, look: 'danger' },
      },
    ],
  };
  const ended = { revoked: 'Revoked', expired: 'Expired', active: 'Expires' }[state];
  return {
    title: name,
    back,
    tags: [titleTag(key, now)],
    blocks: [
      {
        kind: 'facts',
        rows: [
          { label: 'Key', value: { text: maskedKey(key), code: true } },
          { label: 'Owner', value: ownerCell(key) },
          { label: 'Permissions', value: permissions.map((text) => ({ text, code: true })) },
          { label: 'Created', value: key.createdAt },
          { label: 'Created by', value: createdBy(key) },
          { label: 'Last used', value: key.lastUsedAt ?? 'Never' },
          { label: ended, value: key.revokedAt ?? key.expiresAt },
        ],
      },
      { kind: 'text', tone: 'small', text: RIGHTS },
      ...(mayWrite && state === 'active' ? [danger] : []),
    ],
  };
}

const RIGHTS =
  'The key can never do more than its owner can at that moment. It stops working while its owner is disabled.';

function createdBy({ createdBy: id, ownerId, username }: KeyView): Cell {
  if (id === null) return 'The command line';
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
    title: 'Create API key',
    lead: 'The key acts on your behalf and never has more permissions than you.',
    back,
    blocks: [
      {
        kind: 'form',
        action: `${HOME}/new`,
        fields: [
          {
            name: 'name',
            label: 'Name',
            value: given.name,
            required: true,
            isHalf: true,
            placeholder: 'Nightly export',
            hint: 'What the key is for. The name appears in the activity log.',
          },
          {
            name: 'expires_in_days',
            label: 'Valid for',
            type: 'select',
            isHalf: true,
            value: given.expires_in_days,
            options: days.map((one) => ({ value: String(one), label: plural(one, 'day') })),
          },
          {
            name: 'permissions',
            label: 'Permissions',
            type: 'checks',
            isWide: true,
            values: given.permissions,
            options,
            hint: 'A key can’t make changes that need a fresh sign-in, such as giving roles or changing settings. Use an application with client credentials for those.',
          },
        ],
        button: 'Create API key',
        cancel: HOME,
      },
    ],
  };
}

/** The question before the revocation. */
export function revocationPage({ id, name, username, ownerId }: KeyView): ConsolePage {
  return {
    title: `Revoke the API key ${name}?`,
    back: { href: `${HOME}/${id}`, label: name },
    blocks: [
      {
        kind: 'form',
        lead: `The key belongs to ${username || ownerId}. Scripts that use it stop working right away. You can’t undo this.`,
        action: `${HOME}/${id}/revoke`,
        fields: [],
        button: 'Revoke',
        look: 'danger',
        cancel: HOME,
      },
    ],
  };
}
