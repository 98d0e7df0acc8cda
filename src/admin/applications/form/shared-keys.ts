// The keys that applications of both protocols have, with what there is to choose from.

import { badRequest } from '../../../base/http/errors.ts';
import { limits } from '../../../base/limits.ts';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import type { Field } from '../../console/blocks.ts';
import { sentValue } from '../../console/row-buttons.ts';
import { productPresets } from '../presets/presets.ts';
import { choiceKey, type Key, listKey, mapKey, numberKey, switchKey } from './keys.ts';

/** What an administrator may choose from. */
export interface Choices {
  /** Names of roles. */
  roles: readonly string[];
  /** Name of a role -> its description. */
  roleHints?: ReadonlyMap<string, PageText | undefined>;
  connections: readonly { id: string; name: string }[];
  /** Identifiers of APIs. */
  apis: readonly string[];
  /** The setting `signing_algorithms`. */
  signingAlgs: readonly string[];
}

/** The product whose setup guide the tab displays. */
export const presetKey = (protocol: 'oidc' | 'saml'): Key =>
  choiceKey(
    {
      key: 'preset',
      label: t('console.fields.preset.label'),
      hint: t('console.fields.preset.hint'),
      isHalf: true,
    },
    {
      options: [
        { value: '', label: t('console.fields.preset.by-name') },
        ...productPresets
          .filter((preset) => preset.protocol === protocol)
          .map(({ id, title }) => ({ value: id, label: title })),
      ],
    },
  );

/** Everyone, or the users of some roles: `access` with `access.roles`. */
export const accessKey = ({ roles, roleHints }: Choices): Key => ({
  key: 'access',
  fields({ access = 'everyone' }) {
    const named = access === 'everyone' ? [] : (access as { roles: string[] }).roles;
    const byName = (one: string, other: string) => one.localeCompare(other, 'en');
    // The chosen ones first: the list scrolls.
    const others = roles.filter((role) => !named.includes(role));
    const names = [...new Set([...[...named].sort(byName), ...others.sort(byName)])];
    return [
      {
        name: 'access',
        label: t('console.fields.access.label'),
        type: 'radios',
        hint: t('console.fields.access.hint'),
        value: access === 'everyone' ? 'everyone' : 'roles',
        options: [
          {
            value: 'everyone',
            label: t('console.fields.access.everyone'),
            hint: t('console.fields.access.everyone-hint'),
          },
          {
            value: 'roles',
            label: t('console.fields.access.selected'),
            hint: t('console.fields.access.selected-hint'),
          },
        ],
      },
      {
        name: 'access.roles',
        label: t('console.fields.access-roles.label'),
        type: 'checks',
        values: named,
        options: names.map((role) => ({ value: role, label: role, hint: roleHints?.get(role) })),
        hint: t('console.fields.access-roles.hint'),
      },
    ];
  },
  read(sent) {
    if (sentValue(sent, 'access') !== 'roles') return 'everyone';
    const named = sent['access.roles'] ?? [];
    if (named.length > 0) return { roles: named };
    throw badRequest('invalid_input', { fields: [{ field: 'access.roles', message: faultMessage('empty') }] });
  },
});

/** The value that is not the default of the protocol is the one that is written. */
export const consentKey = (byDefault: 'explicit' | 'implicit'): Key =>
  switchKey(
    {
      key: 'consent',
      label: t('console.fields.consent.label'),
      hint: t('console.fields.consent.hint'),
    },
    { on: 'explicit', off: 'implicit', isOn: (value = byDefault) => value === 'explicit' },
  );

export const mfaKey = choiceKey(
  { key: 'mfa', label: t('console.fields.mfa.label'), hint: t('console.fields.mfa.hint') },
  {
    asCards: true,
    options: [
      { value: '', label: t('console.fields.mfa.default'), hint: t('console.fields.mfa.default-hint') },
      { value: 'required', label: t('console.fields.required'), hint: t('console.fields.mfa.required-hint') },
      {
        value: 'phishing-resistant',
        label: t('console.fields.mfa.phishing-resistant'),
        hint: t('console.fields.mfa.phishing-resistant-hint'),
      },
    ],
  },
);

/** The connections that are accepted: `connections` with `connections.ids`; and whether this server is. */
export const sourceKeys = (choices: Choices): Key[] => [
  {
    key: 'connections',
    fields({ connections = 'all' }) {
      const set = connections === 'all' ? [] : (connections as string[]);
      const unknown = set.filter((id) => !choices.connections.some((one) => one.id === id));
      const options = [...choices.connections, ...unknown.map((id) => ({ id, name: id }))];
      const ids: Field = {
        name: 'connections.ids',
        label: t('console.fields.sources.selected'),
        type: 'checks',
        values: set,
        options: options.map(({ id, name }) => ({ value: id, label: name })),
        hint: t('console.fields.sources.ids-hint'),
      };
      return [
        {
          name: 'connections',
          label: t('console.fields.sources.label'),
          type: 'radios',
          hint: t('console.fields.sources.hint'),
          value: connections === 'all' ? 'all' : 'some',
          options: [
            { value: 'all', label: t('console.fields.sources.all'), hint: t('console.fields.sources.all-hint') },
            {
              value: 'some',
              label: t('console.fields.sources.selected'),
              hint: t('console.fields.sources.selected-hint'),
            },
          ],
        },
        ids,
      ];
    },
    read: (sent) => (sentValue(sent, 'connections') === 'some' ? (sent['connections.ids'] ?? []) : undefined),
  },
  switchKey(
    {
      key: 'local_sign_in',
      label: t('console.fields.local.label'),
      hint: t('console.fields.local.hint'),
    },
    { on: undefined, off: false, isOn: (value) => value !== false },
  ),
];

export const networksKey = listKey(
  {
    key: 'allowed_networks',
    label: t('console.fields.allowed-networks.label'),
    hint: t('console.fields.allowed-networks.hint'),
  },
  t('console.fields.allowed-networks.adds'),
);

const { session } = limits;
export const sessionHoursKey = numberKey({
  key: 'session_hours',
  label: t('console.fields.session-hours.label'),
  unit: t('console.shared.unit.hours'),
  range: { minimum: session.minHours, maximum: session.maxHours },
  hint: t('console.fields.session-hours.hint'),
});

export const filterKeys: readonly Key[] = [
  listKey(
    {
      key: 'roles_filter',
      label: t('console.fields.roles-filter.label'),
      hint: t('console.fields.roles-filter.hint'),
    },
    t('console.fields.roles-filter.adds'),
  ),
  mapKey(
    { key: 'roles_rename', label: t('console.fields.roles-rename.label'), hint: t('console.fields.roles-rename.hint') },
    t('console.fields.roles-rename.adds'),
    [
      { name: 'role', label: t('console.fields.roles-rename.role') },
      { name: 'name', label: t('console.fields.roles-rename.name') },
    ],
  ),
  listKey(
    {
      key: 'permissions_filter',
      label: t('console.fields.permissions-filter.label'),
      hint: t('console.fields.permissions-filter.hint'),
    },
    t('console.fields.permissions-filter.adds'),
  ),
];
